//! The raw figures of a run as a file of JSON, and the report of such a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::report::Report;

/// Writes the raw figures to a file in a folder, which is created. The file has the date and time as its name.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn save(report: &Report, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let file = folder.join(format!("{}.json", report.date.replace(':', "")));
    fs::write(&file, serde_json::to_vec(report)?).with_context(|| file.display().to_string())?;
    Ok(file)
}

/// Reads the raw figures of an earlier run.
///
/// # Errors
/// The file is missing, or is not one of this benchmark.
pub fn load(file: &Path) -> Result<Report> {
    let bytes = fs::read(file).with_context(|| file.display().to_string())?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is not a file of this benchmark", file.display()))
}

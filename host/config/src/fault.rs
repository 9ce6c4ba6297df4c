//! Faults of the settings, each with its file, line and key. Validation itself is in the section files.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};

/// A fault and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, as the user names it.
    pub file: PathBuf,
    /// The line in the file, the first being 1.
    pub line: Option<usize>,
    /// The setting, as a path of keys.
    pub key: Option<String>,
    /// What is wrong and what is expected. Contains no API key and no value of a variable.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if let Some(key) = &self.key {
            write!(f, " {key}:")?;
        }
        write!(f, " {}", self.message)
    }
}

/// The settings cannot be used: at least one fault. Displays one fault a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(Vec<Fault>);

impl ConfigError {
    /// Creates an error from at least one fault.
    pub(super) fn of(faults: Vec<Fault>) -> Self {
        debug_assert!(!faults.is_empty());
        Self(faults)
    }

    /// All faults, file by file and line by line.
    pub fn faults(&self) -> &[Fault] {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// The faults of one file, collected while it is read.
pub(super) struct FaultReport {
    file: PathBuf,
    faults: RefCell<Vec<Fault>>,
}

impl FaultReport {
    /// Creates an empty report.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, faults: RefCell::default() }
    }

    /// The file, as the user names it.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Adds a fault.
    pub(super) fn add(&self, line: Option<usize>, key: &str, message: impl Into<String>) {
        let fault = Fault { file: self.file.clone(), line, key: Some(key.to_owned()), message: message.into() };
        self.faults.borrow_mut().push(fault);
    }

    /// All faults by line; those of keys that are not in the file are last.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        let mut faults = self.faults.into_inner();
        faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
        faults
    }
}

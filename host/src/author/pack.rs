//! `plugin pack`: a component under the name and with the checksum that it is handed on with.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::check::plans;
use super::error::AuthorError;
use super::subject::Subject;
use crate::config::{self, Overrides, Source};

/// A component that was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The component.
    pub file: PathBuf,
    /// Its checksum, as `sha256sum --check` reads it.
    pub checksum: PathBuf,
    /// What its users write into proxy.toml.
    pub grant: String,
}

/// Packs a component into a folder, which is made.
///
/// # Errors
/// The host would not take it, its command lines are wrong, its version cannot be a part of a file's name, or a file cannot
/// be written. See [`AuthorError`].
pub async fn pack(source: &Source, file: &Path, out: &Path) -> Result<Packed, AuthorError> {
    let config = config::load(source, &Overrides::default())?;
    let subject = Subject::load(&config, file).await?;
    let subject = subject.map_err(|reason| AuthorError::Refused { file: file.to_owned(), reason })?;
    let plans = plans(&subject).await;
    if let Some(fault) = plans.faults.into_iter().next() {
        return Err(AuthorError::Unfit { file: file.to_owned(), fault });
    }
    let (id, version) = (subject.plugin.id(), &subject.plugin.description().version);
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
    if version.is_empty() || !version.chars().all(fits) {
        return Err(AuthorError::Version { version: version.clone() });
    }
    let bytes = fs::read(file).map_err(AuthorError::file(file))?;
    fs::create_dir_all(out).map_err(AuthorError::file(out))?;
    let name = format!("{id}-{version}.wasm");
    let packed = out.join(&name);
    let sha256 = subject.plugin.sha256();
    let checksum = out.join(format!("{name}.sha256"));
    fs::write(&packed, bytes).map_err(AuthorError::file(&packed))?;
    fs::write(&checksum, format!("{sha256}  {name}\n")).map_err(AuthorError::file(&checksum))?;
    let programs: BTreeSet<String> = subject.plugin.description().programs.iter().cloned().collect();
    let grant = format!(
        "[plugins.{id}]\nprograms = {}\nenv = {}\nsha256 = \"{sha256}\"\n",
        list(&programs),
        list(&plans.variables)
    );
    Ok(Packed { file: packed, checksum, grant })
}

/// A list of words as TOML has it: what a word needs to be escaped is the same as in JSON.
fn list(words: &BTreeSet<String>) -> String {
    let words: Vec<String> = words.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
    format!("[{}]", words.join(", "))
}

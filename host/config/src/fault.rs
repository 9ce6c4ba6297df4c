//! What is wrong with the settings: all of it, each fault with its place. What is right is not decided here.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, named as the user would name it.
    pub file: PathBuf,
    /// The line in the file, the first being 1.
    pub line: Option<usize>,
    /// The setting, as a path of keys.
    pub key: Option<String>,
    /// What is wrong with it, and what would be right. Holds no API key and no value of a variable.
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

/// Why the settings cannot be used: at least one fault. Prints one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(Vec<Fault>);

impl ConfigError {
    /// Of faults of which there is at least one.
    pub(super) fn of(faults: Vec<Fault>) -> Self {
        debug_assert!(!faults.is_empty());
        Self(faults)
    }

    /// Everything that is wrong, file by file and line by line.
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
pub(super) struct Report {
    file: PathBuf,
    faults: RefCell<Vec<Fault>>,
}

impl Report {
    /// Nothing is wrong with the file yet.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, faults: RefCell::default() }
    }

    /// The file, as the user would name it.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Notes a fault.
    pub(super) fn add(&self, line: Option<usize>, key: &str, message: impl Into<String>) {
        let fault = Fault { file: self.file.clone(), line, key: Some(key.to_owned()), message: message.into() };
        self.faults.borrow_mut().push(fault);
    }

    /// All faults by line; those of settings that are nowhere in the file come last.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        let mut faults = self.faults.into_inner();
        faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
        faults
    }
}

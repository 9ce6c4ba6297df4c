//! Where settings come from: which files they are, and reading them. What is in them is not known here.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::fault::Fault;
use super::tree::{SyntaxError, Table};
use super::values::plain;

/// Where settings come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file given by `--config`; without one, proxy.toml of the current folder is read if there is one.
    pub config: Option<PathBuf>,
    /// Absolute path of the current folder.
    pub cwd: PathBuf,
    /// The variables of the process.
    pub environment: Environment,
}

impl Source {
    /// The files whose change calls for settings to be read again, whether they exist or not: absolute paths.
    pub fn watched(&self) -> Vec<PathBuf> {
        vec![self.settings().path, self.registry().path]
    }

    /// proxy.toml.
    pub(super) fn settings(&self) -> SettingsFile {
        match &self.config {
            Some(file) => self.file(file.clone(), true),
            None => self.file(PathBuf::from("proxy.toml"), false),
        }
    }

    /// models.json, which stands beside it.
    pub(super) fn registry(&self) -> SettingsFile {
        self.file(self.settings().shown.with_file_name("models.json"), false)
    }

    fn file(&self, shown: PathBuf, required: bool) -> SettingsFile {
        SettingsFile { path: plain(&self.cwd.join(&shown)), shown, required }
    }
}

/// A file that may hold settings.
pub(super) struct SettingsFile {
    /// As the user would name it.
    pub(super) shown: PathBuf,
    path: PathBuf,
    required: bool,
}

impl SettingsFile {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder it stands in.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// What is in it; nothing if there is no such file and there need not be one.
    pub(super) fn read(&self, parse: fn(&str) -> Result<Table, SyntaxError>) -> Result<Option<Table>, Fault> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound && !self.required => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.fault(None, "there is no such file; `--config` names it"));
            }
            Err(error) => return Err(self.fault(None, format!("cannot be read: {error}"))),
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            self.fault(Some(line), "is not UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        parse(text).map(Some).map_err(|error| self.fault(Some(error.line), error.message))
    }

    fn fault(&self, line: Option<usize>, message: impl Into<String>) -> Fault {
        Fault { file: self.shown.clone(), line, key: None, message: message.into() }
    }
}

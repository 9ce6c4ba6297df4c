//! The settings files: their paths, and reading them. Their content is not interpreted here.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use agentbay_domain::Environment;

use super::fault::Fault;
use super::fingerprint::FileFingerprint;
use super::tree::{SyntaxError, Table};
use super::values::plain;

/// The name of the registry.
const REGISTRY: &str = "models.json";

/// How often a file is read again that changes while it is read.
const READS: usize = 5;

/// More than any settings file has: a link may lead to an endless file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The source of the settings.
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
    /// Absolute paths of the files whose changes require a reload, existing or not.
    pub fn watched(&self) -> Vec<PathBuf> {
        vec![self.settings().path, self.registry().path]
    }

    /// The path of proxy.toml, existing or not.
    pub fn settings_path(&self) -> PathBuf {
        self.settings().path
    }

    /// proxy.toml.
    pub(super) fn settings(&self) -> SettingsFile {
        match &self.config {
            Some(file) => self.file(file.clone(), true),
            None => self.file(PathBuf::from("proxy.toml"), false),
        }
    }

    /// models.json, in the same folder.
    pub(super) fn registry(&self) -> SettingsFile {
        self.file(self.settings().shown.with_file_name(REGISTRY), false)
    }

    fn file(&self, shown: PathBuf, required: bool) -> SettingsFile {
        SettingsFile { path: plain(&self.cwd.join(&shown)), shown, required }
    }
}

/// A settings file, which may not exist.
pub(super) struct SettingsFile {
    /// The path as the user names it.
    pub(super) shown: PathBuf,
    path: PathBuf,
    required: bool,
}

impl SettingsFile {
    /// The folder of the file.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Reads the file; `None` if it does not exist and is not required. If it existed `before`, it must exist and must not be
    /// empty: a file that is being replaced may be missing or empty for a moment.
    pub(super) fn read(
        &self,
        parse: fn(&str) -> Result<Table, SyntaxError>,
        before: Option<&FileFingerprint>,
    ) -> Result<Option<(Table, FileFingerprint)>, Fault> {
        let may_be_a_pipe = self.required && before.is_none();
        let bytes = match whole(&self.path, may_be_a_pipe) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound && before.is_some() => {
                return Err(self.fault(None, self.kept("has vanished")));
            }
            Err(error) if error.kind() == ErrorKind::NotFound && !self.required => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.fault(None, "the file that `--config` names does not exist"));
            }
            Err(error) => return Err(self.fault(None, format!("cannot be read: {error}"))),
        };
        let table = self.parse(&bytes, parse, before)?;
        let seen = FileFingerprint::of(&bytes, &table);
        let had_some = before.is_some_and(|before| !before.is_empty());
        // An empty JSON object states that there are no models; comments alone may be the beginning of a file that is being written.
        if had_some && seen.is_empty() && !self.is_registry() {
            return Err(self.fault(None, self.kept("is empty")));
        }
        Ok(Some((table, seen)))
    }

    fn parse(
        &self,
        bytes: &[u8],
        parse: fn(&str) -> Result<Table, SyntaxError>,
        before: Option<&FileFingerprint>,
    ) -> Result<Table, Fault> {
        let text = str::from_utf8(bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            self.fault(Some(line), "is not UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if before.is_some() && text.trim().is_empty() {
            return Err(self.fault(None, self.kept("is empty")));
        }
        parse(text).map_err(|error| self.fault(Some(error.line), error.message))
    }

    fn is_registry(&self) -> bool {
        self.shown.ends_with(REGISTRY)
    }

    /// The message for a file that a running server lost, with what to do.
    fn kept(&self, what: &str) -> String {
        let way_out = if self.is_registry() { "write `{}` into it, or restart" } else { "restart" };
        format!("{what}, and its settings stay in use: to remove them, {way_out}")
    }

    fn fault(&self, line: Option<usize>, message: impl Into<String>) -> Fault {
        Fault { file: self.shown.clone(), line, key: None, message: message.into() }
    }
}

/// Reads a consistent state of a file: if it changes while it is read, it is read again. A pipe can be read once, when the
/// program starts; later it may have no writer.
fn whole(path: &Path, may_be_a_pipe: bool) -> io::Result<Vec<u8>> {
    // Before opening, which would wait for a writer.
    if !may_be_a_pipe && !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    for _ in 0..READS {
        let file = File::open(path)?;
        let before = file.metadata()?;
        bytes.clear();
        (&file).take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(io::Error::other(format!("it is larger than {MOST_BYTES} bytes")));
        }
        let stamp = |found: &Metadata| (found.mtime(), found.mtime_nsec(), found.len());
        if !before.is_file() || stamp(&before) == stamp(&file.metadata()?) {
            break;
        }
    }
    Ok(bytes)
}

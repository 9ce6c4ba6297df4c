//! Environment variables as a value, for example those of the process, which are read once at startup by another crate.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A set of environment variables. A clone shares them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Environment(Arc<BTreeMap<OsString, OsString>>);

impl Environment {
    /// Creates an environment with exactly these variables.
    pub fn from_pairs<N: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        Self(Arc::new(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }

    /// Returns the value of a variable, if it is set.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The search path for programs.
    pub fn path(&self) -> Option<&OsStr> {
        self.get("PATH")
    }

    /// Returns the absolute path that a variable contains. A relative path is ignored, as the XDG base directory
    /// specification requires.
    pub fn absolute_path(&self, name: &str) -> Option<&Path> {
        self.get(name).map(Path::new).filter(|path| path.is_absolute())
    }
}

/// Shows names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_by_name_and_its_value_is_never_shown() {
        let environment = Environment::from_pairs([("PATH", "/bin"), ("KEY", "secret"), ("XDG_DATA_HOME", "data")]);
        assert_eq!(environment.path(), Some(OsStr::new("/bin")));
        assert_eq!(environment.get("NONE"), None);
        assert_eq!(environment.absolute_path("PATH"), Some(Path::new("/bin")));
        assert_eq!(environment.absolute_path("XDG_DATA_HOME"), None);
        assert_eq!(environment.iter().count(), 3);
        assert_eq!(format!("{environment:?}"), r#"{"KEY", "PATH", "XDG_DATA_HOME"}"#);
    }
}

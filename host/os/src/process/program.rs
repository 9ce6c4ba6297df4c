//! Resolves the name of a program to its file.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::error::SpawnError;
use super::obstacle::Obstacle;

/// The name that always refers to the running binary itself.
const OWN_NAME: &str = "agentbay";

/// The file of the current process on Linux, also when its path was removed.
const RUNNING: &str = "/proc/self/exe";

/// A file that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable(PathBuf);

impl Executable {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Finds the file of a program: a path is taken as it is, a bare name is searched for on `path`, and `agentbay` is the
/// running binary.
///
/// # Errors
/// The file does not exist or cannot be executed.
pub fn find(program: &Path, path: Option<&OsStr>) -> Result<Executable, SpawnError> {
    if program == Path::new(OWN_NAME) {
        return current_exe().map_err(|_| not_found(program));
    }
    which::which_in(program, path, "/").map(Executable).map_err(|_| missing(program, path))
}

fn not_found(program: &Path) -> SpawnError {
    SpawnError::NotFound { program: program.display().to_string() }
}

/// The error for a program that is not found: its file may exist and not be executable.
fn missing(program: &Path, path: Option<&OsStr>) -> SpawnError {
    let is_path = program.components().nth(1).is_some();
    let folders = path.filter(|_| !is_path).map(|path| env::split_paths(path).collect()).unwrap_or_default();
    let folders: Vec<PathBuf> = if is_path { vec![PathBuf::from("/")] } else { folders };
    let refused = folders.into_iter().map(|folder| folder.join(program)).find_map(|file| {
        let obstacle = Obstacle::in_file(&file).filter(|obstacle| match obstacle {
            Obstacle::Missing => false,
            // A folder of that name on PATH is not the program.
            Obstacle::NotAFile => is_path,
            _ => true,
        })?;
        Some(SpawnError::Refused { program: file, obstacle })
    });
    refused.unwrap_or_else(|| not_found(program))
}

/// The running binary, also when its file has been replaced since it was started.
///
/// # Errors
/// The operating system does not report its path.
pub fn current_exe() -> io::Result<Executable> {
    let file = env::current_exe()?;
    let running = Path::new(RUNNING);
    Ok(Executable(if file.exists() || !running.exists() { file } else { running.to_owned() }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_bare_name_is_searched_for_on_the_given_path() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("cli");
        fs::write(&file, "").unwrap();
        let found = || find(Path::new("cli"), Some(dir.path().as_os_str()));
        let refused = "cannot be executed by the user that AgentBay runs as: `chmod +x` it, or correct its owner";
        assert_eq!(found().unwrap_err().to_string(), format!("{} {refused}", file.display()));
        let other = find(Path::new("other"), Some(dir.path().as_os_str()));
        assert_eq!(other.unwrap_err().to_string(), "CLI not found: other");

        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(found().unwrap(), Executable(file.clone()));
        assert_eq!(find(&file, None).unwrap(), Executable(file));
    }

    #[test]
    fn the_name_agentbay_is_the_running_binary() {
        let found = find(Path::new("agentbay"), None).unwrap();
        assert_eq!(found.path(), env::current_exe().unwrap());
    }
}

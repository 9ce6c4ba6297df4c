//! Which file a program's name stands for.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::error::SpawnError;
use super::obstacle::Obstacle;

/// The name that always stands for the running binary itself.
const OURSELVES: &str = "agentbay";

/// Where Linux keeps the file of a process, also when it has no name any more: that of the process that looks.
const RUNNING: &str = "/proc/self/exe";

/// A file that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable(PathBuf);

impl Executable {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Finds the file of a program: a path stands for itself, a bare name is looked for on `path`, and `agentbay` is the
/// running binary.
///
/// # Errors
/// There is no such file, or it cannot be executed.
pub fn find(program: &Path, path: Option<&OsStr>) -> Result<Executable, SpawnError> {
    if program == Path::new(OURSELVES) {
        return ourselves().map_err(|_| not_found(program));
    }
    which::which_in(program, path, "/").map(Executable).map_err(|_| missing(program, path))
}

fn not_found(program: &Path) -> SpawnError {
    SpawnError::NotFound { program: program.display().to_string() }
}

/// Why a program is not found: it may be there, and not be one that can be executed.
fn missing(program: &Path, path: Option<&OsStr>) -> SpawnError {
    let is_path = program.components().nth(1).is_some();
    let folders = path.filter(|_| !is_path).map(|path| env::split_paths(path).collect()).unwrap_or_default();
    let folders: Vec<PathBuf> = if is_path { vec![PathBuf::from("/")] } else { folders };
    let refused = folders.into_iter().map(|folder| folder.join(program)).find_map(|file| {
        let obstacle = Obstacle::in_file(&file).filter(|obstacle| match obstacle {
            Obstacle::Gone => false,
            // A folder of that name on PATH is none of a program's.
            Obstacle::NotAFile => is_path,
            _ => true,
        })?;
        Some(SpawnError::Refused { program: file, obstacle })
    });
    refused.unwrap_or_else(|| not_found(program))
}

/// The running binary, also when another one has been put in its place since it was started.
///
/// # Errors
/// The operating system does not tell where it is.
pub fn ourselves() -> io::Result<Executable> {
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
    fn a_bare_name_is_looked_for_on_the_path_given() {
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
    fn our_own_name_is_the_running_binary() {
        let found = find(Path::new("agentbay"), None).unwrap();
        assert_eq!(found.path(), env::current_exe().unwrap());
    }
}

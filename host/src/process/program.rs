//! Which file a program's name stands for.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::error::SpawnError;

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
    let not_found = || SpawnError::NotFound { program: program.display().to_string() };
    if program == Path::new(OURSELVES) {
        return ourselves().map_err(|_| not_found());
    }
    which::which_in(program, path, "/").map(Executable).map_err(|_| not_found())
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
        assert_eq!(found().unwrap_err().to_string(), "CLI not found: cli");

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

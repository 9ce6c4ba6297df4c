//! Writes a grant into proxy.toml, in one step and beside other programs that edit it. The text is made in `config`.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use agentbay_config::{EditFault, NewGrant, Source, with_grant};
use agentbay_domain::PluginId;
use agentbay_os::files::Staged;

/// The attempts to edit a file that another program keeps changing.
const EDITS: usize = 10;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file is not valid TOML. Its text is not shown: it may contain a key.
    #[error("{path}:{line}: {message}", path = .path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The line, the first being 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Another program keeps changing the file.
    #[error("{0} is being changed by another program: try again")]
    Contended(PathBuf),
    /// The key exists and cannot hold the table.
    #[error("{path}: `plugins.{id}` exists and is not a table")]
    NoTable {
        /// The file.
        path: PathBuf,
        /// The plugin.
        id: PluginId,
    },
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// Writes a grant into proxy.toml. Returns the path of that file.
///
/// # Errors
/// See [`EditError`]. Nothing is written then.
pub(super) fn write_grant(source: &Source, grant: &NewGrant) -> Result<PathBuf, EditError> {
    let named = source.settings_path();
    let failed = |error: io::Error| EditError::File { path: named.clone(), error };
    // The target of a link is written, and the link stays.
    let path = match fs::canonicalize(&named) {
        Ok(path) => path,
        // Only the default file may be missing; one that was named must exist.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = with_grant(None, grant).map_err(|_| failed(io::ErrorKind::InvalidData.into()))?;
            Staged::new(&named, text.as_bytes()).and_then(Staged::commit).map_err(failed)?;
            return Ok(named);
        }
        Err(error) => return Err(failed(error)),
    };
    // Two processes of this program edit one after the other. Not every file system has locks.
    let _lock = path.parent().and_then(|folder| File::open(folder).and_then(|lock| lock.lock().map(|()| lock)).ok());
    for _ in 0..EDITS {
        let text = fs::read_to_string(&path).map_err(failed)?;
        let edited = with_grant(Some(&text), grant).map_err(|fault| match fault {
            EditFault::Toml { line, message } => EditError::Toml { path: named.clone(), line, message },
            EditFault::NoTable => EditError::NoTable { path: named.clone(), id: grant.id.clone() },
        })?;
        let staged = Staged::new(&path, edited.as_bytes()).map_err(failed)?;
        // If another program has changed the file meanwhile, the edit is made again in its text.
        if fs::read_to_string(&path).map_err(failed)? == text {
            staged.commit().map_err(failed)?;
            return Ok(named);
        }
    }
    Err(EditError::Contended(named))
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Environment, Sha256Sum, Wasi};

    use super::*;

    fn grant(id: &PluginId) -> NewGrant {
        let none = std::collections::BTreeSet::new;
        let sha256 = Sha256Sum::of(b"");
        NewGrant {
            id: id.clone(),
            programs: none(),
            env: none(),
            home_files: none(),
            sha256,
            wasi: Wasi::Refuse,
            limits: None,
        }
    }

    #[test]
    fn no_grant_is_lost_when_several_are_written_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::default();
        let source = Source { config: None, cwd: dir.path().to_owned(), environment };
        fs::write(dir.path().join("proxy.toml"), "# Mine.\n").unwrap();
        let ids: Vec<_> = (0..8).map(|at| PluginId::try_from(format!("cli-{at}")).unwrap()).collect();
        std::thread::scope(|scope| {
            for id in &ids {
                let (source, grant) = (&source, grant(id));
                scope.spawn(move || write_grant(source, &grant).unwrap());
            }
        });
        let text = fs::read_to_string(dir.path().join("proxy.toml")).unwrap();
        assert!(
            ids.iter().all(|id| text.contains(&format!("[plugins.{id}]\n"))) && text.contains("# Mine.\n"),
            "{text}"
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

//! The private folder of a run, which holds the files of its plan during the run.

use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::{PlanFile, RunId};
use agentbay_os::files::private_dir;

use super::error::WorkspaceError;

/// The private folder of a run. It is created when the first file is written, and removed on drop.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// The folder of a run below the folder of all runs.
    pub fn new(runs: &Path, run: RunId) -> Self {
        Self { path: runs.join(run.to_string()) }
    }

    /// Its path; it may not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files into it.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write(&self, files: &[PlanFile]) -> Result<(), WorkspaceError> {
        self.put(files.iter().map(|file| (file.name(), file.text().as_bytes())))
    }

    /// Writes files of these names, which are not those of a client, and contents into it.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn put<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<(), WorkspaceError> {
        let mut files = files.into_iter().peekable();
        if files.peek().is_none() {
            return Ok(());
        }
        // The folder of all runs too: its owner could replace this folder.
        if let Some(runs) = self.path.parent() {
            private_dir(runs)?;
        }
        private_dir(&self.path)?;
        for (name, content) in files {
            let path = self.path.join(name);
            let refuse =
                |error: std::io::Error| WorkspaceError::Folder { path: path.clone(), reason: error.to_string() };
            fs::write(&path, content).map_err(refuse)?;
        }
        Ok(())
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        if self.path.exists()
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the private folder of a run");
        }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::Plan;

    use super::*;

    #[test]
    fn files_are_in_a_private_folder_for_the_duration_of_the_run() {
        let runs = tempfile::tempdir().unwrap();
        let files = vec![("schema.json".to_owned(), "{}".to_owned())];
        let plan = Plan::new(String::new(), vec![], vec![], files).unwrap();
        let dir = RunDir::new(&runs.path().join("runs"), RunId::new());
        let path = dir.path().to_owned();
        dir.write(&[]).unwrap();
        assert!(!path.exists());
        dir.write(plan.files()).unwrap();
        assert_eq!(fs::read_to_string(path.join("schema.json")).unwrap(), "{}");
        drop(dir);
        assert!(!path.exists());
    }
}

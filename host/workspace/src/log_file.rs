//! The log of files that agents added. It has three versions that may differ: committed, staged and in the working tree. Each
//! receives the entry, so that their differences are preserved.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::call::CallOptions;
use super::error::WorkspaceError;
use super::git::Git;

/// The title of a new log.
const TITLE: &str = "# Files that agents added\n\n";

/// A log in a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogFile {
    top: PathBuf,
    /// Relative to the top of the working tree.
    path: String,
}

/// Object ids of the contents with a new entry.
pub(super) struct NewContents {
    pub(super) committed: String,
    pub(super) staged: String,
}

impl LogFile {
    pub(super) fn new(top: &Path, path: String) -> Self {
        Self { top: top.to_owned(), path }
    }

    /// Its path, relative to the top of the working tree.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The line of a content for `git update-index --index-info`.
    pub(super) fn index_info(&self, id: &str) -> String {
        format!("100644 {id}\t{}\0", self.path)
    }

    /// Writes the committed and the staged version, each with a new entry.
    ///
    /// # Errors
    /// One of the versions is not a plain text file, or git fails.
    pub(super) async fn with_entry(&self, git: &Git, head: &str, entry: &str) -> Result<NewContents, WorkspaceError> {
        self.check_path()?;
        let committed = ["--literal-pathspecs", "ls-tree", "-z", head, "--", &self.path];
        let staged = ["--literal-pathspecs", "ls-files", "--stage", "-z", "--", &self.path];
        let committed = self.id(&git.text("ls-tree", &self.top, &committed).await?)?;
        let staged = self.id(&git.text("ls-files", &self.top, &staged).await?)?;
        Ok(NewContents {
            committed: self.write(git, committed, entry).await?,
            staged: self.write(git, staged, entry).await?,
        })
    }

    /// The id in `mode [type] id [stage]TAB path`, the format of both lists; `None` if the list is empty.
    fn id(&self, listed: &str) -> Result<Option<String>, WorkspaceError> {
        let Some((entry, _path)) = listed.split_once('\t') else { return Ok(None) };
        let fields: Vec<&str> = entry.split(' ').collect();
        match fields.as_slice() {
            ["100644" | "100755", "blob", id] | ["100644" | "100755", id, "0"] => Ok(Some((*id).to_owned())),
            _ => Err(self.not_a_file()),
        }
    }

    async fn write(&self, git: &Git, id: Option<String>, entry: &str) -> Result<String, WorkspaceError> {
        let before = match id {
            Some(id) => git.content(&self.top, &id).await?,
            None => String::new(),
        };
        let input = format!("{before}{}{entry}", separator(&before)).into();
        let args = ["hash-object", "-w", "--no-filters", "--stdin"];
        let written =
            git.run_with("hash-object", &self.top, &args, &CallOptions { input, ..CallOptions::default() }).await?;
        Ok(written.text().trim().to_owned())
    }

    /// Adds the entry to the file itself.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn append(&self, entry: &str) -> Result<(), WorkspaceError> {
        let append = || -> io::Result<()> {
            let path = self.top.join(&self.path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let before = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                Err(error) => return Err(error),
            };
            let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
            file.write_all(format!("{}{entry}", separator(&before)).as_bytes())
        };
        append().map_err(|error| self.refused(error.to_string()))
    }

    /// Refuses anything but plain files in real folders: a link would lead out of the repository.
    fn check_path(&self) -> Result<(), WorkspaceError> {
        let mut path = self.top.clone();
        let parts: Vec<&str> = self.path.split('/').collect();
        for (at, part) in parts.iter().enumerate() {
            path.push(part);
            let is_last = at + 1 == parts.len();
            match fs::symlink_metadata(&path) {
                Ok(found) if is_last && found.is_file() || !is_last && found.is_dir() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Ok(_) | Err(_) => return Err(self.not_a_file()),
            }
        }
        Ok(())
    }

    fn not_a_file(&self) -> WorkspaceError {
        self.refused(
            "it is not a plain file, or is behind a symbolic link: correct the key, or move it away".to_owned(),
        )
    }

    fn refused(&self, reason: String) -> WorkspaceError {
        WorkspaceError::Log { path: self.top.join(&self.path), reason }
    }
}

/// The text between the present content and a new entry.
fn separator(before: &str) -> &'static str {
    match before {
        "" => TITLE,
        _ if before.ends_with('\n') => "",
        _ => "\n",
    }
}

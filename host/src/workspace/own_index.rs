//! An index of the host's own beside that of a working tree: trees are made in it, and the agent's or the user's stays
//! as it is.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::WorkspaceError;
use super::git::{Git, With};

/// An index in a file of its own, which is removed with it.
pub(super) struct OwnIndex<'a> {
    git: &'a Git,
    tree: &'a Path,
    file: PathBuf,
    name: String,
}

impl Drop for OwnIndex<'_> {
    fn drop(&mut self) {
        // One that was never written is not there.
        let _ = fs::remove_file(&self.file);
    }
}

impl<'a> OwnIndex<'a> {
    /// A copy of the index of the working tree, whose git folder is given. What was added although it is ignored is in
    /// it.
    pub(super) async fn copied(git: &'a Git, tree: &'a Path, folder: &Path) -> Result<Self, WorkspaceError> {
        let index = Self::at(git, tree, folder);
        let refuse = |error: std::io::Error| WorkspaceError::Folder { path: folder.into(), reason: error.to_string() };
        tokio::fs::copy(folder.join("index"), &index.file).await.map_err(refuse)?;
        Ok(index)
    }

    /// What a commit holds.
    pub(super) async fn of_commit(
        git: &'a Git,
        tree: &'a Path,
        folder: &Path,
        commit: &str,
    ) -> Result<Self, WorkspaceError> {
        let index = Self::at(git, tree, folder);
        index.run("read-tree", &["read-tree", commit], "").await?;
        Ok(index)
    }

    fn at(git: &'a Git, tree: &'a Path, folder: &Path) -> Self {
        let file = folder.join("agentbay-index");
        Self { git, tree, name: file.display().to_string(), file }
    }

    /// Takes in all that is not ignored.
    pub(super) async fn add_all(&self) -> Result<(), WorkspaceError> {
        self.look_everywhere().await?;
        self.run("add", &["add", "--all", "."], "").await.map(drop)
    }

    /// Takes these files in.
    pub(super) async fn add(&self, paths: &[&str]) -> Result<(), WorkspaceError> {
        self.run("update-index", &["update-index", "--add", "-z", "--stdin"], &paths.join("\0")).await.map(drop)
    }

    /// Takes in what is given in the form of `update-index --index-info -z`.
    pub(super) async fn put(&self, info: &str) -> Result<(), WorkspaceError> {
        self.run("update-index", &["update-index", "-z", "--index-info"], info).await.map(drop)
    }

    /// Writes it as a tree, which one with unsolved conflicts cannot be.
    pub(super) async fn write(&self) -> Result<String, WorkspaceError> {
        Ok(self.run("write-tree", &["write-tree"], "").await?.trim().to_owned())
    }

    /// Files that git was told not to look at may have changed all the same. One that is left out of the working tree
    /// has not.
    async fn look_everywhere(&self) -> Result<(), WorkspaceError> {
        let listed = self.git.list(self.tree, &["ls-files", "-v", "-z"], &self.env()).await?;
        let (mut unchanged, mut skipped) = (Vec::new(), Vec::new());
        for (tag, path) in listed.split('\0').filter_map(|entry| entry.split_once(' ')) {
            if tag.chars().all(char::is_lowercase) {
                unchanged.push(path);
            }
            if tag.eq_ignore_ascii_case("S") && fs::symlink_metadata(self.tree.join(path)).is_ok() {
                skipped.push(path);
            }
        }
        for (option, paths) in [("--no-assume-unchanged", unchanged), ("--no-skip-worktree", skipped)] {
            if !paths.is_empty() {
                self.run("update-index", &["update-index", option, "-z", "--stdin"], &paths.join("\0")).await?;
            }
        }
        Ok(())
    }

    fn env(&self) -> [(&str, &str); 1] {
        [("GIT_INDEX_FILE", &self.name)]
    }

    async fn run(&self, command: &'static str, args: &[&str], input: &str) -> Result<String, WorkspaceError> {
        let with = With { env: &self.env(), input };
        Ok(self.git.run_with(command, self.tree, args, with).await?.text().into_owned())
    }
}

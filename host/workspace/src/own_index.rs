//! An index of the host's own beside that of a working tree: trees are made in it, and the agent's or the user's stays
//! as it is.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use agentbay_domain::RunId;

use super::call::With;
use super::error::WorkspaceError;
use super::git::Git;

/// How `update-index` says that it passes over a name, which is no failure to it.
const PASSED_OVER: &str = "Ignoring path ";

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
    /// it. Where there is none, it is what `head` holds.
    pub(super) async fn copied(
        git: &'a Git,
        tree: &'a Path,
        folder: &Path,
        head: &str,
    ) -> Result<Self, WorkspaceError> {
        let index = Self::at(git, tree, folder);
        match tokio::fs::copy(folder.join("index"), &index.file).await {
            Ok(_) => Ok(index),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::of_commit(git, tree, folder, head).await,
            Err(error) => Err(WorkspaceError::Folder { path: folder.into(), reason: error.to_string() }),
        }
    }

    /// What a commit holds.
    pub(super) async fn of_commit(
        git: &'a Git,
        tree: &'a Path,
        folder: &Path,
        commit: &str,
    ) -> Result<Self, WorkspaceError> {
        let index = Self::at(git, tree, folder);
        index.run("read-tree", &["read-tree", commit], Vec::new()).await?;
        Ok(index)
    }

    /// Its name is its own: another server may work in the same repository.
    fn at(git: &'a Git, tree: &'a Path, folder: &Path) -> Self {
        let file = folder.join(format!("agentbay-index-{}", RunId::new()));
        Self { git, tree, name: file.display().to_string(), file }
    }

    /// Takes in all that is not ignored. `git add` would start another git in each submodule, with the settings that it
    /// finds there.
    pub(super) async fn add_all(&self) -> Result<(), WorkspaceError> {
        self.look_everywhere().await?;
        let changed = ["diff-files", "--name-status", "-z", "--no-renames", "--ignore-submodules=dirty"];
        let changed = self.run("diff-files", &changed, Vec::new()).await?;
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others = self.run("ls-files", &others, Vec::new()).await?;
        let mut fields = names(&changed);
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            if status == b"D" { &mut gone } else { &mut there }.push(path);
        }
        // A repository inside has a slash behind its name.
        there.extend(names(&others).map(|path| path.strip_suffix(b"/").unwrap_or(path)));
        self.update(&["--force-remove"], &gone).await?;
        self.update(&["--add", "--remove", "--replace"], &there).await
    }

    /// Takes these files in.
    pub(super) async fn add(&self, paths: &[&str]) -> Result<(), WorkspaceError> {
        let paths: Vec<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
        self.update(&["--add"], &paths).await
    }

    /// Takes in what is given in the form of `update-index --index-info -z`.
    pub(super) async fn put(&self, info: &str) -> Result<(), WorkspaceError> {
        let args = ["update-index", "-z", "--index-info"];
        self.run("update-index", &args, info.as_bytes().to_vec()).await.map(drop)
    }

    /// Writes it as a tree, which one with unsolved conflicts cannot be.
    pub(super) async fn write(&self) -> Result<String, WorkspaceError> {
        let written = self.run("write-tree", &["write-tree"], Vec::new()).await?;
        Ok(String::from_utf8_lossy(&written).trim().to_owned())
    }

    /// Files that git was told not to look at may have changed all the same. One that is left out of the working tree
    /// has not.
    async fn look_everywhere(&self) -> Result<(), WorkspaceError> {
        let listed = self.run("ls-files", &["ls-files", "-v", "-z"], Vec::new()).await?;
        let (mut unchanged, mut skipped) = (Vec::new(), Vec::new());
        for entry in names(&listed) {
            let [tag, b' ', path @ ..] = entry else { continue };
            if tag.is_ascii_lowercase() {
                unchanged.push(path);
            }
            if tag.eq_ignore_ascii_case(&b'S') && fs::symlink_metadata(self.tree.join(OsStr::from_bytes(path))).is_ok()
            {
                skipped.push(path);
            }
        }
        self.update(&["--no-assume-unchanged"], &unchanged).await?;
        self.update(&["--no-skip-worktree"], &skipped).await
    }

    /// Runs `update-index` for these paths. One that it passes over would be lost.
    async fn update(&self, options: &[&str], paths: &[&[u8]]) -> Result<(), WorkspaceError> {
        if paths.is_empty() {
            return Ok(());
        }
        let args = [&["update-index"], options, &["-z", "--stdin"]].concat();
        let input = paths.join(&0).into();
        let with = With { env: &self.env(), input, ..With::default() };
        let stderr = self.git.run_with("update-index", self.tree, &args, &with).await?.stderr;
        if stderr.contains(PASSED_OVER) {
            return Err(WorkspaceError::Git { command: "update-index", repo: self.tree.to_owned(), stderr });
        }
        Ok(())
    }

    fn env(&self) -> [(&str, &str); 1] {
        [("GIT_INDEX_FILE", &self.name)]
    }

    async fn run(&self, command: &'static str, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, WorkspaceError> {
        let with = With { env: &self.env(), input: input.into(), ..With::default() };
        Ok(self.git.run_with(command, self.tree, args, &with).await?.stdout)
    }
}

/// The fields of a list in which each ends with NUL.
pub(super) fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

//! A temporary index beside that of a working tree: trees are built in it, and the index of the agent or the user is not
//! changed.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use agentbay_domain::RunId;

use super::call::CallOptions;
use super::error::WorkspaceError;
use super::git::Git;

/// The message of `update-index` for a name that it skips without failing.
const IGNORED: &str = "Ignoring path ";

/// An index in a separate file, which is removed on drop.
pub(super) struct TempIndex<'a> {
    git: &'a Git,
    tree: &'a Path,
    file: PathBuf,
    name: String,
}

impl Drop for TempIndex<'_> {
    fn drop(&mut self) {
        // It does not exist if it was never written.
        let _ = fs::remove_file(&self.file);
    }
}

impl<'a> TempIndex<'a> {
    /// A copy of the index of a working tree, whose git folder is given; it includes ignored files that were added by force.
    /// Without an index, it has the content of `head`.
    pub(super) async fn copy_of(
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

    /// An index with the content of a commit.
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

    /// The file name is unique: another server may work in the same repository.
    fn at(git: &'a Git, tree: &'a Path, folder: &Path) -> Self {
        let file = folder.join(format!("agentbay-index-{}", RunId::new()));
        Self { git, tree, name: file.display().to_string(), file }
    }

    /// Adds all files that are not ignored. `git add` would start another git in each submodule, with that submodule's
    /// settings.
    pub(super) async fn add_all(&self) -> Result<(), WorkspaceError> {
        self.clear_skip_flags().await?;
        let changed = ["diff-files", "--name-status", "-z", "--no-renames", "--ignore-submodules=dirty"];
        let changed = self.run("diff-files", &changed, Vec::new()).await?;
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others = self.run("ls-files", &others, Vec::new()).await?;
        let mut fields = names(&changed);
        let (mut removed, mut present) = (Vec::new(), Vec::new());
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            if status == b"D" { &mut removed } else { &mut present }.push(path);
        }
        // A nested repository is listed with a trailing slash.
        present.extend(names(&others).map(|path| path.strip_suffix(b"/").unwrap_or(path)));
        self.update(&["--force-remove"], &removed).await?;
        self.update(&["--add", "--remove", "--replace"], &present).await
    }

    /// Adds these files.
    pub(super) async fn add(&self, paths: &[&str]) -> Result<(), WorkspaceError> {
        let paths: Vec<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
        self.update(&["--add"], &paths).await
    }

    /// Adds entries in the format of `update-index --index-info -z`.
    pub(super) async fn add_info(&self, info: &str) -> Result<(), WorkspaceError> {
        let args = ["update-index", "-z", "--index-info"];
        self.run("update-index", &args, info.as_bytes().to_vec()).await.map(drop)
    }

    /// Writes it as a tree. Fails if it has unresolved conflicts.
    pub(super) async fn write(&self) -> Result<String, WorkspaceError> {
        let written = self.run("write-tree", &["write-tree"], Vec::new()).await?;
        Ok(String::from_utf8_lossy(&written).trim().to_owned())
    }

    /// Clears assume-unchanged and skip-worktree: such files may have changed nevertheless. A file that is absent from the
    /// working tree has not.
    async fn clear_skip_flags(&self) -> Result<(), WorkspaceError> {
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

    /// Runs `update-index` for these paths. Fails if it skips one, whose content would be lost.
    async fn update(&self, options: &[&str], paths: &[&[u8]]) -> Result<(), WorkspaceError> {
        if paths.is_empty() {
            return Ok(());
        }
        let args = [&["update-index"], options, &["-z", "--stdin"]].concat();
        let input = paths.join(&0).into();
        let with = CallOptions { env: &self.env(), input, ..CallOptions::default() };
        let stderr = self.git.run_with("update-index", self.tree, &args, &with).await?.stderr;
        if stderr.contains(IGNORED) {
            return Err(WorkspaceError::Git { command: "update-index", repo: self.tree.to_owned(), stderr });
        }
        Ok(())
    }

    fn env(&self) -> [(&str, &str); 1] {
        [("GIT_INDEX_FILE", &self.name)]
    }

    async fn run(&self, command: &'static str, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, WorkspaceError> {
        let with = CallOptions { env: &self.env(), input: input.into(), ..CallOptions::default() };
        Ok(self.git.run_with(command, self.tree, args, &with).await?.stdout)
    }
}

/// The fields of a list with NUL terminators.
pub(super) fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

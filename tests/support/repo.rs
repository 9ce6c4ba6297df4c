//! A git repository of a test.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A repository with one commit.
pub(crate) struct Repo {
    path: PathBuf,
}

impl Repo {
    /// Creates a repository in a new folder.
    pub(crate) fn new(path: PathBuf) -> Self {
        fs::create_dir_all(&path).unwrap();
        let repo = Self { path };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.commit("README.md", "A repository.\n");
        repo
    }

    /// An existing repository.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Its path as text, for a configuration.
    pub(crate) fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Commits a file, and returns the repository.
    pub(crate) fn with(self, file: &str, text: &str) -> Self {
        self.commit(file, text);
        self
    }

    /// Commits a file.
    pub(crate) fn commit(&self, file: &str, text: &str) {
        fs::write(self.path.join(file), text).unwrap();
        self.git(&["add", file]);
        self.git(&["commit", "--quiet", "--message", file]);
    }

    /// The number of worktrees that git has a record of. `git worktree list` fails while another git removes the last of them.
    pub(crate) fn worktrees(&self) -> usize {
        let folders = [".git/worktrees", "worktrees"].map(|name| fs::read_dir(self.path.join(name)));
        folders.into_iter().flatten().map(Iterator::count).sum()
    }

    /// Runs git in the repository, and returns its output.
    #[expect(clippy::disallowed_methods, reason = "a test uses git as a person would")]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(&self.path)
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
            .args(args)
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}

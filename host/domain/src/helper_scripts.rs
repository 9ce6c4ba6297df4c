//! Helper scripts that agents may add to a repository for later tasks.

use std::fmt;

/// Whether agents may add helper scripts to a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelperScripts {
    /// The prompt forbids it.
    Forbidden,
    /// The prompt names the folder for them.
    Allowed {
        /// The folder.
        dir: RepoPath,
        /// If set, new files in the folder are committed after a run, with an entry in this file.
        log: Option<RepoPath>,
    },
}

/// A path inside a repository, separated by `/`. It points neither outside the repository nor into `.git`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoPath(String);

/// The text is not a valid path inside a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}: use a path inside the repository, such as \"tools/agent\"")]
pub struct InvalidRepoPath(&'static str);

impl TryFrom<String> for RepoPath {
    type Error = InvalidRepoPath;

    fn try_from(text: String) -> Result<Self, InvalidRepoPath> {
        let text = text.strip_suffix('/').map(str::to_owned).unwrap_or(text);
        if text.chars().any(|c| c.is_control() || c == '\\') {
            return Err(InvalidRepoPath("contains a backslash or a control character"));
        }
        for part in text.split('/') {
            match part {
                "" => return Err(InvalidRepoPath("is empty, absolute or has an empty part")),
                "." | ".." => return Err(InvalidRepoPath("contains `.` or `..`")),
                // Some file systems ignore case.
                _ if part.eq_ignore_ascii_case(".git") => return Err(InvalidRepoPath("points into `.git`")),
                _ => {}
            }
        }
        Ok(Self(text))
    }
}

impl RepoPath {
    /// The default folder for helper scripts.
    pub fn default_helpers_dir() -> Self {
        Self("tools/agent".to_owned())
    }

    /// The default log of committed helper scripts.
    pub fn default_log() -> Self {
        Self("AGENT_LOG.md".to_owned())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_outside_the_repository_or_into_git_is_refused() {
        for text in ["", "/", "/etc", "..", "a/../../b", "./a", "a//b", ".git/hooks", "a/.GIT", "a\\b", "a\nb", "a/.."]
        {
            assert!(RepoPath::try_from(text.to_owned()).is_err(), "{text:?}");
        }
        for text in ["tools", "tools/agent", "-x", ".github/tools", "a b", "log.md"] {
            assert_eq!(RepoPath::try_from(text.to_owned()).map(|path| path.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(RepoPath::try_from("tools/".to_owned()).unwrap().as_str(), "tools");
    }
}

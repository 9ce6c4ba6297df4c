//! What agents may leave in a repository for the tasks that come after theirs.

use std::fmt;

/// Whether agents may add small tools of their own to a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Helpers {
    /// They are told not to.
    Forbidden,
    /// They are told where to put them.
    Allowed {
        /// The folder for them.
        dir: RepoPath,
        /// Set if new files in it are committed after a run, with an entry in this file.
        log: Option<RepoPath>,
    },
}

/// A path inside a repository, with `/` between its parts: it leads neither out of it nor into git's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoPath(String);

/// Why a text is no path inside a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}: name a place inside the repository, such as \"tools/agent\"")]
pub struct NoRepoPath(&'static str);

impl TryFrom<String> for RepoPath {
    type Error = NoRepoPath;

    fn try_from(text: String) -> Result<Self, NoRepoPath> {
        let text = text.strip_suffix('/').map(str::to_owned).unwrap_or(text);
        if text.chars().any(|c| c.is_control() || c == '\\') {
            return Err(NoRepoPath("has a backslash or a control character in it"));
        }
        for part in text.split('/') {
            match part {
                "" => return Err(NoRepoPath("is empty, absolute or has an empty part")),
                "." | ".." => return Err(NoRepoPath("has a `.` or `..` in it")),
                // Some file systems take the one for the other.
                _ if part.eq_ignore_ascii_case(".git") => return Err(NoRepoPath("leads into git's own folder")),
                _ => {}
            }
        }
        Ok(Self(text))
    }
}

impl RepoPath {
    /// Where agents put their helpers if nothing else is said.
    pub fn of_helpers() -> Self {
        Self("tools/agent".to_owned())
    }

    /// The log of what was committed for them if nothing else is said.
    pub fn of_log() -> Self {
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
    fn a_path_that_leads_out_of_the_repository_or_into_git_is_none() {
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

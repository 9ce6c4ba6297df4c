//! One turn to run, with everything resolved: what a plugin gets to see.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the agent may do without asking a person. Nothing ever waits for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Look, change nothing.
    ReadOnly,
    /// Change files in the working directory.
    #[default]
    WorkspaceWrite,
    /// Everything the user may do.
    FullAccess,
}

/// Which stream of a process something came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamName {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The name of a run: sortable by time, safe in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(Uuid);

impl RunId {
    /// A new name.
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

/// A text is no name of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name of a run is 32 hexadecimal digits")]
pub struct NoRunId;

impl FromStr for RunId {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<Self, NoRunId> {
        let plain = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if !plain {
            return Err(NoRunId);
        }
        Uuid::try_parse(text).map(Self).map_err(|_| NoRunId)
    }
}

impl Turn {
    /// The bytes of what clients choose the length of, as they stand in JSON: so they come, and so most CLIs are given them.
    pub fn bytes(&self) -> u64 {
        let texts = [Some(&self.prompt), self.system.as_ref(), self.output_schema.as_ref()];
        texts.into_iter().flatten().flat_map(|text| text.bytes()).map(bytes_in_json).sum()
    }
}

fn bytes_in_json(byte: u8) -> u64 {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..=0x1f => 6,
        _ => 1,
    }
}

/// One turn to run. The fields mean what `record turn` of the contract says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// What is asked of the agent.
    pub prompt: String,
    /// System instructions, if the plugin takes them apart from the prompt.
    pub system: Option<String>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// What the agent may do without asking.
    pub permission: Permission,
    /// Absolute path of the directory the agent works in.
    pub workdir: String,
    /// Absolute paths of further directories it may use.
    pub extra_dirs: Vec<String>,
    /// The CLI's own id of the session to resume.
    pub session: Option<String>,
    /// JSON Schema which the answer must follow.
    pub output_schema: Option<String>,
    /// The client wants deltas as they come.
    pub partial: bool,
    /// Absolute path of the run's private folder.
    pub run_dir: String,
    /// Options of the model in the configuration.
    pub options: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_as_long_as_it_is_in_json() {
        for text in ["", "plain é 🦀", "\"quoted\" \\", "\n\r\t\u{8}\u{c}", "\0\u{1b}\u{1f}\u{7f}"] {
            let json = serde_json::to_string(text).unwrap().len() as u64 - 2;
            let system = Some(text.to_owned());
            assert_eq!(Turn { prompt: text.to_owned(), ..Turn::default() }.bytes(), json, "{text:?}");
            assert_eq!(Turn { system, ..Turn::default() }.bytes(), json, "{text:?}");
        }
    }
}

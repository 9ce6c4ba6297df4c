//! A turn of an agent with everything resolved, as a plugin receives it, and the id of its run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The agent's permissions. A run never waits for a person to approve anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Read files, change nothing.
    ReadOnly,
    /// Change files in the working directory.
    #[default]
    WorkspaceWrite,
    /// Do everything that the user may do.
    FullAccess,
}

/// An output stream of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamName {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The id of a run: sortable by time, safe in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(Uuid);

impl RunId {
    /// Creates a new id.
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

/// The text is not a valid run id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid run id: use 32 lower-case hexadecimal digits")]
pub struct InvalidRunId;

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let plain = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if !plain {
            return Err(InvalidRunId);
        }
        Uuid::try_parse(text).map(Self).map_err(|_| InvalidRunId)
    }
}

impl Turn {
    /// The length in JSON of the texts that clients choose. They arrive as JSON, and most CLIs receive them as JSON.
    pub fn json_len(&self) -> u64 {
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

/// A turn to run. The fields have the meaning of `record turn` in the contract.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// The task for the agent.
    pub prompt: String,
    /// System instructions, if the plugin accepts them separately from the prompt.
    pub system: Option<String>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The agent's permissions.
    pub permission: Permission,
    /// Absolute path of the agent's working directory.
    pub workdir: String,
    /// Absolute paths of additional directories that it may use.
    pub extra_dirs: Vec<String>,
    /// The CLI's own id of the session to resume.
    pub session: Option<String>,
    /// JSON Schema which the answer must follow.
    pub output_schema: Option<String>,
    /// Whether the client wants text while it is generated.
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
    fn the_length_of_a_turn_is_its_length_in_json() {
        for text in ["", "plain é 🦀", "\"quoted\" \\", "\n\r\t\u{8}\u{c}", "\0\u{1b}\u{1f}\u{7f}"] {
            let json = serde_json::to_string(text).unwrap().len() as u64 - 2;
            let system = Some(text.to_owned());
            assert_eq!(Turn { prompt: text.to_owned(), ..Turn::default() }.json_len(), json, "{text:?}");
            assert_eq!(Turn { system, ..Turn::default() }.json_len(), json, "{text:?}");
        }
    }
}

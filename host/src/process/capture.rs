//! A short command run to its end, with what it said.

use std::borrow::Cow;

use bytes::Bytes;

use super::child::{Child, Command, Sign};
use super::error::SpawnError;
use crate::domain::{ExitStatus, StreamName};

/// How a command ended and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// How it ended.
    pub status: ExitStatus,
    /// What it said on standard output.
    pub stdout: Vec<u8>,
    /// What it said on standard error, undecodable bytes replaced.
    pub stderr: String,
}

impl Captured {
    /// What it said on standard output, undecodable bytes replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }
}

/// Runs a command to its end with `input` on its standard input, and keeps `most` bytes of what it says on each stream.
///
/// # Errors
/// It cannot be started.
pub async fn capture(command: Command, input: impl Into<Bytes>, most: usize) -> Result<Captured, SpawnError> {
    let mut child = Child::spawn(command)?;
    child.write(input);
    child.close_input();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match child.next().await {
            Sign::Output(StreamName::Stdout, bytes) => keep(&mut stdout, &bytes, most),
            Sign::Output(StreamName::Stderr, bytes) => keep(&mut stderr, &bytes, most),
            Sign::Exited(status) => {
                let stderr = String::from_utf8_lossy(&stderr).into_owned();
                return Ok(Captured { status, stdout, stderr });
            }
        }
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let room = most.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

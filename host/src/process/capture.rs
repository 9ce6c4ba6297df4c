//! A short command run to its end, with what it said.

use super::child::{Child, Command, Sign};
use super::error::SpawnError;
use crate::domain::{ExitStatus, StreamName};

/// How a command ended and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// How it ended.
    pub status: ExitStatus,
    /// What it said on standard output, undecodable bytes replaced.
    pub stdout: String,
    /// What it said on standard error, undecodable bytes replaced.
    pub stderr: String,
}

/// How much is kept of what a command says on each stream.
const KEPT: usize = 1024 * 1024;

/// Runs a command to its end with nothing on its standard input.
///
/// # Errors
/// It cannot be started.
pub async fn capture(command: Command) -> Result<Captured, SpawnError> {
    let mut child = Child::spawn(command)?;
    child.close_input();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match child.next().await {
            Sign::Output(StreamName::Stdout, bytes) => keep(&mut stdout, &bytes),
            Sign::Output(StreamName::Stderr, bytes) => keep(&mut stderr, &bytes),
            Sign::Exited(status) => {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return Ok(Captured { status, stdout: text(stdout), stderr: text(stderr) });
            }
        }
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = KEPT.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

//! Starts a program whose file may be open for writing: an installer replaces the CLI, or the CLI updates itself.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::child::Child;
use super::command::Command;
use super::error::SpawnError;
use super::obstacle::Obstacle;

/// The wait between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Starts a process, and retries for at most `busy_timeout` while its file is being written to.
///
/// # Errors
/// See [`SpawnError`].
pub async fn start(command: Command, busy_timeout: Duration) -> Result<Child, SpawnError> {
    let since = Instant::now();
    loop {
        match Child::spawn(command.clone()) {
            Err(SpawnError::Refused { program, obstacle: Obstacle::Busy }) if since.elapsed() < busy_timeout => {
                tracing::info!(program = %program.display(), "the program is being written to: its start is retried");
                sleep(PAUSE).await;
            }
            started => return started,
        }
    }
}

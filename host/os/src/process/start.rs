//! The start of a program that may be written to at this moment: an installer replaces the CLI, or the CLI itself does.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::child::Child;
use super::command::Command;
use super::error::SpawnError;
use super::obstacle::Obstacle;

/// The wait between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// Starts a process, and tries it again for as long as `patience` while its file is being written to.
///
/// # Errors
/// See [`SpawnError`].
pub async fn start(command: Command, patience: Duration) -> Result<Child, SpawnError> {
    let since = Instant::now();
    loop {
        match Child::spawn(command.clone()) {
            Err(SpawnError::Refused { program, obstacle: Obstacle::Busy }) if since.elapsed() < patience => {
                tracing::info!(program = %program.display(), "the program is being written to, and is tried again");
                sleep(PAUSE).await;
            }
            started => return started,
        }
    }
}

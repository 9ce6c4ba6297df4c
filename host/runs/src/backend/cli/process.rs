//! A process that was started for a turn, from its start to its end.

use agentbay_os::process::Child;
use agentbay_workspace::RunDir;

/// A process that was started for a turn.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    /// Its state when its turn is over.
    pub(super) after: AfterTurn,
    /// Held until the process has ended, which may read from it.
    pub(super) _run_dir: RunDir,
}

/// The state of a process when its turn is over.
#[derive(Debug, Default)]
pub(super) struct AfterTurn {
    /// It has to end at once: nobody reads it any more.
    pub(super) is_unwanted: bool,
    /// The agent called a tool.
    pub(super) used_a_tool: bool,
    /// The last line of its standard error, or of the failure that it reported. For the log.
    pub(super) last_error: String,
}

impl Process {
    pub(super) fn new(child: Child, run_dir: RunDir) -> Self {
        Self { child, after: AfterTurn::default(), _run_dir: run_dir }
    }

    /// Waits for its end, or ends it.
    pub(super) async fn end(self) {
        let AfterTurn { is_unwanted, last_error, .. } = self.after;
        let exit = if is_unwanted { self.child.stop().await } else { self.child.finish().await };
        tracing::info!(%exit, last_error, "the CLI has ended");
    }
}

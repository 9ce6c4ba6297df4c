//! Many replays of one recorded run in parallel, at most one per processor, with the results in order.

use std::sync::Arc;
use std::thread::available_parallelism;

use agentbay_domain::{ExitStatus, Turn};
use agentbay_plugin_host::CallError;
use futures_util::{Stream, StreamExt, stream};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use super::chunking::at_most;
use super::corrupt::Corrupted;
use super::replay::{CallTimes, Replay, replay};
use super::subject::Subject;

/// The size of a piece, in bytes. Small pieces keep single calls short.
const PIECE: usize = 4096;

/// The result of replaying corrupted output.
pub(super) struct ReplayResult {
    /// A description of the corruption, for people.
    pub(super) how: String,
    /// No output is left.
    pub(super) is_silent: bool,
    pub(super) result: Result<(Replay, CallTimes), CallError>,
}

/// Replays each corrupted output in a fresh instance. The next one is produced when a processor is free.
pub(super) fn replay_all<'a>(
    subject: &'a Arc<Subject>,
    turn: &'a Turn,
    all: impl Iterator<Item = (Corrupted, ExitStatus)> + 'a,
) -> impl Stream<Item = ReplayResult> + 'a {
    let results = all.map(move |(Corrupted { how, reads }, exit)| {
        let (subject, turn, is_silent) = (Arc::clone(subject), turn.clone(), reads.is_empty());
        let task = async move { replay(&subject, &turn, &at_most(PIECE, &reads), exit).await };
        async move {
            let result = AbortOnDropHandle::new(Handle::current().spawn(task)).await;
            ReplayResult { how, is_silent, result: result.unwrap_or(Err(CallError::Unusable)) }
        }
    });
    stream::iter(results).buffered(available_parallelism().map_or(1, usize::from))
}

//! Many replays of one recorded run: as many at once as there are processors, told in the order in which they were wanted.

use std::sync::Arc;
use std::thread::available_parallelism;

use agentbay_domain::{ExitStatus, Turn};
use agentbay_plugin_host::CallError;
use futures_util::{Stream, StreamExt, stream};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use super::chunking::at_most;
use super::damage::Harmed;
use super::replay::{Replay, Spent, replay};
use super::subject::Subject;

/// The most bytes that are heard at once. A call that takes long would have to wait for its turn.
const PIECE: usize = 4096;

/// What came of output that was harmed.
pub(super) struct Played {
    /// What was done to it, for people.
    pub(super) how: String,
    /// There was no output left.
    pub(super) is_silent: bool,
    pub(super) told: Result<(Replay, Spent), CallError>,
}

/// Plays harmed output, each to a fresh instance. The next is made when a processor is free for it.
pub(super) fn play_all<'a>(
    subject: &'a Arc<Subject>,
    turn: &'a Turn,
    all: impl Iterator<Item = (Harmed, ExitStatus)> + 'a,
) -> impl Stream<Item = Played> + 'a {
    let played = all.map(move |(Harmed { how, reads }, exit)| {
        let (subject, turn, is_silent) = (Arc::clone(subject), turn.clone(), reads.is_empty());
        let play = async move { replay(&subject, &turn, &at_most(PIECE, &reads), exit).await };
        async move {
            let told = AbortOnDropHandle::new(Handle::current().spawn(play)).await;
            Played { how, is_silent, told: told.unwrap_or(Err(CallError::Gone)) }
        }
    });
    stream::iter(played).buffered(available_parallelism().map_or(1, usize::from))
}

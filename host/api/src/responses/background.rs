//! A run that continues without a client. Its events go to the log of the response, and its end into the store.

use agentbay_domain::HttpLimits;
use agentbay_runs::{BlockKind, Run};

use super::log::Log;
use super::store::{Content, Keep};
use super::stream::Events;
use crate::answer::{self, Encoder, End, Frames};
use crate::error::ApiError;

/// Carries a run out to its end.
pub(super) async fn run(run: Run, events: Events, log: Log, keep: Keep, limits: HttpLimits) {
    answer::without_client(run, Recorder { events, log, keep }, limits).await;
}

/// Records the frames of a stream instead of sending them.
struct Recorder {
    events: Events,
    log: Log,
    keep: Keep,
}

impl Recorder {
    fn record(&self, frames: &mut Frames) {
        self.log.add(frames.drain(..));
    }

    /// The response is complete: before its last event is read, it can be read and continued.
    fn end(&self, frames: &mut Frames) {
        let stored = self.keep.stored(self.events.response());
        self.keep.append_to_conversation(&stored);
        self.record(frames);
        self.log.end(stored);
        // Its size is known now. It is not stored again if it was deleted meanwhile.
        let id = &self.events.response().id;
        if self.keep.store.get(&self.keep.owner, id).is_some() {
            let content = Content::Background(self.log.clone());
            self.keep.store.put(self.keep.owner, id.clone(), content, self.keep.limits);
        }
    }
}

impl Encoder for Recorder {
    fn start(&mut self, frames: &mut Frames) {
        self.events.start(frames);
        self.record(frames);
    }

    fn open(&mut self, kind: BlockKind, frames: &mut Frames) {
        self.events.open(kind, frames);
        self.record(frames);
    }

    fn add(&mut self, kind: BlockKind, text: &str, frames: &mut Frames) {
        self.events.add(kind, text, frames);
        self.record(frames);
    }

    fn close(&mut self, kind: BlockKind, frames: &mut Frames) {
        self.events.close(kind, frames);
        self.record(frames);
    }

    fn finish(&mut self, end: End, frames: &mut Frames) {
        self.events.finish(end, frames);
        self.end(frames);
    }

    fn fail(&mut self, error: &ApiError, frames: &mut Frames) {
        if self.log.is_cancelled() {
            self.events.cancel(frames);
        } else {
            self.events.fail(error, frames);
        }
        self.end(frames);
    }

    fn kept(&self) -> u64 {
        self.events.kept()
    }

    /// Those who read the log are kept alive by its reader.
    fn keep_alive(&mut self, _frames: &mut Frames) {}
}

//! The events of a streamed response.

use agentbay_runs::BlockKind;
use agentbay_wire::responses::{Body, Event, Response, WireUsage};
use axum::body::Bytes;

use super::{now, open, response_error};
use crate::answer::{Encoder, End, Frames};
use crate::error::ApiError;
use crate::sse;

/// Encodes an answer as events.
pub(super) struct Events {
    response: Response,
    numbers: Numbers,
    /// The bytes of the output.
    length: u64,
}

/// Numbers the events.
#[derive(Default)]
struct Numbers(u64);

impl Events {
    pub(super) fn new(response: Response) -> Self {
        Self { response, numbers: Numbers::default(), length: 0 }
    }
}

impl Numbers {
    fn event(&mut self, (kind, body): (&'static str, Body<'_>)) -> Bytes {
        let event = Event { kind, sequence_number: self.0, body };
        self.0 += 1;
        sse::event(kind, &serde_json::to_string(&event).unwrap_or_default())
    }
}

impl Encoder for Events {
    fn start(&mut self, frames: &mut Frames) {
        frames.extend(self.response.started().map(|event| self.numbers.event(event)));
    }

    fn open(&mut self, kind: BlockKind, frames: &mut Frames) {
        open(&mut self.response, kind);
        frames.extend(self.response.opened().into_iter().flatten().map(|event| self.numbers.event(event)));
    }

    fn add(&mut self, _kind: BlockKind, text: &str, frames: &mut Frames) {
        self.length += text.len() as u64;
        self.response.add(text);
        frames.extend(self.response.added(text).map(|event| self.numbers.event(event)));
    }

    fn close(&mut self, _kind: BlockKind, frames: &mut Frames) {
        self.response.close();
        frames.extend(self.response.closed().into_iter().flatten().map(|event| self.numbers.event(event)));
    }

    fn finish(&mut self, end: End, frames: &mut Frames) {
        self.response.finish(&end.stop, WireUsage::of(end.usage, end.usage_estimated), now());
        frames.push_back(self.numbers.event(self.response.ended()));
    }

    fn fail(&mut self, error: &ApiError, frames: &mut Frames) {
        self.response.fail(Some(response_error(error)));
        frames.push_back(self.numbers.event(self.response.ended()));
    }

    fn kept(&self) -> u64 {
        self.length
    }

    /// A comment would not reset the timer of Codex.
    fn keep_alive(&mut self, frames: &mut Frames) {
        frames.push_back(self.numbers.event(("keepalive", Body::Nothing {})));
    }

    fn remark(&mut self, text: &str, frames: &mut Frames) {
        frames.push_back(sse::comment(text));
    }
}

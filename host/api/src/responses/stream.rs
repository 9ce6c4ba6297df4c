//! The events of a streamed response.

use agentbay_runs::BlockKind;
use agentbay_wire::responses::{Body, Event, Response, WireUsage};
use axum::body::Bytes;

use super::store::Keep;
use super::{now, open, response_error};
use crate::answer::{Encoder, End, Frames};
use crate::error::ApiError;
use crate::sse;

/// Encodes an answer as events.
pub(super) struct Events {
    response: Response,
    /// What is done with it at its end.
    keep: Option<Keep>,
    numbers: Numbers,
    /// The bytes of the output.
    length: u64,
}

/// Numbers the events.
#[derive(Default)]
struct Numbers(u64);

impl Events {
    pub(super) fn new(response: Response, keep: Option<Keep>) -> Self {
        Self { response, keep, numbers: Numbers::default(), length: 0 }
    }

    pub(super) fn response(&self) -> &Response {
        &self.response
    }

    /// The last event of a response that a client has cancelled.
    pub(super) fn cancel(&mut self, frames: &mut Frames) {
        self.response.fail(None);
        self.end(frames);
    }

    /// The response is complete: before its last event is sent, it can be read and continued.
    fn end(&mut self, frames: &mut Frames) {
        if let Some(keep) = &self.keep {
            keep.save(&self.response);
        }
        frames.push_back(self.numbers.event(self.response.ended()));
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
        self.end(frames);
    }

    fn fail(&mut self, error: &ApiError, frames: &mut Frames) {
        self.response.fail(Some(response_error(error)));
        self.end(frames);
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

//! The events of a streamed answer.

use agentbay_domain::Usage;
use agentbay_runs::BlockKind;
use agentbay_wire::messages::{Call, Content, Delta, Event, Message, MessageMeta, Stop, WireUsage};
use axum::body::Bytes;

use crate::answer::{Encoder, End, Frames};
use crate::error::ApiError;
use crate::sse;
use crate::surface::Surface;

/// Encodes an answer as events.
pub(super) struct Events {
    meta: MessageMeta,
    call: Option<Call>,
    thinking: bool,
    input_tokens: u64,
    /// The position of the open block, or of the next one.
    index: u32,
}

impl Events {
    /// The events of a message, whose text may be the arguments of a call. Its reasoning is left out without `thinking`. The tokens
    /// of the request are an estimate.
    pub(super) fn new(meta: MessageMeta, call: Option<Call>, thinking: bool, input_tokens: u64) -> Self {
        Self { meta, call, thinking, input_tokens, index: 0 }
    }
}

impl Encoder for Events {
    fn shows(&self, kind: BlockKind) -> bool {
        kind == BlockKind::Text || self.thinking
    }

    fn start(&mut self, frames: &mut Frames) {
        let usage = WireUsage::of(Usage { input: self.input_tokens, ..Usage::default() }, true);
        let message = Message::new(self.meta.clone(), Vec::new(), Stop::default(), usage);
        frames.push_back(frame(&Event::MessageStart { message }));
    }

    fn open(&mut self, kind: BlockKind, frames: &mut Frames) {
        let content_block = match (kind, &self.call) {
            (BlockKind::Text, None) => Content::Text { text: String::new() },
            (BlockKind::Text, Some(call)) => call.begin(),
            (BlockKind::Reasoning, _) => Content::Thinking { thinking: String::new(), signature: "" },
        };
        frames.push_back(frame(&Event::ContentBlockStart { index: self.index, content_block }));
    }

    fn add(&mut self, kind: BlockKind, text: &str, frames: &mut Frames) {
        let delta = match (kind, &self.call) {
            (BlockKind::Text, None) => Delta::TextDelta { text },
            (BlockKind::Text, Some(_)) => Delta::InputJsonDelta { partial_json: text },
            (BlockKind::Reasoning, _) => Delta::ThinkingDelta { thinking: text },
        };
        frames.push_back(frame(&Event::ContentBlockDelta { index: self.index, delta }));
    }

    fn close(&mut self, kind: BlockKind, frames: &mut Frames) {
        if kind == BlockKind::Reasoning {
            frames.push_back(frame(&Event::ContentBlockDelta { index: self.index, delta: Delta::signature() }));
        }
        frames.push_back(frame(&Event::ContentBlockStop { index: self.index }));
        self.index += 1;
    }

    fn finish(&mut self, end: End, frames: &mut Frames) {
        let usage = WireUsage::of(end.usage, end.usage_estimated);
        frames.push_back(frame(&Event::MessageDelta { delta: Stop::of(&end.stop, self.call.is_some()), usage }));
        frames.push_back(frame(&Event::MessageStop));
    }

    fn fail(&mut self, error: &ApiError, frames: &mut Frames) {
        frames.push_back(sse::event("error", &error.to_json_of(Surface::Anthropic, None)));
    }

    fn keep_alive(&mut self, frames: &mut Frames) {
        frames.push_back(frame(&Event::Ping));
    }

    fn remark(&mut self, text: &str, frames: &mut Frames) {
        frames.push_back(sse::comment(text));
    }
}

fn frame(event: &Event<'_>) -> Bytes {
    sse::event(event.name(), &serde_json::to_string(event).unwrap_or_default())
}

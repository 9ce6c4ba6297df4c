//! The events of a streamed message.

use serde::Serialize;

use super::answer::{Content, Message, SIGNATURE, Stop, WireUsage};

/// An event. Clients ignore events without their name.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The message begins.
    MessageStart {
        /// It has no content and no end.
        message: Message,
    },
    /// The run is silent.
    Ping,
    /// A block begins.
    ContentBlockStart {
        /// Its position in the message.
        index: u32,
        /// It is empty.
        content_block: Content,
    },
    /// The open block grows.
    ContentBlockDelta {
        /// Its position in the message.
        index: u32,
        /// Its growth.
        delta: Delta<'a>,
    },
    /// A block ends.
    ContentBlockStop {
        /// Its position in the message.
        index: u32,
    },
    /// The content is complete.
    MessageDelta {
        /// Why the answer ended.
        delta: Stop,
        /// The usage of the whole answer.
        usage: WireUsage,
    },
    /// The message is complete.
    MessageStop,
}

/// The growth of a block.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta<'a> {
    /// Of text.
    TextDelta {
        /// The new text.
        text: &'a str,
    },
    /// Of reasoning.
    ThinkingDelta {
        /// The new text.
        thinking: &'a str,
    },
    /// Of the arguments of a call.
    InputJsonDelta {
        /// A part of the JSON.
        partial_json: &'a str,
    },
    /// The end of reasoning.
    SignatureDelta {
        /// Never empty.
        signature: &'static str,
    },
}

impl Event<'_> {
    /// The name of the event.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::Ping => "ping",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
        }
    }
}

impl Delta<'_> {
    /// The signature of a block of reasoning.
    pub fn signature() -> Self {
        Self::SignatureDelta { signature: SIGNATURE }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{StopReason, Usage};

    use super::*;
    use crate::messages::MessageMeta;

    #[test]
    fn the_name_of_each_event_is_its_type() {
        let usage = WireUsage::of(Usage::default(), false);
        let meta = MessageMeta { id: String::new(), model: String::new() };
        let text = || Content::Text { text: String::new() };
        for event in [
            Event::MessageStart { message: Message::new(meta, Vec::new(), Stop::default(), usage) },
            Event::Ping,
            Event::ContentBlockStart { index: 0, content_block: text() },
            Event::ContentBlockDelta { index: 0, delta: Delta::signature() },
            Event::ContentBlockStop { index: 0 },
            Event::MessageDelta { delta: Stop::of(&StopReason::EndTurn, false), usage },
            Event::MessageStop,
        ] {
            assert_eq!(serde_json::to_value(&event).unwrap()["type"], event.name());
        }
    }
}

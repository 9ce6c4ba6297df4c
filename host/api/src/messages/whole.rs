//! The body of an answer that is not streamed.

use agentbay_runs::{BlockKind, Joined};
use agentbay_wire::messages::{Content, Message, MessageMeta, Stop, WireUsage};

use crate::answer::{Finished, WholeEncoder};
use crate::surface::Surface;

/// Encodes an answer as a message.
pub(super) struct WholeMessage {
    pub(super) meta: MessageMeta,
    /// Whether the message has the reasoning.
    pub(super) thinking: bool,
}

impl WholeEncoder for WholeMessage {
    const SURFACE: Surface = Surface::Anthropic;
    type Body = Message;

    fn encode(self, finished: Finished) -> Message {
        let Finished { blocks, end } = if self.thinking { finished } else { finished.without_reasoning() };
        let content = blocks.into_iter().map(|Joined { kind, text }| match kind {
            BlockKind::Text => Content::Text { text },
            BlockKind::Reasoning => Content::thinking(text),
        });
        let usage = WireUsage::of(end.usage, end.usage_estimated);
        Message::new(self.meta, content.collect(), Stop::from(&end.stop), usage)
    }
}

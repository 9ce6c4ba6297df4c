//! The body of an answer that is not streamed.

use agentbay_runs::{BlockKind, Joined};
use agentbay_wire::messages::{Call, Content, Message, MessageMeta, Stop, WireUsage};

use crate::answer::{Finished, WholeEncoder};
use crate::surface::Surface;

/// Encodes an answer as a message.
pub(super) struct WholeMessage {
    pub(super) meta: MessageMeta,
    /// The call whose arguments the text is.
    pub(super) call: Option<Call>,
    /// Whether the message has the reasoning.
    pub(super) thinking: bool,
}

impl WholeEncoder for WholeMessage {
    const SURFACE: Surface = Surface::Anthropic;
    type Body = Message;

    fn encode(self, finished: Finished) -> Message {
        let Finished { blocks, end } = if self.thinking { finished } else { finished.without_reasoning() };
        let call = self.call;
        let content = blocks.into_iter().map(|Joined { kind, text }| match (kind, &call) {
            (BlockKind::Text, None) => Content::Text { text },
            (BlockKind::Text, Some(call)) => call.clone().with(text),
            (BlockKind::Reasoning, _) => Content::thinking(text),
        });
        let usage = WireUsage::of(end.usage, end.usage_estimated);
        let content = content.collect();
        Message::new(self.meta, content, Stop::of(&end.stop, call.is_some()), usage)
    }
}

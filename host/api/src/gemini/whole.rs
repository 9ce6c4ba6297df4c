//! The body of an answer that is not streamed.

use std::borrow::Cow;

use agentbay_runs::BlockKind;
use agentbay_wire::gemini::{AnswerMeta, GenerateResponse, Part, UsageMetadata};

use crate::answer::{Finished, WholeEncoder};
use crate::surface::Surface;

/// Encodes a whole answer.
pub(super) struct Whole {
    pub(super) meta: AnswerMeta,
    /// The answer includes the reasoning.
    pub(super) thoughts: bool,
}

impl WholeEncoder for Whole {
    const SURFACE: Surface = Surface::Gemini;
    type Body = GenerateResponse<'static>;

    fn encode(self, finished: Finished) -> Self::Body {
        let Finished { blocks, end } = finished;
        let mut kept = blocks.into_iter().filter(|block| self.thoughts || block.kind == BlockKind::Text).peekable();
        let mut parts = Vec::new();
        while let Some(mut block) = kept.next() {
            // Texts around reasoning that is left out are one text, as clients see it in a stream.
            while let Some(next) = kept.next_if(|next| next.kind == block.kind) {
                block.text.push_str(&next.text);
            }
            parts.push(match block.kind {
                BlockKind::Text => Part::text(block.text),
                BlockKind::Reasoning => Part::thought(block.text),
            });
        }
        let usage = UsageMetadata::of(end.usage, end.usage_estimated);
        GenerateResponse::last(Cow::Owned(self.meta), parts, &end.stop, usage)
    }
}

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
        let finished = if self.thoughts { finished } else { finished.without_reasoning() };
        let Finished { blocks, end } = finished;
        let parts = blocks.into_iter().map(|block| match block.kind {
            BlockKind::Text => Part::text(block.text),
            BlockKind::Reasoning => Part::thought(block.text),
        });
        let usage = UsageMetadata::of(end.usage, end.usage_estimated);
        GenerateResponse::last(Cow::Owned(self.meta), parts.collect(), &end.stop, usage)
    }
}

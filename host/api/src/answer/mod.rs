//! Answers of runs, in the format of a surface: `stream` sends them while they are made, `whole` at the end.
//!
//! What differs between surfaces is an [`Encoder`] or an [`encode`](WholeEncoder::encode) function of each; what all share is
//! here: the wait for the first output, keep-alives, headers, blocks, errors.

mod stream;
mod whole;

use std::collections::VecDeque;

use agentbay_domain::{Category, Failure, StopReason, Usage};
use agentbay_runs::{BlockKind, Joined};
use axum::body::Bytes;
use serde::Serialize;

use super::error::ApiError;
use super::surface::Surface;

pub(super) use stream::{stream, without_client};
pub(super) use whole::whole;

/// Pieces of a streamed body that are ready to be sent.
pub(super) type Frames = VecDeque<Bytes>;

/// The end of a successful run.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// Why the agent stopped.
    pub(super) stop: StopReason,
    /// Tokens used.
    pub(super) usage: Usage,
    /// The usage is an estimate.
    pub(super) usage_estimated: bool,
}

/// A whole answer.
#[derive(Debug)]
pub(super) struct Finished {
    /// Its blocks, in order. No two neighbours are of one kind.
    pub(super) blocks: Vec<Joined>,
    /// Its end.
    pub(super) end: End,
}

impl Finished {
    /// The answer with its text alone, which is one block.
    pub(super) fn without_reasoning(self) -> Self {
        let mut texts = self.blocks.into_iter().filter(|block| block.kind == BlockKind::Text);
        let blocks = texts.next().map(|mut first| {
            texts.for_each(|more| first.text.push_str(&more.text));
            first
        });
        Self { blocks: blocks.into_iter().collect(), end: self.end }
    }
}

/// Makes the frames of a streamed answer. One block is open at a time; the blocks are those of the whole answer.
pub(super) trait Encoder: Send + 'static {
    /// Whether the answer has blocks of this kind. The blocks around a hidden one are one block.
    fn shows(&self, _kind: BlockKind) -> bool {
        true
    }
    /// The answer begins; there is no output yet.
    fn start(&mut self, frames: &mut Frames);
    /// A block begins.
    fn open(&mut self, _kind: BlockKind, _frames: &mut Frames) {}
    /// The open block grows; the text is never empty.
    fn add(&mut self, kind: BlockKind, text: &str, frames: &mut Frames);
    /// The open block ends.
    fn close(&mut self, _kind: BlockKind, _frames: &mut Frames) {}
    /// The answer is complete.
    fn finish(&mut self, end: End, frames: &mut Frames);
    /// The run failed after the headers were sent. The open block was not closed.
    fn fail(&mut self, error: &ApiError, frames: &mut Frames);
    /// The run is silent.
    fn keep_alive(&mut self, frames: &mut Frames);
    /// The bytes of the answer that it keeps for the end. A run whose answer becomes too long for `limits.answer_buffer` ends.
    fn kept(&self) -> u64 {
        0
    }
    /// A remark for a person who reads the stream, where the format has a place for it.
    fn remark(&mut self, _text: &str, _frames: &mut Frames) {}
}

/// The failure of a run whose answer does not fit into the memory that it may take.
fn too_long(limit: u64, instead: &str) -> Failure {
    let message =
        format!("the answer is longer than {limit} bytes: {instead}raise `limits.answer_buffer` in proxy.toml");
    Failure::new(Category::Unknown, message, "")
}

/// Makes the body of a whole answer.
pub(super) trait WholeEncoder: Send + 'static {
    /// The surface, whose form an error has that comes after the headers.
    const SURFACE: Surface;
    /// The body.
    type Body: Serialize;

    /// Encodes the answer.
    fn encode(self, finished: Finished) -> Self::Body;
}

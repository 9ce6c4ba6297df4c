//! The delivery of the replies of an attempt, from any backend to the feed, as the client asked for the answer: `shape` does
//! it, by `text_end` for where the text ends and `check` for its format.

mod check;
mod schema_loop;
mod shape;
mod strict;
mod text_end;

use std::sync::Arc;

use agentbay_domain::{Ask, Category, Failure, Outcome, Reply};
use tokio::task::spawn_blocking;

pub(crate) use check::FormatCheck;
pub use check::InvalidSchema;
use shape::Shape;

use crate::feed::Writer;
use crate::step::Step;

/// The end of an answer.
#[derive(Debug)]
pub(crate) struct Delivered {
    /// The replies that are still to be sent.
    pub(crate) rest: Vec<Reply>,
    /// The outcome for the client.
    pub(crate) outcome: Outcome,
    /// The characters of the text, if it was ended early.
    pub(crate) cut_chars: Option<usize>,
}

/// Delivers the replies of one attempt.
#[derive(Debug)]
pub(crate) struct Delivery<'a> {
    writer: &'a Writer,
    /// `None` if the client asked for nothing: the replies are sent unchanged.
    shape: Option<Shape>,
}

impl<'a> Delivery<'a> {
    /// A delivery to a feed. Text that has to be checked takes at most `limit` bytes.
    pub(crate) fn new(writer: &'a Writer, ask: &Ask, check: Option<Arc<FormatCheck>>, limit: u64) -> Self {
        let plain = check.is_none() && ask.stop.is_empty() && ask.max_output.is_none();
        Self { writer, shape: (!plain).then(|| Shape::new(ask, check, limit)) }
    }

    /// Delivers a reply.
    pub(crate) async fn send(&mut self, reply: Reply) {
        match &mut self.shape {
            None => self.writer.send(Step::Reply(reply)).await,
            Some(shape) => {
                for reply in shape.push(reply) {
                    self.writer.send(Step::Reply(reply)).await;
                }
            }
        }
    }

    /// Returns whether the answer cannot be delivered any more, so that the backend can stop. An agent whose text is complete
    /// works on: most clients set a maximum that no work of an agent has in mind.
    pub(crate) fn has_failed(&self) -> bool {
        self.shape.as_ref().is_some_and(Shape::is_too_long)
    }

    /// Ends the delivery.
    pub(crate) async fn finish(self, outcome: Outcome) -> Delivered {
        match self.shape {
            None => Delivered { rest: Vec::new(), outcome, cut_chars: None },
            Some(shape) if shape.has_format() => {
                let checked = spawn_blocking(move || shape.finish(outcome)).await;
                checked.unwrap_or_else(|lost| {
                    let failure =
                        Failure::new(Category::Unknown, "the answer was lost during its check", lost.to_string());
                    Delivered { rest: Vec::new(), outcome: failure.into(), cut_chars: None }
                })
            }
            Some(shape) => shape.finish(outcome),
        }
    }
}

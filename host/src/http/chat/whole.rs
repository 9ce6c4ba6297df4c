//! An answer in one piece.

use axum::Json;
use axum::response::{IntoResponse, Response};

use super::paragraphs::Paragraphs;
use super::wire::{AnswerMessage, Choice, Completion, Heading, finish_reason};
use crate::domain::{Category, Event, Failure, Outcome};
use crate::http::error::ApiError;
use crate::run::{Ended, Run, Step};

/// Waits for the run to end, and answers. If the client goes away, the run goes with it.
pub(super) async fn answer(mut run: Run, heading: Heading) -> Result<Response, ApiError> {
    let mut said = Said::default();
    while let Some(step) = run.next().await {
        match step {
            Step::Event(event) => said.add(&event),
            Step::Ended(ended) => return said.into_completion(heading, ended),
        }
    }
    Err(Failure::new(Category::Unknown, "the run was lost", "").into())
}

/// What the agent has said.
#[derive(Debug, Default)]
struct Said {
    paragraphs: Paragraphs,
    content: String,
    reasoning: String,
}

impl Said {
    fn add(&mut self, event: &Event) {
        match event {
            Event::Text(text) => {
                self.content += self.paragraphs.before(text);
                self.content += text;
            }
            Event::TextBreak => self.paragraphs.part(),
            Event::Reasoning(text) => self.reasoning += text,
            Event::ToolCall(_)
            | Event::ToolResult(_)
            | Event::Session(_)
            | Event::Usage(_)
            | Event::Notice(_)
            | Event::Reply(_)
            | Event::EndInput
            | Event::Done(_)
            | Event::Extra(_) => {}
        }
    }

    fn into_completion(self, heading: Heading, ended: Ended) -> Result<Response, ApiError> {
        let (stop, answer) = match ended.outcome {
            Outcome::Finished { stop, answer } => (stop, answer),
            Outcome::Failed { failure, .. } => return Err(failure.into()),
        };
        let content = if self.paragraphs.spoken() { self.content } else { answer.unwrap_or_default() };
        let message = AnswerMessage { role: "assistant", content, refusal: (), reasoning_content: self.reasoning };
        let choice = Choice { index: 0, message, logprobs: (), finish_reason: finish_reason(stop) };
        let usage = ended.usage.into();
        let completion = Completion { heading, object: "chat.completion", choices: [choice], usage };
        Ok(Json(completion).into_response())
    }
}

//! An answer in one piece.

use agentbay_domain::{Category, Failure, Outcome};
use agentbay_runs::{Answer, Ended, Run, Step};
use agentbay_wire::chat::{AnswerMessage, Choice, Completion, Heading, WireUsage, finish_reason};
use axum::Json;
use axum::response::{IntoResponse, Response};
use tokio::task::spawn_blocking;

use crate::error::ApiError;
use crate::head::Head;

/// Bytes of an answer of which a millisecond may be spent on writing it.
const LONG: u64 = 256 * 1024;

/// Waits for the run to end, and answers. If the client goes away, the run goes with it.
pub(super) async fn answer(mut run: Run, heading: Heading) -> Response {
    let mut said = Said::default();
    loop {
        let step = run.next().await;
        said.head.hear(&step);
        match step {
            Step::Reply(reply) => said.answer.add(reply),
            // Of a try that failed nothing was part of an answer.
            Step::Trying { .. } | Step::Session(_) | Step::Failed(_) | Step::PluginFailed(_) => {}
            Step::Ended(ended) => return said.written(heading, ended).await,
        }
        if said.length() > run.unread() {
            return said.too_long(run.unread());
        }
    }
}

/// What the agent has said.
#[derive(Debug, Default)]
struct Said {
    answer: Answer,
    head: Head,
}

impl Said {
    /// The answer, written as JSON in one go: off the threads that serve if that takes long.
    async fn written(self, heading: Heading, ended: Ended) -> Response {
        if self.length().max(ended.outcome.text_len() as u64) < LONG {
            return self.into_answer(heading, ended);
        }
        let written = spawn_blocking(move || self.into_answer(heading, ended)).await;
        written.unwrap_or_else(|lost| {
            let failure = Failure::new(Category::Unknown, "the answer was lost while it was written", lost.to_string());
            ApiError::from(failure).into_response()
        })
    }

    fn into_answer(self, heading: Heading, ended: Ended) -> Response {
        let head = self.head.clone();
        let mut response = match self.into_completion(heading, ended) {
            Ok(completion) => Json(completion).into_response(),
            Err(failed) => failed.into_response(),
        };
        head.tell(response.headers_mut());
        response
    }

    fn length(&self) -> u64 {
        (self.answer.content.len() + self.answer.reasoning.len()) as u64
    }

    fn too_long(self, most: u64) -> Response {
        let message =
            format!("the answer is longer than {most} bytes: have it streamed, or raise `limits.unread` in proxy.toml");
        let failed = ApiError::from(Failure::new(Category::Unknown, message, ""));
        let mut response = failed.with_partial(Some(self.answer.content)).into_response();
        self.head.tell(response.headers_mut());
        response
    }

    fn into_completion(self, heading: Heading, ended: Ended) -> Result<Completion, ApiError> {
        let Answer { content, reasoning, .. } = self.answer;
        let (stop, answer) = match ended.outcome {
            Outcome::Finished { stop, answer } => (stop, answer),
            Outcome::Failed { failure, answer } => {
                let partial = if content.is_empty() { answer } else { Some(content) };
                return Err(ApiError::from(failure).with_partial(partial));
            }
        };
        let content = if content.is_empty() { answer.unwrap_or_default() } else { content };
        let message = AnswerMessage { role: "assistant", content, refusal: (), reasoning_content: reasoning };
        let choice = Choice { index: 0, message, logprobs: (), finish_reason: finish_reason(stop) };
        let usage = WireUsage::of(ended.usage, ended.usage_estimated);
        Ok(Completion { heading, object: "chat.completion", choices: [choice], usage })
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Part, Reply};
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_run_that_is_lost_is_an_error_with_what_there_was() {
        let heading = Heading { id: "i".to_owned(), created: 0, model: "m".to_owned() };
        let part = Part::Text { continues: false };
        let half = [Reply::Opened { at: 0, part }, Reply::Added { at: 0, text: "half".to_owned() }];
        let run = Run::lost_after(half.map(Step::Reply)).await;
        let (head, body) = answer(run, heading).await.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        assert_eq!(head.status, 500);
        assert!(body.contains("the run was lost") && body.contains("\"partial\":\"half\""), "{body}");
    }
}

//! An answer that is not streamed.

use agentbay_domain::{Category, Failure, Outcome};
use agentbay_runs::{Answer, Ended, Run, Step};
use agentbay_wire::chat::{AnswerMessage, Choice, Completion, CompletionMeta, WireUsage, finish_reason};
use axum::Json;
use axum::response::{IntoResponse, Response};
use tokio::task::spawn_blocking;

use crate::error::ApiError;
use crate::run_headers::RunHeaders;

/// Bytes of an answer that serializes within about a millisecond.
const LONG: u64 = 256 * 1024;

/// Waits for the end of the run, and answers. A client that disconnects ends the run.
pub(super) async fn answer(mut run: Run, meta: CompletionMeta) -> Response {
    let mut buffer = AnswerBuffer::default();
    loop {
        let step = run.next().await;
        buffer.headers.observe(&step);
        match step {
            Step::Reply(reply) => buffer.answer.add(reply),
            // A failed attempt has sent nothing of an answer.
            Step::Trying { .. } | Step::Session(_) | Step::Failed(_) | Step::PluginFailed(_) => {}
            Step::Ended(ended) => return buffer.respond(meta, ended).await,
        }
        if buffer.length() > run.answer_buffer() {
            return buffer.too_long(run.answer_buffer());
        }
    }
}

/// The output of the agent so far.
#[derive(Debug, Default)]
struct AnswerBuffer {
    answer: Answer,
    headers: RunHeaders,
}

impl AnswerBuffer {
    /// Serializes the answer: a long one on a thread that serves no requests.
    async fn respond(self, meta: CompletionMeta, ended: Ended) -> Response {
        if self.length().max(ended.outcome.text_len() as u64) < LONG {
            return self.into_answer(meta, ended);
        }
        let response = spawn_blocking(move || self.into_answer(meta, ended)).await;
        response.unwrap_or_else(|lost| {
            let failure =
                Failure::new(Category::Unknown, "the answer was lost during its serialization", lost.to_string());
            ApiError::from(failure).into_response()
        })
    }

    fn into_answer(self, meta: CompletionMeta, ended: Ended) -> Response {
        let headers = self.headers.clone();
        let mut response = match self.into_completion(meta, ended) {
            Ok(completion) => Json(completion).into_response(),
            Err(failed) => failed.into_response(),
        };
        headers.apply(response.headers_mut());
        response
    }

    fn length(&self) -> u64 {
        (self.answer.content.len() + self.answer.reasoning.len()) as u64
    }

    fn too_long(self, limit: u64) -> Response {
        let message = format!(
            "the answer is longer than {limit} bytes: request it with `\"stream\": true`, or raise `limits.answer_buffer` in proxy.toml"
        );
        let failed = ApiError::from(Failure::new(Category::Unknown, message, ""));
        let mut response = failed.with_partial(Some(self.answer.content)).into_response();
        self.headers.apply(response.headers_mut());
        response
    }

    fn into_completion(self, meta: CompletionMeta, ended: Ended) -> Result<Completion, ApiError> {
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
        Ok(Completion { meta, object: "chat.completion", choices: [choice], usage })
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Part, Reply};
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_run_that_is_lost_is_an_error_with_the_partial_answer() {
        let meta = CompletionMeta { id: "i".to_owned(), created: 0, model: "m".to_owned() };
        let part = Part::Text { continues: false };
        let half = [Reply::Opened { at: 0, part }, Reply::Added { at: 0, text: "half".to_owned() }];
        let run = Run::lost_after(half.map(Step::Reply)).await;
        let (head, body) = answer(run, meta).await.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        assert_eq!(head.status, 500);
        assert!(body.contains("the run was lost") && body.contains("\"partial\":\"half\""), "{body}");
    }
}

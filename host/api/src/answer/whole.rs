//! An answer that is not streamed.

use agentbay_domain::{Category, Failure, Outcome};
use agentbay_runs::{Answer, BlockKind, Ended, Run, Step};
use axum::Json;
use axum::response::{IntoResponse, Response};
use tokio::task::spawn_blocking;

use super::{End, Finished, WholeEncoder, too_long};
use crate::error::ApiError;
use crate::run_headers::RunHeaders;

/// Bytes of an answer that serializes within about a millisecond.
const LONG: u64 = 256 * 1024;

/// Waits for the end of the run, and answers. A client that disconnects ends the run.
pub(crate) async fn whole(mut run: Run, encoder: impl WholeEncoder) -> Response {
    let mut buffer = AnswerBuffer::default();
    loop {
        let step = run.next().await;
        buffer.headers.observe(&step);
        match step {
            Step::Reply(reply) => buffer.answer.add(reply),
            // A failed attempt has sent nothing of an answer.
            Step::Trying { .. } | Step::Session(_) | Step::Failed(_) | Step::PluginFailed(_) => {}
            Step::Ended(ended) => return buffer.respond(encoder, ended).await,
        }
        if buffer.answer.length() > run.answer_buffer() {
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
    async fn respond(self, encoder: impl WholeEncoder, ended: Ended) -> Response {
        if self.answer.length().max(ended.outcome.text_len() as u64) < LONG {
            return self.into_response(encoder, ended);
        }
        let response = spawn_blocking(move || self.into_response(encoder, ended)).await;
        response.unwrap_or_else(|lost| {
            let failure =
                Failure::new(Category::Unknown, "the answer was lost during its serialization", lost.to_string());
            ApiError::from(failure).into_response()
        })
    }

    fn into_response(self, encoder: impl WholeEncoder, ended: Ended) -> Response {
        let headers = self.headers.clone();
        let mut response = match self.finished(ended) {
            Ok(finished) => Json(encoder.encode(finished)).into_response(),
            Err(failed) => failed.into_response(),
        };
        headers.apply(response.headers_mut());
        response
    }

    fn too_long(self, limit: u64) -> Response {
        let failed = ApiError::from(too_long(limit, "request it as a stream, or "));
        let mut response = failed.with_partial(Some(self.answer.text_of(BlockKind::Text))).into_response();
        self.headers.apply(response.headers_mut());
        response
    }

    fn finished(mut self, ended: Ended) -> Result<Finished, ApiError> {
        match ended.outcome {
            Outcome::Finished { stop, answer } => {
                self.answer.add_final(answer);
                let end = End { stop, usage: ended.usage, usage_estimated: ended.usage_estimated };
                Ok(Finished { blocks: self.answer.into_blocks(), end })
            }
            Outcome::Failed { failure, answer } => {
                self.answer.add_final(answer);
                Err(ApiError::from(failure).with_partial(Some(self.answer.text_of(BlockKind::Text))))
            }
        }
    }
}

//! An answer that is not streamed.
//!
//! Clients limit the wait for headers, and repeat a request that has none: a second run. So the headers of a long run are sent
//! before its end, and white space follows, which JSON allows before a value. A failure after that is in the body.

use std::convert::Infallible;

use agentbay_domain::{Category, Failure, HttpLimits, Outcome};
use agentbay_runs::{Answer, BlockKind, Ended, Run, Step};
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::{End, Finished, WholeEncoder, too_long};
use crate::error::ApiError;
use crate::run_headers::RunHeaders;

/// Bytes of an answer that serializes within about a millisecond.
const LONG: u64 = 256 * 1024;

/// What is sent while a run goes on.
const WHITE_SPACE: Bytes = Bytes::from_static(b" ");

/// Waits for the end of the run, and answers. A client that disconnects ends the run.
pub(crate) async fn whole(run: Run, encoder: impl WholeEncoder, limits: HttpLimits) -> Response {
    let mut answer = WholeAnswer { run, encoder, collected: Answer::default(), headers: RunHeaders::default() };
    let end = answer.end();
    let ended = match limits.whole_headers_after {
        off if off.is_zero() => Ok(end.await),
        after => timeout(after, end).await,
    };
    let headers = std::mem::take(&mut answer.headers);
    let mut response = match ended {
        Ok(ended) => match answer.into_json(ended).await {
            Ok(json) => Body::from(json).into_response(),
            Err(failed) => failed.into_response(),
        },
        Err(_goes_on) => answer.into_body(limits).into_response(),
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.apply(response.headers_mut());
    response
}

/// A run, and the output of its agent so far.
struct WholeAnswer<E> {
    run: Run,
    encoder: E,
    collected: Answer,
    headers: RunHeaders,
}

/// Why nothing more is collected.
enum Collected {
    /// The run has ended.
    Ended(Ended),
    /// The answer is longer than this many bytes.
    TooLong(u64),
}

impl<E: WholeEncoder> WholeAnswer<E> {
    /// Collects the answer. Nothing is lost if this future is dropped before the end.
    async fn end(&mut self) -> Collected {
        let limit = self.run.answer_buffer();
        loop {
            let step = self.run.next().await;
            self.headers.observe(&step);
            match step {
                Step::Reply(reply) => self.collected.add(reply),
                // A failed attempt has sent nothing of an answer.
                Step::Trying { .. } | Step::Session(_) | Step::Failed(_) | Step::PluginFailed(_) => {}
                Step::Ended(ended) => return Collected::Ended(ended),
            }
            if self.collected.length() > limit {
                return Collected::TooLong(limit);
            }
        }
    }

    /// The answer as JSON: a long one is serialized on a thread that serves no requests.
    async fn into_json(self, collected: Collected) -> Result<Vec<u8>, ApiError> {
        let Self { encoder, collected: answer, .. } = self;
        let ended = match collected {
            Collected::Ended(ended) => ended,
            Collected::TooLong(limit) => {
                let failed = ApiError::from(too_long(limit, "request it as a stream, or "));
                return Err(failed.with_partial(Some(answer.text_of(BlockKind::Text))));
            }
        };
        let length = answer.length().max(ended.outcome.text_len() as u64);
        let finished = finished(answer, ended)?;
        let encode = move || serde_json::to_vec(&encoder.encode(finished)).map_err(|error| lost(&error));
        if length < LONG { encode() } else { spawn_blocking(encode).await.unwrap_or_else(|error| Err(lost(&error))) }
    }

    /// A body that begins with white space.
    fn into_body(self, limits: HttpLimits) -> Body {
        let first = Some(WHITE_SPACE);
        Body::from_stream(unfold((first, Some(self)), move |(first, rest)| async move {
            let mut answer = rest?;
            let (bytes, rest) = match first {
                Some(bytes) => (bytes, Some(answer)),
                None => match timeout(limits.keep_alive, answer.end()).await {
                    Ok(collected) => (answer.into_late_json(collected).await, None),
                    Err(_goes_on) => (WHITE_SPACE, Some(answer)),
                },
            };
            Some((Ok::<Bytes, Infallible>(bytes), (None, rest)))
        }))
    }

    /// The answer, or an error, after the headers.
    async fn into_late_json(self, collected: Collected) -> Bytes {
        match self.into_json(collected).await {
            Ok(json) => json.into(),
            Err(failed) => {
                tracing::warn!(status = failed.status().as_u16(), "a run failed after the headers of its answer");
                failed.to_json_of(E::SURFACE, None).into()
            }
        }
    }
}

fn finished(mut collected: Answer, ended: Ended) -> Result<Finished, ApiError> {
    match ended.outcome {
        Outcome::Finished { stop, answer } => {
            collected.add_final(answer);
            let end = End { stop, usage: ended.usage, usage_estimated: ended.usage_estimated };
            Ok(Finished { blocks: collected.into_blocks(), end })
        }
        Outcome::Failed { failure, answer } => {
            collected.add_final(answer);
            Err(ApiError::from(failure).with_partial(Some(collected.text_of(BlockKind::Text))))
        }
    }
}

fn lost(error: &dyn std::error::Error) -> ApiError {
    Failure::new(Category::Unknown, "the answer was lost during its serialization", error.to_string()).into()
}

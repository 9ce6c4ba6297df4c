//! A streamed answer: a chunk for each piece of the agent's output.
//!
//! The headers wait for the first event, so that a run that fails at once has a status of its own; but not for long, since
//! clients limit the wait for headers. After that, comments keep the stream of a silent run alive.

use std::collections::VecDeque;
use std::convert::Infallible;

use agentbay_domain::{HttpLimits, Outcome, Reply};
use agentbay_runs::{Ended, Joined, Parts, Run, Step};
use agentbay_wire::chat::{Chunk, ChunkChoice, CompletionMeta, Delta, StreamOptions, WireUsage, finish_reason};
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::time::timeout;

use crate::error::ApiError;
use crate::run_headers::RunHeaders;
use crate::sse;

/// Answers with chunks. A client that disconnects ends the run.
pub(super) async fn answer(run: Run, meta: CompletionMeta, options: StreamOptions, limits: HttpLimits) -> Response {
    let mut chunks = Chunks::new(run, meta, options, limits);
    // A timeout is not a failure: the answer then starts without its first event.
    let _in_time = timeout(limits.first_event_timeout, chunks.first()).await;
    let headers = std::mem::take(&mut chunks.headers);
    chunks.headers_sent = true;
    let mut response = match chunks.failed_at_once.take() {
        Some(failed) => failed.into_response(),
        None => chunks.into_response(),
    };
    headers.apply(response.headers_mut());
    response
}

/// A run as the chunks of an answer, which are made when the client reads them.
struct Chunks {
    run: Run,
    meta: CompletionMeta,
    include_usage: bool,
    limits: HttpLimits,
    parts: Parts,
    ready: VecDeque<Bytes>,
    ended: bool,
    /// Set if the run failed before any output.
    failed_at_once: Option<ApiError>,
    /// The headers of the run, as far as they are known before they are sent.
    headers: RunHeaders,
    headers_sent: bool,
}

impl Chunks {
    fn new(run: Run, meta: CompletionMeta, options: StreamOptions, limits: HttpLimits) -> Self {
        let mut chunks = Self {
            run,
            meta,
            include_usage: options.include_usage,
            limits,
            parts: Parts::default(),
            ready: VecDeque::new(),
            ended: false,
            failed_at_once: None,
            headers: RunHeaders::default(),
            headers_sent: false,
        };
        chunks.push_delta(Delta { role: Some("assistant"), content: Some(""), ..Delta::default() });
        chunks
    }

    /// Waits for the first chunk after the one that opens the answer.
    async fn first(&mut self) {
        let opening = self.ready.len();
        while self.ready.len() == opening && !self.ended {
            let step = self.run.next().await;
            if let Step::Ended(Ended { outcome: Outcome::Failed { failure, .. }, .. }) = step {
                self.failed_at_once = Some(failure.into());
                self.ended = true;
            } else {
                self.take(step);
            }
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            if self.ended {
                return None;
            }
            match timeout(self.limits.keep_alive, self.run.next()).await {
                Ok(step) => self.take(step),
                Err(_silent) => return Some(sse::COMMENT),
            }
        }
    }

    fn take(&mut self, step: Step) {
        self.headers.observe(&step);
        match step {
            Step::Reply(reply) => self.add(reply),
            Step::Trying { .. } | Step::Session(_) => {}
            Step::Failed(failed) => {
                // Too late for the headers.
                if self.headers_sent {
                    self.ready.push_back(sse::comment(&format!("{failed}, retrying")));
                }
            }
            Step::PluginFailed(failed) => {
                if self.headers_sent {
                    self.ready.push_back(sse::comment(&failed.to_string()));
                }
            }
            Step::Ended(ended) => {
                self.ended = true;
                self.end(ended);
            }
        }
    }

    fn add(&mut self, reply: Reply) {
        match self.parts.joined(reply) {
            Some(Joined::Text { before, text }) => self.push_text(&format!("{before}{text}")),
            Some(Joined::Reasoning(text)) => {
                self.push_delta(Delta { reasoning_content: Some(&text), ..Delta::default() });
            }
            None => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.push_delta(Delta { content: Some(text), ..Delta::default() });
        }
    }

    fn end(&mut self, ended: Ended) {
        let (stop, answer) = match ended.outcome {
            Outcome::Finished { stop, answer } => (stop, answer),
            Outcome::Failed { failure, .. } => {
                self.ready.push_back(sse::data(&ApiError::from(failure).to_json()));
                return;
            }
        };
        if let (false, Some(answer)) = (self.parts.have_text(), answer) {
            self.push_text(&answer);
        }
        self.push(vec![ChunkChoice {
            index: 0,
            delta: Delta::default(),
            logprobs: (),
            finish_reason: Some(finish_reason(stop)),
        }]);
        if self.include_usage {
            let usage = WireUsage::of(ended.usage, ended.usage_estimated);
            self.ready.push_back(chunk(&self.meta, Vec::new(), Some(Some(usage))));
        }
        self.ready.push_back(sse::DONE);
    }

    fn push_delta(&mut self, delta: Delta<'_>) {
        self.push(vec![ChunkChoice { index: 0, delta, logprobs: (), finish_reason: None }]);
    }

    fn push(&mut self, choices: Vec<ChunkChoice<'_>>) {
        let usage = self.include_usage.then_some(None);
        self.ready.push_back(chunk(&self.meta, choices, usage));
    }
}

impl IntoResponse for Chunks {
    fn into_response(self) -> Response {
        let stream = unfold(self, |mut chunks| async move {
            let bytes = chunks.next().await?;
            Some((Ok::<Bytes, Infallible>(bytes), chunks))
        });
        (sse::HEADERS, Body::from_stream(stream)).into_response()
    }
}

fn chunk(meta: &CompletionMeta, choices: Vec<ChunkChoice<'_>>, usage: Option<Option<WireUsage>>) -> Bytes {
    let chunk = Chunk { meta, object: "chat.completion.chunk", choices, usage };
    sse::data(&serde_json::to_string(&chunk).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use agentbay_domain::Part;
    use http_body_util::BodyExt;

    use super::*;

    /// The status and the body of an answer to a run that was lost after these steps.
    async fn lost_after(steps: Vec<Step>) -> (u16, String) {
        let meta = CompletionMeta { id: "i".to_owned(), created: 0, model: "m".to_owned() };
        let run = Run::lost_after(steps).await;
        let response = answer(run, meta, StreamOptions { include_usage: false }, HttpLimits::default()).await;
        let (head, body) = response.into_parts();
        (head.status.as_u16(), String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_run_that_is_lost_ends_its_stream_with_an_error() {
        let part = Part::Text { continues: false };
        let half = [Reply::Opened { at: 0, part }, Reply::Added { at: 0, text: "half".to_owned() }];
        let (status, body) = lost_after(half.map(Step::Reply).to_vec()).await;
        let last = body.trim_end().rsplit("\n\n").next().unwrap();
        assert_eq!(status, 200);
        assert!(
            body.contains("half") && last.starts_with("data: {\"error\":{\"message\":\"the run was lost"),
            "{body}"
        );
    }

    #[tokio::test]
    async fn a_run_that_is_lost_before_any_output_has_a_status_of_its_own() {
        let (status, body) = lost_after(Vec::new()).await;
        assert_eq!(status, 500);
        assert!(body.starts_with("{\"error\":{\"message\":\"the run was lost"), "{body}");
    }
}

//! A streamed answer: frames for each piece of the agent's output.
//!
//! The headers wait for the first output, so that a run that fails at once has a status of its own; but not for long, since
//! clients limit the wait for headers. After that, keep-alives show a silent run to be alive.

use std::convert::Infallible;

use agentbay_domain::{HttpLimits, Outcome, Reply};
use agentbay_runs::{BlockKind, Ended, Joined, Parts, Run, Step};
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Encoder, End, Frames, too_long};
use crate::error::ApiError;
use crate::run_headers::RunHeaders;

/// Answers with the frames of the encoder. A client that disconnects ends the run.
pub(crate) async fn stream(
    run: Run,
    encoder: impl Encoder,
    content: [(HeaderName, HeaderValue); 3],
    limits: HttpLimits,
) -> Response {
    let mut answer = StreamedAnswer::new(run, encoder, limits);
    // A timeout is not a failure: the answer then starts without its first output.
    let _in_time = timeout(limits.first_event_timeout, answer.first()).await;
    let headers = std::mem::take(&mut answer.headers);
    answer.headers_sent = true;
    let mut response = match answer.failed_at_once.take() {
        Some(failed) => failed.into_response(),
        None => (content, answer.into_body()).into_response(),
    };
    headers.apply(response.headers_mut());
    response
}

/// Carries a run out to its end. The encoder keeps what it needs; its frames are dropped.
pub(crate) async fn without_client(run: Run, encoder: impl Encoder, limits: HttpLimits) {
    let mut answer = StreamedAnswer::new(run, encoder, limits);
    while !answer.ended {
        let step = answer.run.next().await;
        answer.take(step);
        answer.ready.clear();
    }
}

/// A run as the frames of an answer, which are made when the client reads them.
struct StreamedAnswer<E> {
    run: Run,
    encoder: E,
    limits: HttpLimits,
    parts: Parts,
    open: Option<BlockKind>,
    ready: Frames,
    ended: bool,
    /// Set if the run failed before any output.
    failed_at_once: Option<ApiError>,
    /// The headers of the run, as far as they are known before they are sent.
    headers: RunHeaders,
    headers_sent: bool,
}

impl<E: Encoder> StreamedAnswer<E> {
    fn new(run: Run, mut encoder: E, limits: HttpLimits) -> Self {
        let mut ready = Frames::new();
        encoder.start(&mut ready);
        Self {
            run,
            encoder,
            limits,
            parts: Parts::default(),
            open: None,
            ready,
            ended: false,
            failed_at_once: None,
            headers: RunHeaders::default(),
            headers_sent: false,
        }
    }

    /// Waits for the first frame after those that begin the answer.
    async fn first(&mut self) {
        let beginning = self.ready.len();
        while self.ready.len() == beginning && !self.ended {
            let step = self.run.next().await;
            if let Step::Ended(Ended { outcome: Outcome::Failed { failure, answer }, .. }) = step {
                self.failed_at_once = Some(ApiError::from(failure).with_partial(answer));
                self.ended = true;
            } else {
                self.take(step);
            }
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        // A run may have many steps that the client does not see.
        let silent_until = Instant::now() + self.limits.keep_alive;
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            if self.ended {
                return None;
            }
            match timeout_at(silent_until, self.run.next()).await {
                Ok(step) => self.take(step),
                Err(_silent) => self.encoder.keep_alive(&mut self.ready),
            }
        }
    }

    fn take(&mut self, step: Step) {
        self.headers.observe(&step);
        match step {
            Step::Reply(reply) => self.add(reply),
            Step::Trying { .. } | Step::Session(_) => {}
            Step::Failed(failed) => self.remark(&format!("{failed}, retrying")),
            Step::PluginFailed(failed) => self.remark(&failed.to_string()),
            Step::Ended(ended) => {
                self.ended = true;
                self.end(ended);
            }
        }
    }

    /// Before the headers are sent, they say it.
    fn remark(&mut self, text: &str) {
        if self.headers_sent {
            self.encoder.remark(text, &mut self.ready);
        }
    }

    fn add(&mut self, reply: Reply) {
        if let Some(joined) = self.parts.joined(reply) {
            self.push(&joined);
        }
    }

    fn push(&mut self, Joined { kind, text }: &Joined) {
        if !self.encoder.shows(*kind) {
            return;
        }
        if self.open != Some(*kind) {
            self.close();
            self.encoder.open(*kind, &mut self.ready);
            self.open = Some(*kind);
        }
        self.encoder.add(*kind, text, &mut self.ready);
        let limit = self.run.answer_buffer();
        if self.encoder.kept() > limit {
            self.ended = true;
            self.encoder.fail(&ApiError::from(too_long(limit, "")), &mut self.ready);
        }
    }

    fn close(&mut self) {
        if let Some(kind) = self.open.take() {
            self.encoder.close(kind, &mut self.ready);
        }
    }

    fn end(&mut self, ended: Ended) {
        let (stop, answer) = match ended.outcome {
            Outcome::Finished { stop, answer } => (stop, answer),
            Outcome::Failed { failure, answer } => {
                let unsent = answer.filter(|_| !self.parts.have_text());
                self.encoder.fail(&ApiError::from(failure).with_partial(unsent), &mut self.ready);
                return;
            }
        };
        if let Some(text) = answer.filter(|text| !text.is_empty() && !self.parts.have_text()) {
            self.push(&Joined { kind: BlockKind::Text, text });
        }
        self.close();
        let end = End { stop, usage: ended.usage, usage_estimated: ended.usage_estimated };
        self.encoder.finish(end, &mut self.ready);
    }

    fn into_body(self) -> Body {
        Body::from_stream(unfold(self, |mut answer| async move {
            let bytes = answer.next().await?;
            Some((Ok::<Bytes, Infallible>(bytes), answer))
        }))
    }
}

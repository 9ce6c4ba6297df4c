//! An answer in chunks, as the agent speaks.
//!
//! The headers wait for the first event, so that a run which fails at once has a status of its own; but not for long,
//! since clients wait for headers only so long. After that, a silent run gives signs of life.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::time::timeout;

use super::decode::StreamOptions;
use super::paragraphs::Paragraphs;
use super::wire::{Chunk, ChunkChoice, Delta, Heading, WireUsage, finish_reason};
use crate::domain::{Event, HttpLimits, Outcome};
use crate::http::error::ApiError;
use crate::http::head::Head;
use crate::http::sse;
use crate::run::{Ended, Run, Step};

/// Answers with chunks. If the client goes away, the run goes with it.
pub(super) async fn answer(run: Run, heading: Heading, options: StreamOptions, limits: HttpLimits) -> Response {
    let mut chunks = Chunks::new(run, heading, options, limits);
    // Time's up is no failure: the answer begins without its first event.
    let _in_time = timeout(limits.headers_after, chunks.first()).await;
    let head = std::mem::take(&mut chunks.head);
    chunks.head_is_out = true;
    let mut response = match chunks.failed_at_once.take() {
        Some(failed) => failed.into_response(),
        None => chunks.into_response(),
    };
    head.tell(response.headers_mut());
    response
}

/// A run as the chunks of an answer. They are made as the client takes them.
struct Chunks {
    run: Run,
    heading: Heading,
    include_usage: bool,
    limits: HttpLimits,
    paragraphs: Paragraphs,
    ready: VecDeque<Bytes>,
    ended: bool,
    /// Set if the run failed before anything had been said.
    failed_at_once: Option<ApiError>,
    /// What the headers tell of the run, as far as it is known before they go out.
    head: Head,
    head_is_out: bool,
}

impl Chunks {
    fn new(run: Run, heading: Heading, options: StreamOptions, limits: HttpLimits) -> Self {
        let mut chunks = Self {
            run,
            heading,
            include_usage: options.include_usage,
            limits,
            paragraphs: Paragraphs::default(),
            ready: VecDeque::new(),
            ended: false,
            failed_at_once: None,
            head: Head::default(),
            head_is_out: false,
        };
        chunks.push_delta(Delta { role: Some("assistant"), content: Some(""), ..Delta::default() });
        chunks
    }

    /// Waits until there is something to say besides that an answer begins.
    async fn first(&mut self) {
        let begun = self.ready.len();
        while self.ready.len() == begun && !self.ended {
            let step = self.run.next().await;
            if let Some(Step::Ended(Ended { outcome: Outcome::Failed { failure, .. }, .. })) = step {
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

    fn take(&mut self, step: Option<Step>) {
        if let Some(step) = &step {
            self.head.hear(step);
        }
        match step {
            Some(Step::Event(event)) => self.add(event),
            Some(Step::Trying { .. }) => {}
            Some(Step::Failed(failed)) => {
                self.paragraphs = Paragraphs::default();
                // Too late for the headers.
                if self.head_is_out {
                    self.ready.push_back(sse::comment(&format!("{failed}, trying again")));
                }
            }
            Some(Step::PluginFailed(failed)) => {
                if self.head_is_out {
                    self.ready.push_back(sse::comment(&failed.to_string()));
                }
            }
            Some(Step::Ended(ended)) => {
                self.ended = true;
                self.end(ended);
            }
            None => self.ended = true,
        }
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.push_text(&text),
            Event::TextBreak => self.paragraphs.part(),
            Event::Reasoning(text) if !text.is_empty() => {
                self.push_delta(Delta { reasoning_content: Some(&text), ..Delta::default() });
            }
            Event::Session(_)
            | Event::Reasoning(_)
            | Event::ToolCall(_)
            | Event::ToolResult(_)
            | Event::Usage(_)
            | Event::Notice(_)
            | Event::Reply(_)
            | Event::EndInput
            | Event::Done(_)
            | Event::Extra(_) => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        let text = format!("{}{text}", self.paragraphs.before(text));
        if !text.is_empty() {
            self.push_delta(Delta { content: Some(&text), ..Delta::default() });
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
        if let (false, Some(answer)) = (self.paragraphs.spoken(), answer) {
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
            self.ready.push_back(chunk(&self.heading, Vec::new(), Some(Some(usage))));
        }
        self.ready.push_back(sse::DONE);
    }

    fn push_delta(&mut self, delta: Delta<'_>) {
        self.push(vec![ChunkChoice { index: 0, delta, logprobs: (), finish_reason: None }]);
    }

    fn push(&mut self, choices: Vec<ChunkChoice<'_>>) {
        let usage = self.include_usage.then_some(None);
        self.ready.push_back(chunk(&self.heading, choices, usage));
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

fn chunk(heading: &Heading, choices: Vec<ChunkChoice<'_>>, usage: Option<Option<WireUsage>>) -> Bytes {
    let chunk = Chunk { heading, object: "chat.completion.chunk", choices, usage };
    sse::data(&serde_json::to_string(&chunk).unwrap_or_default())
}

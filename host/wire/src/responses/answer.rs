//! The response object. It grows block by block, in the same way for a whole answer and for a stream.

use agentbay_domain::{StopReason, Usage};
use serde::Serialize;

use super::settings::Settings;
use crate::tokens::{clamped, total};

/// A response.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// `resp_` and the id of the run.
    pub id: String,
    object: &'static str,
    created_at: u64,
    completed_at: Option<u64>,
    status: Status,
    error: Option<ResponseError>,
    incomplete_details: Option<IncompleteDetails>,
    output: Vec<OutputItem>,
    usage: Option<WireUsage>,
    #[serde(flatten)]
    settings: Settings,
}

/// The state of a response or of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In the background, and not started yet.
    Queued,
    /// It grows.
    InProgress,
    /// It is complete.
    Completed,
    /// It ended before it was complete.
    Incomplete,
    /// The run failed.
    Failed,
    /// A client cancelled it.
    Cancelled,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct IncompleteDetails {
    reason: &'static str,
}

/// Why a run failed. `category` and `detail` are not fields of the OpenAI API.
#[derive(Debug, Clone, Serialize)]
pub struct ResponseError {
    /// One of the codes that typed clients know.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The category of the failure.
    pub category: &'static str,
    /// Its cause.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// An item of the output.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputItem {
    /// Text of the answer.
    Message {
        /// Its id.
        id: String,
        /// Its state.
        status: Status,
        /// Always `assistant`.
        role: &'static str,
        /// One part with the text; empty before it arrives.
        content: Vec<ContentPart>,
    },
    /// The reasoning before it.
    Reasoning {
        /// Its id.
        id: String,
        /// Its state.
        status: Status,
        /// One part with the text; empty before it arrives.
        summary: Vec<SummaryPart>,
        /// Always null: the reasoning is readable.
        encrypted_content: (),
    },
}

/// A part of a message.
#[derive(Debug, Clone, Serialize)]
pub struct ContentPart {
    #[serde(rename = "type")]
    kind: &'static str,
    annotations: [(); 0],
    logprobs: [(); 0],
    text: String,
}

/// A part of the reasoning.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryPart {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WireUsage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
    /// Not a field of the OpenAI API: the numbers are estimated from the lengths of the texts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl WireUsage {
    /// The usage of a run, reported by its CLI or `estimated`.
    pub fn of(usage: Usage, estimated: bool) -> Self {
        let usage = clamped(usage);
        Self {
            input_tokens: usage.input,
            input_tokens_details: InputDetails {
                cached_tokens: usage.cached_input,
                cache_write_tokens: usage.cache_write,
            },
            output_tokens: usage.output,
            output_tokens_details: OutputDetails { reasoning_tokens: usage.reasoning },
            total_tokens: total(usage),
            estimated,
        }
    }
}

impl Response {
    /// A response to a run, without output. The time is in seconds since 1970.
    pub fn new(run: &str, created_at: u64, settings: Settings) -> Self {
        Self {
            id: format!("resp_{run}"),
            object: "response",
            created_at,
            completed_at: None,
            status: Status::InProgress,
            error: None,
            incomplete_details: None,
            output: Vec::new(),
            usage: None,
            settings,
        }
    }

    /// Returns whether it has ended, and did not fail.
    pub fn has_succeeded(&self) -> bool {
        matches!(self.status, Status::Completed | Status::Incomplete)
    }

    /// Its state.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Sets the state of a response that goes on.
    pub fn set_status(&mut self, status: Status) {
        self.status = status;
    }

    /// Its output so far.
    pub fn output(&self) -> &[OutputItem] {
        &self.output
    }

    /// Adds a message.
    pub fn open_message(&mut self) {
        let id = self.item_id("msg");
        let (role, content) = ("assistant", Vec::new());
        self.output.push(OutputItem::Message { id, status: Status::InProgress, role, content });
    }

    /// Adds reasoning.
    pub fn open_reasoning(&mut self) {
        let id = self.item_id("rs");
        let (summary, encrypted_content) = (Vec::new(), ());
        self.output.push(OutputItem::Reasoning { id, status: Status::InProgress, summary, encrypted_content });
    }

    /// Adds text to the last item.
    pub fn add(&mut self, text: &str) {
        if let Some(item) = self.output.last_mut() {
            item.add(text);
        }
    }

    /// Completes the last item.
    pub fn close(&mut self) {
        self.end_item(Status::Completed);
    }

    /// Ends the response successfully, or as far as the agent came.
    pub fn finish(&mut self, stop: &StopReason, usage: WireUsage, now: u64) {
        let reason = match stop {
            StopReason::EndTurn | StopReason::StopSequence(_) => None,
            StopReason::MaxTurns | StopReason::MaxTokens => Some("max_output_tokens"),
            StopReason::Refusal => Some("content_filter"),
        };
        self.incomplete_details = reason.map(|reason| IncompleteDetails { reason });
        self.status = if reason.is_some() { Status::Incomplete } else { Status::Completed };
        self.completed_at = reason.is_none().then_some(now);
        self.usage = Some(usage);
    }

    /// Ends the response with an error, or with none if it was cancelled. Its last item may be incomplete.
    pub fn fail(&mut self, error: Option<ResponseError>) {
        self.end_item(Status::Incomplete);
        self.status = if error.is_some() { Status::Failed } else { Status::Cancelled };
        self.error = error;
    }

    fn end_item(&mut self, ended: Status) {
        if let Some(OutputItem::Message { status, .. } | OutputItem::Reasoning { status, .. }) = self.output.last_mut()
            && *status == Status::InProgress
        {
            *status = ended;
        }
    }

    /// The id of the next item: the run, and its number.
    fn item_id(&self, prefix: &str) -> String {
        let run = self.id.trim_start_matches("resp_");
        format!("{prefix}_{run}{:04x}", self.output.len())
    }

    /// The id of the response that has an item with this id.
    pub fn of_item(item: &str) -> Option<String> {
        const RUN: usize = 32;
        let (_, run) = item.split_once('_')?;
        run.get(..RUN).map(|run| format!("resp_{run}"))
    }
}

impl OutputItem {
    /// Its id.
    pub fn id(&self) -> &str {
        match self {
            Self::Message { id, .. } | Self::Reasoning { id, .. } => id,
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            Self::Message { content, .. } => content.first().map_or("", |part| &part.text),
            Self::Reasoning { summary, .. } => summary.first().map_or("", |part| &part.text),
        }
    }

    fn add(&mut self, added: &str) {
        match self {
            Self::Message { content, .. } => match content.first_mut() {
                Some(part) => part.text.push_str(added),
                None => content.push(ContentPart::new(added.to_owned())),
            },
            Self::Reasoning { summary, .. } => match summary.first_mut() {
                Some(part) => part.text.push_str(added),
                None => summary.push(SummaryPart::new(added.to_owned())),
            },
        }
    }
}

impl ContentPart {
    /// A part before its text arrives.
    pub(super) const EMPTY: &Self = &Self::new(String::new());

    const fn new(text: String) -> Self {
        Self { kind: "output_text", annotations: [], logprobs: [], text }
    }
}

impl SummaryPart {
    /// A part before its text arrives.
    pub(super) const EMPTY: &Self = &Self::new(String::new());

    const fn new(text: String) -> Self {
        Self { kind: "summary_text", text }
    }
}

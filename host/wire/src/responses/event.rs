//! The events of a streamed response. Each has a number, from 0 without gaps.

use serde::Serialize;

use super::answer::{ContentPart, OutputItem, Response, Status, SummaryPart};

/// An event.
#[derive(Debug, Serialize)]
pub struct Event<'a> {
    /// Its type, which is also the name of the server-sent event.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its number.
    pub sequence_number: u64,
    /// What it is about.
    #[serde(flatten)]
    pub body: Body<'a>,
}

/// What an event is about.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the fields have the names and the meaning of the OpenAI API")]
pub enum Body<'a> {
    /// The response as a whole.
    Response { response: &'a Response },
    /// An item begins or is complete.
    Item { output_index: usize, item: &'a OutputItem },
    /// The part of a message begins or is complete.
    Part { item_id: &'a str, output_index: usize, content_index: u32, part: &'a ContentPart },
    /// The part of a message grows.
    TextDelta { item_id: &'a str, output_index: usize, content_index: u32, delta: &'a str, logprobs: [(); 0] },
    /// The whole text of the part of a message.
    TextDone { item_id: &'a str, output_index: usize, content_index: u32, text: &'a str, logprobs: [(); 0] },
    /// The part of some reasoning begins or is complete.
    Summary { item_id: &'a str, output_index: usize, summary_index: u32, part: &'a SummaryPart },
    /// The part of some reasoning grows.
    SummaryDelta { item_id: &'a str, output_index: usize, summary_index: u32, delta: &'a str },
    /// The whole text of the part of some reasoning.
    SummaryDone { item_id: &'a str, output_index: usize, summary_index: u32, text: &'a str },
    /// The events cannot be sent.
    Error { code: &'a str, message: &'a str, param: &'a str },
    /// Nothing: the response goes on.
    Nothing {},
}

impl Response {
    /// The events of its start.
    pub fn started(&self) -> [(&'static str, Body<'_>); 2] {
        ["response.created", "response.in_progress"].map(|kind| (kind, Body::Response { response: self }))
    }

    /// The events of the start of the last item, which has no text yet.
    pub fn opened(&self) -> Option<[(&'static str, Body<'_>); 2]> {
        let (output_index, item) = self.last()?;
        let part = match item {
            OutputItem::Message { id, .. } => (
                "response.content_part.added",
                Body::Part { item_id: id, output_index, content_index: 0, part: ContentPart::EMPTY },
            ),
            OutputItem::Reasoning { id, .. } => (
                "response.reasoning_summary_part.added",
                Body::Summary { item_id: id, output_index, summary_index: 0, part: SummaryPart::EMPTY },
            ),
        };
        Some([("response.output_item.added", Body::Item { output_index, item }), part])
    }

    /// The event of the growth of the last item.
    pub fn added<'a>(&'a self, delta: &'a str) -> Option<(&'static str, Body<'a>)> {
        let (output_index, item) = self.last()?;
        Some(match item {
            OutputItem::Message { id, .. } => (
                "response.output_text.delta",
                Body::TextDelta { item_id: id, output_index, content_index: 0, delta, logprobs: [] },
            ),
            OutputItem::Reasoning { id, .. } => (
                "response.reasoning_summary_text.delta",
                Body::SummaryDelta { item_id: id, output_index, summary_index: 0, delta },
            ),
        })
    }

    /// The events of the end of the last item, which is complete.
    pub fn closed(&self) -> Option<[(&'static str, Body<'_>); 3]> {
        let (output_index, item) = self.last()?;
        let text = item.text();
        let [whole, part] = match item {
            OutputItem::Message { id, content, .. } => [
                (
                    "response.output_text.done",
                    Body::TextDone { item_id: id, output_index, content_index: 0, text, logprobs: [] },
                ),
                (
                    "response.content_part.done",
                    Body::Part { item_id: id, output_index, content_index: 0, part: content.first()? },
                ),
            ],
            OutputItem::Reasoning { id, summary, .. } => [
                (
                    "response.reasoning_summary_text.done",
                    Body::SummaryDone { item_id: id, output_index, summary_index: 0, text },
                ),
                (
                    "response.reasoning_summary_part.done",
                    Body::Summary { item_id: id, output_index, summary_index: 0, part: summary.first()? },
                ),
            ],
        };
        Some([whole, part, ("response.output_item.done", Body::Item { output_index, item })])
    }

    /// The event of its end.
    pub fn ended(&self) -> (&'static str, Body<'_>) {
        let kind = match self.status() {
            Status::Completed => "response.completed",
            Status::Incomplete => "response.incomplete",
            // Typed clients know no event of their own for a cancelled response.
            Status::Queued | Status::InProgress | Status::Failed | Status::Cancelled => "response.failed",
        };
        (kind, Body::Response { response: self })
    }

    fn last(&self) -> Option<(usize, &OutputItem)> {
        let item = self.output().last()?;
        Some((self.output().len() - 1, item))
    }
}

//! The responses of the surface. A stream has the same type as a whole answer: each piece is a response with new parts.

use std::borrow::Cow;

use agentbay_domain::{StopReason, Usage};
use serde::Serialize;

/// The fields that all responses of an answer share.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerMeta {
    /// The name of the requested model.
    pub model_version: String,
    /// The id of the run.
    pub response_id: String,
}

/// A whole answer, or a piece of a streamed one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GenerateResponse<'a> {
    candidates: [Candidate<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<UsageMetadata>,
    #[serde(flatten)]
    meta: Cow<'a, AnswerMeta>,
}

/// The only candidate.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'static str>,
    index: u8,
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

/// A part of an answer.
#[derive(Debug, Serialize)]
pub struct Part<'a> {
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
}

impl<'a> Part<'a> {
    /// Text of the answer.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), thought: false }
    }

    /// Reasoning before it.
    pub fn thought(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), thought: true }
    }
}

impl<'a> GenerateResponse<'a> {
    /// A piece of a streamed answer that is not the last one.
    pub fn piece(meta: &'a AnswerMeta, part: Part<'a>) -> Self {
        Self { candidates: [Candidate::new(vec![part], None)], usage_metadata: None, meta: Cow::Borrowed(meta) }
    }

    /// A whole answer, or the last piece of a streamed one. Without parts it has an empty text, since clients discard a
    /// response that has none.
    pub fn last(meta: Cow<'a, AnswerMeta>, mut parts: Vec<Part<'a>>, stop: &StopReason, usage: UsageMetadata) -> Self {
        if parts.is_empty() {
            parts.push(Part::text(""));
        }
        Self { candidates: [Candidate::new(parts, Some(finish_reason(stop)))], usage_metadata: Some(usage), meta }
    }
}

impl<'a> Candidate<'a> {
    fn new(parts: Vec<Part<'a>>, finish_reason: Option<&'static str>) -> Self {
        Self { content: Content { role: "model", parts }, finish_reason, index: 0 }
    }
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageMetadata {
    prompt_token_count: u64,
    candidates_token_count: u64,
    total_token_count: u64,
    cached_content_token_count: u64,
    thoughts_token_count: u64,
    /// Not a field of the Gemini API: the numbers are estimated from the lengths of the texts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
}

impl UsageMetadata {
    /// The usage of a run, reported by its CLI or `estimated`. Unlike other APIs, Gemini does not count reasoning as part of
    /// the candidates.
    pub fn of(usage: Usage, estimated: bool) -> Self {
        Self {
            prompt_token_count: usage.input,
            candidates_token_count: usage.output.saturating_sub(usage.reasoning),
            total_token_count: usage.input.saturating_add(usage.output),
            cached_content_token_count: usage.cached_input,
            thoughts_token_count: usage.reasoning,
            estimated,
        }
    }
}

/// The number of tokens of a request.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenCount {
    /// An estimate, of text alone.
    pub total_tokens: u64,
}

/// Why an answer ended.
fn finish_reason(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::StopSequence(_) => "STOP",
        StopReason::MaxTurns | StopReason::MaxTokens => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_response_has_the_keys_that_clients_read() {
        let meta = AnswerMeta { model_version: "m".to_owned(), response_id: "i".to_owned() };
        let piece = serde_json::to_value(GenerateResponse::piece(&meta, Part::thought("hm"))).unwrap();
        let expected = json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": true}]}, "index": 0}],
            "modelVersion": "m", "responseId": "i",
        });
        assert_eq!(piece, expected);
        let usage = Usage { input: 5, cached_input: 2, cache_write: 1, output: 7, reasoning: 3 };
        let usage = UsageMetadata::of(usage, false);
        let last = GenerateResponse::last(Cow::Owned(meta), Vec::new(), &StopReason::MaxTokens, usage);
        let expected = json!({
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "MAX_TOKENS", "index": 0},
            ],
            "usageMetadata": {
                "promptTokenCount": 5, "candidatesTokenCount": 4, "totalTokenCount": 12, "cachedContentTokenCount": 2,
                "thoughtsTokenCount": 3,
            },
            "modelVersion": "m", "responseId": "i",
        });
        assert_eq!(serde_json::to_value(last).unwrap(), expected);
    }
}

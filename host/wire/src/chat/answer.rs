//! What the chat surface writes, as the OpenAI API spells it.

use agentbay_domain::{StopReason, Usage};
use serde::Serialize;

/// What stands at the head of an answer, and of every chunk of one.
#[derive(Debug, Clone, Serialize)]
pub struct Heading {
    /// The name of the answer: `chatcmpl-` and the run.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// The name of the model that was asked.
    pub model: String,
}

/// A whole answer.
#[derive(Debug, Serialize)]
pub struct Completion {
    /// What stands at the head.
    #[serde(flatten)]
    pub heading: Heading,
    /// What kind of object it is.
    pub object: &'static str,
    /// The choices, of which there is one; none in the last chunk, which has the usage.
    pub choices: [Choice; 1],
    /// The tokens used.
    pub usage: WireUsage,
}

/// The one choice of a whole answer.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// Always 0.
    pub index: u8,
    /// What the agent said.
    pub message: AnswerMessage,
    /// Always null.
    pub logprobs: (),
    /// Why it ended.
    pub finish_reason: &'static str,
}

/// The message of a whole answer.
#[derive(Debug, Serialize)]
pub struct AnswerMessage {
    /// Who speaks.
    pub role: &'static str,
    /// Text of the answer.
    pub content: String,
    /// Always null.
    pub refusal: (),
    /// What the agent thought.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning_content: String,
}

/// One chunk of a streamed answer.
#[derive(Debug, Serialize)]
pub struct Chunk<'a> {
    /// What stands at the head.
    #[serde(flatten)]
    pub heading: &'a Heading,
    /// What kind of object it is.
    pub object: &'static str,
    /// The choices, of which there is one; none in the last chunk, which has the usage.
    pub choices: Vec<ChunkChoice<'a>>,
    /// Only there if the client asked for usage: null until the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<WireUsage>>,
}

/// The one choice of a chunk.
#[derive(Debug, Serialize)]
pub struct ChunkChoice<'a> {
    /// Always 0.
    pub index: u8,
    /// What is new.
    pub delta: Delta<'a>,
    /// Always null.
    pub logprobs: (),
    /// Why it ended.
    pub finish_reason: Option<&'static str>,
}

/// What is new in a chunk.
#[derive(Debug, Default, Serialize)]
pub struct Delta<'a> {
    /// Who speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Text of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// What the agent thought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<&'a str>,
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
    /// Not a field of the OpenAI API: the numbers are a guess from the lengths of the texts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
    audio_tokens: u64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl WireUsage {
    /// The usage of a run, which is a guess if it is `estimated`.
    pub fn of(usage: Usage, estimated: bool) -> Self {
        let usage = clamped(usage);
        Self {
            estimated,
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input.saturating_add(usage.output).min(MOST),
            prompt_tokens_details: PromptDetails {
                cached_tokens: usage.cached_input,
                cache_write_tokens: usage.cache_write,
                audio_tokens: 0,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}

/// Tokens that are told at the most: larger numbers no reader in JavaScript holds exactly.
const MOST: u64 = (1 << 53) - 1;

fn clamped(usage: Usage) -> Usage {
    let Usage { input, cached_input, cache_write, output, reasoning } = usage;
    let [input, cached_input, cache_write] = [input, cached_input, cache_write].map(|tokens| tokens.min(MOST));
    let [output, reasoning] = [output, reasoning].map(|tokens| tokens.min(MOST));
    Usage { input, cached_input, cache_write, output, reasoning }
}

/// Why an answer ended, in the words that typed clients know.
pub fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "stop",
        StopReason::MaxTurns | StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_make_no_sense_are_clamped() {
        let most = Usage { input: u64::MAX, cached_input: u64::MAX, cache_write: 1, output: u64::MAX, reasoning: 2 };
        let told = serde_json::to_value(WireUsage::of(most, false)).unwrap();
        let numbers = ["prompt_tokens", "completion_tokens", "total_tokens"].map(|name| told[name].as_u64());
        assert_eq!(numbers, [Some(MOST); 3]);
        assert_eq!(
            (&told["prompt_tokens_details"]["cached_tokens"], &told["prompt_tokens_details"]["cache_write_tokens"]),
            (&MOST.into(), &1.into())
        );
    }
}

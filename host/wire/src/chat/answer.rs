//! The responses of the chat surface, in the form of the OpenAI API.

use agentbay_domain::{StopReason, Usage};
use serde::Serialize;

use super::decode::{CallForm, ForcedCall};
use crate::tokens::{clamped, total};

/// The fields that a whole answer and every chunk share.
#[derive(Debug, Clone, Serialize)]
pub struct CompletionMeta {
    /// The id of the answer: `chatcmpl-` and the id of the run.
    pub id: String,
    /// The time of creation, in seconds since 1970.
    pub created: u64,
    /// The name of the requested model.
    pub model: String,
}

/// A whole answer.
#[derive(Debug, Serialize)]
pub struct Completion {
    /// The shared fields.
    #[serde(flatten)]
    pub meta: CompletionMeta,
    /// The type of the object.
    pub object: &'static str,
    /// The only choice.
    pub choices: [Choice; 1],
    /// The tokens used.
    pub usage: WireUsage,
}

/// The one choice of a whole answer.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// Always 0.
    pub index: u8,
    /// The agent's message.
    pub message: AnswerMessage,
    /// Always null.
    pub logprobs: (),
    /// The reason of the end.
    pub finish_reason: &'static str,
}

/// The message of a whole answer.
#[derive(Debug, Serialize)]
pub struct AnswerMessage {
    /// The role of the author.
    pub role: &'static str,
    /// Text of the answer; null if it is a call.
    pub content: Option<String>,
    /// Always null.
    pub refusal: (),
    /// The reasoning of the agent.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning_content: String,
    /// The call that the client forced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<[ToolCall; 1]>,
    /// The same in its older form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCall>,
}

/// A call of a tool of the client.
#[derive(Debug, Serialize)]
pub struct ToolCall {
    id: String,
    r#type: &'static str,
    function: FunctionCall,
}

/// The function of a call.
#[derive(Debug, Serialize)]
pub struct FunctionCall {
    name: String,
    arguments: String,
}

impl AnswerMessage {
    /// The message of an answer, as text or as the call that the client forced.
    pub fn new(meta: &CompletionMeta, call: Option<ForcedCall>, text: String, reasoning_content: String) -> Self {
        let message = |content| Self {
            role: "assistant",
            content,
            refusal: (),
            reasoning_content,
            tool_calls: None,
            function_call: None,
        };
        match call {
            None => message(Some(text)),
            Some(ForcedCall { name, form }) => {
                let function = FunctionCall { name, arguments: text };
                match form {
                    CallForm::Tool => {
                        let call = ToolCall { id: call_id(meta), r#type: "function", function };
                        Self { tool_calls: Some([call]), ..message(None) }
                    }
                    CallForm::Function => Self { function_call: Some(function), ..message(None) },
                }
            }
        }
    }
}

/// The id of the only call of an answer.
fn call_id(meta: &CompletionMeta) -> String {
    meta.id.replacen("chatcmpl-", "call_", 1)
}

/// One chunk of a streamed answer.
#[derive(Debug, Serialize)]
pub struct Chunk<'a> {
    /// The shared fields.
    #[serde(flatten)]
    pub meta: &'a CompletionMeta,
    /// The type of the object.
    pub object: &'static str,
    /// The only choice; empty in the last chunk, which has the usage.
    pub choices: Vec<ChunkChoice<'a>>,
    /// Present only if the client requested usage: null until the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<WireUsage>>,
}

/// The one choice of a chunk.
#[derive(Debug, Serialize)]
pub struct ChunkChoice<'a> {
    /// Always 0.
    pub index: u8,
    /// The new content.
    pub delta: Delta<'a>,
    /// Always null.
    pub logprobs: (),
    /// The reason of the end.
    pub finish_reason: Option<&'static str>,
}

/// The new content of a chunk.
#[derive(Debug, Default, Serialize)]
pub struct Delta<'a> {
    /// The role of the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Text of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// The reasoning of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<&'a str>,
    /// The call that the client forced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<[CallDelta<'a>; 1]>,
    /// The same in its older form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionDelta<'a>>,
}

/// New content of a call.
#[derive(Debug, Serialize)]
pub struct CallDelta<'a> {
    index: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    function: FunctionDelta<'a>,
}

/// New content of the function of a call.
#[derive(Debug, Serialize)]
pub struct FunctionDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

impl<'a> Delta<'a> {
    /// The beginning of a call.
    pub fn of_call(meta: &CompletionMeta, call: &'a ForcedCall) -> Self {
        let begins = |function| CallDelta { index: 0, id: Some(call_id(meta)), r#type: Some("function"), function };
        Self::in_form(call.form, FunctionDelta { name: Some(&call.name), arguments: "" }, begins)
    }

    /// New arguments of a call.
    pub fn of_arguments(call: &'a ForcedCall, arguments: &'a str) -> Self {
        let grows = |function| CallDelta { index: 0, id: None, r#type: None, function };
        Self::in_form(call.form, FunctionDelta { name: None, arguments }, grows)
    }

    fn in_form(
        form: CallForm,
        function: FunctionDelta<'a>,
        call: impl FnOnce(FunctionDelta<'a>) -> CallDelta<'a>,
    ) -> Self {
        match form {
            CallForm::Tool => Self { tool_calls: Some([call(function)]), ..Self::default() },
            CallForm::Function => Self { function_call: Some(function), ..Self::default() },
        }
    }
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
    /// Not a field of the OpenAI API: the numbers are estimated from the lengths of the texts.
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
    /// The usage of a run, reported by its CLI or `estimated`.
    pub fn of(usage: Usage, estimated: bool) -> Self {
        let usage = clamped(usage);
        Self {
            estimated,
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: total(usage),
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

/// Why an answer, which may be a call, ended: in the words that typed clients know.
pub fn finish_reason(stop: &StopReason, call: Option<&ForcedCall>) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::StopSequence(_) => match call.map(|call| call.form) {
            None => "stop",
            Some(CallForm::Tool) => "tool_calls",
            Some(CallForm::Function) => "function_call",
        },
        StopReason::MaxTurns | StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::MAX_TOKENS;

    #[test]
    fn implausible_token_counts_are_clamped() {
        let most = Usage { input: u64::MAX, cached_input: u64::MAX, cache_write: 1, output: u64::MAX, reasoning: 2 };
        let usage = serde_json::to_value(WireUsage::of(most, false)).unwrap();
        let numbers = ["prompt_tokens", "completion_tokens", "total_tokens"].map(|name| usage[name].as_u64());
        assert_eq!(numbers, [Some(MAX_TOKENS); 3]);
        assert_eq!(
            (&usage["prompt_tokens_details"]["cached_tokens"], &usage["prompt_tokens_details"]["cache_write_tokens"]),
            (&MAX_TOKENS.into(), &1.into())
        );
    }
}

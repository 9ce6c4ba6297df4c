//! A message of the Anthropic API: a whole answer, and the beginning of a streamed one.

use agentbay_domain::{StopReason, Usage};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::tokens::clamped;

/// Ends a block of reasoning. Clients require a signature and send it back, where any is accepted. Some decode its Base64.
pub(super) const SIGNATURE: &str = "YWdlbnRiYXk=";

/// What a message has from its beginning.
#[derive(Debug, Clone, Serialize)]
pub struct MessageMeta {
    /// The id of the answer: `msg_` and the id of the run.
    pub id: String,
    /// The name of the requested model.
    pub model: String,
}

/// A message of the agent.
#[derive(Debug, Serialize)]
pub struct Message {
    #[serde(flatten)]
    meta: MessageMeta,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    content: Vec<Content>,
    #[serde(flatten)]
    stop: Stop,
    usage: WireUsage,
}

/// A block of a message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text of the answer.
    Text {
        /// The text.
        text: String,
    },
    /// The agent's reasoning.
    Thinking {
        /// The text.
        thinking: String,
        /// Empty while the block is streamed.
        signature: &'static str,
    },
    /// The call that the client forced.
    ToolUse {
        /// `toolu_` and the id of the run.
        id: String,
        /// The tool.
        name: String,
        /// The arguments; an empty object while the block is streamed.
        input: Box<RawValue>,
    },
}

/// The call that a client forced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The name of the tool.
    pub name: String,
}

/// Why an answer ended; all keys are null before that.
#[derive(Debug, Default, Serialize)]
pub struct Stop {
    stop_reason: Option<&'static str>,
    stop_sequence: Option<String>,
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WireUsage {
    /// Those that no cache was involved in: the sum with the next two is what was sent.
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    /// Not a field of the Anthropic API: the numbers are estimated from the lengths of the texts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl Message {
    /// A message with this content.
    pub fn new(meta: MessageMeta, content: Vec<Content>, stop: Stop, usage: WireUsage) -> Self {
        Self { meta, kind: "message", role: "assistant", content, stop, usage }
    }
}

impl Content {
    /// A whole block of reasoning.
    pub fn thinking(thinking: String) -> Self {
        Self::Thinking { thinking, signature: SIGNATURE }
    }
}

impl Call {
    /// The call with these arguments. What is not JSON stays text.
    pub fn with(self, input: String) -> Content {
        match serde_json::from_str::<Box<RawValue>>(&input) {
            Ok(input) => Content::ToolUse { id: self.id, name: self.name, input },
            Err(_) => Content::Text { text: input },
        }
    }

    /// The call before its arguments.
    pub fn begin(&self) -> Content {
        self.clone().with("{}".to_owned())
    }
}

impl Stop {
    /// The end of an answer, which may be a call.
    pub fn of(stop: &StopReason, is_call: bool) -> Self {
        let (stop_reason, stop_sequence) = match stop {
            StopReason::EndTurn | StopReason::StopSequence(_) if is_call => ("tool_use", None),
            StopReason::EndTurn => ("end_turn", None),
            // Not `pause_turn`, at which clients continue by themselves: each time is another run.
            StopReason::MaxTurns | StopReason::MaxTokens => ("max_tokens", None),
            StopReason::StopSequence(text) => ("stop_sequence", Some(text.clone())),
            StopReason::Refusal => ("refusal", None),
        };
        Self { stop_reason: Some(stop_reason), stop_sequence }
    }
}

impl WireUsage {
    /// The usage of a run, reported by its CLI or `estimated`.
    pub fn of(usage: Usage, estimated: bool) -> Self {
        let Usage { input, cached_input, cache_write, output, reasoning } = clamped(usage);
        Self {
            input_tokens: input.saturating_sub(cached_input).saturating_sub(cache_write),
            cache_creation_input_tokens: cache_write,
            cache_read_input_tokens: cached_input,
            output_tokens: output,
            output_tokens_details: OutputDetails { thinking_tokens: reasoning },
            estimated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_sequence_is_named_where_it_ended_the_answer() {
        for (stop, reason, sequence) in [
            (StopReason::EndTurn, "end_turn", None),
            (StopReason::MaxTurns, "max_tokens", None),
            (StopReason::MaxTokens, "max_tokens", None),
            (StopReason::Refusal, "refusal", None),
            (StopReason::StopSequence("END".to_owned()), "stop_sequence", Some("END")),
        ] {
            let expected = serde_json::json!({"stop_reason": reason, "stop_sequence": sequence});
            assert_eq!(serde_json::to_value(Stop::of(&stop, false)).unwrap(), expected);
        }
        let call = serde_json::json!({"stop_reason": "tool_use", "stop_sequence": null});
        assert_eq!(serde_json::to_value(Stop::of(&StopReason::EndTurn, true)).unwrap(), call);
    }

    #[test]
    fn the_three_counts_of_input_add_up_to_all_that_was_sent() {
        let usage = Usage { input: 10, cached_input: 5, cache_write: 2, output: 7, reasoning: 4 };
        let expected = serde_json::json!({
            "input_tokens": 3,
            "cache_creation_input_tokens": 2,
            "cache_read_input_tokens": 5,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 4},
        });
        assert_eq!(serde_json::to_value(WireUsage::of(usage, false)).unwrap(), expected);
        let more_cached = Usage { cached_input: 11, ..usage };
        assert_eq!(serde_json::to_value(WireUsage::of(more_cached, false)).unwrap()["input_tokens"], 0);
    }
}

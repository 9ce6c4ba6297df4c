//! Token counts under the names of Anthropic and OpenAI.

use serde_json::Value;

use crate::{Usage, UsageScope, json};

/// The counts in the field `usage` of an object; `None` if it has neither input nor output tokens.
pub fn usage_of(event: &Value, scope: UsageScope) -> Option<Usage> {
    let usage = json::at(event, &["usage"]).filter(|usage| usage.is_object())?;
    let first = |paths: &[&[&str]]| {
        paths
            .iter()
            .find(|path| json::at(usage, path).is_some_and(|count| !count.is_null()))
            .map(|path| json::count(usage, path))
    };
    let input = first(&[&["input_tokens"], &["prompt_tokens"]]);
    let output = first(&[&["output_tokens"], &["completion_tokens"]]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached: [&[&str]; 3] = [
        &["cached_input_tokens"],
        &["input_tokens_details", "cached_tokens"],
        &["prompt_tokens_details", "cached_tokens"],
    ];
    let reasoning: [&[&str]; 3] = [
        &["reasoning_output_tokens"],
        &["output_tokens_details", "reasoning_tokens"],
        &["completion_tokens_details", "reasoning_tokens"],
    ];
    Some(Usage {
        scope,
        input: input.unwrap_or(0),
        cached_input: first(&cached).unwrap_or(0),
        cache_write: first(&[&["cache_write_input_tokens"]]).unwrap_or(0),
        output: output.unwrap_or(0),
        reasoning: first(&reasoning).unwrap_or(0),
    })
}

impl Usage {
    /// The sum of both, with the scope of `self`.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            scope: self.scope,
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

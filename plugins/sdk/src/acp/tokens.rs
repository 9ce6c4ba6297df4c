//! Token counts. The protocol has them in the answer to `session/prompt`; some agents send them in `_meta`, and they differ in what a
//! count includes.

use crate::{Usage, UsageScope, Value, json};

/// The counts of a whole turn, from the answer to `session/prompt`.
pub(crate) fn of_turn(result: &Value) -> Option<Usage> {
    let usage = json::at(result, &["usage"]).filter(|usage| usage.is_object());
    usage.map(|usage| counts(usage, UsageScope::Run)).or_else(|| {
        // Gemini CLI.
        let count = json::at(result, &["_meta", "quota", "token_count"]).filter(|count| count.is_object())?;
        let (input, output) = (json::count(count, &["input_tokens"]), json::count(count, &["output_tokens"]));
        Some(Usage { scope: UsageScope::Run, input, cached_input: 0, cache_write: 0, output, reasoning: 0 })
    })
}

/// The counts of one request to the model, which Qwen Code attaches to an empty chunk.
pub(crate) fn of_step(update: &Value) -> Option<Usage> {
    let usage = json::at(update, &["_meta", "usage"]).filter(|usage| usage.is_object())?;
    Some(counts(usage, UsageScope::Step))
}

/// The sum shows whether the parts are included in input and output or added to them.
fn counts(usage: &Value, scope: UsageScope) -> Usage {
    let tokens = |name: &str| json::count(usage, &[name]);
    let (input, output, reasoning) = (tokens("inputTokens"), tokens("outputTokens"), tokens("thoughtTokens"));
    let (cached_input, cache_write) = (tokens("cachedReadTokens"), tokens("cachedWriteTokens"));
    let is_beside = tokens("totalTokens") > input.saturating_add(output);
    let beside = |part: u64| if is_beside { part } else { 0 };
    Usage {
        scope,
        input: input.saturating_add(beside(cached_input)).saturating_add(beside(cache_write)),
        cached_input,
        cache_write,
        output: output.saturating_add(beside(reasoning)),
        reasoning,
    }
}

//! Token counts under the names that CLIs use.

use agentbay_plugin_sdk::{Event, Usage, UsageScope, Value, json};

const INPUT: [&str; 6] = ["input_tokens", "inputTokens", "prompt_tokens", "promptTokens", "input", "prompt"];
const OUTPUT: [&str; 6] =
    ["output_tokens", "outputTokens", "completion_tokens", "completionTokens", "output", "completion"];
const CACHED: [&str; 4] = ["cached_input_tokens", "cacheReadTokens", "cachedInputTokens", "cached_tokens"];
const WRITTEN: [&str; 2] = ["cacheWriteTokens", "cache_write_tokens"];
const REASONING: [&str; 3] = ["reasoning_output_tokens", "reasoningTokens", "reasoning_tokens"];

/// The counts in an object; `None` if there are none. Later counts replace earlier ones.
pub(crate) fn of(counts: &Value) -> Option<Event> {
    if ![INPUT, OUTPUT].iter().flatten().any(|name| json::at(counts, &[name]).is_some_and(is_count)) {
        return None;
    }
    // Only Anthropic's counts exclude cached tokens from the input.
    let (read, written) = ("cache_read_input_tokens", "cache_creation_input_tokens");
    let (read, written) = (json::count(counts, &[read]), json::count(counts, &[written]));
    let input = first(counts, &INPUT).saturating_add(read).saturating_add(written);
    let output = first(counts, &OUTPUT);
    let nested = |name: &str, of: &str| json::count(counts, &[name, of]);
    Some(Event::Usage(Usage {
        scope: UsageScope::Run,
        input,
        cached_input: first(counts, &CACHED).max(read).max(nested("prompt_tokens_details", "cached_tokens")).min(input),
        cache_write: first(counts, &WRITTEN).max(written).min(input),
        output,
        reasoning: first(counts, &REASONING).max(nested("completion_tokens_details", "reasoning_tokens")).min(output),
    }))
}

fn first(counts: &Value, names: &[&str]) -> u64 {
    names.iter().map(|name| json::count(counts, &[name])).find(|count| *count > 0).unwrap_or(0)
}

fn is_count(value: &Value) -> bool {
    value.is_number() || value.as_str().is_some_and(|text| text.trim().parse::<f64>().is_ok())
}

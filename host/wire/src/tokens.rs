//! Token counts as clients can read them.

use agentbay_domain::Usage;

/// The largest number of tokens that is reported: JavaScript represents no larger integer exactly.
pub(crate) const MAX_TOKENS: u64 = (1 << 53) - 1;

/// The usage without implausible counts.
pub(crate) fn clamped(usage: Usage) -> Usage {
    let Usage { input, cached_input, cache_write, output, reasoning } = usage;
    let [input, cached_input, cache_write] = [input, cached_input, cache_write].map(|tokens| tokens.min(MAX_TOKENS));
    let [output, reasoning] = [output, reasoning].map(|tokens| tokens.min(MAX_TOKENS));
    Usage { input, cached_input, cache_write, output, reasoning }
}

/// All tokens of a run.
pub(crate) fn total(usage: Usage) -> u64 {
    usage.input.saturating_add(usage.output).min(MAX_TOKENS)
}

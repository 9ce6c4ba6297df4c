//! The `result` event: how the turn ended, and its tokens.

use serde_json::Value;

use super::{InputTokens, StreamFormat};
use crate::classify::ErrorReport;
use crate::json::{self, count, is_true, items, non_empty_text, text, to_text};
use crate::{Outcome, Stop, Usage, finished};

/// The outcome. `subtype` is `success` for failures too: only `is_error` counts. `error_code` is the CLI's code of an earlier
/// error, or empty.
pub(super) fn outcome(line: &Value, error_code: &str) -> Outcome {
    let code =
        ["api_error_type", "api_error"].iter().find_map(|name| non_empty_text(line, &[name])).unwrap_or(error_code);
    let stop = stop(line, code);
    let error = json::at(line, &["error"]).filter(|error| json::is_error(error));
    let is_cut_short = text(line, &["subtype"]).is_some_and(|subtype| subtype.starts_with("error"));
    if !is_true(line, &["is_error"]) && error.is_none() && !is_cut_short {
        return Outcome { stop, ..finished(answer(line)) };
    }
    // A limit is not a failure of the run: the answer is incomplete, and the stop reason informs the client.
    if matches!(stop, Stop::MaxTurns | Stop::MaxTokens) {
        return Outcome { stop, ..finished(None) };
    }
    let status = json::integer(line, &["api_error_status"]).and_then(|status| u64::try_from(status).ok());
    ErrorReport::new(&error_text(line)).status(status).code(code).failure().into()
}

fn stop(line: &Value, code: &str) -> Stop {
    match (text(line, &["subtype"]), text(line, &["stop_reason"]), code) {
        (Some("error_max_turns"), _, _) => Stop::MaxTurns,
        (_, Some("max_tokens"), _) | (_, _, "max_output_tokens") => Stop::MaxTokens,
        (_, Some("refusal"), _) => Stop::Refusal,
        _ => Stop::EndTurn,
    }
}

/// The answer. One that follows a schema has its own field, besides the last text of the model.
fn answer(line: &Value) -> Option<String> {
    let structured = ["structured_output", "structured_result"].map(|name| to_text(line, &[name]));
    let structured = structured.into_iter().find(|answer| !answer.is_empty());
    let result = json::at(line, &["result"]).and_then(json::content_text).filter(|answer| !answer.is_empty());
    structured.or(result)
}

fn error_text(line: &Value) -> String {
    let error = json::at(line, &["error"]).map(json::error_message).filter(|words| !words.is_empty());
    let errors = || items(line, &["errors"]).iter().map(json::error_message).collect::<Vec<String>>().join("\n");
    non_empty_text(line, &["result"]).map(String::from).or(error).unwrap_or_else(errors)
}

/// The token counts.
pub(super) fn usage(line: &Value, format: StreamFormat) -> Usage {
    let tokens = |name: &str| count(line, &["usage", name]);
    let cached_input = tokens("cache_read_input_tokens");
    let cache_write = tokens("cache_creation_input_tokens");
    let reported = tokens("input_tokens");
    let input = match format.input_tokens {
        InputTokens::All => reported,
        InputTokens::Uncached => reported.saturating_add(cached_input).saturating_add(cache_write),
    };
    let reasoning = count(line, &["usage", "output_tokens_details", "thinking_tokens"]);
    Usage { scope: format.usage_scope, input, cached_input, cache_write, output: tokens("output_tokens"), reasoning }
}

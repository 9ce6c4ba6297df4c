//! `tool_choice`, in the forms of several APIs: whether a client leaves the choice of tools to the agent.

use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};

/// Refuses a choice that is not free.
pub(crate) fn require_free(choice: Option<Raw<'_>>) -> Result<(), Malformed> {
    if choice.is_none_or(is_free) {
        return Ok(());
    }
    let message = "an agent uses its own tools and cannot be made to call the client's: leave `tool_choice` out";
    Err(Malformed::field("tool_choice", message))
}

/// Returns whether the choice is the agent's, or that none of the client's tools is to be called.
pub(crate) fn is_free(choice: Raw<'_>) -> bool {
    match choice.kind() {
        Kind::Null | Kind::Bool | Kind::Number => true,
        Kind::Text => choice.text().is_some_and(|word| is_free_word(&word)),
        Kind::List => choice.items().is_some_and(|items| items.is_empty()),
        Kind::Object => {
            let [kind, mode] = choice.fields(["type", "mode"]);
            let [allowed, gemini] = choice.fields(["allowed_tools", "functionCallingConfig"]);
            match kind.and_then(Raw::text).as_deref() {
                Some("allowed_tools") => mode.or(allowed).is_none_or(is_free),
                Some(word) => is_free_word(word),
                None => mode.or(gemini).map_or_else(|| choice.json().trim_matches(['{', '}', ' ']).is_empty(), is_free),
            }
        }
    }
}

fn is_free_word(word: &str) -> bool {
    matches!(word.trim().to_ascii_lowercase().as_str(), "auto" | "none" | "validated" | "mode_unspecified" | "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mend;

    fn free(choice: &str) -> bool {
        is_free(mend::json(choice.as_bytes()).unwrap().value())
    }

    #[test]
    fn auto_and_none_are_free_in_every_form_and_a_required_tool_is_not() {
        for choice in [
            r#""auto""#,
            r#""NONE""#,
            r#""""#,
            "null",
            "false",
            "{}",
            "[]",
            r#"{"type": "auto"}"#,
            r#"{"type": "none"}"#,
            r#"{"type": "auto", "disable_parallel_tool_use": true}"#,
            r#"{"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}"#,
            r#"{"type": "allowed_tools", "mode": "auto", "tools": []}"#,
            r#"{"functionCallingConfig": {"mode": "AUTO"}}"#,
        ] {
            assert!(free(choice), "{choice}");
        }
        for choice in [
            r#""required""#,
            r#""any""#,
            r#"{"type": "any"}"#,
            r#"{"type": "tool", "name": "f"}"#,
            r#"{"type": "function", "function": {"name": "f"}}"#,
            r#"{"type": "allowed_tools", "allowed_tools": {"mode": "required"}}"#,
            r#"{"functionCallingConfig": {"mode": "ANY"}}"#,
            r#"{"name": "f"}"#,
        ] {
            assert!(!free(choice), "{choice}");
        }
    }
}

//! Finds options that a plugin ignores, by comparing its plans with and without them: the contract has no list of the options
//! of a plugin.

use agentbay_domain::{Plan, Turn};
use agentbay_plugin_host::{CallError, Instance};

/// A name that no plugin knows.
const UNKNOWN: &str = "agentbay-asks-whether-unknown-options-are-refused";

/// A value that is invalid for lists, numbers, patterns and enumerations.
const INVALID: &str = "\u{1}(";

/// The first option of the turn that has no effect on its plan; `None` if the plugin itself refuses unknown options.
///
/// # Errors
/// The plugin fails.
pub(super) async fn without_effect(
    instance: &mut Instance,
    turn: &Turn,
    plan: &Plan,
) -> Result<Option<String>, CallError> {
    if turn.options.is_empty() {
        return Ok(None);
    }
    let with = |name: &str, value: &str| {
        let mut turn = turn.clone();
        turn.options.retain(|(other, _)| other != name);
        turn.options.push((name.to_owned(), value.to_owned()));
        turn
    };
    if instance.prepare(&with(UNKNOWN, "")).await?.is_err() {
        return Ok(None);
    }
    for (name, _) in &turn.options {
        let mut without = turn.clone();
        without.options.retain(|(other, _)| other != name);
        let is_used = instance.prepare(&without).await?.as_ref() != Ok(plan)
            || instance.prepare(&with(name, INVALID)).await?.as_ref() != Ok(plan);
        if !is_used {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

//! Options that a plugin takes no notice of. A plugin is asked for the command line with and without them; the contract has
//! no list of the options that it knows.

use agentbay_domain::{Plan, Turn};
use agentbay_plugin_host::{CallError, Instance};

/// A name that no plugin has an option of.
const NOBODYS: &str = "agentbay-asks-whether-unknown-options-are-refused";

/// A value that is no list, no number, no pattern and no word of a list.
const NO_VALUE: &str = "\u{1}(";

/// The first option of the turn that changes nothing in its plan, whatever its value; none if the plugin refuses options
/// that it does not know by itself.
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
    if instance.prepare(&with(NOBODYS, "")).await?.is_err() {
        return Ok(None);
    }
    for (name, _) in &turn.options {
        let mut without = turn.clone();
        without.options.retain(|(other, _)| other != name);
        let is_used = instance.prepare(&without).await?.as_ref() != Ok(plan)
            || instance.prepare(&with(name, NO_VALUE)).await?.as_ref() != Ok(plan);
        if !is_used {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

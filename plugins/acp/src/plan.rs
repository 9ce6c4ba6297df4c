//! The options of proxy.toml, and the command line. The only option is `args`, a list of strings: the agent's arguments, including the
//! one that enables the protocol, and its model if the agent is not to choose.

use agentbay_plugin_sdk::{Failure, Plan, Turn, invalid_option, parse_arguments};

/// The command line. The host supplies the program; everything else is part of the dialogue.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    if let Some(model) = &turn.model {
        let message = format!("the agent protocol cannot select the model `{model}`: name it in `options.args`");
        return Err(invalid_option(message));
    }
    let mut args = Vec::new();
    for (name, value) in &turn.options {
        if name != "args" {
            return Err(invalid_option(format!("unknown option `{name}`: allowed is `args`")));
        }
        args = parse_arguments(value)?;
    }
    Ok(Plan::new("", args.iter().map(String::as_str)))
}

//! Owns the options of proxy.toml and the command line they make. The only option is `args`, a list of strings: the
//! agent's arguments, among them what makes it speak the protocol, and its model if it is not to choose itself.

use agentbay_plugin_sdk::{Failure, Plan, Turn, arguments, wrong_option};

/// The command line. The program is left to the host, and everything else is said in the dialogue.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    if let Some(model) = &turn.model {
        let message = format!("the agent cannot be told to use the model `{model}`: name it among `options.args`");
        return Err(wrong_option(message));
    }
    let mut args = Vec::new();
    for (name, value) in &turn.options {
        if name != "args" {
            return Err(wrong_option(format!("unknown option `{name}`: allowed is `args`")));
        }
        args = arguments(value)?;
    }
    Ok(Plan::new("", args.iter().map(String::as_str)))
}

//! The form of a prompt for each agent, so that it is not taken for a command.

use agentbay_plugin_sdk::Value;
use agentbay_plugin_sdk::acp::{Dialect, text_blocks};

/// Qwen Code searches only the first text of a prompt for a command.
const QWEN: &str = "qwen-code";

/// The others join the texts and take a prompt that starts with a slash, even after spaces, for a command. A zero-width character
/// before it makes it plain text.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// The dialect of every agent.
#[derive(Debug)]
pub struct Any;

impl Dialect for Any {
    fn blocks(agent: &str, prompt: &str) -> Value {
        let is_command = prompt.trim_start().starts_with('/');
        match agent {
            QWEN if is_command => text_blocks(["", prompt]),
            _ if is_command => text_blocks([format!("{ZERO_WIDTH_SPACE}{prompt}").as_str()]),
            _ => text_blocks([prompt]),
        }
    }
}

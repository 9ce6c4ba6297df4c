//! Owns how a prompt is handed to an agent, so that it stays a prompt.

use agentbay_plugin_sdk::Value;
use agentbay_plugin_sdk::acp::{Dialect, text_blocks};

/// Qwen Code looks for a command in the first text of a prompt, and only there.
const QWEN: &str = "qwen-code";

/// The others put the texts together and take a prompt that begins with a slash for a command of theirs, spaces before it or
/// not. A character without width before it makes it plain text.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Whatever agent it is.
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

//! Runs that are made up, written as Qwen Code writes them.

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::{claude_lines, suite};

suite!(Qwen, generated: claude_lines);

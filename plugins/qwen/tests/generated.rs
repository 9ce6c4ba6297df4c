//! Generated runs in the format of Qwen Code.

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::{claude_lines, suite};

suite!(Qwen, generated: claude_lines);

//! Generated runs in the format of Claude Code.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::{claude_lines, suite};

suite!(Claude, generated: claude_lines);

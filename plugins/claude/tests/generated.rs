//! Runs that are made up, written as Claude Code writes them.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::{claude_lines, suite};

suite!(Claude, generated: claude_lines);

//! Runs that are made up, written as Claude Code writes them.

use std::io;

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::{check_generated, claude_lines};

#[test]
fn a_run_that_is_made_up_is_told_as_it_is_and_a_part_of_it_is_no_success() -> io::Result<()> {
    check_generated::<Claude>(claude_lines)
}

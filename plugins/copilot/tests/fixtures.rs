//! What is made of every recorded run: `golden.json` in its folder.

use std::io;

use agentbay_plugin_copilot::Copilot;
use agentbay_plugin_sdk::testing::{
    Capture, captures, check_damaged, check_groupings, check_interleaved, check_mutated, check_mutated_streams,
    check_truncated, compare, turn,
};

fn recorded() -> io::Result<Vec<Capture>> {
    captures(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/copilot"))
}

#[test]
fn every_run_gives_what_is_expected_of_it() -> io::Result<()> {
    compare::<Copilot>(&recorded()?, |_| turn("Say hello"))
}

#[test]
fn grouping_makes_no_difference() -> io::Result<()> {
    recorded()?.iter().try_for_each(|capture| check_groupings::<Copilot>(capture, &turn("x")))
}

#[test]
fn a_run_that_breaks_off_is_no_success() -> io::Result<()> {
    recorded()?.iter().try_for_each(|capture| check_truncated::<Copilot>(capture, &turn("x")))
}

#[test]
fn a_run_with_a_damaged_line_is_no_success() -> io::Result<()> {
    recorded()?.iter().try_for_each(|capture| check_damaged::<Copilot>(capture, &turn("x")))
}

#[test]
fn two_runs_at_once_do_not_touch_each_other() -> io::Result<()> {
    let captures = recorded()?;
    captures.windows(2).try_for_each(|pair| check_interleaved::<Copilot>(&pair[0], &pair[1], &turn("x")))
}

#[test]
fn an_event_with_a_value_that_should_be_another_is_no_panic() -> io::Result<()> {
    recorded()?.iter().for_each(|capture| check_mutated::<Copilot>(capture, &turn("x")));
    Ok(())
}

#[test]
fn events_that_are_written_ordered_and_surrounded_as_never_before_lose_no_text_and_are_no_answer() -> io::Result<()> {
    check_mutated_streams::<Copilot>(&recorded()?, &turn("Say hello"), 60)
}

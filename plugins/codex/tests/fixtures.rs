//! The recorded runs of Codex, each against what is expected of it. `RENEW=1` writes that anew.

use std::io;

use agentbay_plugin_codex::Codex;
use agentbay_plugin_sdk::testing::{
    Capture, Grouping, answer_of, captures, check_damaged, check_groupings, check_interleaved, check_mutated,
    check_mutated_streams, check_truncated, compare, turn,
};

fn recorded() -> io::Result<Vec<Capture>> {
    captures(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex"))
}

#[test]
fn every_recorded_run_gives_the_expected_events_and_outcome() -> io::Result<()> {
    compare::<Codex>(&recorded()?, |_| turn("Say hello"))
}

#[test]
fn any_grouping_of_lines_gives_the_same() -> io::Result<()> {
    recorded()?.iter().try_for_each(|capture| check_groupings::<Codex>(capture, &turn("x")))
}

#[test]
fn a_run_cut_off_anywhere_is_a_success_only_if_it_had_said_that_it_was_done() -> io::Result<()> {
    recorded()?.iter().try_for_each(|capture| check_truncated::<Codex>(capture, &turn("x")))
}

#[test]
fn damaged_output_is_no_panic_and_a_success_only_with_its_end() -> io::Result<()> {
    recorded()?.iter().try_for_each(|capture| check_damaged::<Codex>(capture, &turn("x")))
}

#[test]
fn an_event_with_a_value_that_should_be_another_is_no_panic() -> io::Result<()> {
    recorded()?.iter().for_each(|capture| check_mutated::<Codex>(capture, &turn("x")));
    Ok(())
}

#[test]
fn two_runs_at_a_time_do_not_touch_each_other() -> io::Result<()> {
    recorded()?.windows(2).try_for_each(|pair| check_interleaved::<Codex>(&pair[0], &pair[1], &turn("x")))
}

/// INV-CLI-PARSE-002.
#[test]
fn the_answer_is_what_the_model_said() -> io::Result<()> {
    for capture in recorded()? {
        // An answer that follows a schema.
        if capture.name() == "plain-output-schema" {
            continue;
        }
        let told = capture.replay::<Codex>(&turn("x"), Grouping::Whole);
        if let Some(said) = answer_of(&capture)
            && told.outcome.failure.is_none()
        {
            assert_eq!(told.answer(), said, "{}", capture.name());
        }
    }
    Ok(())
}

#[test]
fn events_that_are_written_ordered_and_surrounded_as_never_before_lose_no_text_and_are_no_answer() -> io::Result<()> {
    check_mutated_streams::<Codex>(&recorded()?, &turn("Say hello"), 60)
}

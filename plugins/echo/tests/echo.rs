//! The template, so that a copy of it begins with tests.

use agentbay_plugin_echo::Echo;
use agentbay_plugin_sdk::testing::{GROUPINGS, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{Agent, Category, Event, ExitStatus, Plan, Transcript, failed, finished};

#[test]
fn it_starts_the_running_program_itself() {
    assert_eq!(Echo::prepare(&turn("Hello")), Ok(Plan::new("agentbay", ["echo-agent"])));
}

#[test]
fn the_prompt_goes_to_standard_input() {
    let turn = turn("Hello");
    let events = <Echo as Agent>::Transcript::new(&turn).begin(&turn);
    assert_eq!(events, vec![Event::Reply("Hello".into()), Event::EndInput]);
}

#[test]
fn everything_on_standard_output_is_the_answer() {
    let actual = replay::<Echo>(&turn("x"), "Hello\n\nthere", Grouping::Whole, ExitStatus::Code(0));
    assert_eq!(actual, Replay { events: vec![Event::Text("Hello\n\nthere".into())], outcome: finished(None) });
    for grouping in GROUPINGS {
        let actual = replay::<Echo>(&turn("x"), "Hello\n\nthere", grouping, ExitStatus::Code(0));
        assert_eq!(actual.answer(), "Hello\n\nthere");
    }
}

#[test]
fn another_exit_code_is_a_failure() {
    let actual = replay::<Echo>(&turn("x"), "", Grouping::Whole, ExitStatus::Code(3));
    assert_eq!(actual.outcome, failed(Category::Unknown, "CLI failed", ""));
}

//! A turn is over when the helpers that work in its background are done, too.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::{Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{Event, ExitStatus, Usage, UsageScope, finished};

fn run(stdout: &[&str], code: i32) -> Replay {
    replay::<Claude>(&turn("x"), &stdout.join("\n"), Grouping::Each(1), ExitStatus::Code(code))
}

fn dones(actual: &Replay) -> usize {
    actual.events.iter().filter(|event| matches!(event, Event::Done(_))).count()
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
const STARTED: &str = r#"{"type":"system","subtype":"task_started","task_id":"b1","tool_use_id":"t1"}"#;
const WORKING: &str = r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"id":"b1"}]}"#;
const FIRST: &str =
    r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"The review runs."}]}}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"The review runs.","usage":{"input_tokens":10,"output_tokens":1}}"#;
const OVER: &str = r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"completed"}"#;
const IDLE: &str = r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#;
const SECOND: &str =
    r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"The review found two faults."}]}}"#;
const END: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"The review found two faults.","usage":{"input_tokens":20,"output_tokens":2}}"#;

#[test]
fn t2_09_a_result_while_helpers_work_is_not_the_end() {
    for started in [&[STARTED, WORKING][..], &[STARTED], &[WORKING]] {
        for over in [&[OVER, IDLE][..], &[OVER], &[IDLE]] {
            let lines = [&[INIT][..], started, &[FIRST, RESULT], over, &[INIT, SECOND, END]].concat();
            let actual = run(&lines, 0);
            assert_eq!(actual.answer(), "The review runs.\n\nThe review found two faults.");
            assert_eq!(dones(&actual), 1);
            assert_eq!(actual.outcome, finished(Some("The review found two faults.".into())));
            // The second result counts its own turn only.
            let usage = actual
                .events
                .iter()
                .rev()
                .find_map(|event| if let Event::Usage(usage) = event { Some(*usage) } else { None });
            let expected =
                Usage { scope: UsageScope::Run, input: 30, cached_input: 0, cache_write: 0, output: 3, reasoning: 0 };
            assert_eq!(usage, Some(expected));
        }
    }
}

#[test]
fn the_exit_code_decides_for_a_process_that_ends_before_its_background_tasks() {
    let lines = [INIT, STARTED, FIRST, RESULT];
    assert_eq!(run(&lines, 0).outcome, finished(Some("The review runs.".into())));
    assert!(run(&lines, 1).outcome.failure.is_some(), "the work of the helper is lost");
    assert_eq!(run(&[INIT, STARTED, FIRST, RESULT, IDLE], 1).outcome.failure, None);
}

#[test]
fn a_failed_turn_does_not_wait_for_background_tasks() {
    let failed = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded"}"#;
    let actual = run(&[INIT, STARTED, FIRST, failed], 0);
    assert_eq!((dones(&actual), actual.outcome.failure.is_some()), (1, true));
}

#[test]
fn a_background_task_that_ended_before_the_result_delays_nothing() {
    assert_eq!(dones(&run(&[INIT, STARTED, OVER, FIRST, RESULT], 0)), 1);
    assert_eq!(dones(&run(&[INIT, WORKING, IDLE, FIRST, RESULT], 0)), 1);
}

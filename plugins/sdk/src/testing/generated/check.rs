//! The properties of generated runs.

use std::io;

use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;

use super::{Script, scripts};
use crate::testing::{GROUPINGS, Grouping, Replay, replay, turn};
use crate::{Agent, Event, ExitStatus, Features, NO_OUTPUT, ToolResult, finished};

/// Number of generated runs.
const CASES: u32 = 64;

/// Checks a plugin on generated runs, which `write` turns into the events of a CLI. The plugin has to return the text, the reasoning
/// (if it supports that), the calls and their results unchanged for every grouping of the lines. A run that is truncated before
/// its last line must not be a success. INV-CLI-PARSE-001 and 002.
///
/// # Errors
/// With the smallest run found that violates this.
pub fn check_generated<A: Agent>(write: impl Fn(&Script) -> Vec<Value>) -> io::Result<()> {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let check = |script: Script| {
        let lines: Vec<String> = write(&script).iter().map(|event| script.line(event)).collect();
        whole::<A>(&script, &lines).and_then(|()| truncated::<A>(&lines)).map_err(TestCaseError::fail)
    };
    TestRunner::new(config).run(&scripts(), check).map_err(|error| io::Error::other(error.to_string()))
}

fn whole<A: Agent>(script: &Script, lines: &[String]) -> Result<(), String> {
    let calls = || script.steps.iter().flat_map(|step| &step.calls);
    let results: Vec<ToolResult> = calls()
        .map(|call| ToolResult { id: call.id.clone(), output: call.output.clone(), is_error: call.is_error })
        .collect();
    let ids: Vec<String> = calls().map(|call| call.id.clone()).collect();
    let reasoning: String = script.steps.iter().flat_map(|step| &step.reasoning).map(String::as_str).collect();
    for grouping in GROUPINGS {
        let replay = replay_lines::<A>(lines, grouping, 0);
        expect_equal("outcome", &replay.outcome.failure, &None)?;
        expect_equal("answer", &replay.answer(), &script.answer())?;
        expect_equal(
            "calls",
            &only(&replay, |event| if let Event::ToolCall(call) = event { Some(call.id.clone()) } else { None }),
            &ids,
        )?;
        expect_equal(
            "results",
            &only(&replay, |event| if let Event::ToolResult(result) = event { Some(result.clone()) } else { None }),
            &results,
        )?;
        if A::describe().features.contains(Features::REASONING) {
            let thought =
                only(&replay, |event| if let Event::Reasoning(text) = event { Some(text.clone()) } else { None });
            expect_equal("reasoning", &thought.concat(), &reasoning)?;
        }
    }
    Ok(())
}

fn truncated<A: Agent>(lines: &[String]) -> Result<(), String> {
    for count in 0..lines.len() {
        for code in [0, 1] {
            let replay = replay_lines::<A>(&lines[..count], Grouping::Whole, code);
            let is_silent = count == 0 && code == 0 && replay.outcome == finished(Some(NO_OUTPUT.into()));
            if replay.outcome.failure.is_none() && !is_silent {
                return Err(format!("a success after {count} of {} lines: {replay:?}", lines.len()));
            }
        }
    }
    Ok(())
}

fn replay_lines<A: Agent>(lines: &[String], grouping: Grouping, code: i32) -> Replay {
    replay::<A>(&turn("Say hello"), &lines.join("\n"), grouping, ExitStatus::Code(code))
}

fn only<T>(replay: &Replay, wanted: impl Fn(&Event) -> Option<T>) -> Vec<T> {
    replay.events.iter().filter_map(wanted).collect()
}

fn expect_equal<T: PartialEq + std::fmt::Debug>(what: &str, actual: &T, expected: &T) -> Result<(), String> {
    if actual == expected { Ok(()) } else { Err(format!("{what}: {actual:?} instead of {expected:?}")) }
}

//! Owns what must hold for a run that was made up.

use std::io;

use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;

use super::{Script, scripts};
use crate::testing::{GROUPINGS, Grouping, Replay, replay, turn};
use crate::{Agent, Event, ExitStatus, Features, NO_OUTPUT, ToolResult, finished};

/// How many runs are made up.
const CASES: u32 = 64;

/// Of runs that are made up, and written by `write` as the events of a CLI, a plugin tells the text, the reasoning (if it is
/// one that does), the calls and their results as they are, however the lines are grouped; and none that is cut off before its
/// last line is a success. INV-CLI-PARSE-001 and 002.
///
/// # Errors
/// With the smallest run found of which it is not so.
pub fn check_generated<A: Agent>(write: impl Fn(&Script) -> Vec<Value>) -> io::Result<()> {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let check = |script: Script| {
        let lines: Vec<String> = write(&script).iter().map(|event| script.line(event)).collect();
        whole::<A>(&script, &lines).and_then(|()| cut::<A>(&lines)).map_err(TestCaseError::fail)
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
        let told = told::<A>(lines, grouping, 0);
        same("outcome", &told.outcome.failure, &None)?;
        same("answer", &told.answer(), &script.answer())?;
        same(
            "calls",
            &only(&told, |event| if let Event::ToolCall(call) = event { Some(call.id.clone()) } else { None }),
            &ids,
        )?;
        same(
            "results",
            &only(&told, |event| if let Event::ToolResult(result) = event { Some(result.clone()) } else { None }),
            &results,
        )?;
        if A::describe().features.contains(Features::REASONING) {
            let thought =
                only(&told, |event| if let Event::Reasoning(text) = event { Some(text.clone()) } else { None });
            same("reasoning", &thought.concat(), &reasoning)?;
        }
    }
    Ok(())
}

fn cut<A: Agent>(lines: &[String]) -> Result<(), String> {
    for count in 0..lines.len() {
        for code in [0, 1] {
            let told = told::<A>(&lines[..count], Grouping::Whole, code);
            let is_silent = count == 0 && code == 0 && told.outcome == finished(Some(NO_OUTPUT.into()));
            if told.outcome.failure.is_none() && !is_silent {
                return Err(format!("a success behind {count} of {} lines: {told:?}", lines.len()));
            }
        }
    }
    Ok(())
}

fn told<A: Agent>(lines: &[String], grouping: Grouping, code: i32) -> Replay {
    replay::<A>(&turn("Say hello"), &lines.join("\n"), grouping, ExitStatus::Code(code))
}

fn only<T>(told: &Replay, wanted: impl Fn(&Event) -> Option<T>) -> Vec<T> {
    told.events.iter().filter_map(wanted).collect()
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, told: &T, expected: &T) -> Result<(), String> {
    if told == expected { Ok(()) } else { Err(format!("{what}: {told:?} is not {expected:?}")) }
}

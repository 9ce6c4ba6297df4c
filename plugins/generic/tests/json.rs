//! What is made of JSON by the paths of the options, and of errors wherever they stand.

use agentbay_plugin_generic::Generic;
use agentbay_plugin_sdk::testing::{GROUPINGS, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, KillReason, Outcome, Stop, Turn, Usage, UsageScope, failed, finished,
};

fn with(options: &[(&str, &str)]) -> Turn {
    let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Turn { options, ..turn("x") }
}

fn ending(options: &[(&str, &str)], stdout: &str, exit: ExitStatus) -> Replay {
    let whole = replay::<Generic>(&with(options), stdout, Grouping::Whole, exit);
    for grouping in GROUPINGS {
        assert_eq!(replay::<Generic>(&with(options), stdout, grouping, exit), whole, "{grouping:?} {stdout}");
    }
    whole
}

fn run(options: &[(&str, &str)], stdout: &str) -> Replay {
    ending(options, stdout, ExitStatus::Code(0))
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

const STREAM: &[(&str, &str)] = &[("format", "stream-json")];
const JSON: &[(&str, &str)] = &[("format", "json")];

/// As an agent with its own kinds of events would be set up.
const PATHS: &[(&str, &str)] = &[
    ("format", "stream-json"),
    ("text_path", r#"{"path":"e.text","when":{"e.type":["delta","piece"],"n":1}}"#),
    ("message_path", r#"{"path":"e.say","when":{"final":true}}"#),
    ("reasoning_path", "e.thought"),
    ("answer_path", r#"["all.0.text", {"path":"last"}]"#),
    ("error_path", "e.fault"),
    ("session_path", "ids.0"),
    ("resume_args", r#"["--resume","{session}"]"#),
    ("usage_path", "e.tokens"),
    ("break_when", r#"[{"e.type":"step"},{"e.type":"turn"}]"#),
];

#[test]
fn paths_define_where_values_are_read() {
    let stdout = r#"{"ids":[17.0],"e":{"type":"step"}}
{"e":{"thought":"Hm."}}
{"n":1.0,"e":{"type":"delta","text":"One"}}
{"n":2,"e":{"type":"delta","text":"not this"}}{"n":1,"e":{"type":"piece","text":" and more."}}
{"e":{"type":"turn"}}
{"n":1,"e":{"type":"delta","text":"Two."}}
{"final":true,"e":{"say":[{"type":"text","text":"Thr"},{"type":"text","text":"ee."}]}}
{"final":false,"e":{"say":"not this"}}
{"ids":["17"],"e":{"tokens":{"inputTokens":"11","outputTokens":5.0,"cacheReadTokens":99}}}
{"last":"Three."}
"#;
    let usage = Usage { scope: UsageScope::Run, input: 11, cached_input: 11, cache_write: 0, output: 5, reasoning: 0 };
    let events = vec![
        Event::Session("17".into()),
        Event::Reasoning("Hm.".into()),
        text("One"),
        text(" and more."),
        Event::TextBreak,
        text("Two."),
        Event::TextBreak,
        text("Three."),
        Event::Usage(usage),
    ];
    assert_eq!(run(PATHS, stdout), Replay { events, outcome: finished(None) });
}

#[test]
fn the_answer_at_a_path_counts_if_there_is_no_text() {
    for stdout in [r#"{"all":[{"text":"The answer"}]}"#, "log\n{\n  \"last\": \"The answer\"\n}\n"] {
        let actual = Replay { events: Vec::new(), outcome: finished(Some("The answer".into())) };
        assert_eq!(run(PATHS, stdout), actual);
        let json = [&[("format", "json"), ("answer_path", PATHS[4].1)], &PATHS[6..8]].concat();
        assert_eq!(run(&json, stdout), actual);
    }
}

#[test]
fn one_json_value_has_session_and_tokens_too() {
    let options = [("format", "json"), ("resume_args", r#"["--resume={session}"]"#)];
    let usage = Usage { scope: UsageScope::Run, input: 16, cached_input: 4, cache_write: 2, output: 8, reasoning: 0 };
    let stdout = r#"{"result":"Hi","session_id":"s-1","usage":{"input_tokens":10,"cache_read_input_tokens":4,
        "cache_creation_input_tokens":2,"output_tokens":8}}"#;
    let events = vec![Event::Session("s-1".into()), Event::Usage(usage)];
    assert_eq!(run(&options, stdout), Replay { events, outcome: finished(Some("Hi".into())) });
    // A session that cannot be resumed is not emitted.
    assert_eq!(run(JSON, stdout).events, vec![Event::Usage(usage)]);
}

#[test]
fn an_error_is_read_in_every_common_form() {
    let cases = [
        r#"{"type":"error","message":"no such key: unauthorized"}"#,
        r#"{"type":"error","error":"no such key: unauthorized"}"#,
        r#"{"type":"error","error":{"message":"no such key: unauthorized"}}"#,
        r#"{"type":"error","error":{"data":{"error":{"message":"no such key: unauthorized"}}}}"#,
        r#"{"type":"turn.failed","error":{"message":"no such key: unauthorized"}}"#,
        r#"{"type":"result","is_error":true,"result":"no such key: unauthorized"}"#,
        r#"{"type":"result","subtype":"error_during_execution","errors":["no such key: unauthorized"]}"#,
        r#"{"type":"result","status":"failed","message":"no such key: unauthorized"}"#,
        r#"{"success":false,"message":"no such key: unauthorized"}"#,
        r#"{"ok":false,"text":"no such key: unauthorized"}"#,
        r#"{"is_error":"true","content":[{"type":"text","text":"no such key: unauthorized"}]}"#,
        r#"{"error":"no such key: unauthorized"}"#,
        r#"{"error":{"message":"no such key: unauthorized","code":"x"},"content":""}"#,
    ];
    let message = "The CLI is not logged in, or its credentials were refused";
    for stdout in cases {
        for options in [STREAM, JSON] {
            let actual = run(options, stdout);
            let expected = failed(Category::Authentication, message, "no such key: unauthorized");
            assert_eq!(actual, Replay { events: vec![], outcome: expected }, "{stdout}");
        }
    }
    let by_status = run(STREAM, r#"{"type":"error","message":"come back","status":429}"#).outcome;
    assert_eq!(by_status.failure.map(|failure| failure.category), Some(Category::RateLimit));
}

#[test]
fn an_error_at_the_end_counts_and_one_followed_by_text_does_not() {
    let answer = r#"{"type":"content","content":"Two files."}"#;
    let error = r#"{"type":"result","is_error":true,"result":"quota exceeded"}"#;
    let actual = run(STREAM, &format!("{answer}\n{error}\n"));
    assert_eq!(actual.events, vec![text("Two files.")]);
    assert_eq!(actual.outcome.failure.map(|failure| failure.category), Some(Category::Quota));

    let retried = r#"{"type":"error","message":"connection reset, trying again"}"#;
    for end in ["", r#"{"type":"result","result":"Two files."}"#, r#"{"type":"turn.completed"}"#] {
        let actual = run(STREAM, &format!("{retried}\n{answer}\n{end}\n"));
        assert_eq!(actual, Replay { events: vec![text("Two files.")], outcome: finished(None) }, "{end}");
    }
}

#[test]
fn errors_of_a_tool_or_the_user_are_not_errors_of_the_run() {
    let answer = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Two files."}]}}"#;
    for other in [
        r#"{"type":"tool_result","is_error":true,"content":"no such file"}"#,
        r#"{"role":"tool","error":"no such file"}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true}]}}"#,
        r#"{"type":"result","is_error":false,"error":null,"result":"Two files.","success":true}"#,
        r#"{"type":"warning","error":"the index is old"}"#,
    ] {
        let actual = run(STREAM, &format!("{answer}\n{other}\n"));
        assert_eq!(actual, Replay { events: vec![text("Two files.")], outcome: finished(None) }, "{other}");
    }
}

#[test]
fn a_limit_of_turns_is_a_failure_only_without_text() {
    let limit = r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
    assert_eq!(run(STREAM, limit).outcome, failed(Category::Unknown, "CLI failed", "error_max_turns"));
    let actual = run(STREAM, &format!("{}\n{limit}", r#"{"type":"content","content":"So far"}"#));
    let outcome = Outcome { stop: Stop::MaxTurns, failure: None, answer: None };
    assert_eq!(actual, Replay { events: vec![text("So far")], outcome });
}

#[test]
fn events_without_known_text_are_a_failure_that_names_their_kinds() {
    let stdout = "{\"type\":\"agent_event\",\"event\":{\"type\":\"say\"}}\n".repeat(3) + "{\"step\":2,\"of\":3}\n";
    let message = "The CLI ended well, but no answer was found in what it printed: `agent_event` with `say` (3 times), an \
        object of `of`, `step`. If one of these has it, say where with the option `text_path` or `answer_path` of the model";
    assert_eq!(run(STREAM, &stdout).outcome, failed(Category::Unknown, message, "{\"step\":2,\"of\":3}"));
    // A stream with only a start and an end has no text either.
    for stdout in
        ["{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\"}", "{\"type\":\"result\",\"result\":\" \"}"]
    {
        assert!(run(STREAM, stdout).outcome.failure.is_some(), "{stdout}");
    }
    let one = run(JSON, "log\n{\"answer\":42}").outcome.failure.map(|failure| failure.message).unwrap_or_default();
    assert!(one.contains("printed: an object of `answer`. If"), "{one}");
}

#[test]
fn an_incomplete_json_value_is_not_an_answer() {
    let stdout = "{\"content\": \"cut";
    let message = "The CLI ended in the middle of a JSON value";
    for options in [STREAM, JSON] {
        assert_eq!(run(options, stdout).outcome, failed(Category::Unknown, message, stdout));
    }
}

#[test]
fn the_output_of_a_failed_run_is_its_detail_without_an_error_text() {
    let lines = "No key found.\n\nVisit https://example.invalid\n";
    for (exit, category, message) in [
        (ExitStatus::Code(1), Category::Unknown, "CLI failed"),
        (ExitStatus::Signal(9), Category::Unknown, "CLI failed"),
        (
            ExitStatus::Killed(KillReason::Idle),
            Category::Timeout,
            "The CLI said nothing for longer than it may and was stopped",
        ),
    ] {
        for options in [&[][..], STREAM, JSON] {
            let outcome = ending(options, lines, exit).outcome;
            assert_eq!(outcome, failed(category, message, "Visit https://example.invalid"), "{options:?}");
        }
        let unknown = ending(STREAM, "{\"step\":1}\n", exit).outcome;
        assert_eq!(unknown, failed(category, message, "{\"step\":1}"));
    }
}

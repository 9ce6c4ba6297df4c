//! The events of Qwen Code's output. The recorded runs are compared whole in `fixtures.rs`; the Claude-like events
//! themselves are tested with the SDK.

use std::io;

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::{Capture, GROUPINGS, Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, Failure, NO_OUTPUT, RetryHint, StreamName, ToolCall, ToolResult, Transcript,
    Turn, Usage, UsageScope, Value, failed, finished,
};

const HELLO: &str = "The scripted model says hello. This is a plain answer in one short paragraph.";

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(format!("{}/../../fixtures/qwen/{case}", env!("CARGO_MANIFEST_DIR")))
}

fn run(stdout: &str, exit: ExitStatus) -> Replay {
    replay::<Qwen>(&turn("Say hello"), stdout, Grouping::Whole, exit)
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

/// Two requests in each case: without a tool the second is Qwen Code's own, for its memory.
fn end(answer: &str) -> [Event; 2] {
    let usage =
        Usage { scope: UsageScope::Thread, input: 2222, cached_input: 444, cache_write: 0, output: 666, reasoning: 0 };
    [Event::Usage(usage), Event::Done(finished(Some(answer.into())))]
}

fn hello_in_deltas() -> [Event; 5] {
    ["The scripted model ", "says hello. This ", "is a plain ", "answer in one ", "short paragraph."].map(text)
}

#[test]
fn a_plain_run_gives_its_deltas_once() -> io::Result<()> {
    let mut events = vec![Event::Session("78030bd6-0501-4f4c-9bf9-3b0919299efa".into())];
    events.extend(hello_in_deltas());
    events.extend(end(HELLO));
    let actual = recorded("plain")?.replay::<Qwen>(&turn("Say hello"), Grouping::Whole);
    assert_eq!(actual, Replay { events, outcome: finished(Some(HELLO.into())) });
    Ok(())
}

#[test]
fn without_deltas_the_whole_message_is_the_text() -> io::Result<()> {
    let mut events = vec![Event::Session("0a453de4-a3b3-4b22-926c-7f5afe8e83c6".into()), text(HELLO)];
    events.extend(end(HELLO));
    assert_eq!(recorded("plain-whole")?.replay::<Qwen>(&turn("x"), Grouping::Whole).events, events);
    Ok(())
}

#[test]
fn reasoning_is_emitted_once_and_separately_from_the_answer() -> io::Result<()> {
    let mut events = vec![Event::Session("951a5f62-87f3-420f-aed6-dc20ddda6ca4".into())];
    let deltas = ["First I consider ", "the request. Then ", "I decide that ", "a short answer ", "is enough."];
    events.extend(deltas.map(|delta| Event::Reasoning(delta.into())));
    events.extend(hello_in_deltas());
    events.extend(end(HELLO));
    let actual = recorded("reasoning")?.replay::<Qwen>(&turn("x"), Grouping::Whole);
    assert_eq!(actual.events, events);
    Ok(())
}

#[test]
fn a_tool_is_a_call_and_a_result_with_and_without_deltas() -> io::Result<()> {
    let cases = [
        ("tool", "e4245b05-1160-4339-9a88-fa8fe5c0db3a", vec!["Done. The tool ", "returned 120 characters."]),
        ("tool-whole", "9f7cb39e-652e-44f5-a32b-46a5fa355419", vec!["Done. The tool returned 120 characters."]),
    ];
    for (case, session, texts) in cases {
        let id = "call_scripted000002";
        let mut events = vec![
            Event::Session(session.into()),
            Event::ToolCall(ToolCall {
                id: id.into(),
                name: "run_shell_command".into(),
                input: r#"{"command":"ls"}"#.into(),
            }),
            Event::ToolResult(ToolResult { id: id.into(), output: "README.md\nsrc".into(), is_error: false }),
        ];
        events.extend(texts.into_iter().map(text));
        events.extend(end("Done. The tool returned 120 characters."));
        assert_eq!(recorded(case)?.replay::<Qwen>(&turn("x"), Grouping::Whole).events, events, "{case}");
    }
    Ok(())
}

#[test]
fn a_result_with_an_error_is_a_failure() {
    let stdout = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 401]"}}"#;
    let message = "The CLI is not logged in, or its credentials were refused. \
                   To log in: run `qwen` once and choose how to log in";
    let failure = failed(Category::Authentication, message, "[API Error: 401]");
    let events = vec![Event::Done(failure.clone())];
    assert_eq!(run(stdout, ExitStatus::Code(1)), Replay { events, outcome: failure });
}

#[test]
fn plain_text_without_an_event_is_read_by_the_plain_text_rule() {
    for grouping in GROUPINGS {
        let actual = replay::<Qwen>(&turn("x"), "log\n\nHello\nthere\n", grouping, ExitStatus::Code(0));
        let outcome = finished(Some("Hello\nthere".into()));
        assert_eq!(actual, Replay { events: Vec::new(), outcome }, "{grouping:?}");
    }
}

#[test]
fn a_run_without_a_result_is_a_failure_unless_nothing_was_printed() {
    assert_eq!(run("", ExitStatus::Code(0)).outcome, finished(Some(NO_OUTPUT.into())));
    assert_eq!(run("", ExitStatus::Code(1)).outcome, failed(Category::Unknown, "CLI failed", ""));
    let message = "Qwen Code ended before it had finished its turn";
    let init = r#"{"type":"system","subtype":"init"}"#;
    assert_eq!(run(init, ExitStatus::Code(0)).outcome, failed(Category::Unknown, message, ""));
}

fn input(turn: &Turn) -> Vec<Event> {
    <Qwen as Agent>::Transcript::new(turn).begin(turn)
}

#[test]
fn a_prompt_is_passed_as_json() {
    let line = |prompt: &str| {
        let blocks = format!(r#"[{{"type":"text","text":"{prompt}"}},{{"type":"text","text":""}}]"#);
        Event::Reply(format!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#) + "\n")
    };
    assert_eq!(input(&turn("hi\n")), [line(r"hi\n"), Event::EndInput]);
    assert_eq!(input(&turn("/etc/hosts: who?")), [line("/etc/hosts: who?"), Event::EndInput]);
}

#[test]
fn a_prompt_that_json_input_would_change_follows_an_empty_text_in_a_dialogue() {
    for prompt in ["/help me", "Look into @README.md"] {
        let turn = turn(prompt);
        let mut transcript = <Qwen as Agent>::Transcript::new(&turn);
        transcript.begin(&turn);
        transcript.output(StreamName::Stdout, r#"{"id":1,"result":{"agentInfo":{"name":"qwen-code"}}}"#);
        let actual = transcript.output(StreamName::Stdout, r#"{"id":2,"result":{"sessionId":"s"}}"#);
        let Some(Event::Reply(request)) = actual.last() else { panic!("{actual:?}") };
        let request: Value = request.parse().unwrap_or_default();
        let blocks = ["", prompt].map(|text| Value::from_iter([("type", "text"), ("text", text)]));
        assert_eq!(request["params"]["prompt"], Value::from_iter(blocks));
    }
}

#[test]
fn the_prompt_is_plain_text_if_the_answer_follows_a_schema() {
    let turn = Turn { output_schema: Some("{}".into()), ..turn("/help me") };
    assert_eq!(input(&turn), [Event::Reply(" /help me".into()), Event::EndInput]);
}

#[test]
fn a_rate_limit_that_mentions_a_quota_is_a_rate_limit() {
    let message = "[API Error: 429 Rate limit reached for m. Please try again in 2s.]\n\
                Possible quota limitations in place or slow response times detected. Please wait and try again later.";
    let result = Value::from_iter([
        ("type", Value::from("result")),
        ("is_error", Value::from(true)),
        ("error", Value::from_iter([("message", message)])),
    ]);
    let failure = Failure {
        retry: Some(RetryHint::AfterMs(2000)),
        ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", message)
    };
    assert_eq!(run(&result.to_string(), ExitStatus::Code(1)).outcome, failure.into());
}

//! The transcript of a CLI that prints one JSON event a line: what counts as an event, and how a run is judged that did not
//! say how it ended.

use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, Failure, JsonLines, KillReason, NO_OUTPUT, Outcome, Protocol, RetryHint, StreamName,
    Transcript, Turn, Value, failed, finished, json, testing::turn,
};

/// A CLI that says `{"say":"…"}`, and `{"end":"…"}` for an answer or `{"fail":"…"}` at the end.
struct Talker;

impl Protocol for Talker {
    const NAME: &'static str = "Talker";
    const LOGIN_HINT: &'static str = "talker login";
    const EXIT_CODES: &'static [(i32, Category, &'static str)] = &[(41, Category::Authentication, "No login")];

    fn new(_turn: &Turn) -> Self {
        Self
    }

    fn input(turn: &Turn) -> String {
        format!("> {}", turn.prompt)
    }

    fn read(&mut self, event: &Value, events: &mut Vec<Event>) -> bool {
        let text = |name: &str| json::text(event, &[name]);
        events.extend(text("say").map(|text| Event::Text(text.into())));
        events.extend(text("end").map(|answer| Event::Done(finished(Some(answer.into())))));
        let failure = |text: &str| Event::Done(Failure::new(Category::Authentication, "No", text).into());
        events.extend(text("fail").map(failure));
        ["say", "end", "fail"].iter().any(|name| text(name).is_some())
    }
}

fn run(stdout: &str, stderr: &str, exit: ExitStatus) -> (Vec<Event>, Outcome) {
    let mut transcript = JsonLines::<Talker>::new(&turn("x"));
    let mut events = transcript.output(StreamName::Stderr, stderr);
    for line in stdout.split('\n') {
        events.extend(transcript.output(StreamName::Stdout, line));
    }
    (events, transcript.exit(exit))
}

fn outcome(stdout: &str, stderr: &str, exit: ExitStatus) -> Outcome {
    run(stdout, stderr, exit).1
}

const LOGIN: &str = "The CLI is not logged in, or its credentials were refused. To log in: talker login";

#[test]
fn standard_input_is_the_protocols_form_of_the_prompt() {
    let events = JsonLines::<Talker>::new(&turn("x")).begin(&turn("hello"));
    assert_eq!(events, [Event::Reply("> hello".into()), Event::EndInput]);
}

#[test]
fn standard_error_explains_a_failed_run() {
    let exit = ExitStatus::Code(1);
    assert_eq!(outcome("", "Not logged in", exit), failed(Category::Authentication, LOGIN, "Not logged in"));
    let limited = Failure {
        retry: Some(RetryHint::AfterMs(30_000)),
        ..Failure::new(Category::RateLimit, "The provider's rate limit is reached", "log\n429, retry after 30 seconds")
    };
    assert_eq!(outcome("", "log\n429, retry after 30 seconds\n", exit), limited.into());
    assert_eq!(outcome("", "oh dear", exit), failed(Category::Unknown, "CLI failed", "oh dear"));
    assert_eq!(outcome("", "oh dear", ExitStatus::Signal(11)), failed(Category::Unknown, "CLI failed", "oh dear"));
}

#[test]
fn text_of_the_assistant_about_errors_is_not_an_error() {
    let text = r#"{"say":"HTTP 429 rate_limit, not logged in"}"#;
    assert_eq!(outcome(text, "", ExitStatus::Code(1)), failed(Category::Unknown, "CLI failed", ""));
    let answer = finished(Some("429 rate_limit".into()));
    assert_eq!(outcome("429 rate_limit", "", ExitStatus::Code(0)), answer);
}

#[test]
fn standard_error_of_a_successful_run_is_ignored() {
    let (events, _) = run(r#"{"end":"a"}"#, "Error: 401 Unauthorized", ExitStatus::Code(0));
    assert_eq!(events, [Event::Done(finished(Some("a".into())))]);
}

#[test]
fn case_034_a_run_that_exits_with_0_and_has_no_answer_is_a_failure() {
    let exit = ExitStatus::Code(0);
    let login = "Error: AI_APICallError: No auth credentials found";
    assert_eq!(outcome("", login, exit), failed(Category::Authentication, LOGIN, login));
    let message = "Talker ended before it had finished its turn";
    assert_eq!(outcome(r#"{"say":"a"}"#, "", exit), failed(Category::Unknown, message, ""));
}

#[test]
fn a_run_without_output_is_a_success_unless_it_resumes_a_session() {
    let exit = ExitStatus::Code(0);
    for stdout in ["", " \n\n\t", "\u{feff}"] {
        assert_eq!(outcome(stdout, "", exit), finished(Some(NO_OUTPUT.into())), "{stdout:?}");
    }
    assert_eq!(outcome("", "warning", exit), failed(Category::Unknown, NO_OUTPUT, "warning"));
    let resumed = Turn { session: Some("s".into()), ..turn("x") };
    let actual = JsonLines::<Talker>::new(&resumed).exit(exit);
    assert_eq!(actual, failed(Category::Unknown, NO_OUTPUT, ""));
}

#[test]
fn unrecognised_output_is_the_detail_of_a_failed_run() {
    let exit = ExitStatus::Code(3);
    assert_eq!(
        outcome("Error: oh\n{\"odd\":1}", "", exit),
        failed(Category::Unknown, "CLI failed", "Error: oh\n{\"odd\":1}")
    );
    assert_eq!(outcome("oh", "dear", exit), failed(Category::Unknown, "CLI failed", "dear\noh"));
    assert_eq!(outcome("{\"say\":\"oh\"}", "dear", exit), failed(Category::Unknown, "CLI failed", "dear"));
    // Only the error channel determines the category.
    assert_eq!(outcome("401 Unauthorized", "", exit).failure.map(|failure| failure.category), Some(Category::Unknown));
}

#[test]
fn unknown_events_only_are_a_failure_that_names_their_kinds() {
    let exit = ExitStatus::Code(0);
    let stdout = r#"{"type":"future.start"}
{"type":"future.text","text":"hello"}
{"type":"future.text","text":"again"}"#;
    let message = "Talker printed no known event, only `future.start`, `future.text`";
    assert_eq!(run(stdout, "", exit), (Vec::new(), failed(Category::Unknown, message, stdout)));
    let limited = outcome(stdout, "429 Too many requests", exit).failure.map(|failure| failure.category);
    assert_eq!(limited, Some(Category::RateLimit));
    // Among words they are left out, and the words are the answer.
    assert_eq!(outcome(&format!("Hello.\n{stdout}"), "", exit), finished(Some("Hello.".into())));
}

#[test]
fn a_successful_end_without_text_is_a_failure_after_something_unknown() {
    let (events, _) = run("{\"type\":\"future.text\"}\n{\"end\":\"\"}", "", ExitStatus::Code(0));
    let message = "Talker sent its answer in an unknown format: `future.text`";
    let outcome = Outcome { answer: Some(String::new()), ..failed(Category::Unknown, message, "") };
    assert_eq!(events, [Event::Done(outcome)]);
    let (events, _) = run("{\"type\":\"future.text\"}\n{\"say\":\"a\"}\n{\"end\":\"\"}", "", ExitStatus::Code(0));
    assert_eq!(events, [Event::Text("a".into()), Event::Done(finished(Some(String::new())))]);
}

#[test]
fn a_successful_end_without_text_is_a_failure_with_an_incomplete_event() {
    let message = "Talker sent its answer in an unknown format: `an incomplete object`";
    let failed = Event::Done(Outcome { answer: Some(String::new()), ..failed(Category::Unknown, message, "") });
    let dones = |stdout: &str| {
        let events = run(stdout, "", ExitStatus::Code(0)).0.into_iter();
        events.filter(|event| matches!(event, Event::Done(_))).collect::<Vec<_>>()
    };
    let end = Event::Done(finished(Some(String::new())));
    let (broken, ended, text) = ("{\"say\":\"half", "{\"end\":\"\"}", "{\"say\":\"a\"}");
    assert_eq!(dones(&format!("{text}\n{broken}\n{ended}")), std::slice::from_ref(&end));
    assert_eq!(dones(&format!("{broken}\n{ended}")), std::slice::from_ref(&failed));
    assert_eq!(dones(&format!("{ended}\n{broken}\n{{}}")), [end, failed]);
}

#[test]
fn events_are_found_anywhere_in_the_output() {
    let text = |text: &str| Event::Text(text.into());
    let actual = |stdout: &str| {
        let events = run(stdout, "", ExitStatus::Code(0)).0.into_iter();
        events.filter(|event| !matches!(event, Event::Notice(_))).collect::<Vec<_>>()
    };
    let end = Event::Done(finished(Some("b".into())));
    for stdout in [
        r#"{"say":"a"}{"end":"b"}"#,
        r#"data: {"say":"a"} , {"end":"b"} bye"#,
        "{\"say\":\n\"a\"\n}{\"end\":\"b\"}",
        "{\"say\":\"half\n{\"say\":\"a\"}\n{\"x\":\n{\"end\":\"b\"}\n{}",
        "\u{feff}{\"say\":\"a\",\"x\":NaN}\r\n{\"end\":\"b\",\"x\":1e999}\r",
    ] {
        assert_eq!(actual(stdout), [text("a"), end.clone()], "{stdout}");
    }
    assert_eq!(actual(r#"{"say":"\ud83d"}"#), [text("\u{fffd}")]);
    // An event found only at the end becomes the answer.
    let late = "{\"x\":[\n{\n\"say\":\"a\"\n}\n ,{\"x\":[\n{\n\"end\":\"b\"\n}";
    assert_eq!(run(late, "", ExitStatus::Code(0)), (Vec::new(), finished(Some("b".into()))));
}

#[test]
fn an_exit_code_counts_if_the_text_gives_no_category() {
    let exit = ExitStatus::Code(41);
    let message = "No login. To log in: talker login";
    assert_eq!(outcome("", "hm", exit), failed(Category::Authentication, message, "hm"));
    let found = outcome("", "model not found", exit).failure.map(|failure| failure.category);
    assert_eq!(found, Some(Category::NotFound));
}

#[test]
fn a_failure_that_the_cli_reports_has_login_instructions_too() {
    let (events, _) = run(r#"{"fail":"x"}"#, "", ExitStatus::Code(1));
    assert_eq!(events, [Event::Done(failed(Category::Authentication, "No. To log in: talker login", "x"))]);
}

#[test]
fn the_reason_of_a_kill_is_the_category_and_standard_error_the_detail() {
    let message = "The CLI ran for longer than it may and was stopped";
    let exit = ExitStatus::Killed(KillReason::Timeout);
    assert_eq!(outcome("", "HTTP 401", exit), failed(Category::Timeout, message, "HTTP 401"));
}

#[test]
fn events_may_be_items_of_an_array_on_one_line_or_several() {
    let expected = [Event::Text("a".into()), Event::Done(finished(Some("b".into())))];
    for stdout in [
        r#"[{"say":"a"},{"end":"b"}]"#,
        "log {1}\n[\n  {\"say\":\"a\"},\n  {\"end\":\"b\"}\n]\nbye",
        "log {1}\n[\n  {\n    \"say\": \"a\"\n  },\n  {\n    \"end\": \"b\"\n  }\n]\nbye",
        "[INFO] start\n{\n \"say\": \"a\"\n}\n{\"end\":\"b\"}",
    ] {
        let actual = run(stdout, "", ExitStatus::Code(0)).0;
        let events: Vec<Event> = actual.into_iter().filter(|event| !matches!(event, Event::Notice(_))).collect();
        assert_eq!(events, expected, "{stdout}");
    }
}

#[test]
fn json_inside_prose_is_plain_text() {
    for stdout in ["[1,\n2\n]", "Here it is:\n{\n  \"type\": \"object\"\n}", "fn main() {\n}", "{}: nothing"] {
        assert_eq!(run(stdout, "", ExitStatus::Code(0)), (Vec::new(), finished(Some(stdout.into()))));
    }
}

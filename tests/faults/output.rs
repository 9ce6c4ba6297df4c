//! Output of CLIs that has misled other programs: failures that look like success, answers that are repeated or incomplete.

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, Request, chat};

/// A machine whose CLI of this name prints lines on each stream and ends with a code.
fn machine(driver: &str, stdout: &[Value], stderr: &str, code: &str) -> Machine {
    let machine = Machine::configured(&format!(
        "[models.m]\ndriver = \"{driver}\"\nrepo = \".\"\nretries = 0\n[limits]\nexit_grace = \"200ms\"\n"
    ));
    let lines: String = stdout.iter().map(|line| format!("{line}\n")).collect();
    machine.stand_in(driver, &["say", "--err", stderr, "--exit", code, &lines]);
    machine
}

fn asked(machine: &Machine) -> Answer {
    machine.serve().complete(&chat("m", "hi"))
}

fn failure(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["error"]["code"].as_str().expect("a code").to_owned())
}

fn assistant(text: &str) -> Value {
    json!({"type": "assistant", "session_id": "s-1", "parent_tool_use_id": null, "message": {
        "id": "m-1", "role": "assistant", "content": [{"type": "text", "text": text}],
    }})
}

fn result(text: &str, is_error: bool) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": is_error, "result": text, "session_id": "s-1",
           "num_turns": 1, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn delta(text: &str) -> Value {
    json!({"type": "stream_event", "session_id": "s-1", "parent_tool_use_id": null, "event": {
        "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text},
    }})
}

#[test]
pub(crate) fn a_failure_that_is_reported_as_success_is_a_failure() {
    let failed = result("API Error: 429 rate_limit_error: too many requests", true);
    assert_eq!(failure(&asked(&machine("claude", &[failed], "", "0"))), (429, "rate_limit".to_owned()));
}

#[test]
pub(crate) fn a_missing_login_without_an_event_is_recognised_by_its_message() {
    let message = "Please set an Auth method in your settings.json or specify one of the following environment \
                variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA\n";
    assert_eq!(failure(&asked(&machine("gemini", &[], message, "41"))), (401, "authentication".to_owned()));
}

#[test]
pub(crate) fn the_assistant_text_is_the_answer_if_the_result_is_empty() {
    assert_eq!(asked(&machine("claude", &[assistant("hello"), result("", false)], "", "0")).content(), "hello");
}

#[test]
pub(crate) fn exit_0_without_output_is_answered_with_a_note() {
    assert_eq!(asked(&machine("codex", &[], "", "0")).content(), "No output from CLI.");
}

#[test]
pub(crate) fn a_text_that_arrives_in_pieces_and_whole_is_sent_once() {
    let lines = [delta("hel"), delta("lo"), assistant("hello"), result("hello", false)];
    let machine = machine("claude", &lines, "", "0");
    let proxy = machine.serve();
    assert_eq!(proxy.streamed("m", "hi").content, "hello");
    assert_eq!(proxy.complete(&chat("m", "hi")).content(), "hello");
}

#[test]
pub(crate) fn a_failed_turn_is_a_failure_with_any_exit_code() {
    let failed = json!({"type": "turn.failed", "error": {"message": "unexpected status 503 Service Unavailable"}});
    assert_eq!(failure(&asked(&machine("codex", &[failed], "", "0"))), (502, "server".to_owned()));
}

#[test]
pub(crate) fn a_missing_session_is_not_found_and_not_resumed_again() {
    let gone = "No conversation found with session ID: dead-1";
    let failed = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0,
                        "session_id": "dead-1", "errors": [gone]});
    let machine = Machine::configured("[models.m]\ndriver = \"claude\"\nrepo = \".\"\n");
    machine.script(
        "claude",
        &format!("printf x >> ../attempts; cat > /dev/null; echo '{failed}'; echo '{gone}' >&2; exit 1"),
    );
    let request = Request::complete(&chat("m", "hi"));
    let answer = machine.serve().send(&request.header("x-agent-session", "dead-1"));
    assert_eq!(failure(&answer), (404, "not_found".to_owned()));
    assert_eq!(answer.header("x-agent-session"), None);
    assert_eq!(std::fs::read_to_string(machine.path("attempts")).unwrap(), "x");
}

#[test]
pub(crate) fn a_failure_does_not_block_later_requests() {
    let failed = result("API Error: 429 rate_limit_error: too many requests", true);
    let machine = machine("claude", &[failed], "", "0");
    let proxy: Proxy = machine.serve();
    assert_eq!(proxy.complete(&chat("m", "hi")).status, 429);
    let output = [assistant("hello"), result("hello", false)].map(|line| format!("{line}\n")).concat();
    machine.stand_in("claude", &["say", &output]);
    assert_eq!(proxy.ask("m", "hi"), "hello");
}

#[test]
pub(crate) fn a_cli_does_not_inherit_the_session_of_another_one() {
    let machine = Machine::configured("[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n");
    machine.script("cli", "cat > /dev/null; echo \"[$CLAUDECODE$CLAUDE_CODE_ENTRYPOINT$CODEX_SANDBOX]\"");
    let inherited = [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli"), ("CODEX_SANDBOX", "seatbelt")];
    assert_eq!(machine.serve_inheriting(&inherited).ask("m", "hi"), "[]");
}

/// The answers of a text CLI with this script, for each `answer` option, whole and streamed.
fn text_answers(script: &str) -> Vec<String> {
    let answers = ["whole", "last-block"].into_iter().flat_map(|answer| {
        let machine = Machine::configured(&format!(
            "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = {{ answer = \"{answer}\" }}\n"
        ));
        machine.script("cli", &format!("cat >/dev/null; {script}"));
        let proxy = machine.serve();
        [proxy.ask("m", "hi"), proxy.streamed("m", "hi").content].map(|answer| answer.trim_end().to_owned())
    });
    answers.collect()
}

#[test]
pub(crate) fn t2_12_a_spinner_that_is_drawn_into_a_pipe_is_not_part_of_the_answer() {
    for script in [
        r"printf '\r⠋ Thinking...'; sleep 0.05; printf '\r⠙ Thinking...'; printf '\r\033[K'; printf 'The answer is 42.\n'",
        r"printf '\033[1G⠙ \033[K'; sleep 0.05; printf '\033[1G⠹ \033[K\033[1G\033[K'; printf 'The answer is 42.\n'",
        r"printf '\033[?25l⠋ a\n'; printf '\033[1A\033[2K⠙ a\n'; printf '\033[1A\033[2K'; printf 'The answer is 42.\n'",
        // Slower than the wait for an open line.
        r"printf '\r⠋ Thinking...'; sleep 0.4; printf '\r⠙ Thinking...'; sleep 0.4; printf '\r\033[K'; printf 'The answer is 42.\n'",
    ] {
        assert_eq!(text_answers(script), ["The answer is 42."; 4], "{script}");
    }
    let bar = r"printf ' 10%%'; printf '\r 50%%\r100%%\r    \r\n\n'; printf 'The answer is 42.\n'";
    let answers = text_answers(bar);
    assert!(answers.iter().all(|answer| answer.trim() == "The answer is 42."), "{answers:?}");
}

#[test]
fn a_spinner_on_standard_error_is_not_part_of_the_detail() {
    let machine = machine("claude", &[], "\r⠋ Loading\r⠙ Loading\r\u{1b}[Kit broke\n", "1");
    assert_eq!(asked(&machine).json()["error"]["detail"], "it broke");
}

//! A test for each limit of requests and runs; those of plugins are in `plugins::folder`.

use std::fs;
use std::io::Read;

use serde_json::{Value, json};

use crate::support::{Machine, Request, StreamItem, Streamed, chat, error, is_alive, wait_for, with_time_enough};

/// A machine with one model whose whole output is the answer, and this limit.
fn limited(limit: &str) -> Machine {
    Machine::configured(&format!(
        "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = {{ answer = \"whole\" }}\n\
         [limits]\n{limit}\n"
    ))
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let machine = limited("body = \"1 KiB\"");
    machine.stand_in("cli", &["say", "done"]);
    let proxy = machine.serve();
    let body = |length: usize| {
        let empty = chat("m", "").to_string();
        chat("m", &"x".repeat(length - empty.len())).to_string()
    };
    let answer = proxy.send(&Request::post("/v1/chat/completions", body(1024)));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = proxy.send(&Request::post("/v1/chat/completions", body(1025)));
    let message = "the body is larger than 1024 bytes (`limits.body` in proxy.toml)";
    let expected = error(message, "invalid_request_error", None, "body_too_large", None);
    assert_eq!((answer.status, answer.json()), (413, expected));
}

#[test]
fn a_silent_stream_sends_signs_of_life() {
    let machine = limited("keep_alive = \"20ms\"");
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", &open, "first", " last"]);
    let proxy = machine.serve();
    let (_head, mut events) = proxy.stream("m", "hi");
    let comments = events.by_ref().filter(|item| *item == StreamItem::Comment("working".to_owned()));
    assert_eq!(comments.take(3).count(), 3);
    fs::write(open, "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!((rest.content.as_str(), rest.done), (" last", true));
}

#[test]
fn a_failed_run_has_its_own_status_until_the_headers_are_sent() {
    let failed = error("CLI failed: boom", "server_error", None, "unknown", Some("boom"));
    let machine = limited("first_event_timeout = \"10m\"");
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", ""]);
    let mut body = chat("m", "hi");
    body["stream"] = true.into();
    let answer = machine.serve().complete(&body);
    assert_eq!((answer.status, answer.json()), (500, failed.clone()));

    let machine = limited("first_event_timeout = \"0s\"");
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", "--err", "boom", "--exit", "3", &open, "", ""]);
    let proxy = machine.serve();
    let (head, events) = proxy.stream("m", "hi");
    assert_eq!(head.status, 200);
    fs::write(open, "").unwrap();
    assert_eq!(Streamed::read(events), Streamed { error: Some(failed), ..Streamed::default() });
}

#[test]
fn a_long_whole_answer_sends_its_headers_and_white_space_before_its_end() {
    let failed = error("CLI failed: boom", "server_error", None, "unknown", Some("boom"));
    for (exit, err, text, content) in [("0", "", " last", Some("first last")), ("3", "boom", "", None)] {
        let machine = limited("whole_headers_after = \"20ms\"\nkeep_alive = \"20ms\"");
        let open = machine.name("open");
        let first = if content.is_some() { "first" } else { "" };
        machine.stand_in("cli", &["gate", "--err", err, "--exit", exit, &open, first, text]);
        let proxy = machine.serve();
        let (head, mut body) = Request::complete(&chat("m", "hi")).send(proxy.address());
        let mut signs = [0; 3];
        body.read_exact(&mut signs).unwrap();
        assert_eq!((head.status, head.header("content-type"), &signs), (200, Some("application/json"), b"   "));
        fs::write(open, "").unwrap();
        let mut rest = String::new();
        body.read_to_string(&mut rest).unwrap();
        let answer: Value = serde_json::from_str(&rest).unwrap();
        match content {
            Some(content) => assert_eq!(answer["choices"][0]["message"]["content"], content),
            None => assert_eq!(answer, failed),
        }
    }
}

#[test]
fn a_whole_answer_waits_for_its_end_if_the_limit_is_off() {
    let machine = limited("whole_headers_after = 0\nkeep_alive = \"20ms\"");
    machine.stand_in("cli", &["say", "--err", "boom", "--exit", "3", ""]);
    assert_eq!(machine.serve().complete(&chat("m", "hi")).status, 500);
}

#[test]
fn a_line_over_the_limit_is_cut_and_later_lines_are_read() {
    let machine =
        Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n[limits]\noutput_line = \"1 KiB\"\n");
    let item = |item: serde_json::Value| json!({"type": "item.completed", "item": item}).to_string();
    let output = [
        item(json!({"id": "1", "type": "command_execution", "command": "ls", "aggregated_output": "x".repeat(5000)})),
        item(json!({"id": "2", "type": "agent_message", "text": "done"})),
        json!({"type": "turn.completed"}).to_string(),
    ];
    machine.stand_in("codex", &["say", &(output.join("\n") + "\n")]);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "done");
    proxy.logged(&["WARN", "`limits.output_line`", "lines=1"]);
}

#[test]
fn only_the_end_of_standard_error_is_kept() {
    let machine = limited("stderr_tail = 8");
    machine.stand_in("cli", &["say", "--err", "0123456789", "--exit", "3", ""]);
    let answer = machine.serve().complete(&chat("m", "hi"));
    let expected = error("CLI failed: 23456789", "server_error", None, "unknown", Some("23456789"));
    assert_eq!((answer.status, answer.json()), (500, expected));
}

#[test]
fn a_cli_receives_sigterm_and_is_killed_if_it_does_not_end() {
    let machine = limited("exit_grace = \"10m\"");
    machine.script("cli", "trap 'echo asked > ../asked; exit 0' TERM; echo > ../started; while :; do sleep 0.01; done");
    let proxy = machine.serve();
    let client = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("the CLI to start", || machine.path("started").exists());
    drop(client);
    wait_for("the CLI to be asked", || machine.path("asked").exists());

    let machine = limited("exit_grace = \"200ms\"");
    let files = machine.hanging("hang", "");
    machine.script("cli", "trap '' TERM; exec hang");
    let proxy = machine.serve();
    let client = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("the CLI to start", || files.iter().all(|file| file.exists()));
    drop(client);
    for file in files {
        wait_for("the CLI to be killed", || !is_alive(&file));
    }
}

#[test]
pub(crate) fn streams_that_a_descendant_holds_open_do_not_delay_the_answer() {
    // No test waits for as long as this grace time.
    let machine = limited("exit_grace = \"10m\"\nopen_pipe_timeout = \"50ms\"");
    machine.hanging("hang", "");
    machine.script("cli", "hang & echo done");
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "done");
}

#[test]
pub(crate) fn a_cli_that_does_not_read_its_replies_is_throttled_and_killed_with_that_reason() {
    with_time_enough(|silence| {
        let machine = Machine::configured(&format!(
            "[models.m]\ndriver = \"acp\"\nrepo = \".\"\nprogram = \"cli\"\nidle_timeout = \"{silence}\"\nretries = 0\n\
             [limits]\nstdin_buffer = \"64 KiB\"\noutput = \"4 MiB\"\n"
        ));
        machine.script("cli", r#"while :; do echo '{"jsonrpc":"2.0","id":7,"method":"x/y","params":{}}'; done"#);
        let answer = machine.serve().complete(&chat("m", "hi"));
        let message = format!(
            "the CLI did not read its input for {silence}, while more than 65536 bytes waited, and was \
             ended: raise `limits.stdin_buffer` or `idle_timeout` of the model if it needs more"
        );
        let expected = (504, error(&message, "server_error", None, "timeout", None));
        let got = (answer.status, answer.json());
        // On a busy machine the CLI may not have printed anything yet.
        (!got.1["error"]["message"].as_str().unwrap().starts_with("the CLI printed nothing"))
            .then(|| assert_eq!(got, expected))
    });
}

//! Failures of runs, each with an error of its own that states what to do.

use std::fs;

use serde_json::Value;

use crate::support::{CLIS, Machine, Proxy, Streamed, chat, error};

/// A machine with one model, of these settings.
fn model(settings: &str) -> (Machine, Proxy) {
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n[models.m]\n{settings}\n"));
    let proxy = machine.serve();
    (machine, proxy)
}

/// The failure of a run that has not started: it has its status for whole and streamed answers.
fn refused(proxy: &Proxy) -> (u16, Value) {
    let whole = proxy.complete(&chat("m", "hi"));
    let mut streamed = chat("m", "hi");
    streamed["stream"] = true.into();
    let streamed = proxy.complete(&streamed);
    assert_eq!((whole.status, whole.json()), (streamed.status, streamed.json()));
    assert_eq!(whole.header("x-should-retry"), Some("false"));
    (whole.status, whole.json())
}

fn configuration(message: &str, detail: Option<&str>) -> (u16, Value) {
    (500, error(message, "server_error", None, "configuration", detail))
}

fn not_found(message: &str, detail: Option<&str>) -> (u16, Value) {
    (404, error(message, "not_found_error", None, "not_found", detail))
}

#[test]
pub(crate) fn a_missing_cli_is_reported_with_its_installation() {
    let (_machine, proxy) = model("driver = \"codex\"");
    let detail = "npm install -g @openai/codex. If it is installed elsewhere, name its file in `program` of the model";
    assert_eq!(refused(&proxy), not_found("CLI not found: codex", Some(detail)));
}

#[test]
fn a_program_that_is_not_a_file_is_reported_by_its_path() {
    let (machine, proxy) = model("driver = \"generic\"\nprogram = \"./nothing\"");
    let message = format!("CLI not found: {}", machine.name("work/nothing"));
    let detail = "Install it, or name its file in `program` of the model in proxy.toml";
    assert_eq!(refused(&proxy), not_found(&message, Some(detail)));
}

#[test]
pub(crate) fn a_missing_repository_is_reported_by_its_path() {
    let (machine, proxy) = model("driver = \"echo\"\nrepo = \"gone\"");
    let place = machine.name("work/gone");
    let message = format!("the repository {place} does not exist: correct `models.m.repo`, or create it");
    assert_eq!(refused(&proxy), not_found(&message, None));
    fs::create_dir(place).unwrap();
    // The same request would receive the remembered failure.
    assert_eq!(proxy.ask("m", "hello"), "hello");
}

#[test]
fn a_missing_repository_is_reported_with_the_key_that_names_it() {
    let machine = Machine::configured("[defaults]\nrepo = \"gone\"\n[models.a]\ndriver = \"echo\"\n");
    machine.write("models.json", r#"{"b": {"driver": "echo", "repoPath": "lost"}, "c": {"driver": "echo"}}"#);
    let proxy = machine.serve();
    for (model, place, key) in
        [("a", "gone", "defaults.repo"), ("b", "lost", "b.repoPath"), ("c", "gone", "defaults.repo")]
    {
        let place = machine.name(&format!("work/{place}"));
        let message = format!("the repository {place} does not exist: correct `{key}`, or create it");
        let answer = proxy.complete(&chat(model, "hi"));
        assert_eq!((answer.status, answer.json()), not_found(&message, None));
        let faults = machine.faults();
        assert!(faults.contains(&format!("{key}: the repository {place} does not exist")), "{faults:?}");
    }
}

#[test]
fn an_unknown_driver_is_reported_with_the_loaded_ones() {
    let (_machine, proxy) = model("driver = \"nobody\"");
    let detail = "loaded: acp, claude, codex, copilot, echo, gemini, generic, glm, grok, opencode, qwen. \
                  Put the driver's component into the plugin folder, or correct `driver` of the model";
    let message = "the model `m` needs the driver `nobody`, which is not loaded";
    assert_eq!(refused(&proxy), configuration(message, Some(detail)));
}

#[test]
fn a_generic_driver_needs_a_program_and_options_that_it_knows() {
    let (_machine, proxy) = model("driver = \"generic\"");
    let message =
        "the driver `generic` drives what the model names: write `program = \"…\"` into [models.m] of proxy.toml";
    assert_eq!(refused(&proxy), configuration(message, None));

    let (_machine, proxy) = model("driver = \"generic\"\nprogram = \"cat\"\noptions = { colour = \"red\" }");
    let message = "unknown option `colour`: allowed are `args`, `prompt`, `format`, `answer`, `model_args`, `resume_args`, \
                   `read_only_args`, `write_args`, `extra_dir_args`, `schema_args`, `text_path`, `message_path`, \
                   `reasoning_path`, `answer_path`, `error_path`, `session_path`, `usage_path`, `break_when`, `skip`, `begin`, \
                   `end`, `fail_if`";
    assert_eq!(refused(&proxy), configuration(message, None));
}

#[test]
fn an_agent_file_that_is_not_text_is_reported_by_its_path() {
    let (machine, proxy) = model("driver = \"echo\"");
    machine.write("AGENTS.md", [0xff, 0xfe]);
    let message = format!("cannot read the agent file {}: it is not UTF-8 text", machine.name("work/AGENTS.md"));
    assert_eq!(refused(&proxy), configuration(&message, None));
}

const WHOLE: &str = "driver = \"generic\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }";

#[test]
fn a_cli_that_fails_during_a_stream_ends_it_with_an_error() {
    let (machine, proxy) = model(WHOLE);
    let open = machine.name("open");
    machine.stand_in("cli", &["gate", "--err", "boom\n", "--exit", "3", &open, "half ", "an answer"]);
    let (head, events) = proxy.stream("m", "hi");
    assert_eq!(head.status, 200);
    fs::write(open, "").unwrap();
    let expected = Streamed {
        content: "half an answer".to_owned(),
        error: Some(error("CLI failed: boom", "server_error", None, "unknown", Some("boom"))),
        ..Streamed::default()
    };
    assert_eq!(Streamed::read(events), expected);
}

#[test]
fn a_cli_that_fails_after_half_an_answer_gives_that_half_with_the_error() {
    let (machine, proxy) = model(WHOLE);
    machine.stand_in("cli", &["say", "--err", "boom\n", "--exit", "3", "half"]);
    let answer = proxy.complete(&chat("m", "hi"));
    let mut expected = error("CLI failed: boom", "server_error", None, "unknown", Some("boom"));
    expected["error"]["partial"] = "half".into();
    assert_eq!((answer.status, answer.json()), (500, expected));
}

#[test]
fn a_cli_that_is_killed_has_failed() {
    let (machine, proxy) = model(WHOLE);
    machine.script("cli", "echo going down >&2; kill -9 $$");
    let answer = proxy.complete(&chat("m", "hi"));
    let expected = error("CLI failed: going down", "server_error", None, "unknown", Some("going down"));
    assert_eq!((answer.status, answer.json()), (500, expected));
}

#[test]
pub(crate) fn a_cli_that_cannot_be_started_is_reported_with_the_reason() {
    let (machine, proxy) = model(WHOLE);
    machine.script("cli", "");
    fs::write(machine.path("bin/cli"), "#!/no/such/shell\n").unwrap();
    let reason = "names the interpreter /no/such/shell, which does not exist: install it, or correct the first line";
    let message = format!("{} {reason}", machine.name("bin/cli"));
    assert_eq!(refused(&proxy), configuration(&message, None));
}

#[test]
fn a_cli_that_does_not_read_its_prompt_can_answer() {
    let (machine, proxy) = model(WHOLE);
    machine.script("cli", "echo done");
    assert_eq!(proxy.ask("m", &"x".repeat(1024 * 1024)), "done");
}

#[test]
fn every_missing_cli_is_reported_with_its_installation() {
    let models = CLIS.map(|(driver, _)| format!("[models.{driver}]\ndriver = \"{driver}\"\n"));
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n{}", models.concat()));
    let proxy = machine.serve();
    for (driver, program) in CLIS {
        let answer = proxy.complete(&chat(driver, "hi"));
        let error = &answer.json()["error"];
        let reported = (answer.status, error["code"].as_str(), error["message"].as_str());
        assert_eq!(reported, (404, Some("not_found"), Some(format!("CLI not found: {program}").as_str())));
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.starts_with("npm install -g "), "{driver}: {detail}");
    }
}

#[test]
fn the_log_states_the_attempts_of_a_run_the_exit_of_its_cli_and_its_last_error() {
    let retried = "repo = \"../repo\"\nretries = 1\n[limits]\nretry_initial_delay = \"1ms\"";
    let machine = Machine::configured(&format!("[models.m]\n{WHOLE}\n{retried}\n"));
    machine.repo("repo");
    let proxy = machine.serve();
    machine.script("cli", "echo first >&2; echo 'connection refused' >&2; exit 7");
    assert_eq!(proxy.complete(&chat("m", "hi")).status, 502);
    proxy.logged(&["run failed", "category=\"network\"", "attempts=2"]);
    proxy.logged(&["the CLI has ended", "exit=exit code 7", "last_error=\"connection refused\""]);

    machine.script("cli", "kill -9 $$");
    assert_eq!(proxy.complete(&chat("m", "killed")).status, 500);
    proxy.logged(&["the CLI has ended", "exit=signal 9", "last_error=\"\""]);

    machine.script("cli", "echo a remark >&2; echo done");
    assert_eq!(proxy.ask("m", "hello"), "done");
    proxy.logged(&["run ended", "attempts=1"]);
    proxy.logged(&["the CLI has ended", "exit=exit code 0", "last_error=\"a remark\""]);
}

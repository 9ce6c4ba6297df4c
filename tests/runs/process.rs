//! Processes that hang, flood, fork and hold pipes open, as users reported of real CLIs, each with a real process. The
//! numbers are those of the bank of cases.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{
    Machine, Proxy, Request, Streamed, chat, codex_says, error, is_alive, is_asleep, marked_by, quoted, user, wait_for,
    with_time_enough,
};

const MODEL: &str =
    "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }\n";

/// A machine whose model runs this script.
fn machine(script: &str, settings: &str) -> Machine {
    let machine = Machine::configured(&format!("{MODEL}{settings}"));
    machine.script("cli", script);
    machine
}

/// A command that prints the lines of Codex for an answer.
fn says(text: &str) -> String {
    format!("printf %s {}", quoted(&codex_says(text)))
}

#[test]
pub(crate) fn case_052_a_long_prompt_and_long_system_messages_reach_a_cli_that_prints_before_it_reads() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    let says = says("ok");
    machine.script("codex", &format!("echo \"$*\" > ../argv; seq 1 15000; cat > ../got; {says}"));
    let proxy = machine.serve();
    let (long, system) = ("u".repeat(1024 * 1024), "s".repeat(200 * 1024));
    let system_message = json!({"role": "system", "content": system});
    for messages in [vec![user(&long)], vec![system_message.clone(), user("hi")], vec![system_message, user(&long)]] {
        let texts: Vec<_> = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
        let answer = proxy.complete(&json!({"model": "m", "messages": messages}));
        assert_eq!(answer.content(), "ok");
        assert_eq!(fs::read_to_string(machine.path("got")).unwrap(), texts.join("\n"));
        assert!(
            fs::metadata(machine.path("argv")).unwrap().len() < 1024,
            "no part of the prompt is in the list of processes"
        );
    }
}

#[test]
pub(crate) fn a_prompt_that_is_too_long_for_an_argument_is_refused_with_the_reason() {
    let machine = Machine::configured(
        "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { prompt = \"arg\" }\n",
    );
    machine.script("cli", "printf %s \"$1\"");
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", &"x".repeat(100 * 1024)).len(), 100 * 1024);
    let answer = proxy.complete(&chat("m", &"x".repeat(200 * 1024)));
    let message =
        "The prompt is 204800 bytes long, and this CLI takes it as an argument, which holds no more than 128 KiB";
    let detail = "where the CLI can read it, set the option `prompt` to \"stdin\" or \"file\"";
    let expected = error(message, "invalid_request_error", None, "validation", Some(detail));
    assert_eq!((answer.status, answer.json()), (400, expected));
}

#[test]
fn an_argument_that_is_too_long_for_any_program_is_refused_with_the_reason() {
    let long = "x".repeat(200 * 1024);
    let model = "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n";
    let machine = Machine::configured(&format!("{model}options = {{ args = [\"{long}\"] }}\n"));
    machine.script("cli", "echo done");
    let answer = machine.serve().complete(&chat("m", "hi"));
    let message = "argument 1 of the CLI is 204800 bytes long, and the operating system accepts at most 131071";
    let detail = "shorten what is given to the CLI as an argument: the system message, or `options`";
    let expected = error(message, "invalid_request_error", None, "validation", Some(detail));
    assert_eq!((answer.status, answer.json()), (400, expected));
}

#[test]
fn an_environment_that_is_too_large_for_any_program_is_refused_with_the_reason() {
    let variables: Vec<_> = (0..11).map(|at| format!("V{at} = \"{}\"", "x".repeat(100 * 1024))).collect();
    let machine = machine("echo done", &format!("env = {{ {} }}\n", variables.join(", ")));
    let answer = machine.serve().complete(&chat("m", "hi"));
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (400, Some("validation")));
    assert!(
        message.starts_with("the command line and the environment are 11")
            && message.ends_with("accepts at most 1048576"),
        "{message}"
    );
}

#[test]
pub(crate) fn case_055_a_launcher_whose_worker_ignores_the_signal_leaves_no_process_behind() {
    with_time_enough(|timeout| {
        let settings = format!("timeout = \"{timeout}\"\n[limits]\nexit_grace = \"200ms\"\n");
        let machine = machine("hang-now & wait", &settings);
        let files = machine.hanging("hang", "");
        machine.script("hang-now", "trap '' TERM; exec hang");
        let proxy = machine.serve();
        let answer = proxy.complete(&chat("m", "hi"));
        assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (504, Some("timeout")));
        wait_for("all to be killed", || marked_by(proxy.pid()).count() == 0);
        assert_eq!(proxy.get("/healthz").status, 200, "no signal reached the proxy's own group");
        let have_run = files.iter().all(|file| file.exists());
        have_run.then(|| assert!(!files.iter().any(|file| is_alive(file))))
    });
}

#[test]
pub(crate) fn case_057_a_cli_that_does_not_exit_after_its_result_has_answered() {
    let machine =
        Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n[limits]\nexit_grace = \"100ms\"\n");
    machine.hanging("hang", "");
    let there = "until [ -e ../alive/descendant ]; do sleep 0.01; done";
    machine.script("codex", &format!("hang & {there}; {}; wait", says("ok")));
    let proxy = machine.serve();
    let streamed = proxy.streamed("m", "hi");
    assert_eq!((streamed.content.as_str(), streamed.done), ("ok", true));
    wait_for("it to be ended", || !is_alive(&machine.path("alive/leader")));
}

/// The status fields of the processes whose parent is the proxy.
fn children(proxy: &Proxy) -> Vec<String> {
    let stat = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("stat")).ok();
    let stats = fs::read_dir("/proc").unwrap().filter_map(|entry| stat(entry.ok()?));
    let parent = proxy.pid().to_string();
    let fields = stats.filter_map(|stat| Some(stat.rsplit_once(") ")?.1.to_owned()));
    fields.filter(|fields| fields.split(' ').nth(1) == Some(&parent)).collect()
}

#[test]
pub(crate) fn case_062_no_zombie_is_left_of_runs_that_fork_twice() {
    let machine = machine("for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0 &) ; done; echo done", "");
    let proxy = machine.serve();
    for _ in 0..50 {
        assert_eq!(proxy.ask("m", "hi"), "done");
    }
    // The watchdog is the only child that remains.
    wait_for("all to be reaped", || children(&proxy).len() == 1);
}

#[test]
pub(crate) fn a_descendant_that_holds_the_pipe_open_does_not_keep_the_repository_busy() {
    let machine = machine(
        "hang & until [ -e ../alive/descendant ]; do sleep 0.01; done; printf done",
        "[limits]\nexit_grace = \"100ms\"\n",
    );
    machine.hanging("hang", "");
    let proxy = machine.serve();
    assert_eq!([proxy.ask("m", "hi"), proxy.ask("m", "hi")], ["done", "done"]);
}

#[test]
fn endless_output_is_cut_off() {
    let machine = machine(
        "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        "[limits]\noutput = \"64 KiB\"\n",
    );
    let streamed = machine.serve().streamed("m", "hi");
    let message = "the CLI printed more than 65536 bytes and was ended: raise `limits.output` if it needs more";
    assert_eq!(streamed.error, Some(error(message, "server_error", None, "unknown", None)));
}

#[test]
fn a_whole_answer_is_buffered_only_up_to_the_limit() {
    let machine = machine("seq 1 100000", "[limits]\nanswer_buffer = \"64 KiB\"\n");
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    let message =
        "the answer is longer than 65536 bytes: request it as a stream, or raise `limits.answer_buffer` in proxy.toml";
    assert_eq!((answer.status, answer.json()["error"]["message"].as_str()), (500, Some(message)));
    assert!(answer.json()["error"]["partial"].as_str().unwrap().starts_with("1\n2\n3\n"));
    assert_eq!(Streamed::read(proxy.stream("m", "hi").1).content.lines().count(), 100_000);
}

#[test]
pub(crate) fn a_slow_client_slows_the_pipe_and_does_not_fill_the_memory() {
    const MEGABYTES: u64 = 100;
    let line = "x".repeat(1023);
    let machine = machine(&format!("seq -f '%.0f {line}' 1 102400; : > ../all-printed"), "");
    let proxy = machine.serve();
    assert_eq!(proxy.get("/healthz").status, 200);
    let before = proxy.resident();
    let (_head, mut events) = proxy.stream("m", "hi");
    assert!(events.by_ref().take(100).count() == 100);
    // The pipe is full, so in the end no process has work to do. A process that only waits for a CPU is not asleep.
    wait_for("all to be held back", || (0..20).all(|_| is_asleep(proxy.pid())));
    let grown = proxy.resident().saturating_sub(before);
    assert!(grown < 32 * 1024, "the memory grew by {grown} KiB of {MEGABYTES} MB");
    assert!(!machine.path("all-printed").exists(), "the CLI was not held back");
}

#[test]
fn case_074_two_clients_with_the_same_text_share_no_session() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    machine.script("codex", &format!("echo \"$*\" >> ../argv; {}", says("ok")));
    let proxy = machine.serve();
    let text = "<system-reminder>the same</system-reminder> hello";
    assert_eq!([(); 3].map(|()| proxy.ask("m", text)), ["ok", "ok", "ok"]);
    let argv = fs::read_to_string(machine.path("argv")).unwrap();
    assert_eq!(argv.lines().count(), 3);
    assert!(!argv.contains("resume") && !argv.contains("--last"), "{argv}");
}

#[test]
pub(crate) fn case_076_the_clients_key_is_not_passed_to_the_cli() {
    let machine = Machine::configured(
        "[server]\napi_keys = [\"proxy-token\"]\n[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n\
         env = { ANTHROPIC_API_KEY = false }\noptions = { answer = \"whole\" }\n",
    );
    symlink("/usr/bin/env", machine.path("tools/env")).unwrap();
    machine.script("cli", "env");
    let proxy = machine.serve();
    let request = Request::complete(&chat("m", "hi"));
    let answer = proxy.send(&request.header("authorization", "Bearer proxy-token"));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(!answer.body.contains("proxy-token") && !answer.body.contains("ANTHROPIC_API_KEY"), "{answer:?}");
}

//! Failed runs that are retried with the same or another model, those that must not be, and repeated requests.

use std::fs;

use crate::support::{Answer, Machine, Proxy, Request, Streamed, chat, error, wait_for, with_time_enough};

const FAIL: &str = "echo 'API Error: 503 Service Unavailable' >&2; exit 1";

/// The models `a`, with the fallback `b`, and `b`, whose CLIs are these scripts. `$try` has one `x` for each attempt.
fn machine(a: &str, b: &str, settings: &str) -> Machine {
    let machine = Machine::configured(&format!(
        "[limits]\nretry_initial_delay = 0\n{settings}\n\
         [models.a]\ndriver = \"generic\"\nrepo = \"../repo\"\nprogram = \"a\"\noptions = {{ answer = \"whole\" }}\n\
         fallback = [\"b\"]\n\
         [models.b]\ndriver = \"generic\"\nrepo = \"../repo\"\nprogram = \"b\"\noptions = {{ answer = \"whole\" }}\n"
    ));
    machine.repo("repo");
    for (name, script) in [("a", a), ("b", b)] {
        let starts = machine.name(name);
        machine.script(name, &format!("printf x >> {starts}; try=$(cat {starts}); {script}"));
    }
    machine
}

/// How often the CLI of a model was started.
fn attempts(machine: &Machine, model: &str) -> usize {
    fs::read_to_string(machine.path(model)).unwrap_or_default().len()
}

fn headers(answer: &Answer) -> [Option<&str>; 2] {
    ["x-agentbay-model", "x-agentbay-attempts"].map(|name| answer.header(name))
}

#[test]
fn a_failed_run_without_output_is_retried() {
    let machine = machine(&format!("if [ $try != xxx ]; then {FAIL}; fi; printf done"), "exit 1", "");
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("a", "hi"));
    assert_eq!(answer.content(), "done");
    assert_eq!(headers(&answer), [Some("a"), Some("a;server, a;server")]);
    assert_eq!((attempts(&machine, "a"), attempts(&machine, "b")), (3, 0));
}

#[test]
fn another_model_answers_when_the_retries_are_used_up() {
    let machine = machine(FAIL, "printf done", "first_event_timeout = \"10m\"\n[defaults]\nretries = 1\n");
    let proxy = machine.serve();
    let (head, events) = proxy.stream("a", "hi");
    assert_eq!(headers(&head), [Some("b"), Some("a;server, a;server")]);
    let streamed = Streamed::read(events);
    assert_eq!((streamed.content.as_str(), streamed.done), ("done", true));
    assert_eq!((attempts(&machine, "a"), attempts(&machine, "b")), (2, 1));
}

#[test]
fn a_missing_cli_falls_back_without_a_retry() {
    let machine = machine("exit 1", "printf done", "");
    fs::remove_file(machine.path("bin/a")).unwrap();
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("a", "hi"));
    assert_eq!((answer.status, headers(&answer)), (200, [Some("b"), Some("a;not_found")]));
}

#[test]
fn a_permanent_failure_is_neither_retried_nor_left_to_a_fallback() {
    let machine = machine("echo 'Error: Invalid API key' >&2; exit 1", "printf done", "");
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("a", "hi"));
    assert_eq!((answer.status, headers(&answer)), (401, [Some("a"), None]));
    assert_eq!((attempts(&machine, "a"), attempts(&machine, "b")), (1, 0));
}

#[test]
pub(crate) fn a_run_that_changed_the_repository_is_not_retried() {
    let commit = "git -c user.name=a -c user.email=a@localhost commit --quiet --all --message work";
    // At once, so that git may read the state of the repository after the change.
    for change in ["echo work > new", "rm FILE", "echo more >> FILE", &format!("rm FILE; {commit}")] {
        let machine = machine(&format!("{change}; {FAIL}"), "printf done", "");
        machine.repo_at("repo").commit("FILE", "text\n");
        fs::write(machine.path("repo/draft"), "of the user").unwrap();
        let proxy = machine.serve();
        let answer = proxy.complete(&chat("a", "hi"));
        assert_eq!((answer.status, answer.header("x-should-retry")), (502, Some("false")), "{change}");
        assert_eq!((attempts(&machine, "a"), attempts(&machine, "b")), (1, 0));
    }
}

#[test]
fn changes_of_the_user_before_a_run_do_not_keep_it_from_being_retried() {
    let machine = machine(&format!("if [ $try = x ]; then {FAIL}; fi; printf done"), "exit 1", "");
    machine.repo_at("repo").with("FILE", "text\n").with("OTHER", "text\n");
    fs::write(machine.path("repo/draft"), "of the user").unwrap();
    fs::write(machine.path("repo/FILE"), "changed").unwrap();
    fs::remove_file(machine.path("repo/OTHER")).unwrap();
    let proxy = machine.serve();
    assert_eq!(proxy.complete(&chat("a", "hi")).content(), "done");
    assert_eq!((attempts(&machine, "a"), attempts(&machine, "b")), (2, 0));
}

#[test]
fn a_run_in_its_own_worktree_is_retried_and_its_changes_are_discarded() {
    let script = format!("if [ $try = x ]; then echo work > new; {FAIL}; fi; ls");
    let settings = "[defaults]\nworktree = { dir = \"../trees\" }\n";
    let machine = machine(&script, "exit 1", settings);
    std::os::unix::fs::symlink("/bin/ls", machine.path("tools/ls")).unwrap();
    let proxy = machine.serve();
    assert_eq!(proxy.ask("a", "hi"), "README.md");
    assert_eq!(attempts(&machine, "a"), 2);
    proxy.stop();
    assert_eq!(fs::read_dir(machine.path("trees")).unwrap().count(), 0);
}

#[test]
fn a_run_with_output_is_not_retried() {
    let machine = machine(&format!("printf half; {FAIL}"), "printf done", "");
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("a", "hi"));
    assert_eq!((answer.status, answer.json()["error"]["partial"].as_str()), (502, Some("half")));
    assert_eq!((attempts(&machine, "a"), attempts(&machine, "b")), (1, 0));
}

#[test]
fn a_silent_cli_is_killed_and_retried() {
    let machine = machine("exec sleep 1000", "printf done", "");
    let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    // Only for the CLI that never prints anything: the other one could be late.
    machine.write("proxy.toml", settings.replace("[models.b]", "idle_timeout = \"100ms\"\nretries = 1\n[models.b]"));
    let answer = machine.serve().complete(&chat("a", "hi"));
    assert_eq!((answer.status, headers(&answer)), (200, [Some("b"), Some("a;timeout, a;timeout")]));
}

#[test]
pub(crate) fn a_silent_cli_is_an_error_after_the_last_retry() {
    with_time_enough(|silence| {
        let settings = format!("[defaults]\nidle_timeout = \"{silence}\"\nretries = 0\n");
        let machine = machine("exit 1", "printf half; exec sleep 1000", &settings);
        let answer = machine.serve().complete(&chat("b", "hi"));
        let message = format!(
            "the CLI printed nothing for {silence} and was ended: raise `idle_timeout` of the model if it needs more"
        );
        let mut expected = error(&message, "server_error", None, "timeout", None);
        let has_printed = answer.json()["error"]["partial"] == "half";
        if has_printed {
            expected["error"]["partial"] = "half".into();
        }
        assert_eq!((answer.status, answer.json()), (504, expected));
        has_printed.then_some(())
    });
}

/// A machine whose CLI answers when the file `open` exists.
fn gated() -> Machine {
    let machine = machine("exit 1", "exit 1", "disconnect_grace = \"30s\"\n");
    let open = machine.name("open");
    machine.script(
        "b",
        &format!("printf x >> {}; until [ -e {open} ]; do sleep 0.01; done; printf done", machine.name("b")),
    );
    machine
}

/// Starts a run for a request whose client then disconnects, and sends the same request again.
fn sent_again(first: &[(&str, &str)], again: &[(&str, &str)]) -> (Answer, usize) {
    let machine = gated();
    let proxy: Proxy = machine.serve();
    let body = chat("b", "hi");
    let gone = Request::complete(&body).headers(first).open(proxy.address());
    wait_for("the CLI to start", || attempts(&machine, "b") == 1);
    drop(gone);
    fs::write(machine.path("open"), "").unwrap();
    let answer = proxy.send(&Request::complete(&body).headers(again));
    (answer, attempts(&machine, "b"))
}

#[test]
fn a_repeated_request_with_the_same_key_joins_the_run() {
    let key = [("idempotency-key", "k")];
    let (answer, attempts) = sent_again(&key, &key);
    assert_eq!((answer.content().as_str(), attempts), ("done", 1));
}

#[test]
fn a_request_that_an_sdk_retries_joins_the_run() {
    let count = |count| [("x-stainless-retry-count", count)];
    let (answer, attempts) = sent_again(&count("0"), &count("1"));
    assert_eq!((answer.content().as_str(), attempts), ("done", 1));
}

#[test]
fn a_repeated_request_without_a_key_starts_its_own_run() {
    let (answer, attempts) = sent_again(&[], &[]);
    assert_eq!((answer.content().as_str(), attempts), ("done", 2));
}

#[test]
fn a_key_identifies_one_request() {
    let machine = gated();
    let proxy = machine.serve();
    let key = [("idempotency-key", "k")];
    let _first = Request::complete(&chat("b", "hi")).headers(&key).open(proxy.address());
    wait_for("the CLI to start", || attempts(&machine, "b") == 1);
    let refused = proxy.send(&Request::complete(&chat("b", "something else")).headers(&key));
    let message =
        "the Idempotency-Key stands for another request that is still running: choose a new one for each request";
    let expected = error(message, "invalid_request_error", None, "idempotency_key_in_use", None);
    assert_eq!((refused.status, refused.json()), (409, expected));
    fs::write(machine.path("open"), "").unwrap();
}

//! Clients that repeat a request by themselves, each time a whole run of an agent: which failures are remembered, and retries
//! that do not multiply.

use std::fs;

use crate::support::{Answer, Machine, Proxy, Request, chat, error, wait_for};

const BOOM: &str = "echo 'boom: no such thing' >&2; echo 'at line 3' >&2; exit 3";
const BUSY: &str = "echo 'API Error: 429 Too Many Requests' >&2; exit 1";

/// A machine with the model `m`, whose CLI is a script.
fn machine(script: &str, settings: &str) -> Machine {
    let machine = Machine::configured(&format!(
        "[limits]\nretry_initial_delay = 0\ndisconnect_grace = \"30s\"\n{settings}\n\
         [models.m]\ndriver = \"generic\"\nrepo = \"../repo\"\nprogram = \"cli\"\noptions = {{ answer = \"whole\" }}\n"
    ));
    machine.repo("repo");
    does(&machine, script);
    machine
}

fn does(machine: &Machine, script: &str) {
    machine.script("cli", &format!("printf x >> {}; {script}", machine.name("tries")));
}

/// How often the CLI was started.
fn tries(machine: &Machine) -> usize {
    fs::read_to_string(machine.path("tries")).unwrap_or_default().len()
}

/// Waits until no run is active.
fn wait_for_quiet(proxy: &Proxy) {
    proxy.wait_until_idle();
}

fn is_remembered(answer: &Answer) -> bool {
    answer.header("x-agentbay-remembered").is_some_and(|seconds| seconds.parse::<u64>().is_ok())
}

#[test]
fn a_failure_that_would_occur_again_is_returned_to_the_same_request_without_a_run() {
    let machine = machine(BOOM, "");
    let proxy = machine.serve();
    let body = chat("m", "hi");
    let detail = "boom: no such thing\nat line 3";
    let expected = error("CLI failed: boom: no such thing", "server_error", None, "unknown", Some(detail));
    let first = proxy.complete(&body);
    assert_eq!((first.status, first.json(), is_remembered(&first)), (500, expected.clone(), false));
    for headers in [&[][..], &[("x-stainless-retry-count", "1")], &[("idempotency-key", "k")]] {
        let again = proxy.send(&Request::complete(&body).headers(headers));
        assert_eq!((again.status, again.json(), is_remembered(&again)), (500, expected.clone(), true));
        assert_eq!(again.header("x-should-retry"), Some("false"));
    }
    assert_eq!(tries(&machine), 1);
    // Another request is another run.
    let mut streamed = body.clone();
    streamed["stream"] = true.into();
    for other in [
        Request::complete(&chat("m", "something else")),
        Request::complete(&streamed),
        Request::complete(&body).headers(&[("authorization", "Bearer k")]),
    ] {
        assert!(!is_remembered(&proxy.send(&other)));
    }
    assert_eq!(tries(&machine), 4);
    assert!(is_remembered(&proxy.complete(&streamed)));
}

#[test]
fn a_header_a_reload_and_a_changed_login_override_a_remembered_failure() {
    let machine = machine(BOOM, "");
    let proxy = machine.serve();
    let body = chat("m", "hi");
    let runs = |request: &Request| {
        let before = tries(&machine);
        let is_remembered = is_remembered(&proxy.send(request));
        wait_for_quiet(&proxy);
        assert_eq!(tries(&machine) == before, is_remembered);
        !is_remembered
    };
    let (plain, rerun) = (Request::complete(&body), Request::complete(&body).headers(&[("x-agentbay-rerun", "true")]));
    assert_eq!([runs(&plain), runs(&plain), runs(&rerun), runs(&plain)], [true, false, true, false]);
    assert_eq!(proxy.reload().status, 200);
    assert_eq!([runs(&plain), runs(&plain)], [true, false]);
    fs::create_dir(machine.path("home/.cli")).unwrap();
    fs::write(machine.path("home/.cli/auth.json"), "{}").unwrap();
    assert_eq!([runs(&plain), runs(&plain)], [true, false]);
    does(&machine, "printf done");
    assert_eq!([runs(&plain), runs(&rerun), runs(&plain)], [false, true, true]);
}

#[test]
fn a_request_for_a_rerun_does_not_join_a_failed_run() {
    let machine = machine(BOOM, "");
    let proxy = machine.serve();
    let key = ("idempotency-key", "k");
    let again =
        |headers: &[(&str, &str)]| is_remembered(&proxy.send(&Request::complete(&chat("m", "hi")).headers(headers)));
    // The first of them lingers for half a minute.
    assert_eq!([again(&[key]), again(&[key]), again(&[key, ("x-agentbay-rerun", "true")])], [false, true, false]);
    assert_eq!(tries(&machine), 2);
    assert_eq!(proxy.reload().status, 200);
    assert_eq!([again(&[key]), again(&[key])], [false, true]);
    assert_eq!(tries(&machine), 3);
}

#[test]
fn failures_are_remembered_for_the_configured_time() {
    let machine = machine(BOOM, "failure_cache_ttl = 0\n");
    let proxy = machine.serve();
    for _ in 0..2 {
        assert!(!is_remembered(&proxy.complete(&chat("m", "hi"))));
    }
    assert_eq!(tries(&machine), 2);
}

#[test]
fn a_run_that_was_cancelled_is_not_remembered() {
    let machine = machine("exec sleep 1000", "");
    let proxy = machine.serve();
    let _waiting = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("the CLI to start", || tries(&machine) == 1);
    let run = proxy.runs()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(proxy.send(&Request::get(&format!("/v1/runs/{run}")).method("DELETE")).status, 202);
    wait_for_quiet(&proxy);
    does(&machine, "printf done");
    assert_eq!(proxy.ask("m", "hi"), "done");
}

#[test]
fn a_failure_that_invites_a_retry_is_not_returned_to_that_retry() {
    for headers in [[("idempotency-key", "k")], [("x-stainless-retry-count", "1")]] {
        let machine = machine(BUSY, "[defaults]\nretries = 0\n");
        let proxy = machine.serve();
        let request = Request::complete(&chat("m", "hi")).headers(&headers);
        let busy = proxy.send(&request);
        assert_eq!((busy.status, busy.header("x-should-retry")), (429, None));
        does(&machine, "printf done");
        let answer = proxy.send(&request);
        assert_eq!(answer.content(), "done");
    }
}

#[test]
fn the_retries_of_a_client_and_of_the_server_do_not_multiply() {
    let machine = machine(BUSY, "[defaults]\nretries = 2\n");
    let proxy = machine.serve();
    let costs = |text: &str, headers: &[(&str, &str)]| {
        let before = tries(&machine);
        assert_eq!(proxy.send(&Request::complete(&chat("m", text)).headers(headers)).status, 429);
        tries(&machine) - before
    };
    // A client that does not count its attempts is identified by its request.
    assert_eq!([costs("one", &[]), costs("one", &[]), costs("one", &[])], [3, 1, 1]);
    let count = |count| [("x-stainless-retry-count", count)];
    assert_eq!([costs("two", &count("0")), costs("two", &count("1")), costs("two", &count("2"))], [3, 1, 1]);
    assert_eq!(costs("three", &[("amz-sdk-request", "attempt=2; max=3")]), 1);
}

#[test]
fn a_cli_without_a_login_is_reported_with_the_command_and_without_a_request_for_a_key() {
    let machine = Machine::configured("[defaults]\nrepo = \".\"\n[models.m]\ndriver = \"codex\"\n");
    machine.script("codex", "echo 'Error: 401 Unauthorized' >&2; exit 1");
    let answer = machine.serve().complete(&chat("m", "hi"));
    let message = "OpenAI Codex needs a login: codex login. The CLI is not logged in, or its credentials were refused";
    let expected = error(message, "authentication_error", None, "authentication", Some("Error: 401 Unauthorized"));
    assert_eq!((answer.status, answer.json()), (401, expected));
    let headers = ["www-authenticate", "x-should-retry"].map(|name| answer.header(name));
    assert_eq!(headers, [None, Some("false")]);
}

#[test]
fn a_name_that_is_not_text_is_reported_in_the_form_of_the_api() {
    let machine = machine(BOOM, "");
    let proxy = machine.serve();
    for path in ["/v1/models/%FF", "/v1/runs/%FF", "/v1/runs/%FF/diff"] {
        let answer = proxy.get(path);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &"not_found".into()), "{path}");
    }
}

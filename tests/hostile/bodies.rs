//! Request bodies of the maximum size with various content: each is run or refused as too large, and no plugin is blamed.

use super::component::{Contract, component, text};
use super::{health, is_measured, known, line};
use crate::support::{Answer, Machine, Proxy, Request, drivers};

/// Contents of a body, as they are in JSON.
const CONTENTS: [(&str, &str); 10] = [
    ("letters", "x"),
    ("line feeds", "\\n"),
    ("quotes", "\\\""),
    ("NULs", "\\u0000"),
    ("backslashes", "\\\\"),
    ("escapes", "\\u001b"),
    ("line separators", "\u{2028}"),
    ("accents", "é"),
    ("crabs", "🦀"),
    ("half crabs", "\\ud83e"),
];

/// Places of the content.
const PLACES: [&str; 4] = [
    r#"{"role":"user","content":"hi #"}"#,
    r#"{"role":"system","content":"hi #"},{"role":"user","content":"hi"}"#,
    r#"{"role":"user","content":"hi"},{"role":"assistant","content":"hi #"},{"role":"user","content":"hi"}"#,
    r##"{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"hi #"},{"role":"user","content":"hi"}"##,
];

/// A body of `length` bytes for a model, filled with one content in one place.
fn body(model: &str, place: &str, content: &str, length: usize) -> String {
    let empty = format!(r#"{{"model":"{model}","messages":[{place}]}}"#);
    empty.replace('#', &content.repeat((length - empty.len()) / content.len()))
}

/// The result of a body: run, if the CLI was started; or the message of a refusal that names a limit. Else the answer.
fn outcome(answer: &Answer) -> Result<String, String> {
    let error = answer.json()["error"].clone();
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    let was_run = error["detail"].as_str().is_some_and(|detail| detail.contains("boom"));
    let is_too_large =
        [400, 413].contains(&answer.status) && (message.contains("`limits.") || message.contains("as an argument"));
    match () {
        () if was_run => Ok("run".to_owned()),
        () if is_too_large => Ok(message),
        () => Err(format!("{answer:?}").chars().take(400).collect()),
    }
}

fn machine(limits: &str) -> Machine {
    // Each model has its own CLI, with the same script.
    let model = |driver: &String| {
        format!(
            "[models.{driver}]\ndriver = \"{driver}\"\nrepo = \".\"\nprogram = \"cli-of-{driver}\"\nmax_repo_runs = 64\nretries = 0\n"
        )
    };
    let machine =
        Machine::configured(&format!("{}[limits]\n{limits}", drivers().iter().map(model).collect::<String>()));
    const END: &str = "echo boom >&2; exit 3";
    for driver in drivers() {
        machine.script(&format!("cli-of-{driver}"), &format!("cat > /dev/null; {END}"));
    }
    // It receives the prompt after these answers, and its input stays open.
    let results = [r#"{"protocolVersion":1,"agentCapabilities":{}}"#, r#"{"sessionId":"s"}"#];
    let answers = [1, 2].map(|id| format!("read -r line; echo '{{\"id\":{id},\"result\":{}}}'; ", results[id - 1]));
    machine.script("cli-of-acp", &format!("{}grep -q session/prompt; {END}", answers.concat()));
    machine
}

fn send(proxy: &Proxy, body: String) -> Answer {
    proxy.send(&Request::post("/v1/chat/completions", body))
}

#[test]
fn every_body_within_its_limit_is_run_or_refused_as_too_large_and_no_plugin_is_blamed() {
    // In the proportion of the defaults.
    let (limits, length) =
        if is_measured() { ("", 32 << 20) } else { ("body = \"2 MiB\"\nplugin_memory = \"4 MiB\"\n", 2 << 20) };
    let machine = machine(limits);
    let proxy = machine.serve();
    let mut wrong = Vec::new();
    for (number, driver) in drivers().iter().enumerate() {
        for (turn, (name, content)) in CONTENTS.into_iter().enumerate() {
            // Each content with each driver, with the places distributed over all of them.
            let place = (number + turn) % PLACES.len();
            let outcome = outcome(&send(&proxy, body(driver, PLACES[place], content, length)));
            let verdict = if outcome.is_ok() { "held" } else { "WRONG" };
            let shown = outcome.clone().unwrap_or_else(|answer| answer);
            if is_measured() {
                line(
                    driver,
                    &format!("is sent {} MiB of {name}, place {place}", length >> 20),
                    &shown,
                    "",
                    "",
                    "",
                    verdict,
                );
            }
            wrong.extend(outcome.err().map(|answer| format!("{driver}, {name}, place {place}: {answer}")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    for driver in drivers() {
        assert_eq!(health(&known(&proxy), &driver)["traps"], 0, "{driver}");
    }
}

#[test]
fn a_plugin_that_exceeds_a_limit_is_blamed_for_a_short_turn_and_not_for_a_long_one() {
    let limits = "[limits]\nplugin_memory = \"4 MiB\"\n";
    let machine = Machine::configured(&format!(
        "[models.m]\ndriver = \"m\"\nrepo = \".\"\nprogram = \"cli\"\nretries = 0\n{limits}"
    ));
    machine.script("cli", "cat > /dev/null; echo hi");
    machine.put_plugin("m.wasm", component("m", &text("memory-bomb"), &Contract::ours()));
    let proxy = machine.serve();
    let long = send(&proxy, body("m", PLACES[0], "x", 100_000));
    let message = long.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("the conversation is too long for the plugin: in `")
            && message.contains("`limits.plugin_memory`"),
        "{message}"
    );
    assert_eq!((long.status, health(&known(&proxy), "m")["traps"].clone()), (400, 0.into()));
    let short = send(&proxy, body("m", PLACES[0], "x", 1000));
    assert_eq!((short.status, health(&known(&proxy), "m")["traps"].clone()), (500, 1.into()));
}

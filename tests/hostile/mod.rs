//! Plugins that try to stop, slow, fill or deceive the program, and the limits that stop them. `make hostile` prints a line for
//! each, runs several clients against each at once, and compares the latency of other requests with that at rest; the suite
//! runs each plugin and checks which limit stopped it.

mod bodies;
mod bomb;
mod compile;
mod component;
mod folder;
mod ground;
mod measure;
mod plans;
mod table;
mod trap;

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, chat, wait_for};
use measure::others;
use table::{Hostile, Stopped};

/// The permitted growth of the p99 of others.
const SLOWER: Duration = Duration::from_millis(20);

/// Number of clients that use a plugin at once.
const CLIENTS: usize = 4;

/// The wait of each client between two requests. Without it the throughput of the machine would be measured.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether the effect on others is measured, and of which plugins: those with this in their name, or `all`.
#[expect(clippy::disallowed_methods, reason = "the environment selects the length of the test")]
fn measured() -> Option<String> {
    std::env::var("AGENTBAY_HOSTILE").ok()
}

fn is_measured() -> bool {
    measured().is_some()
}

/// A machine with all of them in its plugin folder, a model for each, and low limits. Of the time limits only the one that
/// has to stop a plugin is low: on a slow or busy machine no other may be exceeded first.
fn machine(plugins: &[Hostile]) -> Machine {
    let tables = |plugin: &Hostile| {
        let name = plugin.name;
        let call_cpu = match (plugin.runs_out_of_time(), is_measured()) {
            (false, _) => "10m",
            (true, false) => "50ms",
            (true, true) => "250ms",
        };
        format!(
            "[models.{name}]\ndriver = \"{name}\"\nrepo = \".\"\nprogram = \"cli\"\nmax_repo_runs = 64\nretries = 0\n\
             [plugins.{name}.limits]\ncall_cpu = \"{call_cpu}\"\nrun_cpu = \"10m\"\ncompile_timeout = \"10m\"\n"
        )
    };
    let tables: String = plugins.iter().map(tables).collect();
    let machine = Machine::configured(&format!(
        "[models.echo]\ndriver = \"echo\"\nrepo = \".\"\nmax_repo_runs = 64\nretries = 0\n{tables}\
         [limits]\nruns = 64\nplugin_output = \"4 MiB\"\nplugin_notices = 3\nplugin_compile_memory = \"128 MiB\"\n"
    ));
    // Two pieces on any machine: the last line is held until the stream ends.
    machine.script("cli", "printf 'one\\ntwo\\n'");
    for plugin in plugins {
        machine.put_plugin(&format!("{}.wasm", plugin.name), &plugin.file);
    }
    machine
}

/// The plugins in use, and the refused files.
fn known(proxy: &Proxy) -> Value {
    proxy.get("/v1/plugins").json()
}

/// The reason why a file is refused.
fn refusal(known: &Value, name: &str) -> String {
    let file = format!("/{name}.wasm");
    let refused = known["refused"].as_array().unwrap();
    let refused = refused.iter().find(|refused| refused["file"].as_str().unwrap().ends_with(&file));
    refused.map(|refused| refused["reason"].as_str().unwrap().to_owned()).unwrap_or_default()
}

/// The health of a plugin.
fn health(known: &Value, name: &str) -> Value {
    let plugin = known["data"].as_array().unwrap().iter().find(|plugin| plugin["id"] == name);
    plugin.map(|plugin| plugin["health"].clone()).unwrap_or_default()
}

/// What stopped a plugin; an error if that is not the expected limit.
fn stopped(proxy: &Proxy, plugin: &Hostile, answer: &Answer) -> Result<String, String> {
    let message = |answer: &Answer| answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    let (fits, reason) = match plugin.stopped {
        Stopped::AtLoad(words) => {
            wait_for("it to be compiled", || known(proxy)["loading"] == json!([]));
            let reason = refusal(&known(proxy), plugin.name);
            (reason.contains(words) && answer.status == 500, reason)
        }
        Stopped::Failed(status, words) => {
            let message = message(answer);
            (answer.status == status && message.contains(words), message)
        }
        Stopped::Recorded(words) => {
            let reason =
                health(&known(proxy), plugin.name)["last_trap"]["reason"].as_str().unwrap_or_default().to_owned();
            let trapped = answer.header("x-agentbay-plugin") == Some("trapped");
            (answer.status == 200 && trapped && reason.contains(words), reason)
        }
        Stopped::Harmless(text) => {
            let body = answer.json();
            let is_answered = body["choices"][0]["message"]["content"].as_str() == Some(text);
            let forged = answer.header("x-forged").or(answer.header("x-agent-session"));
            (answer.status == 200 && is_answered && forged.is_none(), "nothing: it affects only itself".to_owned())
        }
    };
    if fits { Ok(reason) } else { Err(format!("{reason:?} {answer:?}").chars().take(300).collect()) }
}

/// Triggers a plugin once: with a request, or by writing its file again, slightly different each time.
fn trigger(machine: &Machine, proxy: &Proxy, plugin: &Hostile, times: &Mutex<u64>) -> Answer {
    if is_measured() && matches!(plugin.stopped, Stopped::AtLoad(_)) {
        let mut times = times.lock().unwrap();
        *times += 1;
        // An unknown section, which is ignored.
        let section = [&[0, 10, 1, b'n'][..], &times.to_be_bytes()].concat();
        machine.put_plugin(&format!("{}.wasm", plugin.name), [plugin.file.clone(), section].concat());
        thread::sleep(Duration::from_millis(250));
    }
    proxy.complete(&chat(plugin.name, "hi"))
}

/// One line of the table.
#[expect(clippy::print_stdout, reason = "the table is for a person who runs the test")]
fn line(name: &str, attempt: &str, stopped: &str, rest: &str, p99: &str, memory: &str, verdict: &str) {
    let stopped: String = stopped.chars().take(100).collect();
    println!("{name:<22} {attempt:<70} {stopped:<100} {rest:>9} {p99:>9} {memory:>8} {verdict}");
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[test]
fn every_hostile_plugin_is_stopped_by_the_expected_limit() {
    let mut plugins = table::all();
    if let Some(name) = measured().filter(|name| name != "all") {
        plugins.retain(|plugin| plugin.name.contains(&name));
    }
    let machine = machine(&plugins);
    let proxy = machine.serve();
    wait_for("all to be compiled", || known(&proxy)["loading"] == json!([]));
    let (count, clients) = if is_measured() { (100, CLIENTS) } else { (2, 1) };
    line("plugin", "what it attempts", "what stopped it", "at rest", "p99", "memory", "verdict");
    let (times, mut wrong) = (Mutex::new(0), 0);
    let max = max_memory(clients);
    for plugin in &plugins {
        // Measured for each plugin: the machine may be busy with other work.
        let rest = others(&proxy, count, || thread::sleep(Duration::from_millis(5)), 1);
        let before = proxy.resident() / 1024;
        let hammer = || {
            trigger(&machine, &proxy, plugin, &times);
            thread::sleep(PAUSE);
        };
        let effect = others(&proxy, count, hammer, clients);
        let found = stopped(&proxy, plugin, &trigger(&machine, &proxy, plugin, &times));
        let grown = effect.memory.saturating_sub(before);
        let verdict = match &found {
            Err(_) => "NOT STOPPED",
            Ok(_) if grown > max => "FILLED",
            Ok(_) if is_measured() && effect.p99 > rest.p99 + SLOWER => "SLOWED",
            Ok(_) => "held",
        };
        wrong += usize::from(verdict != "held");
        let found = found.unwrap_or_else(|found| found);
        let grown = format!("{grown} MiB");
        line(plugin.name, &plugin.attempt, &found, &ms(rest.p99), &ms(effect.p99), &grown, verdict);
    }
    assert_eq!(wrong, 0, "of {} lines", plugins.len());
    if !is_measured() {
        proxy.logged(&["WARN", "`limits.plugin_notices`"]);
    }
    assert!(!machine.path("home/.cache/agentbay/x").exists(), "a file was written outside the folder of its run");
}

/// The permitted growth of memory, in MiB: for each client the plugin's memory limit and twice its result limit, since results
/// are converted into host types, and memory that the allocator keeps.
fn max_memory(clients: usize) -> u64 {
    let each = 64 + 2 * 64;
    each * clients as u64 + 64
}

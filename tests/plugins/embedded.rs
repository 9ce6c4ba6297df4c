//! The plugins that are part of the program: what is known of them without compiling them, and when each is compiled.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::support::{ECHO, Machine, Proxy, Request, built_plugin, chat, wait_for};

/// A cache of its own, which is empty, and runs that do not wait for each other.
const CACHE: &str = "[plugins]\ncache = \"~/cache\"\n[defaults]\nmax_repo_runs = 9\n";

const GENERIC: &str = "[models.generic]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cat\"\n";

fn prebuilt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("plugins/prebuilt")
}

/// The files with compiled code.
fn compiled(machine: &Machine) -> Vec<PathBuf> {
    let mut folders = vec![machine.path("home/cache/wasm")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none() {
                files.push(path);
            }
        }
    }
    files
}

/// The number of versions of each plugin in memory.
fn in_memory(proxy: &Proxy) -> Vec<String> {
    let metrics = proxy.get("/metrics").body;
    let versions = metrics.lines().filter_map(|line| line.strip_prefix("agentbay_plugin_versions{plugin="));
    let mut versions: Vec<String> = versions.map(str::to_owned).collect();
    versions.sort();
    versions
}

/// How often a built-in plugin was compiled.
fn compilations(proxy: &Proxy, plugin: &str) -> usize {
    let line = format!("a built-in plugin is compiled plugin={plugin}");
    proxy.log().lines().filter(|logged| logged.ends_with(&line)).count()
}

/// A machine on which the plugin `echo` is not compiled before the returned pipe is opened: the cache is read first.
fn held() -> (Machine, PathBuf) {
    let machine = Machine::configured(&format!("{ECHO}{CACHE}"));
    assert_eq!(machine.faults(), [""; 0]);
    let code = compiled(&machine);
    assert_eq!(code.len(), 1, "{code:?}");
    machine.write("proxy.toml", format!("{ECHO}{GENERIC}{CACHE}"));
    assert_eq!(machine.faults(), [""; 0]);
    fs::remove_file(&code[0]).unwrap();
    mknodat(CWD, &code[0], FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let pipe = code.into_iter().next().unwrap();
    (machine, pipe)
}

/// Lets the plugin be compiled.
fn release(pipe: &Path) {
    OpenOptions::new().write(true).open(pipe).unwrap().write_all(b"not code").unwrap();
}

/// The ids of the current runs of a model, once there are this many.
fn runs(proxy: &Proxy, model: &str, count: usize) -> Vec<String> {
    let ids = || -> Vec<String> {
        let runs = proxy.runs();
        let of_model = runs.iter().filter(|run| run["model"] == model && run["state"] == "running");
        of_model.map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    wait_for("the runs", || ids().len() == count);
    ids()
}

#[test]
fn what_is_known_of_a_plugin_without_compiling_it_is_what_its_component_says() {
    let mut files: Vec<String> = fs::read_dir(prebuilt())
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|file| file.ends_with(".wasm"))
        .collect();
    files.sort();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let run = Machine::new().run(&[&["plugin", "summarize"], &files[..]].concat());
    let known = fs::read_to_string(prebuilt().join("summaries.json")).unwrap();
    assert_eq!((run.code, run.stderr.as_str(), run.stdout), (Some(0), "", known), "`plugins/build` writes the file");
}

#[test]
fn plugins_that_no_model_names_are_listed_and_not_compiled() {
    let machine = Machine::configured(&format!("[models.m]\ndriver = \"nobody\"\nrepo = \".\"\n{CACHE}"));
    let listed = machine.json(&["plugin", "list"]);
    let proxy = machine.serve();
    assert_eq!((proxy.get("/readyz").status, proxy.models()), (200, vec!["m".to_owned()]));
    let serving = proxy.get("/v1/plugins").json();
    let ids = |list: &Value| list.as_array().unwrap().iter().map(|plugin| plugin["id"].clone()).collect::<Vec<_>>();
    let expected =
        ["acp", "claude", "codex", "copilot", "echo", "gemini", "generic", "glm", "grok", "opencode", "qwen"];
    assert_eq!(
        (ids(&listed["plugins"]), ids(&serving["data"])),
        (expected.map(Value::from).to_vec(), expected.map(Value::from).to_vec())
    );
    // Logged after the preparation of the models.
    proxy.logged(&["a model cannot run: models.m.driver"]);
    assert_eq!((in_memory(&proxy), compiled(&machine)), (Vec::new(), Vec::new()));
}

#[test]
fn a_command_compiles_only_the_plugins_of_the_models() {
    let machine = Machine::configured(&format!("{ECHO}{CACHE}"));
    assert_eq!(machine.json(&["doctor"])["models"][0]["faults"], json!([]));
    assert_eq!(compiled(&machine).len(), 1);
    machine.write("proxy.toml", format!("{ECHO}{GENERIC}{CACHE}"));
    assert_eq!(machine.faults(), [""; 0]);
    assert_eq!(compiled(&machine).len(), 2);
}

#[test]
fn a_server_compiles_the_plugins_of_its_models_also_those_of_later_settings() {
    let machine = Machine::configured(&format!("{ECHO}{CACHE}"));
    let proxy = machine.serve();
    proxy.logged(&["a built-in plugin is compiled", "plugin=echo"]);
    assert_eq!(in_memory(&proxy), ["\"echo\"} 1"]);
    machine.write("proxy.toml", format!("{ECHO}{GENERIC}{CACHE}"));
    assert_eq!(proxy.reload().status, 200);
    proxy.logged(&["a built-in plugin is compiled", "plugin=generic"]);
    assert_eq!(in_memory(&proxy), ["\"echo\"} 1", "\"generic\"} 1"]);
}

#[test]
fn a_server_listens_while_a_plugin_is_compiled_and_only_its_requests_wait() {
    let (machine, pipe) = held();
    let proxy = machine.serve();
    proxy.logged(&["compiling built-in plugins", "echo, generic"]);
    assert_eq!((proxy.get("/readyz").status, proxy.models()), (200, vec!["echo".to_owned(), "generic".to_owned()]));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| proxy.ask("echo", "hi"));
        runs(&proxy, "echo", 1);
        assert_eq!(proxy.ask("generic", "hello"), "hello");
        assert_eq!(in_memory(&proxy), ["\"generic\"} 1"]);
        release(&pipe);
        assert_eq!(waiting.join().unwrap(), "hi");
    });
    assert_eq!(in_memory(&proxy), ["\"echo\"} 1", "\"generic\"} 1"]);
}

#[test]
fn requests_share_a_compilation_which_a_cancelled_one_does_not_stop() {
    let (machine, pipe) = held();
    let proxy = machine.serve();
    thread::scope(|scope| {
        let first = scope.spawn(|| proxy.complete(&chat("echo", "first")));
        let [cancelled] = &runs(&proxy, "echo", 1)[..] else { panic!("one run") };
        let second = scope.spawn(|| proxy.ask("echo", "second"));
        runs(&proxy, "echo", 2);
        let cancel = Request::get(&format!("/v1/runs/{cancelled}")).method("DELETE");
        assert_eq!(proxy.send(&cancel).status, 202);
        let answer = first.join().unwrap();
        assert_eq!(answer.json()["error"]["code"], "unknown", "{answer:?}");
        runs(&proxy, "echo", 1);
        release(&pipe);
        assert_eq!(second.join().unwrap(), "second");
    });
    assert_eq!(compilations(&proxy, "echo"), 1);
}

#[test]
fn a_request_waits_for_a_plugin_within_the_time_of_its_model() {
    let (machine, pipe) = held();
    machine.write("proxy.toml", format!("{ECHO}timeout = \"100ms\"\nretries = 0\n{CACHE}"));
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("echo", "hi"));
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (504, &json!("timeout")));
    release(&pipe);
    proxy.logged(&["a built-in plugin is compiled", "plugin=echo"]);
}

#[test]
fn a_built_in_plugin_is_not_compiled_while_a_file_has_its_place() {
    let machine = Machine::configured(&format!("{ECHO}{CACHE}"));
    let file = machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    let proxy = machine.serve();
    let loud = proxy.ask("echo", "hi");
    assert_ne!(loud, "hi");
    assert_eq!((compiled(&machine).len(), in_memory(&proxy)), (1, vec!["\"echo\"} 1".to_owned()]));

    // Without the file it is used, and dropped again when the file is back.
    fs::remove_file(file).unwrap();
    assert_eq!(proxy.reload().status, 200);
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    assert_eq!((compiled(&machine).len(), compilations(&proxy, "echo")), (2, 1));
    machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    assert_eq!(proxy.reload().status, 200);
    assert_eq!(proxy.ask("echo", "hi"), loud);
    wait_for("the built-in plugin to be dropped", || in_memory(&proxy) == ["\"echo\"} 1"]);
}

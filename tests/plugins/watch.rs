//! Changes of the plugin folder and the settings: folders that are removed and created, half-written files, with events and with
//! polling; and requested reloads.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{ECHO, Machine, Proxy, Request, drivers, error, fixtures, wait_for};

/// The two watch modes.
const WAYS: [&str; 2] = ["watch = \"events\"", "watch = \"poll\"\npoll_interval = \"20ms\""];

/// The settings with a watch mode.
fn noticing(way: &str) -> String {
    format!("[plugins]\n{way}\n{ECHO}")
}

/// A component that answers in capital letters.
fn loud() -> Vec<u8> {
    fs::read(fixtures().join("plugins/loud-echo.wasm")).unwrap()
}

/// The source of the plugin `echo` in use.
fn source(proxy: &Proxy) -> String {
    let plugins = proxy.get("/v1/plugins").json();
    let mut all = plugins["data"].as_array().unwrap().iter();
    all.find(|plugin| plugin["id"] == "echo").unwrap()["source"].as_str().unwrap().to_owned()
}

/// Waits until the plugin of a file is in use, or the embedded one again.
fn in_use(proxy: &Proxy, file: Option<&Path>) {
    let expected = file.map_or_else(|| "embedded".to_owned(), |file| file.display().to_string());
    wait_for(&format!("{expected} to be in use"), || source(proxy) == expected);
}

/// Runs a test with each watch mode, on a machine with the plugin `loud-echo`, passing its folder.
fn each_way(try_it: impl Fn(&Machine, &Proxy, &Path)) {
    for way in WAYS {
        let machine = Machine::configured(&noticing(way));
        let file = machine.put_plugin("echo.wasm", loud());
        let proxy = machine.serve();
        in_use(&proxy, Some(&file));
        try_it(&machine, &proxy, file.parent().unwrap());
    }
}

#[test]
fn a_folder_that_is_removed_and_restored_is_noticed() {
    each_way(|_, proxy, folder| {
        let file = folder.join("echo.wasm");
        for _ in 0..2 {
            fs::remove_dir_all(folder).unwrap();
            in_use(proxy, None);
            fs::create_dir(folder).unwrap();
            fs::write(&file, loud()).unwrap();
            in_use(proxy, Some(&file));
        }
        fs::remove_file(&file).unwrap();
        in_use(proxy, None);
    });
}

#[test]
fn a_folder_that_is_replaced_by_another_is_noticed() {
    each_way(|machine, proxy, folder| {
        let (next, file) = (machine.path("next"), folder.join("louder.wasm"));
        fs::create_dir(&next).unwrap();
        fs::write(next.join("louder.wasm"), loud()).unwrap();
        fs::rename(folder, machine.path("before")).unwrap();
        fs::rename(&next, folder).unwrap();
        in_use(proxy, Some(&file));
        // Changes in the replaced folder do not matter, changes in the new one do.
        fs::remove_file(machine.path("before/echo.wasm")).unwrap();
        fs::remove_file(file).unwrap();
        in_use(proxy, None);
    });
}

#[test]
fn a_folder_whose_parent_is_removed_and_restored_is_noticed() {
    each_way(|machine, proxy, folder| {
        let (file, parent, away) = (folder.join("echo.wasm"), folder.parent().unwrap(), machine.path("away"));
        fs::rename(parent, &away).unwrap();
        in_use(proxy, None);
        fs::rename(&away, parent).unwrap();
        in_use(proxy, Some(&file));
        fs::remove_dir_all(parent.parent().unwrap()).unwrap();
        in_use(proxy, None);
        fs::create_dir_all(folder).unwrap();
        fs::write(&file, loud()).unwrap();
        in_use(proxy, Some(&file));
    });
}

#[test]
fn a_folder_that_is_missing_at_the_start_is_noticed_when_it_is_created() {
    for way in WAYS {
        let machine = Machine::configured(&noticing(way));
        let folder: PathBuf = machine.plugin("");
        // No folder can be created in place of a file.
        let in_the_way = folder.parent().unwrap().parent().unwrap();
        fs::create_dir_all(in_the_way.parent().unwrap()).unwrap();
        fs::write(in_the_way, "").unwrap();
        let proxy = machine.serve();
        proxy.logged(&["WARN", "cannot create the plugin folder"]);
        in_use(&proxy, None);
        fs::remove_file(in_the_way).unwrap();
        let file = machine.put_plugin("echo.wasm", loud());
        in_use(&proxy, Some(&file));
    }
}

#[test]
fn a_half_written_file_replaces_nothing_until_it_is_complete() {
    for way in WAYS {
        let machine = Machine::configured(&noticing(way));
        let proxy = machine.serve();
        let (file, all) = (machine.plugin("echo.wasm"), loud());
        fs::write(&file, &all[..all.len() / 2]).unwrap();
        proxy.logged(&["ERROR", "plugin refused", file.to_str().unwrap(), "is not a valid WebAssembly component"]);
        assert_eq!((source(&proxy).as_str(), proxy.ask("echo", "hi").as_str()), ("embedded", "hi"));
        fs::write(&file, &all).unwrap();
        in_use(&proxy, Some(&file));
        assert_eq!(proxy.ask("echo", "hi"), "HI");
        // Truncated in place, the previous version stays in use.
        fs::write(&file, &all[..100]).unwrap();
        wait_for("the file to be refused", || proxy.get("/v1/plugins").json()["refused"] != json!([]));
        assert_eq!(proxy.ask("echo", "hi"), "HI");
    }
}

#[test]
fn settings_that_are_replaced_like_an_editor_does_are_noticed() {
    for way in WAYS {
        let machine = Machine::configured(&noticing(way));
        let proxy = machine.serve();
        assert_eq!(proxy.models(), ["echo"]);
        for name in ["one", "two"] {
            machine.write("proxy.toml", noticing(way).replace("models.echo", &format!("models.{name}")));
            wait_for("the new settings", || proxy.models() == [name]);
        }
    }
}

#[test]
fn a_requested_reload_is_complete_when_it_is_answered() {
    // Long enough that no change is noticed otherwise.
    let machine = Machine::configured(&noticing("watch = \"poll\"\npoll_interval = \"1h\""));
    let proxy = machine.serve();
    let found = |generation: u64, refused: Value, configuration: Value| {
        json!({"object": "reload", "generation": generation, "plugins": drivers(), "refused": refused, "loading": [],
               "configuration": configuration})
    };
    let well = json!({"state": "read", "faults": []});

    machine.put_plugin("echo.wasm", loud());
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    let answer = proxy.reload();
    assert_eq!((answer.status, answer.json()), (200, found(2, json!([]), well.clone())));
    assert_eq!(proxy.ask("echo", "hi"), "HI");

    let file = machine.put_plugin("bad.wasm", wat::parse_str("(component)").unwrap());
    let reason = "does not export `agentbay:plugin/agent`: it was not built against the contract in wit/";
    assert_eq!(proxy.reload().json(), found(3, json!([{"file": file, "reason": reason}]), well));
    fs::remove_file(file).unwrap();

    machine.write("proxy.toml", "[models.other]\ndriver = \"echo\"\n");
    let fault = "proxy.toml:1: models.other.repo: is missing: name the folder of the repository, here or in [defaults]";
    let answer = proxy.reload();
    let kept = json!({"state": "kept", "faults": [fault]});
    assert_eq!((answer.status, answer.json()), (200, found(4, json!([]), kept)));
    assert_eq!(proxy.models(), ["echo"]);

    proxy.signal(Signal::HUP);
    proxy.logged(&["reloaded", "generation=5 "]);
}

#[test]
fn a_reload_request_needs_a_key_if_one_is_configured() {
    let machine = Machine::configured(&format!("server.api_keys = [\"one\"]\n{ECHO}"));
    let proxy = machine.serve();
    let refused = "an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or `x-goog-api-key`";
    let expected = error(refused, "invalid_request_error", None, "invalid_api_key", None);
    let answer = proxy.reload();
    assert_eq!((answer.status, answer.json()), (401, expected));
    let with_key = Request::post("/v1/plugins/reload", "").header("authorization", "Bearer one");
    assert_eq!(proxy.send(&with_key).json()["generation"], 2);
}

#[test]
fn each_of_many_concurrent_requests_gets_a_reload_that_started_after_it() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    let file = machine.put_plugin("echo.wasm", loud());
    let generations: Vec<u64> = thread::scope(|scope| {
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(|| proxy.reload().json()["generation"].as_u64())).collect();
        asking.into_iter().map(|asked| asked.join().unwrap().unwrap()).collect()
    });
    assert!(generations.iter().all(|generation| (2..=20).contains(generation)), "{generations:?}");
    assert_eq!(source(&proxy), file.display().to_string());
}

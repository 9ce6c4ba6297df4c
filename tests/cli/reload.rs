//! Changes of the settings files of a running server: half of a file removes no key, links are followed, and the last complete
//! file is used.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::support::{ECHO, Machine, Proxy, Request, chat, fixtures, wait_for};

/// The two ways to notice a change.
const WAYS: [&str; 2] = ["watch = \"events\"", "watch = \"poll\"\npoll_interval = \"20ms\""];

/// Reloads everything, with the key if there is one, and returns the result for the settings.
fn reload(proxy: &Proxy) -> Value {
    let request = Request::post("/v1/plugins/reload", "{}").header("authorization", "Bearer k-secret");
    proxy.send(&request).json()["configuration"].clone()
}

/// The statuses of a request without the key, of one with it to each model, and of the list.
fn doors(proxy: &Proxy, models: &[&str]) -> (u16, Vec<u16>, Vec<String>) {
    let with_key = |request: Request| proxy.send(&request.header("authorization", "Bearer k-secret"));
    let ask = |model: &str| Request::complete(&chat(model, "hi"));
    let list = with_key(Request::get("/v1/models")).json();
    let names = list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap().to_owned());
    let answers = models.iter().map(|model| with_key(ask(model)).status).collect();
    (proxy.send(&ask(models[0])).status, answers, names.collect())
}

#[test]
fn t2_23_a_settings_file_that_is_briefly_empty_or_cut_removes_no_key_and_no_model() {
    let settings = format!("[server]\napi_keys = [\"k-secret\"]\n[limits]\nreload_delay = \"1h\"\n{ECHO}");
    let registry = r#"{"registered": {"driver": "echo", "repoPath": "."}}"#;
    let machine = Machine::configured(&settings);
    machine.write("models.json", registry);
    // Without settings this would be a model.
    machine.script("codex", "exit 1");
    let proxy = machine.serve();
    let closed = (401, vec![200, 200], vec!["echo".to_owned(), "registered".to_owned()]);
    let is_closed = || assert_eq!(doors(&proxy, &["echo", "registered"]), closed);
    is_closed();

    let [toml, json] = ["proxy.toml", "models.json"].map(|name| machine.path("work").join(name));
    let way_out = |way: &str| format!("and its settings stay in use: to remove them, {way}");
    let [restart, write] = ["restart", "write `{}` into it, or restart"].map(way_out);
    let held =
        |lost: &str| format!("waits until the files have not changed for 1h, since they no longer contain: {lost}");
    // Written in place, as by `generate > proxy.toml`.
    for (file, cut, fault) in [
        (&toml, Some(""), format!("proxy.toml: is empty, {restart}")),
        (&toml, Some("\n \r\n"), format!("proxy.toml: is empty, {restart}")),
        (&toml, Some("# The settings {of} the proxy.\n"), format!("proxy.toml: is empty, {restart}")),
        (&toml, Some("[server]\n"), held("limits, models, server.api_keys")),
        (&toml, Some("[server]\napi_keys = [\"k-secret\"]\n"), held("limits, models")),
        (&toml, Some(&settings[..settings.len() - 20]), held("models.echo.repo")),
        (&toml, None, format!("proxy.toml: has vanished, {restart}")),
        (&json, Some(""), format!("models.json: is empty, {write}")),
        (&json, Some("{}"), held("registered")),
        (&json, None, format!("models.json: has vanished, {write}")),
    ] {
        match cut {
            Some(text) => fs::write(file, text).unwrap(),
            None => fs::remove_file(file).unwrap(),
        }
        let result = reload(&proxy);
        if cut == Some(&settings[..settings.len() - 20]) {
            // Not valid, or without a key: not used in either case.
            assert_eq!(result["state"], "kept", "{result}");
        } else {
            assert_eq!(result, json!({"state": "kept", "faults": [fault]}), "{cut:?}");
        }
        is_closed();
        fs::write(&toml, &settings).unwrap();
        fs::write(&json, registry).unwrap();
        assert_eq!(reload(&proxy), json!({"state": "read", "faults": []}));
        is_closed();
    }
}

#[test]
fn a_change_that_removes_something_is_used_after_its_hold() {
    for way in WAYS {
        let settings =
            format!("[plugins]\n{way}\n[server]\napi_keys = [\"k-secret\"]\n[limits]\nreload_delay = \"50ms\"\n{ECHO}");
        let machine = Machine::configured(&settings);
        let proxy = machine.serve();
        machine.write("proxy.toml", settings.replace("models.echo", "models.other"));
        proxy.logged(&["WARN", "not changed for 50ms: they lack models.echo"]);
        wait_for("the new model", || doors(&proxy, &["other"]).1 == [200]);
        machine.write("proxy.toml", format!("[plugins]\n{way}\n{ECHO}"));
        wait_for("the removal of the key", || proxy.get("/v1/models").status == 200);
        assert_eq!(proxy.models(), ["echo"]);
    }
}

#[test]
fn an_added_model_is_used_at_once() {
    let machine = Machine::configured(&format!("[limits]\nreload_delay = \"1h\"\n{ECHO}"));
    let proxy = machine.serve();
    let more = format!("server.api_keys = [\"k-secret\"]\n[limits]\nreload_delay = \"1h\"\n{ECHO}timeout = \"5m\"\n");
    machine.write("proxy.toml", more);
    assert_eq!(reload(&proxy), json!({"state": "read", "faults": []}));
    assert_eq!(proxy.get("/v1/models").status, 401);
}

#[test]
fn a_file_that_cannot_be_read_again_blocks_nothing() {
    let machine = Machine::configured(ECHO);
    let proxy = machine.serve();
    let file = machine.path("work/proxy.toml");
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &file,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let fault = "proxy.toml: cannot be read: it is not a plain file";
    assert_eq!(reload(&proxy), json!({"state": "kept", "faults": [fault]}));
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn t2_24_a_byte_order_mark_and_windows_line_ends_are_read_at_the_start_and_later() {
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let registry = |name: &str| windows(&format!("{{\"{name}\": {{\n\"driver\": \"echo\",\n\"repoPath\": \".\"}}}}"));
    let settings = |model: &str| windows(&format!("[limits]\nreload_delay = 0\n{}", ECHO.replace("echo]", model)));
    let machine = Machine::configured(&settings("one]"));
    machine.write("models.json", registry("two"));
    let proxy = machine.serve();
    assert_eq!((proxy.models(), proxy.ask("one", "hi")), (vec!["one".to_owned(), "two".to_owned()], "hi".to_owned()));
    machine.write("proxy.toml", settings("three]"));
    machine.write("models.json", registry("four"));
    wait_for("both new files", || proxy.models() == ["four", "three"]);
    assert_eq!([proxy.ask("four", "a"), proxy.ask("three", "b")], ["a", "b"]);
}

/// Replaces a link, as tools for dotfiles and Kubernetes do.
fn relink(target: &str, link: &Path) {
    let new = link.with_file_name(".new-link");
    symlink(target, &new).unwrap();
    fs::rename(new, link).unwrap();
}

/// Settings with a way to notice changes, which are used at once.
fn settings(way: &str, model: &str) -> String {
    format!("[plugins]\n{way}\n[limits]\nreload_delay = 0\n[models.{model}]\ndriver = \"echo\"\nrepo = \".\"\n")
}

#[test]
fn settings_behind_links_are_followed() {
    for way in WAYS {
        let machine = Machine::new();
        let work = machine.path("work");
        // Dotfiles: the target is replaced, and then the link.
        fs::create_dir(machine.path("dotfiles")).unwrap();
        let target = machine.path("dotfiles/proxy.toml");
        fs::write(&target, settings(way, "one")).unwrap();
        symlink("../dotfiles/proxy.toml", work.join("proxy.toml")).unwrap();
        let proxy = machine.serve();
        assert_eq!(proxy.models(), ["one"]);
        fs::write(machine.path("dotfiles/.new"), settings(way, "two")).unwrap();
        fs::rename(machine.path("dotfiles/.new"), &target).unwrap();
        wait_for("the new target", || proxy.models() == ["two"]);
        fs::write(&target, settings(way, "three")).unwrap();
        wait_for("the changed target", || proxy.models() == ["three"]);

        // A ConfigMap: proxy.toml -> ..data/proxy.toml, and ..data -> the folder of a version.
        for (version, model) in [("..v1", "four"), ("..v2", "five"), ("..v3", "six")] {
            fs::create_dir(work.join(version)).unwrap();
            fs::write(work.join(version).join("proxy.toml"), settings(way, model)).unwrap();
            relink(version, &work.join("..data"));
            if version == "..v1" {
                relink("..data/proxy.toml", &work.join("proxy.toml"));
            }
            wait_for(model, || proxy.models() == [model]);
        }
    }
}

#[test]
fn plugins_behind_links_are_followed() {
    let loud = fs::read(fixtures().join("plugins/loud-echo.wasm")).unwrap();
    let quiet = fs::read(fixtures().parent().unwrap().join("plugins/prebuilt/echo.wasm")).unwrap();
    for way in WAYS {
        let machine = Machine::configured(&settings(way, "echo"));
        let folder = machine.plugin("");
        let (store, link) = (machine.path("store"), folder.join("echo.wasm"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir(&store).unwrap();
        fs::write(store.join("echo-1.wasm"), &quiet).unwrap();
        symlink(store.join("echo-1.wasm"), &link).unwrap();
        let proxy = machine.serve();
        let answers = |expected: &str| {
            wait_for(&format!("{expected} with {way}"), || proxy.ask("echo", "hi") == expected);
        };
        answers("hi");
        // The target of a link is replaced.
        fs::write(store.join(".new"), &loud).unwrap();
        fs::rename(store.join(".new"), store.join("echo-1.wasm")).unwrap();
        answers("HI");
        // A ConfigMap.
        for (version, component, expected) in [("..v1", &quiet, "hi"), ("..v2", &loud, "HI")] {
            fs::create_dir(folder.join(version)).unwrap();
            fs::write(folder.join(version).join("echo.wasm"), component).unwrap();
            relink(version, &folder.join("..data"));
            if version == "..v1" {
                relink("..data/echo.wasm", &link);
            }
            answers(expected);
        }
    }
}

#[test]
fn of_two_concurrent_editors_the_last_complete_file_is_used_and_nothing_in_between() {
    let pair = |name: &str| {
        let model = |at| format!("[models.{name}{at}]\ndriver = \"echo\"\nrepo = \".\"\n");
        format!("[limits]\nreload_delay = 0\n{}{}", model(1), model(2))
    };
    let machine = Machine::configured(&pair("a"));
    let proxy = machine.serve();
    let file = machine.path("work/proxy.toml");
    let edit = |name: &str| {
        let new = file.with_file_name(format!("{name}.new"));
        fs::write(&new, pair(name)).unwrap();
        fs::rename(new, &file).unwrap();
    };
    let whole = ["a", "b", "c"].map(|name| [1, 2].map(|at| format!("{name}{at}")).to_vec());
    thread::scope(|scope| {
        let editors = ["b", "c"].map(|name| scope.spawn(move || (0..100).for_each(|_| edit(name))));
        while !editors.iter().all(|editor| editor.is_finished()) {
            let models = proxy.models();
            assert!(whole.contains(&models), "{models:?}");
        }
    });
    edit("d");
    wait_for("the last file", || proxy.models() == ["d1", "d2"]);
}

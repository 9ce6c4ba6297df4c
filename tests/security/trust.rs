//! Admission of third-party plugins: pins, signatures and grants.

use std::fs;
use std::io::Cursor;

use minisign::KeyPair;
use serde_json::Value;

use crate::support::{Machine, Proxy, fixtures};

const MODEL: &str = "[models.m]\ndriver = \"stranger\"\nrepo = \".\"\n";

/// A plugin of the id `stranger`, which starts the program `stranger`.
fn stranger() -> Vec<u8> {
    fs::read(fixtures().join("plugins/stranger.wasm")).unwrap()
}

/// The same plugin with different bytes: an additional custom section is ignored.
fn another_stranger() -> Vec<u8> {
    let mut bytes = stranger();
    bytes.extend([0, 2, 1, b'x']);
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    let machine = Machine::new();
    machine.put_plugin("stranger.wasm", bytes);
    let listed = machine.json(&["plugin", "list"]);
    let stranger = listed["plugins"].as_array().unwrap().iter().find(|plugin| plugin["id"] == "stranger").unwrap();
    stranger["sha256"].as_str().unwrap().to_owned()
}

/// A machine with these settings of plugins, a model for the stranger and its program.
fn machine(settings: &str) -> Machine {
    let machine = Machine::configured(&format!("{settings}\n{MODEL}"));
    machine.stand_in("stranger", &["say", "hello"]);
    machine
}

/// Reasons of refused files, by file name.
fn refused(proxy: &Proxy) -> Vec<(String, String)> {
    let refused = proxy.get("/v1/plugins").json()["refused"].clone();
    let file = |refusal: &Value| refusal["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let one = |refusal: &Value| (file(refusal), refusal["reason"].as_str().unwrap().to_owned());
    refused.as_array().unwrap().iter().map(one).collect()
}

/// The hash of the stranger that is in use.
fn in_use(proxy: &Proxy) -> Option<String> {
    let plugins = proxy.get("/v1/plugins").json()["data"].clone();
    let stranger = plugins.as_array().unwrap().iter().find(|plugin| plugin["id"] == "stranger").cloned();
    Some(stranger?["sha256"].as_str().unwrap().to_owned())
}

fn reason(file: &str, reason: impl Into<String>) -> Vec<(String, String)> {
    vec![(file.to_owned(), reason.into())]
}

#[test]
fn a_granted_program_is_started_without_a_setting_of_the_model() {
    let machine = machine("[plugins.stranger]\nprograms = [\"stranger\"]");
    machine.put_plugin("stranger.wasm", stranger());
    assert_eq!(machine.serve().ask("m", "hi"), "hello");
}

#[test]
fn a_plugin_that_asks_for_more_than_was_granted_is_refused_until_it_is() {
    let machine = machine("[plugins.stranger]\nprograms = []");
    machine.put_plugin("stranger.wasm", stranger());
    let proxy = machine.serve();
    let asks = "asks for the program `stranger`, which is not granted: `agentbay plugin add FILE` updates \
                [plugins.stranger]";
    assert_eq!((refused(&proxy), in_use(&proxy)), (reason("stranger.wasm", asks), None));
    machine.write("proxy.toml", format!("[plugins.stranger]\nprograms = [\"stranger\", \"node\"]\n{MODEL}"));
    proxy.logged(&["reloaded", "generation=2 "]);
    assert_eq!((refused(&proxy), proxy.ask("m", "hi")), (vec![], "hello".to_owned()));
}

#[test]
fn a_file_that_replaces_an_embedded_plugin_may_start_only_the_same_programs() {
    let machine = Machine::configured("[plugins.echo]\nprograms = []\n");
    machine.put_plugin("echo.wasm", fs::read(fixtures().join("plugins/loud-echo.wasm")).unwrap());
    let proxy = machine.serve();
    let asks = "asks for the program `agentbay`, which is not granted: `agentbay plugin add FILE` updates \
                [plugins.echo]";
    assert_eq!(refused(&proxy), reason("echo.wasm", asks));
}

#[test]
fn a_component_other_than_the_pinned_one_is_refused_and_the_good_one_stays() {
    let (first, second) = (sha256(&stranger()), sha256(&another_stranger()));
    assert_ne!(first, second);
    let pin = |sum: &str| format!("[plugins.stranger]\nprograms = [\"stranger\"]\nsha256 = \"{sum}\"\n{MODEL}");
    let machine = machine("");
    machine.write("proxy.toml", pin(&first));
    machine.put_plugin("stranger.wasm", stranger());
    let proxy = machine.serve();
    assert_eq!((in_use(&proxy), refused(&proxy)), (Some(first.clone()), vec![]));

    machine.put_plugin("stranger.wasm", another_stranger());
    proxy.logged(&["reloaded", "generation=2 "]);
    let other = format!(
        "has the SHA-256 {second}, but [plugins.stranger] pins {first}: `agentbay plugin add FILE` pins the new one"
    );
    assert_eq!((in_use(&proxy), refused(&proxy)), (Some(first), reason("stranger.wasm", other)));
    assert_eq!(proxy.ask("m", "hi"), "hello");

    machine.write("proxy.toml", pin(&second));
    proxy.logged(&["reloaded", "generation=3 "]);
    assert_eq!((in_use(&proxy), refused(&proxy)), (Some(second), vec![]));
}

#[test]
fn unpinned_plugins_are_refused_if_pins_are_required_even_in_use() {
    let machine = machine("");
    machine.put_plugin("stranger.wasm", stranger());
    let proxy = machine.serve();
    let sum = in_use(&proxy).unwrap();
    let echo = "[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n";
    machine.write("proxy.toml", format!("[plugins]\nrequire_pin = true\n{MODEL}{echo}"));
    proxy.logged(&["reloaded", "generation=2 "]);
    let unpinned = format!(
        "is not pinned, and `plugins.require_pin` is set: `agentbay plugin add FILE` shows what it asks for and pins it \
         (its SHA-256 is {sum})"
    );
    assert_eq!((in_use(&proxy), refused(&proxy)), (None, reason("stranger.wasm", unpinned)));
    assert_eq!(proxy.ask("echo", "what is built in needs no pin"), "what is built in needs no pin");
}

/// A signature file of a component.
fn signature(keys: &KeyPair, bytes: &[u8]) -> String {
    minisign::sign(Some(&keys.pk), &keys.sk, Cursor::new(bytes), None, None).unwrap().into_string()
}

#[test]
fn only_signed_components_are_compiled_if_signatures_are_required() {
    let [keys, others] = [(); 2].map(|()| KeyPair::generate_unencrypted_keypair().unwrap());
    let machine = machine(&format!(
        "[plugins]\nsigned_by = [\"{}\"]\n[plugins.stranger]\nprograms = [\"stranger\"]",
        keys.pk.to_base64()
    ));
    let proxy = machine.serve();
    let put = |generation: u32, signature: Option<String>, bytes: &[u8]| {
        // Both in one scan: the quiet period starts after the second.
        if let Some(signature) = signature {
            machine.put_plugin("stranger.wasm.minisig", signature);
        }
        machine.put_plugin("stranger.wasm", bytes);
        proxy.logged(&["reloaded", &format!("generation={generation} ")]);
        refused(&proxy)
    };
    let unsigned = "is not signed by a key of `plugins.signed_by`: put the signature beside it, as NAME.wasm.minisig";
    assert_eq!(put(2, None, &stranger()), reason("stranger.wasm", unsigned));
    let by_another = put(3, Some(signature(&others, &stranger())), &stranger());
    assert!(
        by_another[0].1.starts_with("has a signature that is not valid for any key of `plugins.signed_by`: "),
        "{by_another:?}"
    );
    let changed = put(4, Some(signature(&keys, &stranger())), &another_stranger());
    assert!(
        changed[0].1.starts_with("has a signature that is not valid for any key of `plugins.signed_by`: "),
        "{changed:?}"
    );
    assert_eq!(in_use(&proxy), None);
    assert_eq!(put(5, None, &stranger()), vec![]);
    assert_eq!(proxy.ask("m", "hi"), "hello");
}

#[test]
fn imports_of_wasi_are_accepted_if_allowed_and_others_never() {
    let component = |import: &str| {
        wat::parse_str(format!("(component (import \"{import}\" (instance (export \"get\" (func)))))")).unwrap()
    };
    let machine = machine("[plugins.trapped]\nwasi = \"trap\"");
    machine.put_plugin("plain.wasm", component("wasi:cli/environment@0.2.0"));
    machine.put_plugin("trapped.wasm", component("wasi:cli/environment@0.2.0"));
    machine.put_plugin("trapped-other.wasm", component("some:other/thing@1.0.0"));
    let reasons = [
        (
            "plain.wasm",
            "imports `wasi:cli/environment@0.2.0`: build it without WASI, or set `wasi = \"trap\"` in its [plugins.NAME] of \
             proxy.toml if it never calls that",
        ),
        (
            "trapped-other.wasm",
            "imports `some:other/thing@1.0.0`: a plugin imports nothing (build it for wasm32-unknown-unknown, without WASI)",
        ),
        ("trapped.wasm", "does not export `agentbay:plugin/agent`: it was not built against the contract in wit/"),
    ];
    let proxy = machine.serve();
    assert_eq!(refused(&proxy), reasons.map(|(file, reason)| (file.to_owned(), reason.to_owned())));
}

#[test]
fn a_plugin_may_have_its_own_limits() {
    let machine = machine("[plugins.stranger]\nprograms = [\"stranger\"]\nlimits = { memory = \"64 KiB\" }");
    machine.put_plugin("stranger.wasm", stranger());
    let proxy = machine.serve();
    let [(file, reason)] = &refused(&proxy)[..] else { panic!("one file is refused") };
    assert_eq!(file, "stranger.wasm");
    assert!(reason.contains("more than `limits.plugin_memory` allows"), "{reason}");
}

#[test]
fn add_shows_the_requests_of_a_component_and_writes_them_only_if_granted() {
    let settings = format!("# Mine.\n{MODEL}# The end.\n");
    let machine = machine("");
    machine.write("proxy.toml", &settings);
    let file = machine.path("work/downloaded.wasm");
    fs::write(&file, stranger()).unwrap();
    let proxy = machine.serve();
    let sum = sha256(&stranger());
    let asks = format!(
        "stranger 1.0.0: Stranger (contract 0.1.0)\n  starts the programs     stranger\n  sets the variables      none\n  \
         shares files of a home  none\n  SHA-256                 {sum}\n"
    );
    let run = machine.run(&["plugin", "add", "downloaded.wasm"]);
    let actual = (run.code, run.stdout.as_str(), run.stderr.as_str());
    assert_eq!(actual, (Some(2), asks.as_str(), "to grant this, add --yes\nnothing was added\n"));
    assert!(!machine.plugin("stranger.wasm").exists());

    let run = machine.run(&["plugin", "add", "downloaded.wasm", "--yes", "--limits", "{ memory = \"8 MiB\" }"]);
    let (written, place) = (machine.path("work/proxy.toml"), machine.plugin("stranger.wasm"));
    let expected = format!("{asks}wrote {}\nwrote {}\n", written.display(), place.display());
    assert_eq!((run.code, run.stdout, run.stderr.as_str()), (Some(0), expected, ""));
    let table = format!(
        "\n[plugins.stranger]\nprograms = [\"stranger\"]\nenv = []\nhome_files = []\nsha256 = \"{sum}\"\n\
         limits = {{ memory = \"8 MiB\" }}\n"
    );
    let after = fs::read_to_string(&written).unwrap();
    assert!(after.starts_with("# Mine.\n[models.m]\n") && after.contains("# The end.\n"), "{after}");
    assert!(after.contains(&table), "{after}");
    proxy.logged(&["reloaded"]);
    assert_eq!((in_use(&proxy), proxy.ask("m", "hi")), (Some(sum), "hello".to_owned()));
}

#[test]
fn add_shows_changes_and_refuses_unsigned_components_if_signatures_are_required() {
    let machine = machine("[plugins.stranger]\nprograms = [\"other\"]");
    let file = machine.path("work/new.wasm");
    fs::write(&file, stranger()).unwrap();
    let run = machine.run(&["plugin", "add", "new.wasm"]);
    assert!(run.stdout.contains("starts the programs     stranger (new)\n"), "{}", run.stdout);

    let keys = KeyPair::generate_unencrypted_keypair().unwrap();
    machine.write("proxy.toml", format!("[plugins]\nsigned_by = [\"{}\"]\n{MODEL}", keys.pk.to_base64()));
    let run = machine.run(&["plugin", "add", "new.wasm", "--yes"]);
    let unsigned = "new.wasm: is not signed by a key of `plugins.signed_by`: put the signature beside it, as \
                    NAME.wasm.minisig\n";
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(2), "", unsigned));
    fs::write(machine.path("work/new.wasm.minisig"), signature(&keys, &stranger())).unwrap();
    let run = machine.run(&["plugin", "add", "new.wasm", "--yes"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(machine.serve().ask("m", "hi"), "hello");
}

#[test]
fn add_creates_missing_settings_with_a_model() {
    let machine = Machine::new();
    fs::write(machine.path("work/new.wasm"), stranger()).unwrap();
    machine.script("stranger", "printf hello");
    let run = machine.run(&["plugin", "add", "new.wasm", "--yes"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(machine.run(&["check"]).code, Some(0));
    let proxy = machine.serve();
    assert_eq!(proxy.models(), ["echo", "stranger"]);
    assert_eq!(proxy.ask("stranger", "hi"), "hello");

    let named = machine.run(&["plugin", "add", "new.wasm", "--yes", "--config", "other.toml"]);
    assert_eq!(named.code, Some(2), "{}", named.stdout);
    assert!(!machine.path("work/other.toml").exists());
}

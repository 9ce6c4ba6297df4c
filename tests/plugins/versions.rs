//! Versions of the contract: a component of a supported line keeps working, and a message about an unsupported one names the side to
//! upgrade.

use std::fs;

use serde_json::json;

use crate::support::{Machine, fixtures};

/// The hash of the component that was built against 0.1 and is never rebuilt.
const BUILT_AGAINST_0_1: &str = "d99eaa92365cf8bea96b25f26f2fdb2ed1d9c73124614407438c556f50b52c35";

#[test]
fn a_component_built_against_contract_0_1_loads_and_answers() {
    let machine = Machine::configured("[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n");
    let file = machine.put_plugin("frozen.wasm", fs::read(fixtures().join("frozen/0.1.wasm")).unwrap());
    let proxy = machine.serve();
    let plugins = proxy.get("/v1/plugins").json();
    let echo = plugins["data"].as_array().unwrap().iter().find(|plugin| plugin["id"] == "echo").unwrap();
    let actual = ["contract", "source", "sha256"].map(|key| echo[key].clone());
    assert_eq!(actual, [json!("0.1.0"), json!(file.to_str()), json!(BUILT_AGAINST_0_1)]);
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    assert_eq!(proxy.streamed("echo", "hi there").content, "hi there");
}

#[test]
fn a_component_of_another_line_is_refused_with_both_versions_and_the_side_to_upgrade() {
    let machine = Machine::new();
    for (name, version) in [("newer", "0.2.0"), ("older", "0.0.3")] {
        let exports = format!("(component (instance $i) (export \"agentbay:plugin/agent@{version}\" (instance $i)))");
        machine.put_plugin(&format!("{name}.wasm"), wat::parse_str(exports).unwrap());
    }
    let refused = machine.serve().get("/v1/plugins").json()["refused"].clone();
    let reason = |version: &str, behind: &str| {
        format!("was built against contract {version}, and this agentbay supports 0.1: {behind} must be updated")
    };
    let expected = json!([
        {"file": machine.plugin("newer.wasm"), "reason": reason("0.2.0", "agentbay")},
        {"file": machine.plugin("older.wasm"), "reason": reason("0.0.3", "the plugin")},
    ]);
    assert_eq!(refused, expected);
}

#[test]
fn the_supported_lines_are_listed() {
    let machine = Machine::new();
    let run = machine.run(&["--version"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "agentbay 0.1.0\ncontracts 0.1\n"));
    assert_eq!(machine.serve().get("/v1/plugins").json()["contracts"], json!(["0.1"]));
}

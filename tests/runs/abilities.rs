//! Settings that a driver cannot implement: `check` reports them, the log warns of them, and a run that needs them is
//! refused before anything is started.

use std::fs;

use serde_json::Value;

use crate::support::{Machine, Proxy, chat, error, fixtures};

/// A machine with models of these settings, on which every CLI that starts would create a file.
fn machine(models: &str) -> Machine {
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\nretries = 0\n{models}"));
    for program in ["claude", "codex", "stranger", "agent"] {
        machine.script(program, "echo > ../started; cat > /dev/null");
    }
    machine.put_plugin("stranger.wasm", fs::read(fixtures().join("plugins/stranger.wasm")).unwrap());
    machine
}

/// Asserts that `check` reports the fault of each model, that the log warns of it, and that runs are refused with it.
fn assert_refused(models: &str, faults: &[(&str, &str, &str)]) {
    let machine = machine(models);
    let expected: Vec<String> = faults.iter().map(|(_, key, message)| format!("{key}: {message}")).collect();
    assert_eq!(machine.faults(), expected);
    let proxy = machine.serve();
    for (model, key, message) in faults {
        proxy.logged(&["WARN", &format!("a model cannot run: {key}: {message}")]);
        assert_eq!(answer(&proxy, model), (500, error(message, "server_error", None, "configuration", None)));
    }
    assert!(!machine.path("started").exists(), "a CLI was started");
}

fn answer(proxy: &Proxy, model: &str) -> (u16, Value) {
    let answer = proxy.complete(&chat(model, "hi"));
    (answer.status, answer.json())
}

#[test]
fn read_only_is_refused_for_a_driver_that_cannot_keep_its_cli_from_writing() {
    let message = |driver: &str, model: &str| {
        format!(
            "the driver `{driver}` cannot keep its CLI from writing, and `permission` of the model `{model}` is \
             \"read-only\": choose another driver, or write another `permission` into [models.{model}]"
        )
    };
    let models = "[models.a]\ndriver = \"acp\"\nprogram = \"agent\"\npermission = \"read-only\"\n\
                  [models.b]\ndriver = \"stranger\"\nprogram = \"stranger\"\npermission = \"read-only\"\n";
    let [a, b] = [("acp", "a"), ("stranger", "b")].map(|(driver, model)| message(driver, model));
    assert_refused(models, &[("a", "models.a.permission", &a), ("b", "models.b.permission", &b)]);
}

#[test]
fn read_only_may_be_the_default_of_all_models_with_echo_among_them() {
    let machine =
        Machine::configured("[defaults]\nrepo = \".\"\npermission = \"read-only\"\n[models.echo]\ndriver = \"echo\"\n");
    assert_eq!(machine.run(&["check"]).code, Some(0));
    assert_eq!(machine.serve().ask("echo", "hi"), "hi");
}

#[test]
fn a_vendors_model_is_refused_for_a_driver_that_cannot_choose_one() {
    let message = |driver: &str, model: &str| {
        format!(
            "the driver `{driver}` cannot choose the vendor's model: take `model` out of [models.{model}], or set the model \
             where its CLI reads it"
        )
    };
    let models = "[models.a]\ndriver = \"acp\"\nprogram = \"agent\"\nmodel = \"big\"\n\
                  [models.b]\ndriver = \"stranger\"\nprogram = \"stranger\"\nmodel = \"big\"\n";
    let [a, b] = [("acp", "a"), ("stranger", "b")].map(|(driver, model)| message(driver, model));
    assert_refused(models, &[("a", "models.a.model", &a), ("b", "models.b.model", &b)]);
}

#[test]
fn options_that_a_driver_does_not_know_are_refused() {
    let message = |driver: &str, model: &str| {
        format!("the driver `{driver}` has no option `colour`: take it out of `options` in [models.{model}]")
    };
    let models = "[models.a]\ndriver = \"claude\"\noptions = { colour = \"red\" }\n\
                  [models.b]\ndriver = \"codex\"\noptions = { colour = [\"red\"] }\n\
                  [models.c]\ndriver = \"acp\"\nprogram = \"agent\"\noptions = { colour = 1 }\n";
    let [a, b] = [("claude", "a"), ("codex", "b")].map(|(driver, model)| message(driver, model));
    // A plugin that checks its options reports the error in its own words.
    let c = "unknown option `colour`: allowed is `args`";
    assert_refused(
        models,
        &[("a", "models.a.options", &a), ("b", "models.b.options", &b), ("c", "models.c.options", c)],
    );
}

#[test]
fn doctor_notes_an_option_that_a_plugin_from_outside_may_or_may_not_know() {
    let machine =
        machine("[models.a]\ndriver = \"stranger\"\nprogram = \"stranger\"\noptions = { colour = \"red\" }\n");
    machine.script("stranger", "echo 1.0.0");
    let run = machine.run(&["doctor"]);
    let note = "  note: models.a.options: the driver `stranger` has no option `colour`: take it out of `options` in \
                [models.a]";
    assert_eq!((run.code, run.stdout.lines().nth(2)), (Some(0), Some(note)), "{}", run.stdout);
}

#[test]
fn a_server_logs_the_missing_requirements_of_its_models_at_its_start_and_after_a_reload() {
    let machine = Machine::configured("[defaults]\nrepo = \".\"\n[models.a]\ndriver = \"codex\"\n");
    machine.write("models.json", r#"{"b": {"driver": "nobody", "repoPath": "gone"}}"#);
    let proxy = machine.serve();
    proxy
        .logged(&["WARN", "a model cannot run: models.a.program: CLI not found: codex (npm install -g @openai/codex)"]);
    proxy
        .logged(&["WARN", "a model cannot run: models.b.driver: the driver `nobody` is not loaded: put its component"]);
    let gone = machine.name("work/gone");
    proxy.logged(&["WARN", &format!("a model cannot run: b.repoPath: the repository {gone} does not exist")]);
    // A change of the settings logs what it adds, and repeats nothing.
    machine.write(
        "proxy.toml",
        "[defaults]\nrepo = \".\"\n[models.a]\ndriver = \"codex\"\n[models.c]\ndriver = \"qwen\"\n",
    );
    proxy.logged(&["WARN", "a model cannot run: models.c.program: CLI not found: qwen"]);
    assert_eq!(proxy.log().matches("models.a.program").count(), 1);
}

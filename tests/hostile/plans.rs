//! Plans that would make a granted program load the plugin's code, by a variable and a file in the run's folder.

use std::fmt::Write;

use super::component::{Contract, component};
use crate::support::{Machine, chat, error};

/// The value of a variable.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    /// The run's folder, with the plan's files.
    RunDir,
}

/// The `prepare` function of a plugin whose plans have these variables and files, as paragraphs.
pub(super) fn planning(env: &[(&str, Value<'_>)], files: &[(&str, &str)]) -> String {
    const TEXTS: usize = 1536;
    const RUN_DIR: [usize; 2] = [80, 84];
    let (mut texts, mut code) = (String::new(), String::new());
    let mut store = |list: &str, offset: usize, value: Value<'_>| {
        let parts = match value {
            Value::RunDir => RUN_DIR.map(|at| format!("i32.load offset={at} (local.get $turn)")),
            Value::Text(text) => {
                let at = TEXTS + texts.len();
                texts += text;
                [at, text.len()].map(|number| format!("i32.const {number}"))
            }
        };
        for (part, at) in parts.into_iter().zip([offset, offset + 4]) {
            writeln!(code, "(i32.store offset={at} (local.get ${list}) ({part}))").unwrap();
        }
    };
    for (index, (name, value)) in env.iter().enumerate() {
        store("env", index * 20, Value::Text(name));
        store("env", index * 20 + 12, *value);
    }
    for (index, (name, text)) in files.iter().enumerate() {
        store("files", index * 16, Value::Text(name));
        store("files", index * 16 + 8, Value::Text(text));
    }
    for index in 0..env.len() {
        writeln!(code, "(i32.store8 offset={} (local.get $env) (i32.const 1))", index * 20 + 8).unwrap();
    }
    let data: String = texts.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let (e, f) = (env.len(), files.len());
    format!(
        "(data (i32.const {TEXTS}) \"{data}\")\n\n\
         (func $prepare (param $turn i32) (result i32)\n(local $env i32) (local $files i32)\n\
         (local.set $env (call $room (i32.const {})))\n(local.set $files (call $room (i32.const {})))\n{code}\
         (call $plan (i32.const 0) (i32.const 0) (local.get $env) (i32.const {e}) (local.get $files) (i32.const {f})))",
        e * 20,
        f * 16
    )
}

/// A plugin whose plans set one variable to the run's folder with these files.
pub(super) fn leading_to(id: &str, variable: &str, files: &[(&str, &str)]) -> Vec<u8> {
    component(id, &planning(&[(variable, Value::RunDir)], files), &Contract::ours())
}

/// A machine with a repository, a plugin and its grants.
fn machine(plugin: &[u8], granted: &str) -> Machine {
    let machine = Machine::new();
    let repo = machine.repo("repo").with("file.txt", "first\n");
    machine.write(
        "proxy.toml",
        format!(
            "[models.m]\ndriver = \"planner\"\nrepo = \"{}\"\nprogram = \"cli\"\nretries = 0\n{granted}",
            repo.name()
        ),
    );
    machine.script("cli", "git status > /dev/null 2>&1; printf \"done $MODE\"");
    machine.put_plugin("planner.wasm", plugin);
    machine
}

#[test]
fn no_plan_makes_a_program_load_code_of_the_plugin_with_any_grant() {
    let scratch = tempfile::tempdir().unwrap();
    let trace = scratch.path().join("trace");
    let settings = format!("[core]\n\tfsmonitor = \"echo native > {}; false\"\n", trace.display());
    for (variable, file) in [("HOME", ".gitconfig"), ("GIT_CONFIG_GLOBAL", "."), ("XDG_CONFIG_HOME", "git")] {
        let files: &[(&str, &str)] = if file == "." { &[] } else { &[(file, &settings)] };
        let plugin = leading_to("planner", variable, files);
        for granted in ["", &format!("[plugins.planner]\nenv = [\"{variable}\"]\n")] {
            let answer = machine(&plugin, granted).serve().complete(&chat("m", "hi"));
            let message = format!(
                "the driver `planner` sets the variable `{variable}`, which a plugin may not: set it in `env` of the model, \
                 if the CLI needs it"
            );
            let expected = error(&message, "server_error", None, "configuration", None);
            assert_eq!((answer.status, answer.json()), (500, expected));
            assert!(!trace.exists(), "by {variable}, with {granted:?}");
        }
    }
}

#[test]
fn a_third_party_plugin_sets_granted_variables_and_no_others() {
    let plugin = component("planner", &planning(&[("MODE", Value::Text("quick"))], &[]), &Contract::ours());
    let refused = "the driver `planner` sets the variable `MODE`, which is not granted: name it in `env` of \
                   [plugins.planner] in proxy.toml if it may (`agentbay plugin add FILE` writes that table)";
    for granted in ["", "[plugins.planner]\nprograms = [\"cli\"]\n", "[plugins.planner]\nenv = [\"mode\"]\n"] {
        let answer = machine(&plugin, granted).serve().complete(&chat("m", "hi"));
        let expected = error(refused, "server_error", None, "configuration", None);
        assert_eq!((answer.status, answer.json()), (500, expected), "{granted:?}");
    }
    assert_eq!(machine(&plugin, "[plugins.planner]\nenv = [\"MODE\"]\n").serve().ask("m", "hi"), "done quick");
}

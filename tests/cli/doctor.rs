//! Reasons why models cannot run, reported before a request: on the command line and over HTTP.

use std::fs;
use std::io::Read;

use serde_json::{Value, json};

use crate::support::{Machine, Request, binary, drivers, wait_for};

/// A CLI that works, one that is not installed, and a built-in one.
fn machine() -> Machine {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.a]\ndriver = \"codex\"\n[models.b]\ndriver = \"gemini\"\n\
         [models.c]\ndriver = \"echo\"\n",
    );
    machine.script("codex", "if [ \"$1\" = --version ]; then echo codex-cli 0.171.0; else echo boom >&2; exit 3; fi");
    machine
}

const MISSING: &str = "models.b.program: CLI not found: gemini (npm install -g @google/gemini-cli)";

#[test]
fn doctor_shows_the_program_and_the_faults_of_each_model() {
    let machine = machine();
    let run = machine.run(&["doctor"]);
    let (codex, agentbay) = (machine.name("bin/codex"), binary("agentbay"));
    let agentbay = agentbay.display();
    let expected = format!(
        "MODEL  DRIVER  STATE       VERSION  PROGRAM\n\
         a      codex   ready       0.171.0  {codex}\n\
         b      gemini  cannot run  -        -\n  fault: {MISSING}\n\
         c      echo    ready       -        {agentbay}\n"
    );
    assert_eq!((run.code, run.stdout, run.stderr), (Some(1), expected, String::new()));
}

#[test]
fn doctor_asks_each_model_without_a_fault() {
    let run = machine().run(&["doctor", "--ask"]);
    let remarks: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with(' ')).collect();
    let fault = format!("  fault: {MISSING}");
    let expected = ["  failed (unknown): CLI failed: boom", &fault, "  answered: Answer with the one word: ok"];
    assert_eq!((run.code, remarks), (Some(1), expected.to_vec()));
}

#[test]
fn doctor_exits_with_0_if_every_model_can_run() {
    let machine = Machine::configured("[models.c]\ndriver = \"echo\"\nrepo = \".\"\n");
    assert_eq!(machine.run(&["doctor", "--ask"]).code, Some(0));
}

#[test]
fn the_document_of_doctor_has_the_fields_of_the_drivers_route_and_the_answer() {
    let machine = machine();
    let agentbay = binary("agentbay");
    let failure = json!({"category": "unknown", "message": "CLI failed: boom", "detail": "boom"});
    let fields = |model: &str, driver: &str, program: Value, version: Value| {
        json!({"model": model, "driver": driver, "program": program, "version": version, "tested": null, "faults": [],
               "notes": [], "login_hint": "", "answer": null, "failure": null})
    };
    let mut models = [
        fields("a", "codex", machine.name("bin/codex").into(), "0.171.0".into()),
        fields("b", "gemini", Value::Null, Value::Null),
        fields("c", "echo", agentbay.to_str().unwrap().into(), Value::Null),
    ];
    models[0]["tested"] = true.into();
    models[0]["login_hint"] = "codex login".into();
    models[0]["failure"] = failure;
    models[1]["faults"] = json!([MISSING]);
    models[1]["login_hint"] = "run `gemini` once and choose how to log in, or set GEMINI_API_KEY".into();
    models[2]["answer"] = "Answer with the one word: ok".into();
    assert_eq!(machine.json(&["doctor", "--ask"]), json!({"models": models}));
}

#[test]
fn drivers_are_listed_with_the_models_they_drive() {
    let machine = machine();
    let list = machine.serve().get("/v1/drivers").json();
    let data = list["data"].as_array().unwrap();
    let ids: Vec<&str> = data.iter().map(|driver| driver["id"].as_str().unwrap()).collect();
    assert_eq!(ids, drivers());
    let healthy = json!({
        "driver": "codex",
        "faults": [],
        "login_hint": "codex login",
        "model": "a",
        "notes": [],
        "program": machine.name("bin/codex"),
        "tested": true,
        "version": "0.171.0",
    });
    let faulty = json!({
        "driver": "gemini",
        "faults": [MISSING],
        "login_hint": "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
        "model": "b",
        "notes": [],
        "program": null,
        "tested": null,
        "version": null,
    });
    assert_eq!((&data[2]["models"], &data[5]["models"]), (&json!([healthy]), &json!([faulty])));
}

#[test]
fn concurrent_requests_run_a_program_for_its_version_once() {
    let machine = machine();
    let (asked, open) = (machine.name("asked"), machine.name("open"));
    machine.script(
        "codex",
        &format!("printf x >> {asked}; until [ -e {open} ]; do sleep 0.01; done; echo codex-cli 0.171.0"),
    );
    let proxy = machine.serve();
    let count = || fs::read_to_string(&asked).unwrap_or_default().len();
    let waiting: Vec<_> = (0..8).map(|_| Request::get("/v1/drivers").open(proxy.address())).collect();
    wait_for("the program to be asked", || count() > 0);
    fs::write(&open, "").unwrap();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("0.171.0"), "{answer}");
    }
    assert_eq!(count(), 1);
}

#[test]
fn a_program_without_a_version_is_a_fault() {
    for (script, reason) in [
        ("exit 127", "ended with exit code 127"),
        ("echo 'env: node: not found' >&2; exit 127", "ended with exit code 127: env: node: not found"),
        ("kill -9 $$", "ended with signal 9"),
        ("exit 0", "printed no version"),
        ("echo hello", "printed no version"),
    ] {
        let machine = Machine::configured("[models.a]\ndriver = \"codex\"\nrepo = \".\"\n");
        machine.script("codex", script);
        let run = machine.run(&["doctor"]);
        let program = machine.name("bin/codex");
        let expected = format!(
            "MODEL  DRIVER  STATE       VERSION  PROGRAM\na      codex   cannot run  -        {program}\n  fault: models.a.program: `{program} --version` {reason}: try it in a shell, and \
             install the CLI again if it fails there\n"
        );
        assert_eq!((run.code, run.stdout, run.stderr.as_str()), (Some(1), expected, ""), "{script}");
    }
}

//! The environment of a CLI: no variable of a session that started the server, a switch to a cloud together with its credentials, and
//! no address that leads back to the server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, Request, chat, error, faults};

/// Output that ends a turn for each driver, so that a run completes.
const PRINTS: &str = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\"}\n";

/// A machine with a model of each of these drivers, whose CLIs record what they receive.
fn machine(drivers: &[&str], more: &str) -> Machine {
    let models = drivers.iter().map(|driver| format!("[models.{driver}]\ndriver = \"{driver}\"\n{more}\n"));
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n{}", models.collect::<String>()));
    drivers.iter().for_each(|driver| machine.recording(driver, &["say", PRINTS]));
    machine
}

/// The names among these that the CLI of a model received.
fn given<'a>(machine: &Machine, proxy: &Proxy, model: &str, names: &[&'a str]) -> BTreeSet<&'a str> {
    proxy.complete(&chat(model, "hi"));
    let env = machine.seen(model)["env"].clone();
    names.iter().copied().filter(|name| env.get(name).is_some()).collect()
}

const CLOUD: [(&str, &str); 9] = [
    ("CLAUDE_CODE_USE_BEDROCK", "1"),
    ("AWS_REGION", "eu-1"),
    ("AWS_PROFILE", "p"),
    ("AWS_ROLE_ARN", "r"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"),
    ("CLAUDE_CODE_USE_VERTEX", "1"),
    ("CLOUD_ML_REGION", "eu-1"),
    ("GH_TOKEN", "g"),
    ("GITHUB_TOKEN", "g"),
];

#[test]
fn t2_17_a_switch_to_another_provider_is_passed_with_its_credentials_to_the_cli_that_documents_it() {
    let names = CLOUD.map(|(name, _)| name);
    let machine = machine(&["claude", "copilot", "codex"], "retries = 0");
    let proxy = machine.serve_inheriting(&CLOUD);
    let of_claude: BTreeSet<_> = names[..7].iter().copied().collect();
    assert_eq!(given(&machine, &proxy, "claude", &names), of_claude);
    assert_eq!(given(&machine, &proxy, "copilot", &names), ["GH_TOKEN", "GITHUB_TOKEN"].into());
    assert_eq!(given(&machine, &proxy, "codex", &names), BTreeSet::new());

    // Without the switch the credentials are not passed.
    let proxy = machine.serve_inheriting(&[&[("CLAUDE_CODE_USE_BEDROCK", "0")], &CLOUD[1..5]].concat());
    assert_eq!(given(&machine, &proxy, "claude", &names), BTreeSet::new());
}

#[test]
fn doctor_lists_the_credentials_passed_with_a_switch_and_switches_without_effect() {
    let machine = machine(&["claude"], "");
    machine.script("claude", "echo 2.1.332");
    let config = "[models.mine]\ndriver = \"generic\"\nprogram = \"cat\"\n";
    machine.write("proxy.toml", format!("[defaults]\nrepo = \".\"\n[models.claude]\ndriver = \"claude\"\n{config}"));
    let output = machine.command(&["doctor"]).env("CLAUDE_CODE_USE_BEDROCK", "1").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let notes: Vec<&str> = stdout.lines().filter(|line| line.starts_with("  ")).collect();
    let expected = [
        "  note: CLAUDE_CODE_USE_BEDROCK is set and passed to the CLI with AWS_*, CLAUDE_CODE_SKIP_BEDROCK_AUTH",
        "  note: CLAUDE_CODE_USE_BEDROCK is set and not passed to the CLI: if the CLI needs it, add it and its credentials \
         (AWS_*, CLAUDE_CODE_SKIP_BEDROCK_AUTH) to `env` of the model",
    ];
    assert_eq!((output.status.code(), notes), (Some(0), expected.to_vec()));
}

#[test]
fn no_variable_of_a_session_that_started_the_server_reaches_a_cli() {
    let session = [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_CODE_SESSION_ACCESS_TOKEN", "t"),
        ("CLAUDE_CODE_SOMETHING_NEW", "t"),
        ("CODEX_THREAD_ID", "t"),
        ("GEMINI_CLI_IDE_AUTH_TOKEN", "t"),
        ("QWEN_CODE_IDE_SERVER_PORT", "1"),
        ("OPENCODE_SERVER_PASSWORD", "p"),
        ("COPILOT_AGENT_SESSION_ID", "s"),
    ];
    let settings = [("CLAUDE_CODE_OAUTH_TOKEN", "t"), ("CODEX_HOME", "/c"), ("ANTHROPIC_API_KEY", "k")];
    let all = [&session[..], &settings].concat();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let machine = machine(&["claude", "codex"], "retries = 0");
    let proxy = machine.serve_inheriting(&all);
    for model in ["claude", "codex"] {
        assert_eq!(given(&machine, &proxy, model, &names), settings.map(|(name, _)| name).into(), "{model}");
    }
}

/// The refusal of a run that would send requests to this server.
fn refusal(name: &str, driver: &str) -> (u16, Value) {
    let message = format!(
        "the variable `{name}` has the CLI of the driver `{driver}` ask this server itself, which would start it again: \
         unset it for AgentBay, or write `env = {{ {name} = false }}` into the model"
    );
    (500, error(&message, "server_error", None, "configuration", None))
}

fn actual(answer: &Answer) -> (u16, Value) {
    (answer.status, answer.json())
}

#[test]
fn a_base_url_that_leads_back_to_the_server_is_refused() {
    let machine = machine(&["codex"], "");
    let settings = |env: &str| {
        format!(
            "[limits]\nreload_delay = 0\n[models.codex]\ndriver = \"codex\"\nrepo = \".\"\nretries = 0\nenv = {{ {env} }}\n"
        )
    };
    let reload = |proxy: &Proxy| {
        let report = proxy.send(&Request::post("/v1/plugins/reload", "{}")).json();
        assert_eq!(report["configuration"]["state"], "read", "{report}");
    };
    machine.write("proxy.toml", settings("A = \"1\""));
    let proxy = machine.serve();
    let port = proxy.address().port();
    for (name, value) in [
        ("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
        ("OPENAI_BASE_URL", format!("HTTP://localhost:{port}")),
        ("MY_API_BASE", format!("http://[::1]:{port}/")),
    ] {
        machine.write("proxy.toml", settings(&format!("{name} = \"{value}\"")));
        reload(&proxy);
        assert_eq!(actual(&proxy.complete(&chat("codex", &value))), refusal(name, "codex"));
        assert!(!machine.path("codex.json").exists(), "the CLI was started");
    }
    // Another server of this machine is not a loop.
    machine.write("proxy.toml", settings("OPENAI_BASE_URL = \"http://127.0.0.1:1/v1\""));
    reload(&proxy);
    proxy.complete(&chat("codex", "hi"));
    assert_eq!(machine.seen("codex")["env"]["OPENAI_BASE_URL"], json!("http://127.0.0.1:1/v1"));
}

#[test]
fn check_finds_a_base_url_in_its_own_environment_that_leads_to_the_configured_address() {
    let machine = machine(&["codex"], "");
    let check = |url: &str| {
        let output = machine.command(&["check", "--json"]).env("OPENAI_BASE_URL", url).output().unwrap();
        (output.status.code(), faults(&serde_json::from_slice(&output.stdout).unwrap()))
    };
    let (code, found) = check("http://localhost:8787/v1");
    let expected =
        "models.codex.env: the variable `OPENAI_BASE_URL` has the CLI of the driver `codex` ask this server itself";
    assert!(code == Some(1) && found.len() == 1 && found[0].starts_with(expected), "{code:?} {found:?}");
    assert_eq!(check("http://localhost:8788/v1"), (Some(0), vec![]));
}

//! Which files are read, and how they are combined.

use std::path::PathBuf;
use std::time::Duration;

use agentbay_domain::{CliTarget, Environment, Keep, Model, Worktree};

use super::super::{Fingerprints, Limits, Models, Overrides, Plugins, RunningServer, WatchMode, read};
use super::{Folder, driver, model, of_target, printed, target};

const LOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The example of the specification.
const REGISTRY: &str = r#"{
  "codex-repoX": {
    "driver": "codex",
    "repoPath": "/home/marcus/projects/repoX",
    "agentFile": "AGENTS.md"
  },
  "qwen-repoY": {
    "driver": "qwen",
    "repoPath": "/home/marcus/projects/repoY",
    "agentFile": "AGENTS.md"
  },
  "gemini-repoZ": {
    "driver": "gemini",
    "repoPath": "/home/marcus/projects/repoZ",
    "agentFile": "AGENTS.md"
  }
}"#;

#[test]
fn without_a_file_there_is_a_model_for_every_known_cli_on_path() {
    let folder = Folder::with(&[]);
    let config = folder.load().unwrap();
    let Models::Discovered { template } = config.models else { panic!("no file configures models") };
    assert_eq!(template.for_driver(&driver("echo")), model("echo", "echo", folder.path()));
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn models_json_sets_driver_repository_and_agent_file() {
    let folder = Folder::with(&[("models.json", REGISTRY)]);
    let expected =
        [("codex-repoX", "codex"), ("gemini-repoZ", "gemini"), ("qwen-repoY", "qwen")].map(|(name, driver)| {
            let place = name.split_once('-').unwrap().1;
            let repo_key = format!("{name}.repoPath");
            let repo = format!("/home/marcus/projects/{place}");
            of_target(name, CliTarget { repo_key, ..target(name, driver, repo) })
        });
    assert_eq!(folder.models(), expected);
}

#[test]
fn models_json_is_read_beside_the_settings_and_uses_their_defaults() {
    let mut folder = Folder::with(&[
        ("etc/my.toml", "[defaults]\ntimeout = 7\n[models.a]\ndriver = \"echo\"\nrepo = \"x\""),
        ("etc/models.json", r#"{ "b": { "driver": "codex", "repoPath": "y", "agentFile": "", "worktree": true } }"#),
        ("models.json", "not read"),
        ("proxy.toml", "not read"),
    ]);
    folder.source.config = Some("etc/my.toml".into());
    let etc = folder.path().join("etc");
    let timeout = std::time::Duration::from_secs(7);
    let a = Model { timeout, ..model("a", "echo", etc.join("x")) };
    let worktree = Some(Worktree { dir: "/tmp/agenticllm".into(), base: "HEAD".to_owned(), keep: Keep::Never });
    let repo_key = "b.repoPath".to_owned();
    let b = CliTarget { agent_file: None, worktree, repo_key, ..target("b", "codex", etc.join("y")) };
    let b = Model { timeout, ..of_target("b", b) };
    assert_eq!(folder.models(), [a, b]);
    assert_eq!(folder.source.watched(), [etc.join("my.toml"), etc.join("models.json")]);
}

#[test]
fn files_that_do_not_exist_yet_are_watched() {
    let folder = Folder::with(&[]);
    let watched: [PathBuf; 2] = ["proxy.toml", "models.json"].map(|name| folder.path().join(name));
    assert_eq!(folder.source.watched(), watched);
}

#[test]
fn a_name_in_both_files_is_a_fault_that_names_both_places() {
    let folder = Folder::with(&[
        ("proxy.toml", "\n[models.\"a.b\"]\ndriver = \"echo\"\nrepo = \".\""),
        ("models.json", "{\n\n\"a.b\": { \"driver\": \"echo\", \"repoPath\": \".\" } }"),
    ]);
    let expected = "models.json:3: \"a.b\": a model of this name is also in proxy.toml:2: rename or remove one of them";
    assert_eq!(folder.faults(), [expected]);
}

#[test]
fn a_missing_file_of_the_option_config_is_a_fault() {
    let mut folder = Folder::with(&[]);
    folder.source.config = Some("no/such.toml".into());
    assert_eq!(folder.faults(), ["no/such.toml: the file that `--config` names does not exist"]);
}

#[test]
fn a_file_that_cannot_be_parsed_has_one_fault() {
    let folder = Folder::with(&[("proxy.toml", "[server]\nlisten = 1 2\n"), ("models.json", "{\n \"a\": {\n")]);
    let faults = folder.faults();
    assert_eq!(faults.len(), 2);
    assert!(faults[0].starts_with("proxy.toml:2: "), "{faults:?}");
    assert_eq!(faults[1], "models.json:3: EOF while parsing an object");
}

#[test]
fn a_file_that_is_not_text_is_a_fault() {
    let folder = Folder::with(&[]);
    std::fs::write(folder.path().join("proxy.toml"), b"# one\n# \xff\n").unwrap();
    assert_eq!(folder.faults(), ["proxy.toml:2: is not UTF-8"]);
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    let folder = Folder::with(&[("proxy.toml", "\u{feff}limits.output_line = 1"), ("models.json", "\u{feff}{}")]);
    assert_eq!(folder.models(), []);
}

#[test]
fn the_folders_of_plugins_follow_the_xdg_variables_that_are_absolute() {
    let mut folder = Folder::with(&[]);
    let pairs = [("HOME", "/home/me"), ("XDG_DATA_HOME", "/data"), ("XDG_CACHE_HOME", "relative")];
    folder.source.environment = Environment::from_pairs(pairs);
    let expected = Plugins {
        dir: "/data/agentbay/plugins".into(),
        cache: "/home/me/.cache/agentbay".into(),
        watching: WatchMode::Events,
        load_timeout: LOAD_TIMEOUT,
    };
    assert_eq!(folder.load().unwrap().plugins, expected);
}

#[test]
fn without_home_the_plugin_folders_must_be_set() {
    let mut folder = Folder::with(&[]);
    folder.source.environment = Environment::default();
    let expected = ["dir", "cache"].map(|key| {
        format!("proxy.toml: plugins.{key}: HOME is not set, so there is no default: set this key to a folder")
    });
    assert_eq!(folder.faults(), expected);

    let mut folder = Folder::with(&[("proxy.toml", "plugins = { dir = \"/a\", cache = \"/b\" }")]);
    folder.source.environment = Environment::default();
    let expected =
        Plugins { dir: "/a".into(), cache: "/b".into(), watching: WatchMode::Events, load_timeout: LOAD_TIMEOUT };
    assert_eq!(folder.load().unwrap().plugins, expected);
}

/// The faults of settings for a server that already listens on this address.
fn faults_of_running(listen: &str, text: &str) -> Vec<String> {
    let folder = Folder::with(&[("proxy.toml", text)]);
    let running = RunningServer { listen: listen.parse().unwrap(), seen: &Fingerprints::default() };
    match read(&folder.source, &Overrides::default(), Some(running)) {
        Ok(_) => Vec::new(),
        Err(error) => printed(&error),
    }
}

#[test]
fn a_server_that_other_machines_can_reach_keeps_its_keys_when_a_new_file_sets_another_address() {
    let expected = |line: &str| {
        vec![format!(
            "proxy.toml:{line} server.api_keys: the server listens on 0.0.0.0:8787, which can be reached from other \
             machines: without a key anyone there could run agents here; keep a key until the server is restarted on another \
             address"
        )]
    };
    for text in ["server.listen = \"127.0.0.1:8787\"\n", "server.listen = \"127.0.0.1:8787\"\nserver.api_keys = []\n"] {
        assert_eq!(faults_of_running("0.0.0.0:8787", text), expected("1:"), "{text}");
    }
    assert_eq!(faults_of_running("0.0.0.0:8787", "[models]\n"), expected(""));
    assert_eq!(faults_of_running("0.0.0.0:8787", "server.api_keys = [\"k\"]\n"), [""; 0]);
    assert_eq!(faults_of_running("[::1]:8787", "server.listen = \"127.0.0.1:8787\"\n"), [""; 0]);
    assert_eq!(faults_of_running("127.0.0.1:8787", "server.listen = \"0.0.0.0:80\"\n").len(), 1);
}

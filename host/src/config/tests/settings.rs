//! What each key of proxy.toml sets.

use std::time::Duration;

use super::super::{Limits, Overrides, Plugins, Server, load};
use super::{Folder, model};
use crate::domain::{Access, EnvSetting, HttpLimits, Model, Permission, PluginLimits, RunLimits, Worktree};

fn env(settings: &[(&str, EnvSetting)]) -> Vec<(String, EnvSetting)> {
    settings.iter().map(|(name, setting)| ((*name).to_owned(), setting.clone())).collect()
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let config = Folder::with(&[("proxy.toml", "")]).load().unwrap();
    assert_eq!(config.server, Server { listen: "127.0.0.1:8787".parse().unwrap(), access: Access::default() });
    let (dir, cache) = ("/home/me/.local/share/agentbay/plugins".into(), "/home/me/.cache/agentbay".into());
    assert_eq!(config.plugins, Plugins { dir, cache });
    assert_eq!(config.limits, Limits::default());
    assert_eq!(Folder::with(&[("proxy.toml", "")]).models(), []);
}

#[test]
fn the_server_and_its_folders_are_where_they_are_set_to_be() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        server = { listen = "0.0.0.0:80", api_keys = ["one", "two"], allowed_hosts = ["Box.local:80", "[::1]"] }
        plugins = { dir = "./plugins", cache = "~/cache" }
        "#,
    )]);
    let config = folder.load().unwrap();
    let access = Access::new(["one", "two"], ["box.local:80", "[::1]"]);
    assert_eq!(config.server, Server { listen: "0.0.0.0:80".parse().unwrap(), access });
    assert_eq!(config.plugins, Plugins { dir: folder.path().join("plugins"), cache: "/home/me/cache".into() });
}

#[test]
fn the_command_line_goes_before_the_file() {
    let folder = Folder::with(&[("proxy.toml", "server.listen = \"0.0.0.0:80\"")]);
    let listen = "[::1]:0".parse().unwrap();
    let config = load(&folder.source, &Overrides { listen: Some(listen) }).unwrap();
    assert_eq!(config.server, Server { listen, access: Access::default() });
}

#[test]
fn every_limit_has_its_key() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        [limits]
        body = 1
        headers_after = 0
        keep_alive = "3s"
        plugin_file = "4 KiB"
        plugin_memory = "5 kB"
        plugin_call_cpu = "6ms"
        plugin_run_cpu = "1m 7s"
        plugin_result = "8MiB"
        line = "9 b"
        stderr = 0
        grace = "0s"
        "#,
    )]);
    let expected = Limits {
        http: HttpLimits { body: 1, headers_after: Duration::ZERO, keep_alive: Duration::from_secs(3) },
        plugin: PluginLimits {
            file: 4096,
            memory: 5000,
            call_cpu: Duration::from_millis(6),
            run_cpu: Duration::from_secs(67),
            result: 8 * 1024 * 1024,
        },
        run: RunLimits { line: 9, stderr: 0, grace: Duration::ZERO },
    };
    assert_eq!(folder.load().unwrap().limits, expected);
}

#[test]
fn every_key_of_a_model_is_read() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        [models."a/b.c:d"]
        driver = "generic"
        repo = "../app/."
        agent_file = "docs/AGENT.md"
        worktree = { dir = "trees" }
        model = "gpt-5"
        program = "./bin/agent"
        permission = "read-only"
        timeout = "90s"
        env = { A = "1", B = true, C = false, D = "" }
        options = { text = "plain", yes = true, n = 3, f = 1.5, when = 2026-01-02, list = ["a", 1], t = { x = [] } }
        "#,
    )]);
    let options = [
        ("f", "1.5"),
        ("list", r#"["a",1]"#),
        ("n", "3"),
        ("t", r#"{"x":[]}"#),
        ("text", "plain"),
        ("when", "\"2026-01-02\""),
        ("yes", "true"),
    ];
    let expected = Model {
        agent_file: Some("docs/AGENT.md".into()),
        worktree: Some(Worktree { dir: folder.path().join("trees") }),
        model: Some("gpt-5".to_owned()),
        program: Some(folder.path().join("bin/agent")),
        permission: Permission::ReadOnly,
        timeout: Duration::from_secs(90),
        env: env(&[
            ("A", EnvSetting::Set("1".to_owned())),
            ("B", EnvSetting::Pass),
            ("C", EnvSetting::Remove),
            ("D", EnvSetting::Set(String::new())),
        ]),
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..model("a/b.c:d", "generic", folder.path().join("../app"))
    };
    assert_eq!(folder.models(), [expected]);
}

#[test]
fn what_a_model_does_not_say_comes_from_the_defaults() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        [defaults]
        repo = "~/app"
        agent_file = ""
        worktree = { dir = "~/trees" }
        permission = "full-access"
        timeout = 60
        env = { A = "1", B = true }
        [models.all]
        driver = "codex"
        [models.none]
        driver = "gemini"
        repo = "/other"
        agent_file = "AGENTS.md"
        worktree = false
        permission = "workspace-write"
        timeout = "30m"
        env = { B = false, C = "2" }
        [models.tree]
        driver = "qwen"
        worktree = true
        "#,
    )]);
    let all = Model {
        agent_file: None,
        worktree: Some(Worktree { dir: "/home/me/trees".into() }),
        permission: Permission::FullAccess,
        timeout: Duration::from_secs(60),
        env: env(&[("A", EnvSetting::Set("1".to_owned())), ("B", EnvSetting::Pass)]),
        ..model("all", "codex", "/home/me/app")
    };
    let none = Model {
        env: env(&[
            ("A", EnvSetting::Set("1".to_owned())),
            ("B", EnvSetting::Remove),
            ("C", EnvSetting::Set("2".to_owned())),
        ]),
        ..model("none", "gemini", "/other")
    };
    let tree = Model { name: "tree".to_owned(), driver: super::driver("qwen"), ..all.clone() };
    assert_eq!(folder.models(), [all, none, tree]);
}

#[test]
fn worktrees_have_a_folder_by_default_and_a_bare_program_stays_bare() {
    let text = "[models.x]\ndriver = \"codex\"\nrepo = \"~\"\nworktree = true\nprogram = \"codex-beta\"\n";
    let expected = Model {
        worktree: Some(Worktree { dir: "/tmp/agenticllm".into() }),
        program: Some("codex-beta".into()),
        ..model("x", "codex", "/home/me")
    };
    assert_eq!(Folder::with(&[("proxy.toml", text)]).models(), [expected]);
}

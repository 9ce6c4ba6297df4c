//! The keys of proxy.toml and the values that they set.

use std::num::NonZeroUsize;
use std::time::Duration;

use agentbay_domain::{
    Access, CliTarget, ConnectionLimits, EnvSetting, Grant, HelperScripts, HttpLimits, Keep, Model, Permission,
    PluginLimits, QueueLimits, ReloadLimits, RepoPath, RetryLimits, RunLimits, Sha256Sum, StoreLimits, Trust, Wasi,
    Worktree,
};

use super::super::{Limits, Overrides, Plugins, Server, WatchMode, load};
use super::{Folder, cli, driver, model, of_target, target};

fn env(settings: &[(&str, EnvSetting)]) -> Vec<(String, EnvSetting)> {
    settings.iter().map(|(name, setting)| ((*name).to_owned(), setting.clone())).collect()
}

fn worktree(dir: &str, keep: Keep) -> Worktree {
    Worktree { dir: dir.into(), base: "HEAD".to_owned(), keep }
}

fn server(listen: &str, access: Access, shutdown: u64) -> Server {
    Server { listen: listen.parse().unwrap(), access, shutdown_timeout: Duration::from_secs(shutdown) }
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let config = Folder::with(&[("proxy.toml", "")]).load().unwrap();
    assert_eq!(config.server, server("127.0.0.1:8787", Access::default(), 30));
    let (dir, cache) = ("/home/me/.local/share/agentbay/plugins".into(), "/home/me/.cache/agentbay".into());
    assert_eq!(
        config.plugins,
        Plugins { dir, cache, watching: WatchMode::Events, load_timeout: Duration::from_secs(10) }
    );
    assert_eq!(config.limits, Limits::default());
    assert_eq!(Folder::with(&[("proxy.toml", "")]).models(), []);
}

#[test]
fn the_keys_of_server_and_plugins_are_read() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        server = { listen = "0.0.0.0:80", api_keys = ["one", "two"], allowed_hosts = ["Box.local:80", "[::1]"],
            allowed_origins = ["https://Chat.example", "http://localhost:3000"], shutdown_timeout = 0 }
        plugins = { dir = "./plugins", cache = "~/cache", watch = "poll", poll_interval = "5s", load_timeout = 0 }
        "#,
    )]);
    let config = folder.load().unwrap();
    let access =
        Access::new(["one", "two"], ["box.local:80", "[::1]"], ["https://chat.example", "http://localhost:3000"]);
    assert_eq!(config.server, server("0.0.0.0:80", access, 0));
    let (dir, watching) = (folder.path().join("plugins"), WatchMode::Poll { interval: Duration::from_secs(5) });
    assert_eq!(config.plugins, Plugins { dir, cache: "/home/me/cache".into(), watching, load_timeout: Duration::ZERO });
}

#[test]
fn the_command_line_overrides_the_file() {
    let folder = Folder::with(&[("proxy.toml", "server.listen = \"0.0.0.0:80\"")]);
    let listen = Some("[::1]:0".parse().unwrap());
    let config = load(&folder.source, &Overrides { listen }).unwrap();
    assert_eq!(config.server, server("[::1]:0", Access::default(), 30));
}

#[test]
fn every_limit_has_its_key() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        [limits]
        body = 1
        connections = 24
        request_header_timeout = "25s"
        first_event_timeout = 0
        whole_headers_after = "26s"
        keep_alive = "3s"
        disconnect_grace = "4s"
        plugin_file = "4 KiB"
        plugin_read_timeout = "20s"
        plugin_memory = "5 kB"
        plugin_call_cpu = "6ms"
        plugin_run_cpu = "1m 7s"
        plugin_result = "8MiB"
        plugin_compile_timeout = "15s"
        plugin_compile_memory = "19 MB"
        plugin_instances = 16
        plugin_events = 17
        plugin_output = 18
        plugin_notices = 0
        output_line = "9 b"
        stderr_tail = 0
        exit_grace = "0s"
        open_pipe_timeout = "20ms"
        late_output_timeout = "22ms"
        stdin_buffer = 21
        git_timeout = "20s"
        partial_line_timeout = "22ms"
        program_busy_timeout = "23ms"
        output = 10
        answer_buffer = 11
        runs = 12
        queue = 0
        queue_wait = "13s"
        retry_initial_delay = 0
        retry_max_delay = "14s"
        failure_cache_ttl = 0
        stored_responses = 0
        stored_bytes = "26 B"
        reload_delay = "20s"
        "#,
    )]);
    let expected = Limits {
        connections: ConnectionLimits { max: 24, header_timeout: Duration::from_secs(25) },
        http: HttpLimits {
            body: 1,
            first_event_timeout: Duration::ZERO,
            whole_headers_after: Duration::from_secs(26),
            keep_alive: Duration::from_secs(3),
            disconnect_grace: Duration::from_secs(4),
        },
        plugin: PluginLimits {
            file: 4096,
            read_timeout: Duration::from_secs(20),
            memory: 5000,
            call_cpu: Duration::from_millis(6),
            run_cpu: Duration::from_secs(67),
            result: 8 * 1024 * 1024,
            compile_timeout: Duration::from_secs(15),
            compile_memory: 19_000_000,
            instances: 16,
            events: 17,
            output: 18,
            notices: 0,
        },
        run: RunLimits {
            output_line: 9,
            output: 10,
            answer_buffer: 11,
            stderr_tail: 0,
            exit_grace: Duration::ZERO,
            open_pipe_timeout: Duration::from_millis(20),
            late_output_timeout: Duration::from_millis(22),
            stdin_buffer: 21,
            git_timeout: Duration::from_secs(20),
            partial_line_timeout: Duration::from_millis(22),
            program_busy_timeout: Duration::from_millis(23),
        },
        queue: QueueLimits { runs: 12, length: 0, wait: Duration::from_secs(13) },
        retry: RetryLimits {
            initial_delay: Duration::ZERO,
            max_delay: Duration::from_secs(14),
            failure_cache_ttl: Duration::ZERO,
        },
        store: StoreLimits { responses: 0, bytes: 26 },
        reload: ReloadLimits { delay: Duration::from_secs(20) },
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
        worktree = { dir = "trees", base = "origin/main", keep = "always" }
        policy = { may_create_helpers = true, helpers_dir = "bin/agent", auto_commit = true, log = "docs/LOG.md" }
        model = "gpt-5"
        program = "./bin/agent"
        permission = "read-only"
        timeout = "90s"
        idle_timeout = "30s"
        retries = 0
        fallback = ["other", "a/b.c:d"]
        max_runs = 3
        max_repo_runs = 4
        limits = { output_line = 5, output = 6, answer_buffer = 7, stderr_tail = 8, exit_grace = 9, open_pipe_timeout = 10, late_output_timeout = 12, stdin_buffer = 11, git_timeout = 12, partial_line_timeout = 12, program_busy_timeout = 13 }
        env = { A = "1", B = true, C = false, D = "" }
        options = { text = "plain", yes = true, n = 3, f = 1.5, when = 2026-01-02, list = ["a", 1], t = { x = [] } }
        [models.other]
        driver = "echo"
        repo = "."
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
    let cli = CliTarget {
        agent_file: Some("docs/AGENT.md".into()),
        worktree: Some(Worktree {
            dir: folder.path().join("trees"),
            base: "origin/main".to_owned(),
            keep: Keep::Always,
        }),
        helpers: Some(HelperScripts::Allowed { dir: path("bin/agent"), log: Some(path("docs/LOG.md")) }),
        model: Some("gpt-5".to_owned()),
        program: Some(folder.path().join("bin/agent")),
        permission: Permission::ReadOnly,
        max_repo_runs: NonZeroUsize::new(4).unwrap(),
        env: env(&[
            ("A", EnvSetting::Set("1".to_owned())),
            ("B", EnvSetting::Pass),
            ("C", EnvSetting::Remove),
            ("D", EnvSetting::Set(String::new())),
        ]),
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..target("a/b.c:d", "generic", folder.path().join("../app"))
    };
    let expected = Model {
        timeout: Duration::from_secs(90),
        idle_timeout: Duration::from_secs(30),
        retries: 0,
        fallback: vec!["other".to_owned()],
        max_runs: NonZeroUsize::new(3),
        limits: RunLimits {
            output_line: 5,
            output: 6,
            answer_buffer: 7,
            stderr_tail: 8,
            exit_grace: Duration::from_secs(9),
            open_pipe_timeout: Duration::from_secs(10),
            late_output_timeout: Duration::from_secs(12),
            stdin_buffer: 11,
            git_timeout: Duration::from_secs(12),
            partial_line_timeout: Duration::from_secs(12),
            program_busy_timeout: Duration::from_secs(13),
        },
        ..of_target("a/b.c:d", cli)
    };
    assert_eq!(folder.models(), [expected, model("other", "echo", folder.path())]);
}

#[test]
fn a_model_has_the_defaults_for_keys_that_it_does_not_set() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        [defaults]
        repo = "~/app"
        agent_file = ""
        worktree = { dir = "~/trees", keep = "changed" }
        permission = "full-access"
        timeout = 60
        idle_timeout = 61
        retries = 1
        fallback = ["none", "all"]
        max_runs = 2
        max_repo_runs = 3
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
        idle_timeout = "10m"
        retries = 2
        fallback = []
        max_runs = 7
        max_repo_runs = 1
        limits.output_line = 1
        env = { B = false, C = "2" }
        [models.tree]
        driver = "qwen"
        worktree = true
        [limits]
        output = 5
        "#,
    )]);
    let limits = RunLimits { output: 5, ..RunLimits::default() };
    let all = CliTarget {
        repo_key: "defaults.repo".to_owned(),
        max_repo_runs: NonZeroUsize::new(3).unwrap(),
        agent_file: None,
        worktree: Some(worktree("/home/me/trees", Keep::Changed)),
        permission: Permission::FullAccess,
        env: env(&[("A", EnvSetting::Set("1".to_owned())), ("B", EnvSetting::Pass)]),
        ..target("all", "codex", "/home/me/app")
    };
    let tree = CliTarget { driver: super::driver("qwen"), ..all.clone() };
    let all = Model {
        idle_timeout: Duration::from_secs(61),
        retries: 1,
        fallback: vec!["none".to_owned()],
        max_runs: NonZeroUsize::new(2),
        limits,
        timeout: Duration::from_secs(60),
        ..of_target("all", all)
    };
    let none = CliTarget {
        env: env(&[
            ("A", EnvSetting::Set("1".to_owned())),
            ("B", EnvSetting::Remove),
            ("C", EnvSetting::Set("2".to_owned())),
        ]),
        ..target("none", "gemini", "/other")
    };
    let none = Model {
        max_runs: NonZeroUsize::new(7),
        limits: RunLimits { output_line: 1, ..limits },
        ..of_target("none", none)
    };
    let fallback = vec!["none".to_owned(), "all".to_owned()];
    let tree = Model { name: "tree".to_owned(), target: tree.into(), fallback, ..all.clone() };
    assert_eq!(folder.models(), [all, none, tree]);
}

#[test]
fn worktrees_have_a_default_folder_and_a_bare_program_stays_bare() {
    let text = "[models.x]\ndriver = \"codex\"\nrepo = \"~\"\nworktree = true\nprogram = \"codex-beta\"\n";
    let expected = CliTarget {
        worktree: Some(worktree("/tmp/agenticllm", Keep::Never)),
        program: Some("codex-beta".into()),
        ..target("x", "codex", "/home/me")
    };
    assert_eq!(Folder::with(&[("proxy.toml", text)]).models(), [of_target("x", expected)]);
}

fn path(text: &str) -> RepoPath {
    text.to_owned().try_into().unwrap()
}

#[test]
fn a_policy_has_the_defaults_for_keys_that_it_does_not_set() {
    let helpers = |defaults: &str, own: &str| {
        let text = format!("[defaults]\n{defaults}\n[models.x]\ndriver = \"echo\"\nrepo = \".\"\n{own}\n");
        Folder::with(&[("proxy.toml", &text)]).models().first().map(cli).unwrap().helpers
    };
    let allowed = |dir: &str, log: Option<&str>| Some(HelperScripts::Allowed { dir: path(dir), log: log.map(path) });
    assert_eq!(helpers("", ""), None);
    assert_eq!(helpers("", "policy = {}"), Some(HelperScripts::Forbidden));
    assert_eq!(helpers("", "policy = { auto_commit = true }"), Some(HelperScripts::Forbidden));
    assert_eq!(helpers("", "policy = { may_create_helpers = true }"), allowed("tools/agent", None));
    let defaults = "policy = { may_create_helpers = true, helpers_dir = \"bin\", auto_commit = true }";
    assert_eq!(helpers(defaults, ""), allowed("bin", Some("AGENT_LOG.md")));
    assert_eq!(helpers(defaults, "policy = { helpers_dir = \"x/\" }"), allowed("x", Some("AGENT_LOG.md")));
    assert_eq!(helpers(defaults, "policy = { may_create_helpers = false }"), Some(HelperScripts::Forbidden));
}

#[test]
fn the_table_of_a_plugin_is_read_and_other_plugins_have_the_defaults() {
    let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let text = format!(
        r#"
        [plugins]
        require_pin = true
        signed_by = ["{key}"]
        [plugins.my-cli]
        programs = ["my-cli", "node"]
        env = []
        home_files = ["auth.json"]
        sha256 = "{sum}"
        wasi = "trap"
        limits = {{ file = 1, read_timeout = 11, compile_timeout = 2, compile_memory = 10, memory = 3, instances = 4, call_cpu = 5, run_cpu = 6, result = 7, events = 8,
                   output = 9, notices = 0 }}
        [plugins.codex]
        [limits]
        plugin_memory = "1 MiB"
        "#
    );
    let names = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    let all = PluginLimits { memory: 1024 * 1024, ..PluginLimits::default() };
    let limits = PluginLimits {
        file: 1,
        read_timeout: Duration::from_secs(11),
        compile_timeout: Duration::from_secs(2),
        compile_memory: 10,
        memory: 3,
        instances: 4,
        call_cpu: Duration::from_secs(5),
        run_cpu: Duration::from_secs(6),
        result: 7,
        events: 8,
        output: 9,
        notices: 0,
    };
    let mine = Grant {
        programs: names(&["my-cli", "node"]),
        env: names(&[]),
        home_files: names(&["auth.json"]),
        sha256: Some(Sha256Sum::of(b"")),
        wasi: Wasi::Trap,
        limits,
    };
    let codex = Grant { limits: all, ..Grant::default() };
    let expected = Trust {
        require_pin: true,
        signers: vec![key.to_owned().try_into().unwrap()],
        grants: [(driver("my-cli"), mine), (driver("codex"), codex)].into(),
    };
    assert_eq!(Folder::with(&[("proxy.toml", &text)]).load().unwrap().trust, expected);
}

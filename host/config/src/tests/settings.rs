//! What each key of proxy.toml sets.

use std::num::NonZeroUsize;
use std::time::Duration;

use agentbay_domain::{
    Access, CliTarget, ConnectionLimits, EnvSetting, Grant, HelperScripts, HttpLimits, Keep, Model, Permission,
    PluginLimits, QueueLimits, ReloadLimits, RepoPath, RetryLimits, RunLimits, Sha256Sum, Trust, Wasi, Worktree,
};

use super::super::{Limits, Overrides, Plugins, Server, Watching, load};
use super::{Folder, cli, driver, model, of_target, target};

fn env(settings: &[(&str, EnvSetting)]) -> Vec<(String, EnvSetting)> {
    settings.iter().map(|(name, setting)| ((*name).to_owned(), setting.clone())).collect()
}

fn worktree(dir: &str, keep: Keep) -> Worktree {
    Worktree { dir: dir.into(), base: "HEAD".to_owned(), keep }
}

fn server(listen: &str, access: Access, drain: u64) -> Server {
    Server { listen: listen.parse().unwrap(), access, drain: Duration::from_secs(drain) }
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let config = Folder::with(&[("proxy.toml", "")]).load().unwrap();
    assert_eq!(config.server, server("127.0.0.1:8787", Access::default(), 30));
    let (dir, cache) = ("/home/me/.local/share/agentbay/plugins".into(), "/home/me/.cache/agentbay".into());
    assert_eq!(config.plugins, Plugins { dir, cache, watching: Watching::Events, patience: Duration::from_secs(10) });
    assert_eq!(config.limits, Limits::default());
    assert_eq!(Folder::with(&[("proxy.toml", "")]).models(), []);
}

#[test]
fn the_server_and_its_folders_are_where_they_are_set_to_be() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        server = { listen = "0.0.0.0:80", api_keys = ["one", "two"], allowed_hosts = ["Box.local:80", "[::1]"],
            allowed_origins = ["https://Chat.example", "http://localhost:3000"], drain = 0 }
        plugins = { dir = "./plugins", cache = "~/cache", watch = "poll", poll_interval = "5s", patience = 0 }
        "#,
    )]);
    let config = folder.load().unwrap();
    let access =
        Access::new(["one", "two"], ["box.local:80", "[::1]"], ["https://chat.example", "http://localhost:3000"]);
    assert_eq!(config.server, server("0.0.0.0:80", access, 0));
    let (dir, watching) = (folder.path().join("plugins"), Watching::Poll { interval: Duration::from_secs(5) });
    assert_eq!(config.plugins, Plugins { dir, cache: "/home/me/cache".into(), watching, patience: Duration::ZERO });
}

#[test]
fn the_command_line_goes_before_the_file() {
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
        request_head = "25s"
        headers_after = 0
        keep_alive = "3s"
        linger = "4s"
        plugin_file = "4 KiB"
        plugin_read = "20s"
        plugin_memory = "5 kB"
        plugin_call_cpu = "6ms"
        plugin_run_cpu = "1m 7s"
        plugin_result = "8MiB"
        plugin_compile = "15s"
        plugin_compile_memory = "19 MB"
        plugin_instances = 16
        plugin_events = 17
        plugin_output = 18
        plugin_notices = 0
        line = "9 b"
        stderr = 0
        grace = "0s"
        pipe_silence = "20ms"
        settle = "22ms"
        stdin = 21
        git = "20s"
        open_line = "22ms"
        program_busy = "23ms"
        output = 10
        unread = 11
        runs = 12
        queue = 0
        queue_wait = "13s"
        retry_first = 0
        retry_longest = "14s"
        failure_memory = 0
        reload_hold = "20s"
        "#,
    )]);
    let expected = Limits {
        connections: ConnectionLimits { most: 24, head: Duration::from_secs(25) },
        http: HttpLimits {
            body: 1,
            headers_after: Duration::ZERO,
            keep_alive: Duration::from_secs(3),
            linger: Duration::from_secs(4),
        },
        plugin: PluginLimits {
            file: 4096,
            read: Duration::from_secs(20),
            memory: 5000,
            call_cpu: Duration::from_millis(6),
            run_cpu: Duration::from_secs(67),
            result: 8 * 1024 * 1024,
            compile: Duration::from_secs(15),
            compile_memory: 19_000_000,
            instances: 16,
            events: 17,
            output: 18,
            notices: 0,
        },
        run: RunLimits {
            line: 9,
            output: 10,
            unread: 11,
            stderr: 0,
            grace: Duration::ZERO,
            pipe_silence: Duration::from_millis(20),
            settle: Duration::from_millis(22),
            stdin: 21,
            git: Duration::from_secs(20),
            open_line: Duration::from_millis(22),
            program_busy: Duration::from_millis(23),
        },
        queue: QueueLimits { runs: 12, length: 0, wait: Duration::from_secs(13) },
        retry: RetryLimits { first: Duration::ZERO, longest: Duration::from_secs(14), failure_memory: Duration::ZERO },
        reload: ReloadLimits { hold: Duration::from_secs(20) },
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
        repo_runs = 4
        limits = { line = 5, output = 6, unread = 7, stderr = 8, grace = 9, pipe_silence = 10, settle = 12, stdin = 11, git = 12, open_line = 12, program_busy = 13 }
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
        repo_runs: NonZeroUsize::new(4).unwrap(),
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
            line: 5,
            output: 6,
            unread: 7,
            stderr: 8,
            grace: Duration::from_secs(9),
            pipe_silence: Duration::from_secs(10),
            settle: Duration::from_secs(12),
            stdin: 11,
            git: Duration::from_secs(12),
            open_line: Duration::from_secs(12),
            program_busy: Duration::from_secs(13),
        },
        ..of_target("a/b.c:d", cli)
    };
    assert_eq!(folder.models(), [expected, model("other", "echo", folder.path())]);
}

#[test]
fn what_a_model_does_not_say_comes_from_the_defaults() {
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
        repo_runs = 3
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
        repo_runs = 1
        limits.line = 1
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
        repo_runs: NonZeroUsize::new(3).unwrap(),
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
    let none =
        Model { max_runs: NonZeroUsize::new(7), limits: RunLimits { line: 1, ..limits }, ..of_target("none", none) };
    let fallback = vec!["none".to_owned(), "all".to_owned()];
    let tree = Model { name: "tree".to_owned(), target: tree.into(), fallback, ..all.clone() };
    assert_eq!(folder.models(), [all, none, tree]);
}

#[test]
fn worktrees_have_a_folder_by_default_and_a_bare_program_stays_bare() {
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
fn a_policy_takes_from_the_defaults_what_it_does_not_say() {
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
fn what_is_said_of_plugins_is_read_and_the_rest_is_as_for_all() {
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
        home = ["auth.json"]
        sha256 = "{sum}"
        wasi = "trap"
        limits = {{ file = 1, read = 11, compile = 2, compile_memory = 10, memory = 3, instances = 4, call_cpu = 5, run_cpu = 6, result = 7, events = 8,
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
        read: Duration::from_secs(11),
        compile: Duration::from_secs(2),
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
        home: names(&["auth.json"]),
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

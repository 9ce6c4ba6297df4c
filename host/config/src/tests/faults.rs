//! All faults are reported at once, with file, line and key.

use super::super::{Overrides, load};
use super::{Folder, printed};

#[test]
fn all_faults_are_reported_at_once() {
    let folder = Folder::with(&[
        (
            "proxy.toml",
            r#"[server]
listen = "localhost"
api_keys = ["", " sk-secret ", "sk-secrét", 5]
allowed_hosts = "box"
port = 80
[plugins]
dir = ""
cache = true
watch = "inotify"
poll_interval = 0
[defaults]
timeout = 0
agentfile = "A.md"
[models.a]
driver = "Codex"
repo = 5
worktree = "yes"
permission = "all"
timeout = "30"
env = { "" = "x", "A=B" = true, C = 1, D = "a\u0000b" }
options = { n = inf }
models = "gpt-5"
program = ""
[models."b c"]
[limits]
body = "many"
keep_alive = 0
output_line = -1
exit_grace = 1000000000
stderr_tail = "2 TiB"
plugin_file = []
[sever]
"#,
        ),
        ("models.json", "{\n \"d\": { \"driver\": null,\n  \"repo\": \"/x\" },\n \"e\": 5\n}"),
    ]);
    let expected = r#"proxy.toml:2: server.listen: "localhost" is not an address with a port, such as "127.0.0.1:8787" or "[::1]:8787"
proxy.toml:3: server.api_keys[0]: is empty: give it a value or leave the key out
proxy.toml:3: server.api_keys[1]: has white space around it, which no client can send
proxy.toml:3: server.api_keys[2]: contains characters other than visible ASCII, which do not fit into a header
proxy.toml:3: server.api_keys[3]: expected a string, found an integer
proxy.toml:4: server.allowed_hosts: expected a list, found a string
proxy.toml:5: server.port: unknown key: the keys here are `allowed_hosts`, `allowed_origins`, `api_keys`, `listen`, `shutdown_timeout`
proxy.toml:7: plugins.dir: is empty: give it a value or leave the key out
proxy.toml:8: plugins.cache: expected a string, found a boolean
proxy.toml:9: plugins.watch: "inotify" is not one of "events", "poll"
proxy.toml:10: plugins.poll_interval: must not be zero
proxy.toml:12: defaults.timeout: must not be zero
proxy.toml:13: defaults.agentfile: unknown key: did you mean `agent_file`?
proxy.toml:15: models.a.driver: invalid driver name "Codex": use lower-case letters, digits and dashes, starting with a letter, at most 40 characters
proxy.toml:16: models.a.repo: expected a string, found an integer
proxy.toml:17: models.a.worktree: expected true, false or { dir = "…" }, found a string
proxy.toml:18: models.a.permission: "all" is not one of "read-only", "workspace-write", "full-access"
proxy.toml:19: models.a.timeout: "30" is not a duration, such as "30s" or "5m": time unit needed, for example 30sec or 30ms
proxy.toml:20: models.a.env."": the name of a variable must not be empty or contain `=` or NUL
proxy.toml:20: models.a.env."A=B": the name of a variable must not be empty or contain `=` or NUL
proxy.toml:20: models.a.env.C: expected a string, true (pass it on) or false (remove it), found an integer
proxy.toml:20: models.a.env.D: contains a NUL character
proxy.toml:21: models.a.options.n: contains a number that JSON cannot represent, and plugins receive options as JSON
proxy.toml:22: models.a.models: unknown key: did you mean `model`?
proxy.toml:23: models.a.program: is empty: give it a value or leave the key out
proxy.toml:24: models."b c": the name of a model must not contain white space or control characters
proxy.toml:24: models."b c".driver: is missing: name the plugin that drives the CLI, such as "codex"
proxy.toml:24: models."b c".repo: is missing: name the folder of the repository, here or in [defaults]
proxy.toml:26: limits.body: "many" is not a size, such as "64 MiB" or "500 kB"
proxy.toml:27: limits.keep_alive: must not be zero
proxy.toml:28: limits.output_line: must not be negative
proxy.toml:29: limits.exit_grace: must not be longer than 366 days
proxy.toml:30: limits.stderr_tail: must not be larger than 1 TiB
proxy.toml:31: limits.plugin_file: expected a size, such as "64 MiB", or a number of bytes, found a list
proxy.toml:32: sever: unknown key: did you mean `server`?
models.json:2: d.driver: expected a string, found null
models.json:2: d.repoPath: is missing: name the folder of the repository, or set `repo` in [defaults] of proxy.toml
models.json:3: d.repo: unknown key: the keys here are `agentFile`, `driver`, `repoPath`, `worktree`
models.json:4: e: expected a table, found an integer"#;
    assert_eq!(folder.faults().join("\n"), expected);
}

#[test]
fn a_model_name_that_is_too_long_or_empty_is_a_fault() {
    let longest = "x".repeat(200);
    let model = "{ \"driver\": \"echo\", \"repoPath\": \"/\" }";
    let registry = |name: &str| Folder::with(&[("models.json", &format!("{{\"{name}\": {model}}}"))]);
    assert_eq!(registry(&longest).models().len(), 1);
    let fault = format!("models.json:1: {longest}x: the name of a model must not be longer than 200 characters");
    assert_eq!(registry(&format!("{longest}x")).faults(), [fault]);
    assert_eq!(registry("").faults(), ["models.json:1: \"\": the name of a model must not be empty"]);
}

const OPEN: &str = "can be reached from other machines, and without a key anyone there could run agents here: \
                    set server.api_keys, or listen on 127.0.0.1";

#[test]
fn an_address_that_other_machines_can_reach_needs_a_key() {
    for keys in ["", "api_keys = []"] {
        let folder = Folder::with(&[("proxy.toml", &format!("[server]\nlisten = \"[::]:80\"\n{keys}"))]);
        assert_eq!(folder.faults(), [format!("proxy.toml:2: server.listen: [::]:80 {OPEN}")]);
    }
    for listen in ["127.0.0.2:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
        assert!(Folder::with(&[("proxy.toml", &format!("server.listen = \"{listen}\""))]).load().is_ok(), "{listen}");
    }
}

#[test]
fn a_reachable_address_from_the_command_line_needs_a_key() {
    let overrides = Overrides { listen: Some("192.168.0.1:80".parse().unwrap()) };
    let error = load(&Folder::with(&[]).source, &overrides).unwrap_err();
    let expected = format!("proxy.toml: server.listen: (from the command line) 192.168.0.1:80 {OPEN}");
    assert_eq!(printed(&error), [expected]);
    let with_key = Folder::with(&[("proxy.toml", "server.api_keys = [\"sk-secret\"]")]);
    assert!(load(&with_key.source, &overrides).is_ok());
}

#[test]
fn an_api_key_is_never_printed() {
    let faulty = r#"["sk-secret", "sk-secrét", " sk-secret"]"#;
    for (listen, keys) in [("127.0.0.1:1", faulty), ("127.0.0.1:1", "\"sk-secret\""), ("0.0.0.0:1", "[\"sk-secret\"]")]
    {
        let folder = Folder::with(&[("proxy.toml", &format!("[server]\nlisten = \"{listen}\"\napi_keys = {keys}"))]);
        let result = folder.load();
        let text = format!("{result:?} {}", result.as_ref().err().map(ToString::to_string).unwrap_or_default());
        assert!(!text.contains("sk-secr"), "{text}");
    }
}

#[test]
fn a_path_below_home_is_a_fault_without_home() {
    let text = "[plugins]\ndir = \"/a\"\ncache = \"~/b\"\n";
    let mut folder = Folder::with(&[("proxy.toml", text)]);
    folder.source.environment = agentbay_domain::Environment::default();
    let expected = "proxy.toml:3: plugins.cache: begins with `~`, but HOME is not set: write an absolute path";
    assert_eq!(folder.faults(), [expected]);
}

#[test]
fn a_fallback_to_a_missing_model_is_a_fault() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
[defaults]
fallback = ["a", "x"]
[models]
a = { driver = "echo", repo = "." }
b = { driver = "echo", repo = ".", fallback = ["y"], retries = -1, max_runs = 0, limits = { output_lines = 1 },
      worktree = { base = "--upload-pack=x", keep = "maybe" },
      policy = { helpers_dir = "../x", log = ".git/hooks/x", auto_commit = 1 } }
"#,
    )]);
    let expected = [
        "proxy.toml:3: defaults.fallback: there is no model \"x\"",
        "proxy.toml:6: models.b.retries: must not be negative",
        "proxy.toml:6: models.b.max_runs: must not be zero",
        "proxy.toml:6: models.b.limits.output_lines: unknown key: did you mean `output_line`?",
        "proxy.toml:6: models.b.fallback: there is no model \"y\"",
        "proxy.toml:7: models.b.worktree.base: \"--upload-pack=x\" is not a name of a commit, such as \"main\" or \"origin/main\"",
        "proxy.toml:7: models.b.worktree.keep: \"maybe\" is not one of \"never\", \"changed\", \"always\"",
        "proxy.toml:8: models.b.policy.helpers_dir: contains `.` or `..`: use a path inside the repository, such as \"tools/agent\"",
        "proxy.toml:8: models.b.policy.auto_commit: expected true or false, found an integer",
        "proxy.toml:8: models.b.policy.log: points into `.git`: use a path inside the repository, such as \"tools/agent\"",
    ];
    assert_eq!(folder.faults(), expected);
}

#[test]
fn faults_of_plugin_settings_are_reported() {
    let text = r#"
[plugins]
require_pin = 1
signed_by = ["RW"]
pin = true
[plugins.My]
[plugins.x]
programs = "x"
sha256 = "e3"
wasi = "allow"
limits = { memory = 0, plugin_file = 1 }
"#;
    let expected = [
        "proxy.toml:3: plugins.require_pin: expected true or false, found an integer",
        "proxy.toml:4: plugins.signed_by[0]: not a minisign public key: write the second line of its .pub file, which starts with RW",
        "proxy.toml:5: plugins.pin: unknown key: the keys here are `cache`, `dir`, `load_timeout`, `poll_interval`, `require_pin`, `signed_by`, `watch`",
        "proxy.toml:6: plugins.My: invalid driver name \"My\": use lower-case letters, digits and dashes, starting with a letter, at most 40 characters",
        "proxy.toml:8: plugins.x.programs: expected a list, found a string",
        "proxy.toml:9: plugins.x.sha256: not a SHA-256 sum: write its 64 hexadecimal digits, as `sha256sum` prints them",
        "proxy.toml:10: plugins.x.wasi: \"allow\" is not one of \"refuse\", \"trap\"",
        "proxy.toml:11: plugins.x.limits.memory: must not be zero",
        "proxy.toml:11: plugins.x.limits.plugin_file: unknown key: the keys here are `call_cpu`, `compile_memory`, `compile_timeout`, `events`, `file`, `instances`, `memory`, `notices`, `output`, `read_timeout`, `result`, `run_cpu`",
    ];
    assert_eq!(Folder::with(&[("proxy.toml", text)]).faults(), expected);
}

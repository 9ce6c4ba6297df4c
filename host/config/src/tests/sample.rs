//! The sample proxy.toml of the repository: its settings are valid, with and without those in comments.

use std::collections::BTreeSet;

use agentbay_domain::{CliTarget, Model, PluginId};

use super::super::{Limits, Models, Plugins, WatchMode};
use super::{Folder, cli, model, of_target, target};

const SAMPLE: &str = include_str!("../../../../proxy.toml");

/// The sample with every setting that is in a comment: a line of prose has a space after its `#`.
fn with_all_settings() -> String {
    let lines = SAMPLE.lines().map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sample_serves_the_model_echo() {
    let folder = Folder::with(&[("proxy.toml", SAMPLE)]);
    assert_eq!(folder.models(), [model("echo", "echo", folder.path())]);
    assert_eq!(folder.load().unwrap().server.listen, "127.0.0.1:8787".parse().unwrap());
}

#[test]
fn every_setting_of_the_sample_is_valid_and_shows_the_default() {
    let folder = Folder::with(&[("proxy.toml", &with_all_settings())]);
    let config = folder.load().unwrap();
    assert_eq!(config.limits, Limits::default());
    let (dir, cache) = ("/home/me/.local/share/agentbay/plugins".into(), "/home/me/.cache/agentbay".into());
    assert_eq!(
        config.plugins,
        Plugins { dir, cache, watching: WatchMode::Events, load_timeout: std::time::Duration::from_secs(10) }
    );
    let granted: Vec<_> = config.trust.grants.keys().map(PluginId::as_str).collect();
    assert_eq!((config.trust.require_pin, config.trust.signers.len(), granted), (false, 1, vec!["my-cli"]));
    let Models::Configured(models) = config.models else { panic!("models are configured") };
    assert_eq!(
        models.keys().collect::<Vec<_>>(),
        ["claude", "codex", "echo", "gemini/review", "goose", "other", "qwen"]
    );
    let shown = &models["echo"];
    let CliTarget { env, helpers, .. } = cli(shown);
    let echo = CliTarget { env, helpers, ..target("echo", "echo", folder.path()) };
    let echo = Model { max_runs: shown.max_runs, ..of_target("echo", echo) };
    assert_eq!(models["echo"], echo);
}

#[test]
fn the_sample_has_every_key() {
    let text = with_all_settings();
    let mut shown = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        shown.extend(line.split_once(" = ").map(|(key, _)| key));
    }
    let known = "listen api_keys allowed_hosts allowed_origins dir cache watch poll_interval load_timeout repo agent_file worktree policy permission show timeout env driver model \
                 program options connections request_header_timeout body first_event_timeout whole_headers_after keep_alive plugin_file plugin_read_timeout plugin_memory plugin_call_cpu \
                 plugin_run_cpu plugin_result plugin_compile_timeout plugin_compile_memory plugin_instances plugin_events plugin_output \
                 plugin_notices output_line stderr_tail exit_grace open_pipe_timeout late_output_timeout stdin_buffer git_timeout partial_line_timeout program_busy_timeout shutdown_timeout disconnect_grace output answer_buffer runs queue queue_wait \
                 retry_initial_delay retry_max_delay failure_cache_ttl stored_responses stored_bytes reload_delay idle_timeout retries fallback chores max_runs max_repo_runs limits require_pin signed_by \
                 programs home_files sha256 wasi";
    assert_eq!(shown, known.split(' ').collect());
}

//! The configuration of the program.

use std::path::Path;

use super::{CANCELLED, HELD, LARGE, LONG, Site};

/// The options for a CLI that prints plain text.
const TEXT: &str = r#"{ prompt = "stdin", format = "text", answer = "whole" }"#;

impl Site {
    /// Models with the default `retries` may need a check of the repository before and after a run. Without a number of streams, the
    /// limits are the defaults.
    pub(super) fn configuration(&self, streams: Option<usize>) -> String {
        let [repository, large] = ["repository", LARGE].map(|name| toml_string(&self.at(name)));
        let claude = |model: &str, script: &str| {
            let program = toml_string(&self.at(script));
            format!("[models.{model}]\ndriver = \"claude\"\nprogram = {program}\n")
        };
        let echo = |model: &str| format!("[models.{model}]\ndriver = \"echo\"\n");
        let mut toml = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n[defaults]\nrepo = {repository}\nretries = 0\nmax_repo_runs = 2000\n"
        );
        if let Some(streams) = streams {
            toml += &format!("[limits]\nruns = {streams}\nconnections = {}\n", streams + 100);
        }
        toml += &echo("echo");
        toml += &(echo("echo-default") + "retries = 2\n");
        toml += &claude("replayed", "claude");
        toml += &(claude("replayed-default", "claude") + "retries = 2\n");
        for name in ["computing", "stamped", HELD, LONG] {
            toml += &claude(name, name);
        }
        let cancelled = toml_string(&self.at(CANCELLED));
        toml += &format!("[models.{CANCELLED}]\ndriver = \"generic\"\nprogram = {cancelled}\noptions = {TEXT}\n");
        if self.has_large {
            let repo = format!("repo = {large}\nretries = 2\n");
            toml += &(echo("echo-large") + &repo);
            toml += &(claude("replayed-large", "claude") + &repo);
        }
        toml
    }
}

fn toml_string(path: &Path) -> String {
    format!("'{}'", path.display())
}

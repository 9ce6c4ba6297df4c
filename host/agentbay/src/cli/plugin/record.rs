//! `plugin record`: runs a CLI and records its output.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use agentbay_config::Source;
use agentbay_domain::{EnvSetting, StreamName};
use agentbay_plugin_kit::Recorded;
use clap::Args;

use super::usage_error;
use crate::app;
use crate::cli::print_error;

/// The run to record.
#[derive(Debug, Args)]
pub(in crate::cli) struct RecordArgs {
    /// The folder of the recorded run, which must not exist; the default is fixtures/PROGRAM.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The standard input of the CLI.
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// The turn that the command line represents, for example {"session": "s-1"}.
    #[arg(long, value_name = "FILE")]
    turn: Option<PathBuf>,
    /// Pass a variable on to the CLI, or set it. By default the CLI gets few, as in a run.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable)]
    env: Vec<(String, EnvSetting)>,
    /// End the CLI after this time, such as 90s, and keep its output. Ctrl-C does the same.
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// The CLI and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl RecordArgs {
    /// Runs the command.
    pub(super) async fn run(self, source: Source) -> anyhow::Result<ExitCode> {
        let Self { out, stdin, turn, env, timeout, command } = self;
        let mut command = command.into_iter();
        let program = command.next().unwrap_or_default();
        let recording =
            agentbay_plugin_kit::RecordOptions { out, stdin, turn, env, program, args: command.collect(), timeout };
        let mut stop = app::Stop::new()?;
        let pass_on = |source: StreamName, bytes: &[u8]| match source {
            StreamName::Stdout => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
            StreamName::Stderr => io::stderr().write_all(bytes),
        };
        match agentbay_plugin_kit::record(&source, &recording, stop.received(), pass_on).await {
            Ok(recorded) => {
                show_recorded(&recorded);
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => Ok(usage_error(error)),
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("write it as 90s or 5m: {error}"))
}

/// A variable of the CLI, as NAME or NAME=VALUE.
pub(super) fn variable(text: &str) -> Result<(String, EnvSetting), &'static str> {
    let (name, setting) = match text.split_once('=') {
        Some((name, value)) => (name, EnvSetting::Set(value.to_owned())),
        None => (text, EnvSetting::Pass),
    };
    if name.is_empty() { Err("write it as NAME or NAME=VALUE") } else { Ok((name.to_owned(), setting)) }
}

/// Prints the result to standard error: standard output is the CLI's.
fn show_recorded(recorded: &Recorded) {
    print_error(&format!("recorded {} ({})", recorded.folder.display(), recorded.exit));
    for (kind, count) in &recorded.scrubbed {
        print_error(&format!("  removed: {kind}, {count} times"));
    }
    print_error("Read it before you publish it: the output of a CLI may contain private text that is not recognised.");
}

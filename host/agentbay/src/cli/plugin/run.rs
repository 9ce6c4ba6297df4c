//! `plugin run`: one turn, for the author of a plugin.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use agentbay_config::Source;
use agentbay_domain::{EnvSetting, Permission, SessionId};
use agentbay_plugin_kit::RunOutput;
use clap::Args;

use super::record::variable;
use super::usage_error;
use crate::app;
use crate::cli::console::Console;
use crate::cli::{Settings, log_filter};
use crate::telemetry;

/// The filter of the log with `--trace`.
const TRACE: &str = "info,agentbay::run::pump=trace";

/// The turn to run.
#[derive(Debug, Args)]
pub(in crate::cli) struct RunArgs {
    /// The component.
    file: PathBuf,
    /// The prompt.
    #[arg(long)]
    prompt: String,
    #[command(flatten)]
    settings: Settings,
    /// The folder that the agent works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Start this file, or this program on PATH, instead of the one that the plugin declares.
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Grant the plugin this program, which it declares.
    #[arg(long, value_name = "PROGRAM")]
    allow: Vec<String>,
    /// Pass a variable on to the CLI, or set it, as `env` of a model does.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable)]
    env: Vec<(String, EnvSetting)>,
    /// An option for the plugin.
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
    /// The vendor's name of the model.
    #[arg(long)]
    model: Option<String>,
    /// The session of the CLI to resume.
    #[arg(long, value_name = "ID", value_parser = |id: &str| SessionId::try_from(id))]
    session: Option<SessionId>,
    /// What the agent may do without asking: read-only, workspace-write or full-access.
    #[arg(long, value_parser = permission, default_value = "workspace-write", value_name = "PERMISSION")]
    permission: Permission,
    /// Print one JSON object for each line: the plan, the events, the outcome.
    #[arg(long)]
    json: bool,
    /// Log every event of the plugin to standard error, also those that are not part of an answer.
    #[arg(long)]
    trace: bool,
}

impl RunArgs {
    /// Runs the command.
    pub(super) async fn run(self, source: Source, console: &Console) -> anyhow::Result<ExitCode> {
        let filter = log_filter(&source.environment).unwrap_or("warn");
        telemetry::start(Some(if self.trace { TRACE } else { filter }), console.colours(), console.log());
        let Self {
            file, prompt, settings, repo, program, allow, env, options, model, session, permission, json, ..
        } = self;
        let options = agentbay_plugin_kit::RunOptions {
            file,
            prompt,
            repo,
            program,
            allow,
            env,
            options,
            model,
            session,
            permission,
        };
        let mut stop = app::Stop::new()?;
        let show = |output: &RunOutput| {
            let mut stdout = io::stdout().lock();
            if json { writeln!(stdout, "{}", output.to_json()) } else { writeln!(stdout, "{output}") }
        };
        match agentbay_plugin_kit::run(&settings.of(source), options, stop.received(), show).await {
            Ok(answered) => Ok(if answered { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
            Err(error) => Ok(usage_error(error)),
        }
    }
}

fn option(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn permission(text: &str) -> Result<Permission, &'static str> {
    match text {
        "read-only" => Ok(Permission::ReadOnly),
        "workspace-write" => Ok(Permission::WorkspaceWrite),
        "full-access" => Ok(Permission::FullAccess),
        _ => Err("use `read-only`, `workspace-write` or `full-access`"),
    }
}

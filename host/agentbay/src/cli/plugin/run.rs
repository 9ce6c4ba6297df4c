//! `plugin run`: one turn, as the author of a plugin asks for it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use agentbay_domain::{EnvSetting, Environment, Permission, SessionId};
use agentbay_plugin_kit::RunOutput;
use clap::Args;

use super::not_done;
use super::record::variable;
use crate::app;
use crate::cli::Settings;
use crate::telemetry;

/// What is logged with `--trace`.
const TRACE: &str = "info,agentbay::run::pump=trace";

/// The turn that is wanted.
#[derive(Debug, Args)]
pub(in crate::cli) struct RunArgs {
    /// The component.
    file: PathBuf,
    /// What the agent is asked.
    #[arg(long)]
    prompt: String,
    #[command(flatten)]
    settings: Settings,
    /// The folder that the agent works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Start this file, or this program of PATH, in place of the one that the plugin declares.
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Let the plugin start this program, which it declares.
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
    /// The CLI's session to resume.
    #[arg(long, value_name = "ID", value_parser = |id: &str| SessionId::try_from(id))]
    session: Option<SessionId>,
    /// What the agent may do without asking.
    #[arg(long, value_parser = permission, default_value = "workspace-write", value_name = "PERMISSION")]
    permission: Permission,
    /// Print JSON lines: the plan, the events, the outcome.
    #[arg(long)]
    json: bool,
    /// Log every event of the plugin, also those that are no part of an answer, to standard error.
    #[arg(long)]
    trace: bool,
}

impl RunArgs {
    /// Does what the command line says.
    pub(super) async fn carry_out(self, cwd: PathBuf, environment: Environment) -> anyhow::Result<ExitCode> {
        let filter = environment.get(telemetry::VARIABLE).and_then(|filter| filter.to_str());
        telemetry::start(if self.trace { Some(TRACE) } else { filter.or(Some("warn")) });
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
        let show = |told: &RunOutput| {
            let mut stdout = io::stdout().lock();
            if json { writeln!(stdout, "{}", told.to_json()) } else { writeln!(stdout, "{told}") }
        };
        match agentbay_plugin_kit::run(&settings.source(cwd, environment), options, stop.told(), show).await {
            Ok(answered) => Ok(if answered { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
            Err(error) => Ok(not_done(error)),
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
        _ => Err("it is `read-only`, `workspace-write` or `full-access`"),
    }
}

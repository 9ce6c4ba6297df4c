//! What can be asked about plugins: which there are, and what the author of one needs. What takes more than a few
//! arguments stands in a file of its own.

mod add;
mod list;
mod record;
mod run;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use agentbay_domain::{Environment, PluginId};
use agentbay_plugin_kit::{CheckReport, Language, PackOptions, Packed, Project, Stripped};
use clap::Subcommand;

use self::add::AddArgs;
use self::record::RecordArgs;
use self::run::RunArgs;
use super::{Settings, complain};
use crate::app;

/// What a program ends with that could not do what it was asked to, as for a wrong command line: 1 means that something
/// is wrong with the plugin.
const NOT_DONE: u8 = 2;

#[derive(Debug, Subcommand)]
pub(super) enum PluginTask {
    /// List the plugins in use, how they fare in the servers that run, and the files of the plugin folder that are not in
    /// use.
    List {
        #[command(flatten)]
        settings: Settings,
    },
    /// Show what a component asks for; grant it, by a table in proxy.toml, and put the component into the plugin folder. Ends
    /// with 0 if it was added, 2 if not.
    Add(AddArgs),
    /// Try a plugin without its CLI: load it as the host does, look at its command lines, and replay recorded runs, cut
    /// in many ways, cut off and damaged. Ends with 0 if all is well, 1 if not, 2 if it could not be tried.
    Check {
        /// The component.
        file: PathBuf,
        /// Folders of recorded runs, or folders with such folders in them.
        fixtures: Vec<PathBuf>,
        #[command(flatten)]
        settings: Settings,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Write what comes of each run into its golden.json, and show what changes by it.
        #[arg(long)]
        renew: bool,
    },
    /// Write the project of a new plugin, which builds as it is.
    New {
        /// The plugin's id, which is the `driver` of models.
        #[arg(value_parser = |name: &str| PluginId::try_from(name.to_owned()))]
        name: PluginId,
        /// What it is written in: rust, js, python or c.
        #[arg(long, value_name = "LANGUAGE", default_value = "rust")]
        lang: Language,
        /// The folder it is put into, which is empty or not there; without one, it is named after the plugin.
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Run a CLI, and keep what it prints as a recorded run, from which names, paths and keys are taken out.
    Record(RecordArgs),
    /// Make a plugin ready to be handed on: a file with its version in the name, its checksum, and what its users write
    /// into proxy.toml.
    Pack {
        /// The component.
        file: PathBuf,
        /// The folder it is put into.
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Leave out what has no effect on how it runs, such as the names of its functions and debugging data. Backtraces
        /// and profiles of it show no names then.
        #[arg(long)]
        strip: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Run one turn with the CLI, and print the plan, the events as they come and how it ended. Ends with 0 if the agent
    /// answered, 1 if the turn failed, 2 if it could not be begun.
    Run(RunArgs),
}

impl PluginTask {
    /// Does what the command line says.
    pub(super) async fn carry_out(self, cwd: PathBuf, environment: Environment) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { settings } => {
                let loaded = app::load(&settings.source(cwd, environment)).await?;
                list::show(&loaded)?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Add(args) => args.carry_out(cwd, environment).await,
            Self::Check { file, fixtures, settings, json, renew } => {
                let options = agentbay_plugin_kit::CheckOptions { file, fixtures, renew };
                match agentbay_plugin_kit::check(&settings.source(cwd, environment), &options).await {
                    Ok(report) => show_report(&report, json),
                    Err(error) => Ok(not_done(error)),
                }
            }
            Self::New { name, lang: language, dir } => {
                let dir = dir.unwrap_or_else(|| name.as_str().into());
                new(&Project { name, language, dir })
            }
            Self::Record(args) => args.carry_out(cwd, environment).await,
            Self::Pack { file, out, strip, settings } => {
                let options = PackOptions { file, out, strip };
                match agentbay_plugin_kit::pack(&settings.source(cwd, environment), &options).await {
                    Ok(packed) => show_packed(&packed),
                    Err(error) => Ok(not_done(error)),
                }
            }
            Self::Run(args) => args.carry_out(cwd, environment).await,
        }
    }
}

fn not_done(error: impl Into<anyhow::Error>) -> ExitCode {
    complain(&format!("{:#}", error.into()));
    ExitCode::from(NOT_DONE)
}

/// Writes the project, and says what to do with it.
fn new(project: &Project) -> anyhow::Result<ExitCode> {
    if let Err(error) = project.write() {
        return Ok(not_done(error));
    }
    writeln!(io::stdout(), "{}", project.next_steps())?;
    Ok(ExitCode::SUCCESS)
}

fn show_packed(packed: &Packed) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}\n{}", packed.file.display(), packed.checksum.display())?;
    if let Some(Stripped { had, left }) = packed.stripped {
        writeln!(stdout, "stripped of {} of {had} bytes", had.saturating_sub(left))?;
    }
    write!(stdout, "\nFor the proxy.toml of its users:\n\n{}", packed.grant)?;
    Ok(ExitCode::SUCCESS)
}

fn show_report(report: &CheckReport, json: bool) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    if json {
        writeln!(stdout, "{:#}", report.to_json())?;
    } else {
        write!(stdout, "{report}")?;
    }
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

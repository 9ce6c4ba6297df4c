//! The commands about plugins: a list of them, and tools for their authors. A command with many arguments has a module of its
//! own.

mod add;
mod list;
mod record;
mod run;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agentbay_config::Source;
use agentbay_domain::PluginId;
use agentbay_plugin_kit::{CheckReport, Language, PackOptions, Packed, Progress, Project, Stripped};
use clap::Subcommand;

use self::add::AddArgs;
use self::record::RecordArgs;
use self::run::RunArgs;
use super::console::Console;
use super::{Settings, USAGE, print_error};
use crate::app::{self, Screen, during};

#[derive(Debug, Subcommand)]
pub(super) enum PluginTask {
    /// List the plugins in use, their health in running servers, and the files that are refused.
    List {
        #[command(flatten)]
        settings: Settings,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Show what a component asks for, grant it in proxy.toml, and install the component.
    ///
    /// Exits with 0 if the plugin was added, with 2 otherwise.
    Add(AddArgs),
    /// Check a plugin without its CLI.
    ///
    /// Loads the component as the server does, checks its command lines, and replays recorded runs: cut in many ways, cut off and
    /// corrupted. Exits with 0 if there is no fault, with 1 if there is one, with 2 if the plugin cannot be checked.
    Check {
        /// The component.
        file: PathBuf,
        /// Folders of recorded runs, or folders that contain such folders.
        fixtures: Vec<PathBuf>,
        #[command(flatten)]
        settings: Settings,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Write the result of each run into its golden.json, and show the changes.
        #[arg(long)]
        renew: bool,
    },
    /// Create the project of a new plugin, which builds as it is.
    New {
        /// The id of the plugin, which is the `driver` of models.
        #[arg(value_parser = |name: &str| PluginId::try_from(name.to_owned()))]
        name: PluginId,
        /// The language: rust, js, python or c.
        #[arg(long, value_name = "LANGUAGE", default_value = "rust")]
        lang: Language,
        /// The folder, which must be empty or not exist; by default it has the name of the plugin.
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Run a CLI and record its output, without names, paths and keys.
    Record(RecordArgs),
    /// Prepare a plugin for publication.
    ///
    /// Writes the component with its version in the name, its checksum, and prints the table for the proxy.toml of its users.
    Pack {
        /// The component.
        file: PathBuf,
        /// The folder to write to.
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Remove names of functions and debugging data. Backtraces and profiles then show no names.
        #[arg(long)]
        strip: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Run one turn with the CLI, and print the plan, the events and the outcome.
    ///
    /// Exits with 0 if the agent answered, with 1 if the turn failed, with 2 if it could not start.
    Run(RunArgs),
    /// Print what the program knows of its own plugins without compiling them.
    #[command(hide = true)]
    Summarize {
        /// The components.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

impl PluginTask {
    /// Runs the command.
    pub(super) async fn run(self, source: Source, console: &Console) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { settings, json } => {
                let loaded = app::load(&settings.of(source), console).await?;
                list::show(&loaded, json, console)?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Add(args) => args.run(source, console).await,
            Self::Check { file, fixtures, settings, json, renew } => {
                let checking = format!("checking {}", name_of(&file));
                let options = agentbay_plugin_kit::CheckOptions { file, fixtures, renew };
                let on_run = |Progress { number, count }: Progress| {
                    console.progress(Some(&format!("{checking} (recorded run {number} of {count})")));
                };
                let source = settings.of(source);
                match during(console, &checking, agentbay_plugin_kit::check(&source, &options, on_run)).await {
                    Ok(report) => show_report(&report, json),
                    Err(error) => Ok(usage_error(error)),
                }
            }
            Self::New { name, lang: language, dir } => {
                let dir = dir.unwrap_or_else(|| name.as_str().into());
                new(&Project { name, language, dir })
            }
            Self::Record(args) => args.run(source).await,
            Self::Pack { file, out, strip, settings } => {
                let packing = format!("packing {}", name_of(&file));
                let options = PackOptions { file, out, strip };
                let source = settings.of(source);
                match during(console, &packing, agentbay_plugin_kit::pack(&source, &options)).await {
                    Ok(packed) => show_packed(&packed),
                    Err(error) => Ok(usage_error(error)),
                }
            }
            Self::Run(args) => args.run(source, console).await,
            Self::Summarize { files } => match agentbay_plugin_kit::summarize(&source, &files).await {
                Ok(summaries) => {
                    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&summaries)?)?;
                    Ok(ExitCode::SUCCESS)
                }
                Err(error) => Ok(usage_error(error)),
            },
        }
    }
}

/// The name of a file without its folder, for the progress line.
fn name_of(file: &Path) -> Cow<'_, str> {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy()
}

/// Prints an error that kept the command from starting. The exit code 1 means a fault of the plugin.
fn usage_error(error: impl Into<anyhow::Error>) -> ExitCode {
    print_error(&format!("{:#}", error.into()));
    ExitCode::from(USAGE)
}

/// Writes the project, and prints the next steps.
fn new(project: &Project) -> anyhow::Result<ExitCode> {
    if let Err(error) = project.write() {
        return Ok(usage_error(error));
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

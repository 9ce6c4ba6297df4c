//! The command line: its definition, and one module for each command with output of its own. The work is done in `app`.

mod check;
mod console;
mod doctor;
mod init;
mod plugin;
mod shell;
mod table;
mod worker;
mod worktree;

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use agentbay_config::{Overrides, Source, process_environment};
use agentbay_domain::Environment;
use agentbay_os::process::HostProcess;
use agentbay_plugin_host::contracts;
use clap::{Args, Parser, Subcommand};

use self::console::Console;
use self::plugin::PluginTask;
use self::shell::{CompletionsArgs, ManArgs};
pub use self::worker::{CompileArgs, Worker};
use self::worktree::WorktreeTask;
use crate::{app, telemetry};

/// The output of `--version`: the version of the program and those of the plugin contracts that it supports.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let lines: Vec<&str> = contracts().collect();
    format!("{}\ncontracts {}", env!("CARGO_PKG_VERSION"), lines.join(", "))
});

/// The output without any argument.
const FIRST_STEPS: &str = "\
AgentBay makes CLI coding agents answer as models behind standard APIs. Type one of

  agentbay init      to write a proxy.toml for this repository and the CLIs on PATH
  agentbay serve     to serve the models over HTTP
  agentbay doctor    to examine the models and their CLIs
  agentbay --help    to list all commands";

/// The output instead of a table without models.
const NO_MODELS: &str = "no models: add a [models.NAME] table to proxy.toml";

/// The exit code for a wrong command line, as clap has it.
const USAGE: u8 = 2;

/// Makes CLI coding agents answer as models behind standard APIs.
#[derive(Debug, Parser)]
#[command(name = "agentbay", version, long_version = LONG_VERSION.as_str(), about)]
pub struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Write a proxy.toml for this repository and the CLIs on PATH.
    ///
    /// The file is written into the current folder. It has a model for each installed CLI; the agents work in the git
    /// repository that the current folder is in, or else in that folder. A file that exists is not overwritten.
    Init,
    /// Serve the models over HTTP.
    ///
    /// The first line on standard output is `listening on http://ADDRESS`; the log goes to standard error. SIGTERM and Ctrl-C
    /// stop the server after its runs, a second one stops it at once; SIGHUP reloads settings and plugins.
    Serve {
        #[command(flatten)]
        settings: Settings,
        /// Listen on this address instead of `server.listen`; port 0 takes a free port.
        #[arg(long, value_name = "ADDR")]
        listen: Option<SocketAddr>,
    },
    /// Check the settings, the plugins and what the models refer to.
    ///
    /// Exits with 0 if there is no fault, with 1 otherwise.
    Check {
        #[command(flatten)]
        settings: Settings,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Examine every model: whether its CLI is installed, in a tested version, and answers.
    ///
    /// Exits with 0 if every model can run, with 1 otherwise.
    Doctor {
        #[command(flatten)]
        settings: Settings,
        /// Send a short prompt to each model: only an answer shows that its CLI is logged in.
        #[arg(long)]
        ask: bool,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// List, add, check and create plugins.
    Plugin {
        #[command(subcommand)]
        task: PluginTask,
    },
    /// List and remove the worktrees of runs.
    Worktree {
        #[command(subcommand)]
        task: WorktreeTask,
    },
    /// Print a script that completes commands and options in a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder.
    Man(ManArgs),
    /// Print standard input: the stand-in CLI of the driver `echo`.
    #[command(hide = true)]
    EchoAgent,
    /// Wait for the end of the program that started this, and end the processes of its runs.
    #[command(hide = true)]
    Watchdog {
        /// The program that started this.
        host: HostProcess,
    },
    /// Compile the component on standard input into the cache.
    #[command(hide = true)]
    Compile(CompileArgs),
}

#[derive(Debug, Args)]
struct Settings {
    /// Read the settings from this file; the default is proxy.toml of the current folder, if it exists.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Settings {
    /// The same source with the file that was named.
    fn of(self, source: Source) -> Source {
        Source { config: self.config, ..source }
    }
}

impl Command {
    /// Reads a command line, whose first word is the program. Ends the process if it asks for help or is not valid.
    ///
    /// # Errors
    /// The line has no arguments: the exit code after the first steps were printed.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, ExitCode> {
        let line: Vec<OsString> = line.into_iter().collect();
        if line.len() < 2 {
            print_error(FIRST_STEPS);
            return Err(ExitCode::from(USAGE));
        }
        Ok(Self::parse_from(line))
    }

    /// The worker that this process is, if it is one.
    pub fn worker(&self) -> Option<Worker> {
        match &self.task {
            Task::EchoAgent => Some(Worker::EchoAgent),
            Task::Watchdog { host } => Some(Worker::Watchdog(*host)),
            Task::Compile(args) => Some(Worker::Compile(args.clone())),
            Task::Init
            | Task::Serve { .. }
            | Task::Check { .. }
            | Task::Doctor { .. }
            | Task::Plugin { .. }
            | Task::Worktree { .. }
            | Task::Completions(_)
            | Task::Man(_) => None,
        }
    }

    /// Runs the command.
    ///
    /// # Errors
    /// See [`app::AppError`]; or standard output cannot be written.
    pub async fn run(self, cwd: PathBuf) -> anyhow::Result<ExitCode> {
        let source = Source { config: None, cwd, environment: process_environment() };
        let console = Console::new(&source.environment);
        match self.task {
            Task::Init => init::run(&source, &console).await,
            Task::Serve { settings, listen } => {
                telemetry::start(log_filter(&source.environment), console.colours(), console.log());
                let overrides = Overrides { listen };
                app::serve(settings.of(source), overrides, Arc::new(console)).await?;
                Ok(ExitCode::SUCCESS)
            }
            Task::Check { settings, json } => check::check(&settings.of(source), json, &console).await,
            Task::Doctor { settings, ask, json } => {
                let loaded = app::load(&settings.of(source), &console).await?;
                doctor::show(&app::diagnose(loaded, ask, &console).await, json, &console)
            }
            Task::Plugin { task } => task.run(source, &console).await,
            Task::Worktree { task } => task.run(source, &console).await,
            Task::Completions(completions) => {
                completions.print()?;
                Ok(ExitCode::SUCCESS)
            }
            Task::Man(man) => {
                man.write()?;
                Ok(ExitCode::SUCCESS)
            }
            Task::EchoAgent | Task::Watchdog { .. } | Task::Compile(_) => Ok(ExitCode::SUCCESS),
        }
    }
}

/// The filter of the log that the user set.
fn log_filter(environment: &Environment) -> Option<&str> {
    environment.get(telemetry::VARIABLE).and_then(|filter| filter.to_str())
}

/// Prints a message to standard error.
pub fn print_error(message: &str) {
    // There is no other stream to report a closed standard error on.
    let _printed = writeln!(io::stderr(), "{message}");
}

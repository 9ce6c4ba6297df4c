//! The command line: what can be asked of the program, and how its answers look on a terminal. What plugins are about is
//! `plugin`'s.

mod plugin;
mod shell;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use agentbay_config::{Config, Overrides, Source, process_environment};
use agentbay_domain::Environment;
use agentbay_os::process::{self, HostProcess, ResourceLimits};
use agentbay_plugin_host::contracts;
use agentbay_runs::compiler;
use agentbay_workspace::{ListedWorktree, Released, WorktreeState};
use clap::{Args, Parser, Subcommand};

use self::plugin::PluginTask;
use self::shell::{CompletionsArgs, ManArgs};
use crate::app::{self, Diagnosis};
use crate::{echo_agent, telemetry};

/// What `--version` says: the program's number, and those of the contracts with plugins that it speaks.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let lines: Vec<&str> = contracts().collect();
    format!("{}\ncontracts {}", env!("CARGO_PKG_VERSION"), lines.join(", "))
});

/// Makes CLI coding agents answer as models behind standard APIs.
#[derive(Debug, Parser)]
#[command(name = "agentbay", version, long_version = LONG_VERSION.as_str(), about)]
pub struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Serve the models over HTTP.
    Serve {
        #[command(flatten)]
        settings: Settings,
        /// The address to listen on, in place of `server.listen`; port 0 takes a free one.
        #[arg(long, value_name = "ADDR")]
        listen: Option<SocketAddr>,
    },
    /// Look for faults in the configuration, the plugins and what the models refer to.
    Check {
        #[command(flatten)]
        settings: Settings,
    },
    /// Look at every model: whether its CLI is installed, in a tested version, and answers.
    Doctor {
        #[command(flatten)]
        settings: Settings,
        /// Have each model answer a line, which is the only way to know whether its CLI is logged in.
        #[arg(long)]
        ask: bool,
    },
    /// See what plugins there are, and work on one.
    Plugin {
        #[command(subcommand)]
        task: PluginTask,
    },
    /// See and clear the worktrees that runs have left.
    Worktree {
        #[command(subcommand)]
        task: WorktreeTask,
    },
    /// Print a script that completes commands and options in a shell.
    Completions(CompletionsArgs),
    /// Write the pages of the manual into a folder.
    Man(ManArgs),
    /// Say what is read from standard input: the stand-in CLI of the driver `echo`.
    #[command(hide = true)]
    EchoAgent,
    /// Wait until the program that started this is gone, and end what it had started for runs.
    #[command(hide = true)]
    Watchdog {
        /// The program that started this.
        host: HostProcess,
    },
    /// Compile the component that is read from standard input into the cache.
    #[command(hide = true)]
    Compile(CompileArgs),
}

/// What the compiler's process is told.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CompileArgs {
    /// The folder of the cache.
    cache: PathBuf,
    /// Bytes of memory that it may take.
    memory: u64,
    /// Seconds of processor time that it may take.
    processor: u64,
}

/// A process that the program starts of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Small {
    /// The stand-in CLI of the driver `echo`.
    EchoAgent,
    /// The watchdog of a host process.
    Watchdog(HostProcess),
    /// The compiler.
    Compile(CompileArgs),
}

impl Small {
    /// Does what it is for, on standard input and output.
    ///
    /// # Errors
    /// Either cannot be used; or a compiler cannot limit its resources.
    pub fn carry_out(self) -> io::Result<ExitCode> {
        match self {
            Self::EchoAgent => echo_agent::run(io::stdin(), io::stdout()).map(|()| ExitCode::SUCCESS),
            Self::Watchdog(host) => process::run_watchdog(host, io::stdin()).map(|()| ExitCode::SUCCESS),
            Self::Compile(CompileArgs { cache, memory, processor }) => {
                let limits = ResourceLimits { memory, processor: Duration::from_secs(processor) };
                compiler::run(&cache, limits, io::stdin(), io::stdout())
            }
        }
    }
}

#[derive(Debug, Subcommand)]
enum WorktreeTask {
    /// List those that were made for a run and are still there.
    List {
        #[command(flatten)]
        settings: Settings,
    },
    /// Save what is in those whose run is over, under refs/agentbay/RUN of the repository, and remove them.
    Prune {
        #[command(flatten)]
        settings: Settings,
    },
}

#[derive(Debug, Args)]
struct Settings {
    /// The configuration; without it, proxy.toml of the current folder if there is one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Settings {
    fn source(self, cwd: PathBuf, environment: Environment) -> Source {
        Source { config: self.config, cwd, environment }
    }
}

impl Command {
    /// What this process was started with. Ends the process where that is a plea for help, or cannot be understood.
    pub fn of_process() -> Self {
        Self::parse()
    }

    /// What the process is to do apart from all the rest, if it is one of the small ones that need nothing of it.
    pub fn small(&self) -> Option<Small> {
        match &self.task {
            Task::EchoAgent => Some(Small::EchoAgent),
            Task::Watchdog { host } => Some(Small::Watchdog(*host)),
            Task::Compile(args) => Some(Small::Compile(args.clone())),
            Task::Serve { .. }
            | Task::Check { .. }
            | Task::Doctor { .. }
            | Task::Plugin { .. }
            | Task::Worktree { .. }
            | Task::Completions(_)
            | Task::Man(_) => None,
        }
    }

    /// Does what the command line says.
    ///
    /// # Errors
    /// See [`app::AppError`]; or standard output cannot be written.
    pub async fn carry_out(self, cwd: PathBuf) -> anyhow::Result<ExitCode> {
        let environment = process_environment();
        let filter = environment.get(telemetry::VARIABLE).and_then(|filter| filter.to_str());
        match self.task {
            Task::Serve { settings, listen } => {
                telemetry::start(filter);
                let overrides = Overrides { listen };
                app::serve(settings.source(cwd, environment), overrides, announce).await?;
                Ok(ExitCode::SUCCESS)
            }
            Task::Check { settings } => check(&settings.source(cwd, environment)).await,
            Task::Doctor { settings, ask } => {
                let loaded = app::load(&settings.source(cwd, environment)).await?;
                show_diagnoses(&app::diagnose(loaded, ask).await)
            }
            Task::Plugin { task } => task.carry_out(cwd, environment).await,
            Task::Worktree { task: WorktreeTask::List { settings } } => {
                list_worktrees(&config(&settings.source(cwd, environment))?)?;
                Ok(ExitCode::SUCCESS)
            }
            Task::Worktree { task: WorktreeTask::Prune { settings } } => {
                let source = settings.source(cwd, environment);
                prune_worktrees(&config(&source)?, &source.environment).await
            }
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

/// The first line on standard output of a server: whoever started it waits for this.
fn announce(address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on http://{address}")?;
    stdout.flush()
}

async fn check(source: &Source) -> anyhow::Result<ExitCode> {
    let findings = app::check(source).await?;
    if findings.is_empty() {
        writeln!(io::stdout(), "no faults found")?;
        return Ok(ExitCode::SUCCESS);
    }
    for finding in findings {
        complain(&finding);
    }
    Ok(ExitCode::FAILURE)
}

fn show_diagnoses(diagnoses: &[Diagnosis]) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    for diagnosis in diagnoses {
        let examined = &diagnosis.examined;
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let (model, driver) = (&examined.model, &examined.driver);
        writeln!(stdout, "{model}\t{driver}\t{}\t{}", known(&examined.program), known(&examined.version))?;
        let remarks = examined.faults.iter().map(|fault| format!("fault: {fault}"));
        for remark in remarks.chain(examined.notes.iter().map(|note| format!("note: {note}"))) {
            writeln!(stdout, "  {remark}")?;
        }
        match &diagnosis.answer {
            Some(Ok(answer)) => writeln!(stdout, "  answered: {}", answer.trim())?,
            Some(Err(failure)) => {
                let detail = failure
                    .detail
                    .lines()
                    .last()
                    .filter(|line| !failure.message.ends_with(line))
                    .map(|line| format!(": {line}"))
                    .unwrap_or_default();
                writeln!(stdout, "  failed ({}): {}{detail}", failure.category.name(), failure.message)?;
            }
            None => {}
        }
    }
    let well = diagnoses.iter().all(Diagnosis::is_well);
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The settings alone, where no plugin is needed.
fn config(source: &Source) -> anyhow::Result<Config> {
    Ok(agentbay_config::load(source, &Overrides::default())?)
}

fn list_worktrees(config: &Config) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for ListedWorktree { run, model, repo, path, state } in app::worktrees::list(config) {
        let state = match state {
            WorktreeState::InUse => "in use",
            WorktreeState::Kept => "kept",
            WorktreeState::Stale => "left over",
        };
        writeln!(stdout, "{run}\t{model}\t{state}\t{}\t{}", repo.display(), path.display())?;
    }
    Ok(())
}

async fn prune_worktrees(config: &Config, host: &Environment) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout();
    let pruned = app::worktrees::prune(config, host, true).await;
    for (path, cleared) in &pruned {
        let what = match cleared {
            Released::Removed => "removed",
            Released::Kept | Released::Unsaved => "kept, since its work cannot be saved",
        };
        writeln!(stdout, "{}\t{what}", path.display())?;
    }
    let all_gone = pruned.iter().all(|(_, cleared)| *cleared == Released::Removed);
    Ok(if all_gone { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says on standard error what is wrong.
pub fn complain(message: &str) {
    // Where standard error is closed there is nobody to tell.
    let _nobody = writeln!(io::stderr(), "{message}");
}

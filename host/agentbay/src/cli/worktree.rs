//! `worktree list` and `worktree prune`.

use std::io::{self, Write};
use std::process::ExitCode;

use agentbay_config::{Config, Overrides, Source};
use agentbay_domain::{Environment, terminal_safe_path};
use agentbay_workspace::{ListedWorktree, Released, WorktreeState};
use clap::Subcommand;
use serde_json::{Value, json};

use super::Settings;
use super::console::Console;
use super::table::Table;
use crate::app;

/// The reason why a worktree stays.
const UNSAVED: &str = "its work cannot be saved: the log states why";

#[derive(Debug, Subcommand)]
pub(super) enum WorktreeTask {
    /// List the worktrees that exist.
    ///
    /// A worktree is in use by a run, kept after its run (`worktree.keep`), or stale: left by a run that could not remove it.
    List {
        #[command(flatten)]
        settings: Settings,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Save the work in worktrees that no run uses, and remove them.
    ///
    /// The work is saved in the repository, as refs/agentbay/RUN. Exits with 0 if all were removed, with 1 otherwise.
    Prune {
        #[command(flatten)]
        settings: Settings,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

impl WorktreeTask {
    /// Runs the command.
    pub(super) async fn run(self, source: Source, console: &Console) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { settings, json } => {
                list(&config(&settings.of(source))?, json, console)?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Prune { settings, json } => {
                let source = settings.of(source);
                prune(&config(&source)?, &source.environment, json, console).await
            }
        }
    }
}

/// The settings alone: no plugin is needed.
fn config(source: &Source) -> anyhow::Result<Config> {
    Ok(agentbay_config::load(source, &Overrides::default())?)
}

fn list(config: &Config, json: bool, console: &Console) -> io::Result<()> {
    let worktrees = app::worktrees::list(config);
    if json {
        return print_json(worktrees.iter().map(|worktree| to_json(worktree, "state", state_name(worktree.state))));
    }
    let mut table = Table::new(["RUN", "MODEL", "STATE", "REPOSITORY", "WORKTREE"]);
    for ListedWorktree { run, model, repo, path, state } in worktrees {
        let state = state_name(state).replace('_', " ");
        table.row([run.to_string(), model, state, terminal_safe_path(&repo), terminal_safe_path(&path)], []);
    }
    if table.is_empty() { writeln!(io::stdout(), "no worktrees") } else { console.print(&table) }
}

fn print_json(worktrees: impl Iterator<Item = Value>) -> io::Result<()> {
    writeln!(io::stdout(), "{:#}", json!({ "worktrees": worktrees.collect::<Vec<_>>() }))
}

fn state_name(state: WorktreeState) -> &'static str {
    match state {
        WorktreeState::InUse => "in_use",
        WorktreeState::Kept => "kept",
        WorktreeState::Stale => "stale",
    }
}

/// A worktree with its state or the result of its removal.
fn to_json(worktree: &ListedWorktree, key: &str, value: &str) -> Value {
    let ListedWorktree { run, model, repo, path, state: _ } = worktree;
    let (repo, path) = (terminal_safe_path(repo), terminal_safe_path(path));
    json!({ "run": run.to_string(), "model": model, key: value, "repo": repo, "path": path })
}

async fn prune(config: &Config, environment: &Environment, json: bool, console: &Console) -> anyhow::Result<ExitCode> {
    let pruned = app::worktrees::prune(config, environment).await;
    let result = |released| if released == Released::Removed { "removed" } else { "kept" };
    if json {
        print_json(pruned.iter().map(|(worktree, released)| to_json(worktree, "result", result(*released))))?;
    } else if pruned.is_empty() {
        writeln!(io::stdout(), "no worktrees to remove")?;
    } else {
        let mut table = Table::new(["RUN", "MODEL", "RESULT", "REPOSITORY", "WORKTREE"]);
        for (ListedWorktree { run, model, repo, path, state: _ }, released) in &pruned {
            let unsaved = (*released != Released::Removed).then(|| UNSAVED.to_owned());
            let (repo, path) = (terminal_safe_path(repo), terminal_safe_path(path));
            table.row([run.to_string(), model.clone(), result(*released).to_owned(), repo, path], unsaved);
        }
        console.print(&table)?;
    }
    let all_removed = pruned.iter().all(|(_, released)| *released == Released::Removed);
    Ok(if all_removed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

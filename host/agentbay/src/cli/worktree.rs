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
            Self::Prune { settings } => {
                let source = settings.of(source);
                prune(&config(&source)?, &source.environment).await
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
        let worktrees: Vec<Value> = worktrees.iter().map(to_json).collect();
        return writeln!(io::stdout(), "{:#}", json!({ "worktrees": worktrees }));
    }
    let mut table = Table::new(["RUN", "MODEL", "STATE", "REPOSITORY", "WORKTREE"]);
    for ListedWorktree { run, model, repo, path, state } in worktrees {
        let state = match state {
            WorktreeState::InUse => "in use",
            WorktreeState::Kept => "kept",
            WorktreeState::Stale => "stale",
        };
        table.row([run.to_string(), model, state.to_owned(), terminal_safe_path(&repo), terminal_safe_path(&path)], []);
    }
    if table.is_empty() { writeln!(io::stdout(), "no worktrees") } else { console.print(&table) }
}

fn to_json(worktree: &ListedWorktree) -> Value {
    let ListedWorktree { run, model, repo, path, state } = worktree;
    let state = match state {
        WorktreeState::InUse => "in_use",
        WorktreeState::Kept => "kept",
        WorktreeState::Stale => "stale",
    };
    let (repo, path) = (terminal_safe_path(repo), terminal_safe_path(path));
    json!({ "run": run.to_string(), "model": model, "state": state, "repo": repo, "path": path })
}

async fn prune(config: &Config, environment: &Environment) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout();
    let pruned = app::worktrees::prune(config, environment, true).await;
    for (path, released) in &pruned {
        let result = match released {
            Released::Removed => "removed",
            Released::Kept | Released::Unsaved => "kept, since its work cannot be saved",
        };
        writeln!(stdout, "{}\t{result}", path.display())?;
    }
    let all_removed = pruned.iter().all(|(_, released)| *released == Released::Removed);
    Ok(if all_removed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

//! A model that is a CLI agent in a repository.
//!
//! An [`attempt`] has four steps: `prepare` (turn, plan, command), `acquire` (worktree, process), `converse` (the `pump`) and
//! `release`. The turn's text is a `prompt` of `piece`s; a plan is judged by `policy`. The pump passes bytes → `streams`
//! (`text`) → `reader` → events → `replies`. A failure gets its words from `system` and `explain`.

mod acquire;
mod attachments;
mod attempt;
mod before;
mod dry_run;
mod error;
mod explain;
mod logins;
mod notices;
mod options;
mod piece;
mod policy;
mod prepare;
mod process;
mod prompt;
mod pump;
mod reader;
mod release;
mod replies;
mod streams;
mod system;
mod text;

use std::sync::Arc;

use agentbay_domain::{CliTarget, Environment, PluginId, ServerAddress, SessionId};
use agentbay_plugin_host::Driver;
use agentbay_workspace::canonical_folder;

pub(crate) use dry_run::{Finding, dry_run};
pub(crate) use policy::executable;
pub(crate) use release::Cleanup;
pub use text::Cleaner;

use crate::queue::{Occupied, SessionKey};
use crate::snapshot::Snapshot;
use error::MissingPlugin;

/// A CLI agent in a repository, with its driver as one snapshot has it.
#[derive(Debug)]
pub(crate) struct Cli {
    target: Arc<CliTarget>,
    driver: Result<Arc<Driver>, MissingPlugin>,
    /// The server's own address, if it has one: a CLI that sends its requests there would start itself.
    own: Option<ServerAddress>,
}

impl Cli {
    pub(super) fn new(target: Arc<CliTarget>, model: &str, snapshot: &Snapshot) -> Self {
        let driver = snapshot.driver(&target.driver).cloned();
        let driver = driver.ok_or_else(|| MissingPlugin::of(model, &target.driver, &snapshot.plugins));
        Self { target, driver, own: snapshot.own.clone() }
    }

    pub(super) fn driver(&self) -> &PluginId {
        &self.target.driver
    }

    pub(super) fn logins(&self, host: &Environment) -> Vec<logins::LoginFile> {
        self.driver.as_ref().map_or_else(|_| Vec::new(), |driver| logins::files(&self.target, driver, host))
    }

    /// A run in a worktree of its own shares the repository with others.
    pub(super) async fn occupied(&self, session: Option<&SessionId>) -> Occupied {
        let CliTarget { repo, worktree, max_repo_runs, driver, .. } = &*self.target;
        let repo = match worktree {
            Some(_) => None,
            // Two names of one folder are one repository.
            None => Some((canonical_folder(repo).await.unwrap_or_else(|_| repo.clone()), *max_repo_runs)),
        };
        Occupied { repo, session: session.map(|id| SessionKey { driver: driver.clone(), id: id.clone() }) }
    }
}

//! `policy`: what agents may leave in a repository.

use agentbay_domain::{HelperScripts, RepoPath};

use super::section::{Item, Section};

/// The keys that were set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PolicyTable {
    may_create_helpers: Option<bool>,
    helpers_dir: Option<RepoPath>,
    auto_commit: Option<bool>,
    log: Option<RepoPath>,
}

pub(super) fn read(mut section: Section<'_>) -> PolicyTable {
    let table = PolicyTable {
        may_create_helpers: section.take("may_create_helpers").and_then(|item| item.flag()),
        helpers_dir: section.take("helpers_dir").and_then(|item| path(&item)),
        auto_commit: section.take("auto_commit").and_then(|item| item.flag()),
        log: section.take("log").and_then(|item| path(&item)),
    };
    section.finish();
    table
}

/// Merges two tables: keys that `own` does not set are those of `defaults`.
pub(super) fn or(own: Option<PolicyTable>, defaults: Option<&PolicyTable>) -> Option<PolicyTable> {
    let Some(own) = own else { return defaults.cloned() };
    let defaults = defaults.cloned().unwrap_or_default();
    Some(PolicyTable {
        may_create_helpers: own.may_create_helpers.or(defaults.may_create_helpers),
        helpers_dir: own.helpers_dir.or(defaults.helpers_dir),
        auto_commit: own.auto_commit.or(defaults.auto_commit),
        log: own.log.or(defaults.log),
    })
}

impl PolicyTable {
    /// The policy, with the defaults for keys that are not set.
    pub(super) fn into_helpers(self) -> HelperScripts {
        if !self.may_create_helpers.unwrap_or(false) {
            return HelperScripts::Forbidden;
        }
        let log = self.log.unwrap_or_else(RepoPath::default_log);
        HelperScripts::Allowed {
            dir: self.helpers_dir.unwrap_or_else(RepoPath::default_helpers_dir),
            log: Some(log).filter(|_| self.auto_commit.unwrap_or(false)),
        }
    }
}

fn path(item: &Item<'_>) -> Option<RepoPath> {
    let path = RepoPath::try_from(item.full_text()?.to_owned());
    path.inspect_err(|error| item.fault(error.to_string())).ok()
}

//! models.json: `{ "NAME": { "driver", "repoPath", "agentFile", "worktree" } }`, beside proxy.toml or alone. All
//! other settings are those of `[defaults]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentbay_domain::{CliTarget, Model};

use super::models::{Common, DEFAULT_REPO, driver, named_sections};
use super::section::{Section, join};
use super::shared::{Shared, worktree};

pub(super) fn read(root: Section<'_>, common: &Common<'_>) -> BTreeMap<String, Model> {
    named_sections(root).filter_map(|(name, section)| Some((name.to_owned(), model(name, section, common)?))).collect()
}

fn model(name: &str, mut section: Section<'_>, common: &Common<'_>) -> Option<Model> {
    let driver = driver(&mut section);
    let shared = Shared {
        repo: section.take("repoPath").map(|item| common.paths.resolve(&item).unwrap_or_default()),
        agent_file: section.take("agentFile").and_then(|item| item.text()).map(PathBuf::from),
        worktree: section.take("worktree").and_then(|item| worktree(&item, common.paths)),
        ..Shared::default()
    };
    let of_defaults = shared.repo.is_none() && common.defaults.repo.is_some();
    let shared = shared.or(&common.defaults);
    if shared.repo.is_none() {
        section.fault(
            "repoPath",
            "is missing: name the folder of the repository, or set `repo` in [defaults] of proxy.toml",
        );
    }
    section.finish();
    let repo_key = if of_defaults { DEFAULT_REPO.to_owned() } else { join(&join("", name), "repoPath") };
    let target = CliTarget { repo_key, ..shared.target(name, driver?) };
    Some(shared.into_model(name, target, common.limits))
}

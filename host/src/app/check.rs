//! What is wrong with what the settings refer to: files that are no plugins, drivers that are not loaded, programs and
//! repositories that are not there.

use super::load::Loaded;
use crate::domain::Model;
use crate::run;

/// Everything that is wrong, a line each.
pub fn findings(loaded: &Loaded) -> Vec<String> {
    let refusals = &loaded.snapshot.plugins.refusals;
    let refused = refusals.iter().map(|refusal| format!("{}: {}", refusal.path.display(), refusal.reason));
    refused.chain(loaded.snapshot.models.values().flat_map(|model| of_model(loaded, model))).collect()
}

fn of_model(loaded: &Loaded, model: &Model) -> Vec<String> {
    let key = |key: &str| format!("models.{}.{key}", model.name);
    let mut findings = Vec::new();
    match loaded.snapshot.plugin(&model.driver) {
        None => findings.push(format!("{}: the driver `{}` is not loaded", key("driver"), model.driver)),
        Some(plugin) => {
            let description = plugin.description();
            if let Err(reason) = run::executable(&loaded.snapshot, model, description, &loaded.host) {
                let hint = &description.probe.install_hint;
                let hint = if hint.is_empty() { String::new() } else { format!(" ({hint})") };
                findings.push(format!("{}: {reason}{hint}", key("program")));
            }
        }
    }
    if !model.repo.is_dir() {
        findings.push(format!("{}: the repository {} does not exist", key("repo"), model.repo.display()));
    } else if model.worktree.is_some() && !model.repo.join(".git").exists() && !model.repo.join("HEAD").exists() {
        let repo = model.repo.display();
        findings.push(format!("{}: {repo} is no git repository, so no worktree can be made", key("worktree")));
    }
    findings
}

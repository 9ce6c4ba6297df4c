//! The grant that a plugin needs: the programs that it declares and the variables that its command lines set.

use std::path::Path;

use agentbay_config::NewGrant;
use agentbay_domain::Wasi;

use super::check::plans;
use super::error::KitError;
use super::subject::Subject;

/// The grant that covers everything a plugin asks for, pinned to its bytes. It sets no limits.
///
/// # Errors
/// The command lines are wrong, so that nobody should grant them.
pub async fn required_grant(subject: &Subject, file: &Path) -> Result<NewGrant, KitError> {
    let plans = plans(subject).await;
    if let Some(fault) = plans.faults.into_iter().next() {
        return Err(KitError::Unfit { file: file.to_owned(), fault });
    }
    let description = subject.plugin.description();
    let home = description.home.as_ref().map(|home| home.keep.iter().cloned().collect());
    Ok(NewGrant {
        id: subject.plugin.id().clone(),
        programs: description.programs.iter().cloned().collect(),
        env: plans.variables,
        home_files: home.unwrap_or_default(),
        sha256: subject.plugin.sha256(),
        wasi: if subject.plugin.traps().is_empty() { Wasi::Refuse } else { Wasi::Trap },
        limits: None,
    })
}

//! What a plugin needs to be granted: all that it declares, and all that its command lines set.

use std::path::Path;

use agentbay_config::NewGrant;
use agentbay_domain::Wasi;

use super::check::plans;
use super::error::AuthorError;
use super::subject::Subject;

/// The grant with which a plugin may do all that it asks for, pinned to its bytes. It says nothing of limits.
///
/// # Errors
/// Its command lines are wrong, so nobody should grant them.
pub async fn needs(subject: &Subject, file: &Path) -> Result<NewGrant, AuthorError> {
    let plans = plans(subject).await;
    if let Some(fault) = plans.faults.into_iter().next() {
        return Err(AuthorError::Unfit { file: file.to_owned(), fault });
    }
    let description = subject.plugin.description();
    let home = description.home.as_ref().map(|home| home.keep.iter().cloned().collect());
    Ok(NewGrant {
        id: subject.plugin.id().clone(),
        programs: description.programs.iter().cloned().collect(),
        env: plans.variables,
        home: home.unwrap_or_default(),
        sha256: subject.plugin.sha256(),
        wasi: if subject.plugin.traps().is_empty() { Wasi::Refuse } else { Wasi::Trap },
        limits: None,
    })
}

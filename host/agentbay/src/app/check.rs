//! What is wrong with the settings, and with what they refer to: files that are no plugins, drivers that are not loaded,
//! programs and repositories that are not there.

use std::time::Duration;

use agentbay_config::{Fault, Inspected, Overrides, Source};
use agentbay_domain::{visible, visible_path};
use agentbay_runs::doctor::examine;

use super::error::AppError;
use super::load::{Loaded, with_config};

/// Everything that is wrong, a line each. What a faulty setting refers to is not looked at.
///
/// # Errors
/// Something other than the settings keeps it from looking; see [`AppError`].
pub async fn check(source: &Source) -> Result<Vec<String>, AppError> {
    let Inspected { faults, config } = agentbay_config::inspect(source, &Overrides::default());
    let mut told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let Some(config) = config else { return Ok(told) };
    match with_config(source, config, Duration::MAX).await {
        Ok(loaded) => {
            let key = |fault: &Fault| fault.key.as_ref().map(|key| format!("{key}:"));
            let faulty: Vec<String> = faults.iter().filter_map(key).collect();
            let found = findings(&loaded).await;
            told.extend(found.into_iter().filter(|finding| !faulty.iter().any(|key| finding.starts_with(key))));
            Ok(told)
        }
        // With something in the place of what is faulty, nothing more can be found out.
        Err(_) if !told.is_empty() => Ok(told),
        Err(error) => Err(error),
    }
}

async fn findings(loaded: &Loaded) -> Vec<String> {
    let refusals = &loaded.snapshot.plugins.refusals;
    let refused =
        refusals.iter().map(|refusal| format!("{}: {}", visible_path(&refusal.path), visible(&refusal.reason)));
    let examined = examine(&loaded.snapshot, &loaded.host, None).await;
    refused.chain(examined.into_iter().flat_map(|model| model.faults)).collect()
}

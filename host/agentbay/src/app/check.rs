//! Faults of the settings and of what they refer to: files that are not valid plugins, drivers that are not loaded, programs and
//! repositories that do not exist.

use std::time::Duration;

use agentbay_config::{Fault, Inspected, Overrides, Source};
use agentbay_domain::terminal_safe_path;
use agentbay_runs::doctor::{self, examine};
use serde::Serialize;

use super::error::AppError;
use super::load::{Loaded, with_config};
use super::screen::Screen;

/// One fault, as `agentbay check --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file that has it; `None` for what a setting refers to.
    pub file: Option<String>,
    /// The line in the file, the first being 1.
    pub line: Option<usize>,
    /// The setting, as a path of keys.
    pub key: Option<String>,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Every fault there is. What a faulty setting refers to is not examined.
///
/// # Errors
/// The examination itself fails; see [`AppError`].
pub async fn check(source: &Source, screen: &dyn Screen) -> Result<Vec<Finding>, AppError> {
    let Inspected { faults, config } = agentbay_config::inspect(source, &Overrides::default());
    let mut findings: Vec<Finding> = faults.into_iter().map(Finding::from).collect();
    let Some(config) = config else { return Ok(findings) };
    match with_config(source, config, Duration::MAX, screen).await {
        Ok(loaded) => {
            let mut more = referred(&loaded).await;
            more.retain(|one| one.key.is_none() || findings.iter().all(|known| known.key != one.key));
            findings.append(&mut more);
            Ok(findings)
        }
        // The faulty settings were replaced by others: nothing more can be found out.
        Err(_) if !findings.is_empty() => Ok(findings),
        Err(error) => Err(error),
    }
}

async fn referred(loaded: &Loaded) -> Vec<Finding> {
    let refused = loaded.snapshot.plugins.refusals.iter().map(|refusal| Finding {
        file: Some(terminal_safe_path(&refusal.path)),
        line: None,
        key: None,
        message: refusal.reason.clone(),
    });
    let examined = examine(&loaded.snapshot, &loaded.environment, None).await;
    let faults = examined.into_iter().flat_map(|model| model.faults);
    refused.chain(faults.map(Finding::from)).collect()
}

impl Finding {
    /// The file and the line, as editors understand them.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(self.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
    }
}

impl From<doctor::Fault> for Finding {
    fn from(fault: doctor::Fault) -> Self {
        let doctor::Fault { key, reason } = fault;
        Self { file: None, line: None, key: Some(key), message: reason }
    }
}

impl From<Fault> for Finding {
    fn from(fault: Fault) -> Self {
        let Fault { file, line, key, message } = fault;
        Self { file: Some(terminal_safe_path(&file)), line, key, message }
    }
}

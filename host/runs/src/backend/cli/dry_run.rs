//! A check of what would keep a model from running, without starting anything: a turn is prepared and judged as for a run.

use agentbay_domain::{CliTarget, Environment, Model, RunId, ServerAddress, Turn};
use agentbay_plugin_host::{CallError, Driver, Origin};

use super::error::PolicyError;
use super::options;
use super::policy::{self, Policy, Refusal, executable};

/// A reason for which a run would be refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The key of the model that has to change, if it is one.
    pub key: Option<&'static str>,
    /// The fault and its remedy.
    pub reason: String,
    /// It may have a use that is not visible here.
    pub is_doubtful: bool,
}

impl Finding {
    fn of(key: &'static str, error: &PolicyError) -> Self {
        Self { key: Some(key), reason: error.to_string(), is_doubtful: false }
    }
}

/// Prepares a turn of a model and returns all faults but those of its program.
pub(crate) async fn dry_run(
    model: &Model,
    target: &CliTarget,
    driver: &Driver,
    host: &Environment,
    own: Option<&ServerAddress>,
) -> Vec<Finding> {
    let description = driver.plugin.description();
    let missing = policy::missing_abilities(&model.name, target, description);
    if !missing.is_empty() {
        return missing.into_iter().map(|(key, error)| Finding::of(key, &error)).collect();
    }
    match prepare(model, target, driver, host, own).await {
        Ok(findings) => findings,
        Err(failed) => vec![Finding { key: None, reason: failed.to_string(), is_doubtful: false }],
    }
}

async fn prepare(
    model: &Model,
    target: &CliTarget,
    driver: &Driver,
    host: &Environment,
    own: Option<&ServerAddress>,
) -> Result<Vec<Finding>, CallError> {
    let Driver { plugin, authority, limits } = driver;
    let mut instance = plugin.instance(limits).await?;
    let turn = turn(target);
    let plan = match instance.prepare(&turn).await? {
        Ok(plan) => plan,
        Err(failure) => {
            let key = (!target.options.is_empty()).then_some("options");
            return Ok(vec![Finding { key, reason: failure.message, is_doubtful: false }]);
        }
    };
    let mut findings = Vec::new();
    if let Some(option) = options::without_effect(&mut instance, &turn, &plan).await? {
        let (driver, model) = (target.driver.clone(), model.name.clone());
        let error = PolicyError::Option { driver, option, model };
        // Only embedded plugins are known to have no other use for it.
        findings.push(Finding { is_doubtful: *plugin.origin() != Origin::Embedded, ..Finding::of("options", &error) });
    }
    let description = plugin.description();
    let run = RunId::new();
    let policy = Policy { model: &model.name, target, authority, description, host };
    match policy.command(&plan, run, target.repo.clone(), &model.limits) {
        Ok(command) => {
            let looping = policy::refuse_loop(&target.driver, &command.variables, own);
            findings.extend(looping.err().map(|error| Finding::of("env", &error)));
        }
        // Reported by the check of the program.
        Err(Refusal::Policy(_)) if executable(&model.name, target, driver, host).is_err() => {}
        Err(Refusal::Policy(error)) => {
            findings.push(Finding { key: None, reason: error.to_string(), is_doubtful: false })
        }
        Err(Refusal::Missing(_)) => {}
    }
    Ok(findings)
}

/// A minimal turn.
fn turn(target: &CliTarget) -> Turn {
    Turn {
        prompt: "hello".to_owned(),
        model: target.model.clone(),
        permission: target.permission,
        workdir: target.repo.display().to_string(),
        run_dir: "/run".to_owned(),
        options: target.options.clone(),
        ..Turn::default()
    }
}

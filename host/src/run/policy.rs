//! What a plan may do: which program is started, and with which variables. A plan is data; this is where it is judged.

use std::path::{Path, PathBuf};

use super::error::PolicyError;
use super::route::Route;
use crate::domain::{Description, Model, Plan};
use crate::plugin::Snapshot;
use crate::process::{Command, Executable, HostVariables, SpawnError, Variables, changes_loading, find};

/// Judges a plan and turns it into a command that can be started in `workdir`.
pub(super) fn command(
    route: &Route,
    description: &Description,
    plan: &Plan,
    host: &HostVariables,
    workdir: PathBuf,
) -> Result<Command, Refusal> {
    let driver = &route.model.driver;
    if let Some((name, _)) = plan.env().iter().find(|(name, value)| value.is_some() && changes_loading(name)) {
        return Err(PolicyError::Variable { driver: driver.clone(), name: name.clone() }.into());
    }
    let program = program(&route.snapshot, &route.model, description, plan.program())?;
    let executable = find(&program, host.get("PATH"))?;
    let mut variables = Variables::base(host);
    variables.plan(plan.env());
    variables.configure(&route.model.env, host);
    Ok(Command { executable, args: plan.args().to_vec(), workdir, variables, grace: route.snapshot.limits.run.grace })
}

/// The file that a model's run would start, for whoever wants to know without running it.
///
/// # Errors
/// What a run would be refused with.
pub fn executable(
    snapshot: &Snapshot,
    model: &Model,
    description: &Description,
    host: &HostVariables,
) -> Result<Executable, String> {
    let declared = description.programs.first().map_or("", String::as_str);
    let program = program(snapshot, model, description, declared).map_err(|refused| refused.to_string())?;
    find(&program, host.get("PATH")).map_err(|missing| missing.to_string())
}

/// Why there is no command.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The plan may not be carried out.
    Policy(PolicyError),
    /// The program cannot be found.
    Missing(SpawnError),
}

impl From<PolicyError> for Refusal {
    fn from(error: PolicyError) -> Self {
        Self::Policy(error)
    }
}

impl From<SpawnError> for Refusal {
    fn from(error: SpawnError) -> Self {
        Self::Missing(error)
    }
}

/// A program is started if the plugin declares it and somebody grants it: the model by its `program`, which then is the
/// file that is started, or the program itself for the plugins that are part of it.
fn program(
    snapshot: &Snapshot,
    model: &Model,
    description: &Description,
    planned: &str,
) -> Result<PathBuf, PolicyError> {
    let driver = model.driver.clone();
    let declared = match description.programs.as_slice() {
        [] => planned.is_empty(),
        programs => programs.iter().any(|program| program == planned),
    };
    if !declared {
        return Err(PolicyError::Undeclared { driver, program: planned.to_owned() });
    }
    match &model.program {
        Some(program) => Ok(program.clone()),
        None if planned.is_empty() => Err(PolicyError::NoProgram { driver, model: model.name.clone() }),
        None if snapshot.grants(&driver, planned) => Ok(Path::new(planned).to_owned()),
        None => Err(PolicyError::NotGranted { driver, program: planned.to_owned(), model: model.name.clone() }),
    }
}

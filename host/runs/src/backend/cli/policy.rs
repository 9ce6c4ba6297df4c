//! Judges plans: which program may be started, and with which variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use agentbay_domain::{
    Authority, CliTarget, Description, Environment, Permission, Plan, PluginId, RunId, RunLimits, ServerAddress,
};
use agentbay_os::process::{Command, Executable, SpawnError, Variables, find, is_withheld};
use agentbay_plugin_host::Driver;

use super::error::PolicyError;

/// What a plan is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Policy<'a> {
    /// The model's name.
    pub(super) model: &'a str,
    pub(super) target: &'a CliTarget,
    pub(super) authority: &'a Authority,
    pub(super) description: &'a Description,
    pub(super) host: &'a Environment,
}

impl Policy<'_> {
    /// Judges a plan and turns it into a command that can be started for a run in a folder.
    pub(super) fn command(
        &self,
        plan: &Plan,
        run: RunId,
        workdir: PathBuf,
        limits: &RunLimits,
    ) -> Result<Command, Refusal> {
        let Self { target: CliTarget { driver, env, .. }, authority, host, .. } = self;
        if let Some((name, _)) = plan.env().iter().find(|(name, value)| value.is_some() && is_withheld(name)) {
            return Err(PolicyError::Variable { driver: driver.clone(), name: name.clone() }.into());
        }
        if let Some((name, _)) = plan.env().iter().find(|(name, _)| !authority.variables.allows(name)) {
            return Err(PolicyError::VariableNotGranted { driver: driver.clone(), name: name.clone() }.into());
        }
        let executable = find(&self.program(plan.program())?, host.get("PATH"))?;
        let mut variables = Variables::for_driver(driver.as_str(), env, host);
        variables.plan(plan.env());
        variables.configure(env, host);
        let (args, RunLimits { exit_grace: grace, open_pipe_timeout: pipe_silence, .. }) =
            (plan.args().to_vec(), *limits);
        Ok(Command { executable, args, workdir, variables, run: Some(run), grace, pipe_silence })
    }

    /// A program is started if the plugin declares it and it is granted: by the model's `program`, which then is the file
    /// that is started, or by the authority of the plugin.
    fn program(&self, planned: &str) -> Result<PathBuf, PolicyError> {
        let driver = self.target.driver.clone();
        if !self.description.declares(planned) {
            return Err(PolicyError::Undeclared { driver, program: planned.to_owned() });
        }
        match &self.target.program {
            Some(program) => Ok(program.clone()),
            None if planned.is_empty() => Err(PolicyError::NoProgram { driver, model: self.model.to_owned() }),
            None if self.authority.programs.contains(planned) => Ok(Path::new(planned).to_owned()),
            None => Err(PolicyError::NotGranted { driver, program: planned.to_owned(), model: self.model.to_owned() }),
        }
    }
}

/// The settings of a model that its driver does not support: the key, and why.
pub(super) fn missing_abilities(
    model: &str,
    target: &CliTarget,
    description: &Description,
) -> Vec<(&'static str, PolicyError)> {
    let driver = &target.driver;
    let features = description.features;
    let mut missing = Vec::new();
    if target.permission == Permission::ReadOnly && !features.read_only {
        missing.push(("permission", PolicyError::ReadOnly { driver: driver.clone(), model: model.to_owned() }));
    }
    if target.model.is_some() && !features.model_choice {
        missing.push(("model", PolicyError::ModelChoice { driver: driver.clone(), model: model.to_owned() }));
    }
    missing
}

/// Refuses a process that would send its requests to this server, which would start the next one.
pub(super) fn refuse_loop(
    driver: &PluginId,
    variables: &Variables,
    own: Option<&ServerAddress>,
) -> Result<(), PolicyError> {
    let Some(own) = own else { return Ok(()) };
    let text = |(name, value): (&OsString, &OsString)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()));
    let looping = variables.iter().filter_map(text).find(|(name, value)| own.matches_variable(name, value));
    match looping {
        Some((name, _)) => Err(PolicyError::Loop { driver: driver.clone(), name }),
        None => Ok(()),
    }
}

/// The file that a run of the model would start.
///
/// # Errors
/// The reason for which a run would be refused.
pub(crate) fn executable(
    model: &str,
    target: &CliTarget,
    driver: &Driver,
    host: &Environment,
) -> Result<Executable, String> {
    let (description, authority) = (driver.plugin.description(), &driver.authority);
    let declared = description.programs.first().map_or("", String::as_str);
    let policy = Policy { model, target, authority, description, host };
    let program = policy.program(declared).map_err(|refused| refused.to_string())?;
    find(&program, host.get("PATH")).map_err(|missing| missing.to_string())
}

/// Why there is no command.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The plan is not allowed.
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use agentbay_domain::{EnvSetting, Features, Framing, Probe, VariableGrant};

    use super::*;

    fn id(name: &str) -> PluginId {
        name.to_owned().try_into().unwrap()
    }

    fn description(programs: &[&str]) -> Description {
        Description {
            id: id("codex"),
            name: String::new(),
            version: String::new(),
            programs: programs.iter().map(|&program| program.to_owned()).collect(),
            framing: Framing::Lines,
            features: Features::default(),
            models: vec![],
            probe: Probe::default(),
            home: None,
        }
    }

    fn target(program: Option<&str>) -> CliTarget {
        CliTarget {
            driver: id("codex"),
            repo: "/repo".into(),
            repo_key: String::new(),
            agent_file: None,
            worktree: None,
            helpers: None,
            model: None,
            program: program.map(PathBuf::from),
            permission: Permission::default(),
            show: agentbay_domain::Show::default(),
            max_repo_runs: NonZeroUsize::MIN,
            env: vec![("TOKEN".to_owned(), EnvSetting::Set("t".to_owned()))],
            options: vec![],
        }
    }

    /// The program of a plan, for a driver that is granted `codex`.
    fn judged(programs: &[&str], planned: &str, program: Option<&str>) -> Result<PathBuf, PolicyError> {
        let authority = Authority { programs: ["codex".to_owned()].into(), ..Authority::default() };
        let (target, description, host) = (target(program), description(programs), Environment::default());
        let policy =
            Policy { model: "m", target: &target, authority: &authority, description: &description, host: &host };
        policy.program(planned)
    }

    #[test]
    fn a_program_is_started_if_it_is_declared_and_granted() {
        assert_eq!(judged(&["codex"], "codex", None), Ok("codex".into()));
        assert_eq!(judged(&["codex"], "codex", Some("/opt/codex")), Ok("/opt/codex".into()));
        assert_eq!(judged(&[], "", Some("mycli")), Ok("mycli".into()));
    }

    #[test]
    fn a_program_that_is_not_declared_is_refused_even_if_the_model_names_one() {
        for (programs, planned) in [(&["codex"][..], "sh"), (&["codex"], ""), (&[], "sh")] {
            let undeclared = PolicyError::Undeclared { driver: id("codex"), program: planned.to_owned() };
            assert_eq!(judged(programs, planned, None), Err(undeclared.clone()));
            assert_eq!(judged(programs, planned, Some("/bin/sh")), Err(undeclared));
        }
    }

    #[test]
    fn a_program_without_a_grant_is_refused() {
        let (driver, model) = (id("codex"), "m".to_owned());
        let program = "sh".to_owned();
        let refused = PolicyError::NotGranted { driver: driver.clone(), program, model: model.clone() };
        assert_eq!(judged(&["sh"], "sh", None), Err(refused));
        assert_eq!(judged(&[], "", None), Err(PolicyError::NoProgram { driver, model }));
    }

    #[test]
    fn a_setting_that_the_driver_does_not_support_is_reported_by_its_key() {
        let asks = CliTarget { permission: Permission::ReadOnly, model: Some("big".to_owned()), ..target(None) };
        let keys = |asks: &CliTarget, read_only, model_choice| {
            let features = Features { read_only, model_choice, ..Features::default() };
            let description = Description { features, ..description(&[]) };
            missing_abilities("m", asks, &description).into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&asks, false, false), ["permission", "model"]);
        assert_eq!(keys(&asks, true, false), ["model"]);
        assert_eq!(keys(&asks, true, true), [""; 0]);
        assert_eq!(keys(&target(None), false, false), [""; 0]);
    }

    fn command_of(env: &[(&str, Option<&str>)]) -> Result<Command, Refusal> {
        let variables = VariableGrant::Only(["X".to_owned()].into());
        let (target, authority) = (target(Some("/bin/sh")), Authority { variables, ..Authority::default() });
        let env = env.iter().map(|&(name, value)| (name.to_owned(), value.map(str::to_owned))).collect();
        let plan = Plan::new("codex".to_owned(), vec!["-x".to_owned()], env, vec![]).unwrap();
        let (description, host) = (description(&["codex"]), Environment::default());
        let policy =
            Policy { model: "m", target: &target, authority: &authority, description: &description, host: &host };
        policy.command(&plan, RunId::new(), "/repo".into(), &RunLimits::default())
    }

    #[test]
    fn a_plugin_sets_and_removes_only_granted_variables() {
        for value in [Some("1"), None] {
            assert!(command_of(&[("X", value)]).is_ok());
            let Err(Refusal::Policy(refused)) = command_of(&[("Y", value)]) else { panic!("Y was changed") };
            assert_eq!(refused, PolicyError::VariableNotGranted { driver: id("codex"), name: "Y".to_owned() });
        }
    }

    #[test]
    fn a_plugin_cannot_set_a_variable_that_bypasses_the_grant() {
        for name in ["LD_PRELOAD", "PATH", "HOME", "NPM_CONFIG_PREFIX", "OPENAI_BASE_URL", "https_proxy"] {
            let Err(Refusal::Policy(refused)) = command_of(&[(name, Some("x"))]) else { panic!("{name} was set") };
            assert_eq!(refused, PolicyError::Variable { driver: id("codex"), name: name.to_owned() });
        }
    }

    #[test]
    fn a_command_has_the_plans_arguments_and_the_configured_variables() {
        let command = command_of(&[("X", Some("1"))]).unwrap();
        assert_eq!(command.args, ["-x"]);
        assert_eq!(command.workdir, PathBuf::from("/repo"));
        let variable = |name| command.variables.get(name).and_then(|value| value.to_str());
        assert_eq!([variable("X"), variable("TOKEN"), variable("TERM")], [Some("1"), Some("t"), Some("dumb")]);
    }
}

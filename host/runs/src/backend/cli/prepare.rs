//! The first step of an attempt: the turn, the plugin's plan for it, and the command that the plan amounts to. Nothing is
//! started, and nothing is written but the run's own folder.

use agentbay_domain::{AnswerFormat, Category, CliTarget, Framing, PlanFile, Turn};
use agentbay_os::process::Command;
use agentbay_plugin_host::{Driver, LoadedPlugin, Origin, Transcript};
use agentbay_workspace::{Git, RunDir, WorkspaceSpec};

use super::error::{CliError, MissingPlugin, PolicyError};
use super::policy::{self, Policy, Refusal};
use super::prompt::{self, Around};
use super::{Cli, options};
use crate::backend::Attempt;

/// What an attempt starts with.
pub(super) struct Prepared {
    pub(super) dialog: Dialog,
    pub(super) launch: Launch,
}

/// A turn, and what reads the process that carries it out.
pub(super) struct Dialog {
    pub(super) turn: Turn,
    pub(super) reading: Reading,
}

/// The plugin that reads what a process prints.
pub(super) struct Reading {
    pub(super) framing: Framing,
    pub(super) transcript: Transcript,
    /// How many notices of the plugin are logged.
    pub(super) max_notices: usize,
}

/// What a process is started with.
pub(super) struct Launch {
    pub(super) command: Command,
    pub(super) files: Vec<PlanFile>,
    pub(super) site: WorkspaceSpec,
    pub(super) run_dir: RunDir,
}

impl Cli {
    pub(super) async fn prepare(&self, attempt: &Attempt<'_>, git: &Git) -> Result<Prepared, CliError> {
        let (target, context, model) = (&self.target, attempt.context, &attempt.model.name);
        let Driver { plugin, authority, limits } = &**self.driver.as_ref().map_err(MissingPlugin::clone)?;
        let description = plugin.description();
        if attempt.request.session.is_some() && !description.features.resume {
            return Err(CliError::NoResume { driver: target.driver.clone() });
        }
        if let Some((_, missing)) = policy::missing_abilities(model, target, description).into_iter().next() {
            return Err(missing.into());
        }
        let site = WorkspaceSpec::new(model, target, attempt.run);
        let run_dir = RunDir::new(&context.runs_dir, attempt.id);
        let by_option = description.features.output_schema && attempt.check.is_some_and(|check| check.is_strict());
        let mut turn = self.turn(attempt, plugin, git, &site, &run_dir, by_option).await?;

        let mut instance = plugin.instance(&limits.for_turn(turn.json_len())).await?;
        let mut planned = instance.prepare(&turn).await?;
        if by_option && matches!(&planned, Err(refused) if refused.category == Category::Validation) {
            // The schema is too long, or the model has no option for it.
            turn = self.turn(attempt, plugin, git, &site, &run_dir, false).await?;
            planned = instance.prepare(&turn).await?;
        }
        let plan = planned.map_err(CliError::Refused)?;
        if *plugin.origin() == Origin::Embedded
            && let Some(option) = options::without_effect(&mut instance, &turn, &plan).await?
        {
            return Err(PolicyError::Option { driver: target.driver.clone(), option, model: model.clone() }.into());
        }
        let policy = Policy { model, target, authority, description, host: &context.host };
        let command = policy.command(&plan, attempt.run, site.workdir(), &attempt.model.limits);
        let command = command.map_err(|refusal| match refusal {
            Refusal::Policy(error) => CliError::Policy(error),
            Refusal::Missing(error) => CliError::Spawn { error, install_hint: description.probe.install_hint.clone() },
        })?;
        policy::refuse_loop(&target.driver, &command.variables, self.own.as_ref())?;
        let transcript = instance.transcript(&turn).await?;
        let files = plan.files().to_vec();
        let (framing, max_notices) = (description.framing, limits.notices);
        Ok(Prepared {
            dialog: Dialog { turn, reading: Reading { framing, transcript, max_notices } },
            launch: Launch { command, files, site, run_dir },
        })
    }

    /// The turn. The CLI receives the schema of the answer by an option of its own, or in the prompt.
    async fn turn(
        &self,
        attempt: &Attempt<'_>,
        plugin: &LoadedPlugin,
        git: &Git,
        site: &WorkspaceSpec,
        run_dir: &RunDir,
        schema_by_option: bool,
    ) -> Result<Turn, CliError> {
        let CliTarget { agent_file, helpers, model, permission, options, .. } = &*self.target;
        let request = attempt.request;
        let agent_file = match agent_file {
            Some(file) => site.agent_file(git, file).await?,
            None => None,
        };
        let around = Around {
            agent_file: agent_file.as_deref(),
            helpers: helpers.as_ref(),
            resumed: request.session.is_some(),
            separate_system: plugin.description().features.system_prompt,
            format: (!schema_by_option).then_some(&request.ask.format),
        };
        let prompt = prompt::build(&request.conversation, around);
        Ok(Turn {
            prompt: prompt.prompt,
            system: prompt.system,
            model: model.clone(),
            permission: *permission,
            workdir: site.workdir().display().to_string(),
            extra_dirs: Vec::new(),
            session: request.session.as_ref().map(ToString::to_string),
            output_schema: match &request.ask.format {
                AnswerFormat::Schema(schema) if schema_by_option => Some(schema.json.clone()),
                AnswerFormat::Schema(_) | AnswerFormat::Json | AnswerFormat::Text => None,
            },
            partial: request.partial,
            run_dir: run_dir.path().display().to_string(),
            options: options.clone(),
        })
    }
}

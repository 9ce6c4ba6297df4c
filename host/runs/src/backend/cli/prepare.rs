//! The first step of an attempt: the turn, the plugin's plan for it, and the command that the plan amounts to. Nothing is
//! started, and nothing is written but the run's own folder.

use std::path::Path;

use agentbay_domain::{AnswerFormat, Category, CliTarget, Conversation, Failure, Framing, PlanFile, Turn};
use agentbay_os::process::Command;
use agentbay_plugin_host::{Driver, LoadedPlugin, Origin, Transcript};
use agentbay_workspace::{Git, RunDir, WorkspaceSpec};

use super::attachments::{self, Attachment};
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
    pub(super) attachments: Vec<Attachment>,
    pub(super) site: WorkspaceSpec,
    pub(super) run_dir: RunDir,
}

/// What a CLI receives besides its prompt.
#[derive(Clone, Copy)]
struct Passed<'a> {
    conversation: &'a Conversation,
    run_dir: &'a Path,
    /// The schema of the answer, by an option of the CLI. Else it is in the prompt.
    schema: bool,
    /// The private folder, by an option of the CLI. Else the CLI may refuse the agent to read it.
    folder: bool,
}

impl Passed<'_> {
    fn by_options(&self) -> bool {
        self.schema || self.folder
    }
}

/// Returns whether a plugin refuses a turn for something that an option of the CLI or of the model would have to take.
fn is_of_an_option(refused: &Failure) -> bool {
    matches!(refused.category, Category::Validation | Category::Configuration)
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
        let (conversation, attachments) = attachments::named(&attempt.request.conversation, run_dir.path());
        let features = &description.features;
        let mut passed = Passed {
            conversation: &conversation,
            run_dir: run_dir.path(),
            schema: features.output_schema && attempt.check.is_some_and(|check| check.is_strict()),
            folder: features.extra_dirs && !attachments.is_empty(),
        };
        let mut turn = self.turn(attempt, plugin, git, &site, passed).await?;

        let mut instance = plugin.instance(&limits.for_turn(turn.json_len())).await?;
        let mut planned = instance.prepare(&turn).await?;
        if passed.by_options() && matches!(&planned, Err(refused) if is_of_an_option(refused)) {
            // The schema is too long, or the model has no option for it or for a folder.
            passed = Passed { schema: false, folder: false, ..passed };
            turn = self.turn(attempt, plugin, git, &site, passed).await?;
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
            launch: Launch { command, files, attachments, site, run_dir },
        })
    }

    async fn turn(
        &self,
        attempt: &Attempt<'_>,
        plugin: &LoadedPlugin,
        git: &Git,
        site: &WorkspaceSpec,
        passed: Passed<'_>,
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
            format: (!passed.schema).then_some(&request.ask.format),
        };
        let prompt = prompt::build(passed.conversation, around);
        let run_dir = passed.run_dir.display().to_string();
        Ok(Turn {
            prompt: prompt.prompt,
            system: prompt.system,
            model: model.clone(),
            permission: *permission,
            workdir: site.workdir().display().to_string(),
            extra_dirs: if passed.folder { vec![run_dir.clone()] } else { Vec::new() },
            session: request.session.as_ref().map(ToString::to_string),
            output_schema: match &request.ask.format {
                AnswerFormat::Schema(schema) if passed.schema => Some(schema.json.clone()),
                AnswerFormat::Schema(_) | AnswerFormat::Json | AnswerFormat::Text => None,
            },
            partial: request.partial,
            run_dir,
            options: options.clone(),
        })
    }
}

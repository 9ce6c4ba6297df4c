//! The stages of one run, in order: turn, plan, policy, workspace, process, events, outcome, and everything given back.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::error::RunError;
use super::policy::{self, Refusal};
use super::prompt::{self, Around};
use super::pump::{self, Finish, Listening};
use super::route::Route;
use super::runner::{Ended, Means, Request, Step};
use crate::domain::{Framing, Outcome, RunId, Turn, Usage};
use crate::plugin::{LoadedPlugin, Transcript};
use crate::process::Child;
use crate::workspace::{Git, Lease, RunDir, Site, agent_file};

/// One run to carry out.
pub(super) struct Job {
    pub(super) id: RunId,
    pub(super) route: Route,
    pub(super) request: Request,
    pub(super) means: Means,
    pub(super) stopping: CancellationToken,
}

/// A process that has been started for a turn, and all that goes with it.
struct Started {
    turn: Turn,
    framing: Framing,
    transcript: Transcript,
    child: Child,
    lease: Lease,
    /// Held for as long as the process may read from it.
    _run_dir: RunDir,
}

/// Carries a run out to its end. Whoever listens is told how it ended as soon as that is known; what the process leaves
/// behind is cleared away after that.
pub(super) async fn carry_out(job: Job, steps: mpsc::Sender<Step>) {
    let span = tracing::info_span!("run", id = %job.id, model = %job.request.model);
    carry_out_in_span(job, steps).instrument(span).await;
}

async fn carry_out_in_span(job: Job, steps: mpsc::Sender<Step>) {
    let started = match start(&job).await {
        Ok(started) => started,
        Err(error) => {
            tracing::warn!(%error, "run not started");
            let outcome = Outcome::from(error.into_failure());
            tell(&steps, Ended { outcome, usage: Usage::default(), usage_estimated: true }).await;
            return;
        }
    };
    tracing::info!(workdir = %started.lease.workdir().display(), "run started");
    let Started { turn, framing, transcript, mut child, lease, _run_dir } = started;
    let listening = Listening {
        turn: &turn,
        framing,
        limits: &job.route.snapshot.limits.run,
        timeout: job.route.model.timeout,
        steps: &steps,
        stopping: &job.stopping,
    };
    let Finish { outcome, tally, answer_chars, unwanted } = pump::listen(listening, transcript, &mut child).await;
    let told = tally.told();
    let usage = told.unwrap_or_else(|| Usage::estimate(turn.prompt.chars().count(), answer_chars));
    match &outcome {
        Outcome::Finished { .. } => tracing::info!("run ended"),
        Outcome::Failed { failure, .. } => {
            tracing::info!(category = failure.category.name(), reason = failure.message, "run failed");
        }
    }
    let ended = Ended { outcome, usage, usage_estimated: told.is_none() };
    // Side by side: a client that takes its time keeps no process and no worktree.
    tokio::join!(tell(&steps, ended), clear_away(child, unwanted, lease, &job.means.git));
}

/// Ends what is left of the process, and only then gives back what it worked in.
async fn clear_away(child: Child, unwanted: bool, lease: Lease, git: &Git) {
    if unwanted {
        child.stop().await;
    } else {
        child.settle().await;
    }
    lease.give_back(git).await;
}

/// A client that is gone needs not be told.
async fn tell(steps: &mpsc::Sender<Step>, ended: Ended) {
    let _gone = steps.send(Step::Ended(ended)).await;
}

async fn start(job: &Job) -> Result<Started, RunError> {
    let model = &job.route.model;
    let plugin = job.plugin().ok_or_else(|| job.missing_plugin())?;
    let description = plugin.description();
    if job.request.session.is_some() && !description.features.resume {
        return Err(RunError::NoResume { driver: model.driver.clone() });
    }
    let site = Site::new(model, job.id);
    let run_dir = RunDir::new(&job.means.runs_dir, job.id);
    let turn = turn(job, plugin, &site, &run_dir).await?;

    let mut instance = plugin.instance(&job.route.snapshot.limits.plugin).await?;
    let plan = instance.prepare(&turn).await?.map_err(RunError::Refused)?;
    let command = policy::command(&job.route, description, &plan, &job.means.host, site.workdir());
    let command = command.map_err(|refusal| match refusal {
        Refusal::Policy(error) => RunError::Policy(error),
        Refusal::Missing(error) => RunError::Spawn { error, install_hint: description.probe.install_hint.clone() },
    })?;
    let transcript = instance.transcript(&turn).await?;

    run_dir.write(plan.files())?;
    let lease = site.lease(&job.means.git).await?;
    match Child::spawn(command) {
        Ok(child) => Ok(Started { turn, framing: description.framing, transcript, child, lease, _run_dir: run_dir }),
        Err(error) => {
            lease.give_back(&job.means.git).await;
            Err(RunError::Spawn { error, install_hint: String::new() })
        }
    }
}

async fn turn(job: &Job, plugin: &LoadedPlugin, site: &Site, run_dir: &RunDir) -> Result<Turn, RunError> {
    let Job { route: Route { model, .. }, request, .. } = job;
    let agent_file = match &model.agent_file {
        Some(file) => agent_file(&model.repo, file).await?,
        None => None,
    };
    let around = Around {
        agent_file: agent_file.as_deref(),
        resumed: request.session.is_some(),
        system_apart: plugin.description().features.system_prompt,
    };
    let prompt = prompt::build(&request.conversation, around);
    Ok(Turn {
        prompt: prompt.prompt,
        system: prompt.system,
        model: model.model.clone(),
        permission: model.permission,
        workdir: site.workdir().display().to_string(),
        extra_dirs: Vec::new(),
        session: request.session.as_ref().map(ToString::to_string),
        output_schema: None,
        partial: request.partial,
        run_dir: run_dir.path().display().to_string(),
        options: model.options.clone(),
    })
}

impl Job {
    fn plugin(&self) -> Option<&LoadedPlugin> {
        self.route.snapshot.plugin(&self.route.model.driver).map(AsRef::as_ref)
    }

    fn missing_plugin(&self) -> RunError {
        RunError::missing_plugin(&self.request.model, &self.route.model.driver, &self.route.snapshot.plugins.plugins)
    }
}

//! One try of one model: turn, plan, policy, workspace, process, events, outcome, and everything given back.

use std::time::Duration;

use super::error::{MissingPlugin, RunError};
use super::interest::Interest;
use super::live::{Entry, Phase};
use super::policy::{self, Refusal};
use super::prompt::{self, Around};
use super::pump::{self, Finish, Listening, interruption};
use super::queue::{Place, Wanted};
use super::route::Route;
use super::runner::{Ended, Means, Request, Step};
use crate::domain::{Failure, Framing, Helpers, PlanFile, RunId, Turn, Usage};
use crate::plugin::{Driver, LoadedPlugin, Transcript};
use crate::process::{Child, Command};
use crate::workspace::{self, Additions, Author, Git, Lease, RunDir, Site, TreeState};

/// What is to be tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) id: RunId,
    pub(super) route: &'a Route,
    pub(super) request: &'a Request,
    pub(super) means: &'a Means,
    /// The try's own name: a CLI that keeps a session under it must not go on with that of a failed try.
    pub(super) try_id: RunId,
    /// The time that the model still has.
    pub(super) left: Duration,
    /// Another try may follow this one if it fails.
    pub(super) may_be_followed: bool,
}

/// How a try ended.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) model: String,
    pub(super) ended: Ended,
    /// No other try can follow: something was said, or nobody wants one.
    pub(super) is_final: bool,
    pub(super) rest: Option<Rest>,
}

/// What a try leaves behind.
#[derive(Debug)]
pub(super) struct Rest {
    child: Child,
    /// The process is not to go on.
    unwanted: bool,
    lease: Lease,
    /// How the repository was before, if the try worked in it and that could be found out.
    before: Option<TreeState>,
    /// Set if what the agent adds for later tasks is to be committed.
    additions: Option<Additions>,
    used_a_tool: bool,
    /// Held until the process has ended: it may read from it.
    _run_dir: RunDir,
    /// Held until everything is given back.
    _place: Place,
}

/// All that a process is to be started with.
struct Prepared {
    turn: Turn,
    framing: Framing,
    /// How many notices of the plugin are logged.
    notices: usize,
    files: Vec<PlanFile>,
    command: Command,
    transcript: Transcript,
    site: Site,
    run_dir: RunDir,
}

/// A process that has been started for a turn, and all that goes with it.
struct Started {
    turn: Turn,
    framing: Framing,
    notices: usize,
    transcript: Transcript,
    child: Child,
    lease: Lease,
    before: Option<TreeState>,
    additions: Option<Additions>,
    run_dir: RunDir,
}

impl Attempt {
    /// A run that ends without a process.
    pub(super) fn failed(failure: Failure) -> Self {
        let ended = Ended { outcome: failure.into(), usage: Usage::default(), usage_estimated: true };
        Self { model: String::new(), ended, is_final: true, rest: None }
    }
}

/// Tries a model.
pub(super) async fn carry_out(task: Task<'_>, interest: Interest<'_>, entry: &Entry) -> Attempt {
    let model = &task.route.model;
    let wanted = Wanted::of(model, task.request.session.as_ref(), task.route.limits.queue);
    let place = match interest.during(task.means.queue.enter(wanted)).await {
        Ok(Ok(place)) => place,
        Ok(Err(no_place)) => return not_started(no_place.into()),
        Err(reason) => return Attempt::failed(interruption(reason, model)),
    };
    entry.is(Phase::Running);
    let reference = model.worktree.as_ref().map(|_| workspace::reference(task.id));
    interest.writer.tell(Step::Trying { model: model.name.clone(), reference }).await;
    let attempt = match task.start().await {
        Ok(started) => task.listen(started, place, interest).await,
        Err(error) => not_started(error),
    };
    Attempt { model: model.name.clone(), ended: attempt.ended.explained(task.route), ..attempt }
}

impl Task<'_> {
    async fn listen(self, started: Started, place: Place, interest: Interest<'_>) -> Attempt {
        tracing::info!(workdir = %started.lease.workdir().display(), "run started");
        let Started { turn, framing, notices, transcript, mut child, lease, before, additions, run_dir } = started;
        let model = &self.route.model;
        let listening = Listening { turn: &turn, framing, model, place: &place, left: self.left, notices, interest };
        let Finish { outcome, tally, answer_chars, unwanted, is_final, used_a_tool } =
            pump::listen(listening, transcript, &mut child).await;
        let told = tally.told();
        let usage = told.unwrap_or_else(|| Usage::estimate(turn.prompt.chars().count(), answer_chars));
        let ended = Ended { outcome, usage, usage_estimated: told.is_none() };
        let rest = Rest { child, unwanted, lease, before, additions, used_a_tool, _run_dir: run_dir, _place: place };
        Attempt { model: model.name.clone(), ended, is_final, rest: Some(rest) }
    }

    async fn start(self) -> Result<Started, RunError> {
        // Side by side: git takes as long as the plugin.
        let (before, prepared) = tokio::join!(self.state_before(), self.prepare());
        let Prepared { turn, framing, notices, files, command, transcript, site, run_dir } = prepared?;
        run_dir.write(&files)?;
        let git = &self.means.git;
        let lease = site.lease(git).await?;
        let additions = self.additions(&lease).await;
        match Child::spawn(command) {
            Ok(child) => Ok(Started { turn, framing, notices, transcript, child, lease, before, additions, run_dir }),
            Err(error) => {
                lease.give_back(git).await;
                Err(RunError::Spawn { error, install_hint: String::new() })
            }
        }
    }

    async fn prepare(self) -> Result<Prepared, RunError> {
        let Self { route, means, .. } = self;
        let model = &route.model;
        let Driver { plugin, authority, limits } = &**route.driver.as_ref().map_err(MissingPlugin::clone)?;
        let description = plugin.description();
        if self.request.session.is_some() && !description.features.resume {
            return Err(RunError::NoResume { driver: model.driver.clone() });
        }
        let site = Site::new(model, self.id);
        let run_dir = RunDir::new(&means.runs_dir, self.try_id);
        let turn = self.turn(plugin, &site, &run_dir).await?;

        let mut instance = plugin.instance(limits).await?;
        let plan = instance.prepare(&turn).await?.map_err(RunError::Refused)?;
        let command = policy::command(model, authority, description, &plan, &means.host, self.id, site.workdir());
        let command = command.map_err(|refusal| match refusal {
            Refusal::Policy(error) => RunError::Policy(error),
            Refusal::Missing(error) => RunError::Spawn { error, install_hint: description.probe.install_hint.clone() },
        })?;
        let transcript = instance.transcript(&turn).await?;
        let files = plan.files().to_vec();
        let (framing, notices) = (description.framing, limits.notices);
        Ok(Prepared { turn, framing, notices, files, command, transcript, site, run_dir })
    }

    /// How the repository is, where that has to be known to try again.
    async fn state_before(self) -> Option<TreeState> {
        let model = &self.route.model;
        if model.worktree.is_some() || !self.may_be_followed {
            return None;
        }
        TreeState::of(&self.means.git, &model.repo).await.ok()
    }

    /// What there is in the folder for helpers, if new files in it are to be committed.
    async fn additions(self, lease: &Lease) -> Option<Additions> {
        let Some(Helpers::Allowed { dir, log: Some(log) }) = &self.route.model.helpers else { return None };
        let before = Additions::before(&self.means.git, lease.workdir(), dir, log).await;
        before.inspect_err(|reason| tracing::warn!(%reason, "what the agent adds will not be committed")).ok()
    }

    async fn turn(self, plugin: &LoadedPlugin, site: &Site, run_dir: &RunDir) -> Result<Turn, RunError> {
        let Self { route: Route { model, .. }, request, .. } = self;
        let agent_file = match &model.agent_file {
            Some(file) => site.agent_file(&self.means.git, file).await?,
            None => None,
        };
        let around = Around {
            agent_file: agent_file.as_deref(),
            helpers: model.helpers.as_ref(),
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
}

impl Rest {
    /// Ends what is left of the process, and only then gives back what it worked in. What the agent of a finished turn
    /// added is committed in between.
    pub(super) async fn clear_away(self, git: &Git, author: Option<Author<'_>>) {
        end(self.child, self.unwanted).await;
        if let (Some(additions), Some(author)) = (self.additions, author) {
            match additions.commit(git, author).await {
                Ok(None) => {}
                Ok(Some(commit)) => tracing::info!(commit, "what the agent added is committed"),
                Err(reason) => tracing::warn!(%reason, "what the agent added is not committed, and still there"),
            }
        }
        self.lease.give_back(git).await;
    }

    /// Ends the process, and throws away what it did in a worktree of its own. Says whether nothing is left of the try:
    /// in the repository itself, nothing can be taken back.
    pub(super) async fn throw_away(self, git: &Git) -> bool {
        end(self.child, self.unwanted).await;
        if self.lease.is_worktree() {
            return self.lease.discard(git).await;
        }
        let unchanged = match (&self.before, self.used_a_tool) {
            (Some(before), false) => TreeState::of(git, self.lease.workdir()).await.is_ok_and(|now| now == *before),
            _ => false,
        };
        self.lease.give_back(git).await;
        unchanged
    }
}

/// A run could not even begin.
fn not_started(error: RunError) -> Attempt {
    tracing::warn!(%error, "run not started");
    let is_final = error.is_final();
    Attempt { is_final, ..Attempt::failed(error.into_failure()) }
}

async fn end(child: Child, unwanted: bool) {
    if unwanted {
        child.stop().await;
    } else {
        child.settle().await;
    }
}

//! One try of one model: turn, plan, policy, workspace, process, events and outcome. What has to be given back after it is
//! `rest`'s.

use std::path::Path;
use std::time::Duration;

use agentbay_domain::{Failure, Framing, Helpers, KillReason, PlanFile, RunId, Turn, Usage};
use agentbay_os::process::{self, Command};
use agentbay_plugin_host::{Driver, LoadedPlugin, Origin, Transcript};
use agentbay_workspace::{self, Additions, Git, RunDir, Site, TreeState, WorkspaceError};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::context::{Means, Request};
use super::error::{MissingPlugin, PolicyError, RunError};
use super::interest::Interest;
use super::live::{Entry, Phase};
use super::options;
use super::policy::{self, Refusal};
use super::prompt::{self, Around};
use super::pump::{self, Finish, Listening, interruption};
use super::queue::Wanted;
use super::rest::{Left, Process, Rest};
use super::route::Route;
use super::step::{Ended, Step};

/// How long git may take to go when a run ends while it starts. It takes its locks away in that time.
const SETTLE: Duration = Duration::from_millis(800);

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
    pub(super) rest: Option<Left>,
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
    process: Process,
}

/// Why nothing was started.
enum NotStarted {
    /// Something failed.
    Failed(RunError),
    /// It was ended while it started.
    Interrupted(KillReason),
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
    let entered = async {
        let wanted = Wanted::of(model, task.request.session.as_ref(), task.route.limits.queue).await;
        task.means.queue.enter(wanted).await
    };
    let place = match interest.during(entered).await {
        Ok(Ok(place)) => place,
        Ok(Err(no_place)) => return not_started(no_place.into()),
        Err(reason) => return Attempt::failed(interruption(reason, model)),
    };
    entry.is(Phase::Running);
    let until = Instant::now() + task.left;
    let mut rest = Rest::new(place, task.means.git.with_limit(model.limits.git));
    let attempt = match task.start_until(until, interest, &mut rest).await {
        Ok(started) => {
            let attempt = task.listen(started, rest, until, interest).await;
            return Attempt { ended: attempt.ended.explained(task.route), ..attempt };
        }
        Err(NotStarted::Failed(error)) => not_started(error),
        Err(NotStarted::Interrupted(reason)) => {
            let is_final = reason != KillReason::Timeout;
            Attempt { is_final, ..Attempt::failed(interruption(reason, model)) }
        }
    };
    let ended = attempt.ended.explained(task.route);
    Attempt { model: model.name.clone(), ended, rest: Some(rest.into()), ..attempt }
}

impl Task<'_> {
    async fn listen(self, started: Started, mut rest: Rest, until: Instant, interest: Interest<'_>) -> Attempt {
        let Started { turn, framing, notices, transcript, mut process } = started;
        let model = &self.route.model;
        let place = &rest.place;
        let observer = self.means.observer.as_ref();
        let listening = Listening { turn: &turn, framing, model, place, until, notices, observer, interest };
        let Finish { outcome, tally, answer_chars, unwanted, is_final, used_a_tool, last_error } =
            pump::listen(listening, transcript, &mut process.child).await;
        let told = tally.told(turn.session.is_some());
        let usage = told.unwrap_or_else(|| Usage::estimate(turn.prompt.chars().count(), answer_chars));
        let ended = Ended { outcome, usage, usage_estimated: told.is_none() };
        rest.process = Some(Process { unwanted, used_a_tool, last_error, ..process });
        Attempt { model: model.name.clone(), ended, is_final, rest: Some(rest.into()) }
    }

    /// Tells that the model is tried and starts it, for as long as the run is wanted and has time. What is to be given
    /// back is in `rest`, however this ends.
    async fn start_until(self, until: Instant, interest: Interest<'_>, rest: &mut Rest) -> Result<Started, NotStarted> {
        self.tell_try(None, until, interest).await.map_err(NotStarted::Interrupted)?;
        let unwanted = CancellationToken::new();
        let git = rest.git.until(&unwanted);
        let (reason, late) = {
            let mut start = Box::pin(self.start(&git, &unwanted, rest));
            match interest.during_until(until, &mut start).await {
                Ok(started) => {
                    let started = started.map_err(NotStarted::Failed)?;
                    let reference = self.route.model.worktree.as_ref().map(|_| agentbay_workspace::reference(self.id));
                    let told = match reference {
                        Some(_) => self.tell_try(reference, until, interest).await,
                        None => Ok(()),
                    };
                    match told {
                        Ok(()) => return Ok(started),
                        Err(reason) => (reason, Some(started)),
                    }
                }
                Err(reason) => {
                    unwanted.cancel();
                    (reason, timeout(SETTLE, start).await.ok().and_then(Result::ok))
                }
            }
        };
        rest.process = late.map(|started| Process { unwanted: true, ..started.process });
        Err(NotStarted::Interrupted(reason))
    }

    /// Tells that the model is tried. A client that does not listen keeps nobody from ending the run.
    async fn tell_try(
        self,
        reference: Option<String>,
        until: Instant,
        interest: Interest<'_>,
    ) -> Result<(), KillReason> {
        let model = self.route.model.name.clone();
        interest.during_until(until, interest.writer.tell(Step::Trying { model, reference })).await
    }

    async fn start(self, git: &Git, unwanted: &CancellationToken, rest: &mut Rest) -> Result<Started, RunError> {
        // Side by side: git takes as long as the plugin.
        let (before, prepared) = tokio::join!(self.state_before(git), self.prepare(git));
        let Prepared { turn, framing, notices, files, command, transcript, site, run_dir } = prepared?;
        rest.before = before?;
        run_dir.write(&files)?;
        let workdir = site.workdir();
        site.lease(git, &mut rest.lease).await?;
        rest.additions = self.additions(git, &workdir).await?;
        if unwanted.is_cancelled() {
            return Err(RunError::Unwanted);
        }
        let started = process::start(command, self.route.model.limits.program_busy).await;
        let child = started.map_err(|error| RunError::Spawn { error, install_hint: String::new() })?;
        tracing::info!(workdir = %workdir.display(), "run started");
        let process =
            Process { child, unwanted: false, used_a_tool: false, last_error: String::new(), _run_dir: run_dir };
        Ok(Started { turn, framing, notices, transcript, process })
    }

    async fn prepare(self, git: &Git) -> Result<Prepared, RunError> {
        let Self { route, means, .. } = self;
        let model = &route.model;
        let Driver { plugin, authority, limits } = &**route.driver.as_ref().map_err(MissingPlugin::clone)?;
        let description = plugin.description();
        if self.request.session.is_some() && !description.features.resume {
            return Err(RunError::NoResume { driver: model.driver.clone() });
        }
        if let Some((_, missing)) = policy::missing_abilities(model, description).into_iter().next() {
            return Err(missing.into());
        }
        let site = Site::new(model, self.id);
        let run_dir = RunDir::new(&means.runs_dir, self.try_id);
        let turn = self.turn(git, plugin, &site, &run_dir).await?;

        let mut instance = plugin.instance(&limits.for_turn(turn.bytes())).await?;
        let plan = instance.prepare(&turn).await?.map_err(RunError::Refused)?;
        if *plugin.origin() == Origin::Embedded
            && let Some(option) = options::without_effect(&mut instance, &turn, &plan).await?
        {
            let (driver, model) = (model.driver.clone(), model.name.clone());
            return Err(PolicyError::Option { driver, option, model }.into());
        }
        let command = policy::command(model, authority, description, &plan, &means.host, self.id, site.workdir());
        let command = command.map_err(|refusal| match refusal {
            Refusal::Policy(error) => RunError::Policy(error),
            Refusal::Missing(error) => RunError::Spawn { error, install_hint: description.probe.install_hint.clone() },
        })?;
        policy::refuse_loop(&model.driver, &command.variables, route.own.as_ref())?;
        let transcript = instance.transcript(&turn).await?;
        let files = plan.files().to_vec();
        let (framing, notices) = (description.framing, limits.notices);
        Ok(Prepared { turn, framing, notices, files, command, transcript, site, run_dir })
    }

    /// How the repository is, where that has to be known to try again. A folder that is no repository cannot be known.
    async fn state_before(&self, git: &Git) -> Result<Option<TreeState>, WorkspaceError> {
        let model = &self.route.model;
        if model.worktree.is_some() || !self.may_be_followed {
            return Ok(None);
        }
        known(TreeState::of(git, &model.repo).await)
    }

    /// What there is in the folder for helpers, if new files in it are to be committed.
    async fn additions(self, git: &Git, workdir: &Path) -> Result<Option<Additions>, WorkspaceError> {
        let Some(Helpers::Allowed { dir, log: Some(log) }) = &self.route.model.helpers else { return Ok(None) };
        let before = Additions::before(git, workdir, dir, log).await;
        known(before.inspect_err(|reason| tracing::warn!(%reason, "what the agent adds will not be committed")))
    }

    async fn turn(self, git: &Git, plugin: &LoadedPlugin, site: &Site, run_dir: &RunDir) -> Result<Turn, RunError> {
        let Self { route: Route { model, .. }, request, .. } = self;
        let agent_file = match &model.agent_file {
            Some(file) => site.agent_file(git, file).await?,
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

/// A run could not even begin.
fn not_started(error: RunError) -> Attempt {
    tracing::warn!(%error, "run not started");
    let is_final = error.is_final();
    Attempt { is_final, ..Attempt::failed(error.into_failure()) }
}

/// What git says of a repository, if it says anything. That it hangs ends the run, since it would hang again.
fn known<T>(said: Result<T, WorkspaceError>) -> Result<Option<T>, WorkspaceError> {
    match said {
        Ok(said) => Ok(Some(said)),
        Err(error @ (WorkspaceError::Late { .. } | WorkspaceError::Unwanted)) => Err(error),
        Err(_unknown) => Ok(None),
    }
}

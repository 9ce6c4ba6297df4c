//! `plugin run`: executes one turn of a plugin with its CLI as a server does, and prints it as it proceeds.
//!
//! The command line takes the place of a configured model; it also grants the programs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_config::{Config, Overrides, Source, Template};
use agentbay_domain::{
    Ask, Authority, Category, CliTarget, Conversation, EnvSetting, Event, Message, Model, Outcome, Permission, Plan,
    PluginId, Role, SessionId, Trust, Turn, VariableGrant,
};
use agentbay_os::process::{Watchdog, find};
use agentbay_plugin_host::{Driver, PluginSet, is_embedded};
use agentbay_runs::{Ended, Observer, PluginFailed, Request, Run, Runner, Snapshot, Snapshots, Step, Tasks};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::KitError;
use super::run_output::{PlanSummary, RunOutput};
use super::subject::Subject;

/// Time for the processes of the run to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// Placeholder for the run's id in the plan, which is shown before the run has one.
const RUN: &str = "RUN";

/// Options of `plugin run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// The component.
    pub file: PathBuf,
    /// The prompt.
    pub prompt: String,
    /// The agent's working folder.
    pub repo: PathBuf,
    /// The file to start instead of the plugin's program.
    pub program: Option<PathBuf>,
    /// Further programs that the plugin may start.
    pub allow: Vec<String>,
    /// Variables for the CLI in addition to those that the host passes.
    pub env: Vec<(String, EnvSetting)>,
    /// Options for the plugin.
    pub options: Vec<(String, String)>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The CLI's session to resume.
    pub session: Option<SessionId>,
    /// What the agent may do without asking a person.
    pub permission: Permission,
}

/// Executes the turn and passes its output to `show` as it arrives. `stop` ends it early. Returns whether the agent
/// answered.
///
/// # Errors
/// See [`KitError`]: the turn cannot start, or output cannot be shown. A failed turn is part of the output.
pub async fn run(
    source: &Source,
    options: RunOptions,
    stop: impl Future<Output = ()>,
    mut show: impl FnMut(&RunOutput) -> io::Result<()>,
) -> Result<bool, KitError> {
    let config = agentbay_config::load(source, &Overrides::default())?;
    let repo = source.cwd.join(&options.repo);
    let repo = fs::canonicalize(&repo).map_err(KitError::file(repo))?;
    let subject = Subject::load(&config, &options.file).await?;
    let subject = subject.map_err(|reason| KitError::Refused { file: options.file.clone(), reason })?;
    let host = source.environment.clone();
    let template = Template::for_repo(repo, subject.limits.run);
    let target = target(&options, template.target(subject.plugin.id()), &source.cwd);
    let authority = authority(&options, &subject, &config.trust);

    if let Some(plan) = plan(&subject, &options, &target, &config).await? {
        grant(&subject, &target, &authority, plan.program())?;
        let program = target.program.clone().unwrap_or_else(|| plan.program().into());
        let file = find(&program, host.get("PATH")).ok().map(|found| found.path().to_owned());
        show(&RunOutput::Plan(PlanSummary::of(&plan, file))).map_err(KitError::Show)?;
    }

    let model = Model { retries: 0, ..template.for_target(target) };
    let request = request(&options, &model)?;
    let snapshots = Snapshots::default();
    snapshots.publish(snapshot(subject, model, authority));
    // Without a watchdog everything works, except that the CLI outlives a killed host.
    let _watchdog = Watchdog::start().inspect_err(|error| tracing::warn!(%error, "no watchdog")).ok();
    let tasks = Tasks::default();
    let (observer, observed) = unbounded_channel();
    let observer = Arc::new(EventSender(observer));
    let runner = Runner::new(snapshots, host, config.plugins.runs(), observer, tasks.clone());
    let run = runner.start(request, None).map_err(|error| KitError::NotStarted(error.to_string()))?;
    let ended = tokio::select! {
        ended = show_all(run, observed, &mut show) => ended.map_err(KitError::Show),
        () = stop => Err(KitError::Interrupted("the run was ended")),
    };
    tasks.stop(STOP_TIMEOUT).await;
    ended.map(|ended| matches!(ended.outcome, Outcome::Finished { .. }))
}

/// Passes on the plugin's events. `limits.output` of the plugin bounds how many wait.
#[derive(Debug)]
struct EventSender(UnboundedSender<RunOutput>);

impl Observer for EventSender {
    fn run_started(&self, _model: &str, _driver: &PluginId) {}

    fn run_ended(&self, _model: &str, _driver: &PluginId, _failure: Option<Category>) {}

    fn event(&self, event: &Event) {
        drop(self.0.send(RunOutput::Event(event.clone())));
    }

    fn plugin_failed(&self, failed: &PluginFailed) {
        drop(self.0.send(RunOutput::PluginFailed(failed.clone())));
    }
}

/// Shows the observed events, then the end of the run.
async fn show_all(
    mut run: Run,
    mut observed: UnboundedReceiver<RunOutput>,
    show: &mut impl FnMut(&RunOutput) -> io::Result<()>,
) -> io::Result<Ended> {
    loop {
        tokio::select! {
            biased;
            Some(output) = observed.recv() => show(&output)?,
            step = run.next() => if let Step::Ended(ended) = step {
                while let Ok(output) = observed.try_recv() {
                    show(&output)?;
                }
                show(&RunOutput::Ended(ended.clone()))?;
                return Ok(ended);
            },
        }
    }
}

/// The target that the configuration has by default, with what the command line sets.
fn target(options: &RunOptions, default: CliTarget, cwd: &Path) -> CliTarget {
    let is_bare = |program: &Path| program.components().count() == 1 && !program.starts_with(".");
    // Normalised, without `.` components.
    let absolute = |program: &Path| cwd.join(program).components().collect();
    let program = options.program.as_deref();
    let program = program.map(|program| if is_bare(program) { program.to_owned() } else { absolute(program) });
    CliTarget {
        agent_file: None,
        model: options.model.clone(),
        program,
        permission: options.permission,
        env: options.env.clone(),
        options: options.options.clone(),
        ..default
    }
}

/// The plugin's authority: the programs granted on the command line or in the configuration, and an embedded plugin's own.
fn authority(options: &RunOptions, subject: &Subject, trust: &Trust) -> Authority {
    let own = if is_embedded(subject.plugin.sha256()) { subject.plugin.description().programs.as_slice() } else { &[] };
    let grant = trust.grants.get(subject.plugin.id());
    let configured = grant.and_then(|grant| grant.programs.as_ref()).into_iter().flatten();
    Authority {
        programs: options.allow.iter().chain(own).chain(configured).cloned().collect(),
        variables: VariableGrant::from_grant(grant, is_embedded(subject.plugin.sha256())),
    }
}

/// A program that is not declared at all is refused by the run itself.
fn grant(subject: &Subject, target: &CliTarget, authority: &Authority, planned: &str) -> Result<(), KitError> {
    let is_granted = target.program.is_some() || authority.programs.contains(planned);
    match planned {
        _ if is_granted || !subject.plugin.description().declares(planned) => Ok(()),
        "" => Err(KitError::NoProgram),
        program => Err(KitError::NotGranted { program: program.to_owned() }),
    }
}

/// The plan of the turn, to show. A plugin has no clock and no randomness, so the run receives the same plan, except for its own
/// folder. `None` if there is no plan: the run then reports why.
async fn plan(
    subject: &Subject,
    options: &RunOptions,
    target: &CliTarget,
    config: &Config,
) -> Result<Option<Plan>, KitError> {
    let turn = Turn {
        prompt: options.prompt.clone(),
        model: target.model.clone(),
        permission: target.permission,
        workdir: target.repo.display().to_string(),
        session: options.session.as_ref().map(ToString::to_string),
        partial: true,
        run_dir: config.plugins.runs().join(RUN).display().to_string(),
        options: target.options.clone(),
        ..Turn::default()
    };
    let prepared = match subject.instance().await {
        Ok(mut instance) => instance.prepare(&turn).await,
        Err(error) => Err(error),
    };
    Ok(prepared.ok().and_then(Result::ok))
}

fn request(options: &RunOptions, model: &Model) -> Result<Request, KitError> {
    let message = Message::text(Role::User, options.prompt.clone());
    let conversation =
        Conversation::try_from(vec![message]).map_err(|error| KitError::NotStarted(error.to_string()))?;
    Ok(Request {
        model: model.name.clone(),
        conversation,
        ask: Ask::default(),
        partial: true,
        session: options.session.clone(),
    })
}

fn snapshot(subject: Subject, model: Model, authority: Authority) -> Snapshot {
    let Subject { plugin, limits } = subject;
    let id: PluginId = plugin.id().clone();
    let driver = Driver { plugin: Arc::new(plugin), authority, limits: limits.plugin };
    let plugins = PluginSet { drivers: [(id, Arc::new(driver))].into(), ..PluginSet::default() };
    let models = [(model.name.clone(), Arc::new(model))].into();
    Snapshot { generation: 1, plugins, models, limits, ..Snapshot::default() }
}

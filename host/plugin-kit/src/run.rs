//! `plugin run`: one turn of a plugin and its CLI on the way that every run takes, told as it goes.
//!
//! Nobody has written a model for it, so it is made up from the command line: that is also what grants a program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_config::{Config, Overrides, Source, Template};
use agentbay_domain::{
    Authority, Category, Conversation, EnvSetting, Event, Granted, Message, Model, Outcome, Permission, Plan, PluginId,
    Role, SessionId, Trust, Turn,
};
use agentbay_os::process::{Guard, find};
use agentbay_plugin_host::{Driver, PluginSet, is_embedded};
use agentbay_runs::{Ended, Observer, PluginFailed, Request, Run, Runner, Snapshot, Snapshots, Step, Tasks};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::AuthorError;
use super::subject::Subject;
use super::told::{PlanTold, Told};

/// How long the processes of the run may take to end.
const PATIENCE: Duration = Duration::from_secs(15);

/// What stands for the run's own name in a plan that is shown before the run has one.
const RUN: &str = "RUN";

/// The turn that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The component.
    pub file: PathBuf,
    /// What is asked of the agent.
    pub prompt: String,
    /// The folder it works in.
    pub repo: PathBuf,
    /// The file that is started in place of the plugin's program.
    pub program: Option<PathBuf>,
    /// Programs that the plugin may start besides.
    pub allow: Vec<String>,
    /// Variables for the CLI besides those which the host gives.
    pub env: Vec<(String, EnvSetting)>,
    /// Options for the plugin.
    pub options: Vec<(String, String)>,
    /// The vendor's model name.
    pub model: Option<String>,
    /// The CLI's session to resume.
    pub session: Option<SessionId>,
    /// What the agent may do without asking.
    pub permission: Permission,
}

/// Carries the turn out, and hands over what there is to tell as it comes. `stop` ends it early. Says whether the agent
/// answered.
///
/// # Errors
/// See [`AuthorError`]; what goes wrong with the turn itself is told. Or what is told cannot be shown.
pub async fn run(
    source: &Source,
    asked: Asked,
    stop: impl Future<Output = ()>,
    mut show: impl FnMut(&Told) -> io::Result<()>,
) -> Result<bool, AuthorError> {
    let config = agentbay_config::load(source, &Overrides::default())?;
    let repo = source.cwd.join(&asked.repo);
    let repo = fs::canonicalize(&repo).map_err(AuthorError::file(repo))?;
    let subject = Subject::load(&config, &asked.file).await?;
    let subject = subject.map_err(|reason| AuthorError::Refused { file: asked.file.clone(), reason })?;
    let host = source.environment.clone();
    let model = model(&asked, &subject, repo, &source.cwd);
    let authority = authority(&asked, &subject, &config.trust);

    if let Some(plan) = plan(&subject, &asked, &model, &config).await? {
        grant(&subject, &model, &authority, plan.program())?;
        let program = model.program.clone().unwrap_or_else(|| plan.program().into());
        let file = find(&program, host.get("PATH")).ok().map(|found| found.path().to_owned());
        show(&Told::Plan(PlanTold::of(&plan, file))).map_err(AuthorError::Show)?;
    }

    let request = request(&asked, &model)?;
    let snapshots = Snapshots::default();
    snapshots.publish(snapshot(subject, model, authority));
    // Without one everything works, but for a host that is killed.
    let _guard = Guard::start().inspect_err(|error| tracing::warn!(%error, "no guard")).ok();
    let tasks = Tasks::default();
    let (observer, observed) = unbounded_channel();
    let observer = Arc::new(Observed(observer));
    let runner = Runner::new(snapshots, host, config.plugins.runs(), observer, tasks.clone());
    let run = runner.start(request, None).map_err(|error| AuthorError::NotStarted(error.to_string()))?;
    let ended = tokio::select! {
        ended = listen(run, observed, &mut show) => ended.map_err(AuthorError::Show),
        () = stop => Err(AuthorError::Interrupted("the run was ended")),
    };
    tasks.stop(PATIENCE).await;
    ended.map(|ended| matches!(ended.outcome, Outcome::Finished { .. }))
}

/// Passes on what the plugin produces. `limits.output` of the plugin bounds what waits.
#[derive(Debug)]
struct Observed(UnboundedSender<Told>);

impl Observer for Observed {
    fn run_started(&self, _model: &str, _driver: &PluginId) {}

    fn run_ended(&self, _model: &str, _driver: &PluginId, _failure: Option<Category>) {}

    fn event(&self, event: &Event) {
        drop(self.0.send(Told::Event(event.clone())));
    }

    fn plugin_failed(&self, failed: &PluginFailed) {
        drop(self.0.send(Told::PluginFailed(failed.clone())));
    }
}

/// Shows what is observed, and the end after all of it.
async fn listen(
    mut run: Run,
    mut observed: UnboundedReceiver<Told>,
    show: &mut impl FnMut(&Told) -> io::Result<()>,
) -> io::Result<Ended> {
    loop {
        tokio::select! {
            biased;
            Some(told) = observed.recv() => show(&told)?,
            step = run.next() => if let Step::Ended(ended) = step {
                while let Ok(told) = observed.try_recv() {
                    show(&told)?;
                }
                show(&Told::Ended(ended.clone()))?;
                return Ok(ended);
            },
        }
    }
}

/// A model as the configuration would have it by default, in a repository, tried once.
fn model(asked: &Asked, subject: &Subject, repo: PathBuf, cwd: &Path) -> Model {
    let is_bare = |program: &Path| program.components().count() == 1 && !program.starts_with(".");
    // Without a `.` in its middle.
    let absolute = |program: &Path| cwd.join(program).components().collect();
    let program = asked.program.as_deref();
    let program = program.map(|program| if is_bare(program) { program.to_owned() } else { absolute(program) });
    Model {
        agent_file: None,
        model: asked.model.clone(),
        program,
        permission: asked.permission,
        retries: 0,
        env: asked.env.clone(),
        options: asked.options.clone(),
        ..Template::for_repo(repo, subject.limits.run).for_driver(subject.plugin.id())
    }
}

/// What the plugin may do: start the programs that were named here or in the configuration, and its own if it is a part of
/// this program.
fn authority(asked: &Asked, subject: &Subject, trust: &Trust) -> Authority {
    let own = if is_embedded(subject.plugin.sha256()) { subject.plugin.description().programs.as_slice() } else { &[] };
    let grant = trust.grants.get(subject.plugin.id());
    let configured = grant.and_then(|grant| grant.programs.as_ref()).into_iter().flatten();
    Authority {
        programs: asked.allow.iter().chain(own).chain(configured).cloned().collect(),
        variables: Granted::by(grant, is_embedded(subject.plugin.sha256())),
    }
}

/// A program that is not declared at all is refused by the run itself.
fn grant(subject: &Subject, model: &Model, authority: &Authority, planned: &str) -> Result<(), AuthorError> {
    let is_granted = model.program.is_some() || authority.programs.contains(planned);
    match planned {
        _ if is_granted || !subject.plugin.description().declares(planned) => Ok(()),
        "" => Err(AuthorError::NoProgram),
        program => Err(AuthorError::NotGranted { program: program.to_owned() }),
    }
}

/// The plan of the turn, asked for to be shown. A plugin has no clock and no chance, so the run is given the same one, but
/// for its own folder. Nothing if there is none: the run then tells why.
async fn plan(subject: &Subject, asked: &Asked, model: &Model, config: &Config) -> Result<Option<Plan>, AuthorError> {
    let turn = Turn {
        prompt: asked.prompt.clone(),
        model: model.model.clone(),
        permission: model.permission,
        workdir: model.repo.display().to_string(),
        session: asked.session.as_ref().map(ToString::to_string),
        partial: true,
        run_dir: config.plugins.runs().join(RUN).display().to_string(),
        options: model.options.clone(),
        ..Turn::default()
    };
    let prepared = match subject.instance().await {
        Ok(mut instance) => instance.prepare(&turn).await,
        Err(error) => Err(error),
    };
    Ok(prepared.ok().and_then(Result::ok))
}

fn request(asked: &Asked, model: &Model) -> Result<Request, AuthorError> {
    let message = Message::text(Role::User, asked.prompt.clone());
    let conversation =
        Conversation::try_from(vec![message]).map_err(|error| AuthorError::NotStarted(error.to_string()))?;
    Ok(Request { model: model.name.clone(), conversation, partial: true, session: asked.session.clone() })
}

fn snapshot(subject: Subject, model: Model, authority: Authority) -> Snapshot {
    let Subject { plugin, limits } = subject;
    let id: PluginId = plugin.id().clone();
    let driver = Driver { plugin: Arc::new(plugin), authority, limits: limits.plugin };
    let plugins = PluginSet { drivers: [(id, Arc::new(driver))].into(), ..PluginSet::default() };
    let models = [(model.name.clone(), Arc::new(model))].into();
    Snapshot { generation: 1, plugins, models, limits, ..Snapshot::default() }
}

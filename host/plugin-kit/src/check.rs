//! `plugin check`: loads a plugin as the host does, checks the command lines that it plans, and replays recorded runs of
//! its CLI.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use agentbay_config::{Overrides, Source};
use agentbay_domain::{Event, Permission, Plan, Turn};
use agentbay_os::process::is_withheld;

use super::error::KitError;
use super::fixture::{fixtures, usual_turn};
use super::report::{CheckReport, PluginSummary};
use super::subject::Subject;
use super::suite::check_fixture;

/// Options of `plugin check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// The component.
    pub file: PathBuf,
    /// Folders of recorded runs, or folders that contain such folders.
    pub fixtures: Vec<PathBuf>,
    /// Write the events of the recorded runs to their `golden.json`.
    pub renew: bool,
}

/// The recorded run that is about to be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Its number, the first being 1.
    pub number: usize,
    /// The number of all recorded runs.
    pub count: usize,
}

/// Checks a plugin under the limits of the configuration. A refused or wrong plugin is a report, not an error. `on_run` gets
/// each recorded run before it is replayed.
///
/// # Errors
/// See [`KitError`].
pub async fn check(
    source: &Source,
    options: &CheckOptions,
    on_run: impl Fn(Progress),
) -> Result<CheckReport, KitError> {
    let config = agentbay_config::load(source, &Overrides::default())?;
    let fixtures = fixtures(&options.fixtures)?;
    let subject = match Subject::load(&config, &options.file).await? {
        Ok(subject) => Arc::new(subject),
        Err(refused) => return Ok(CheckReport::refused(options.file.clone(), &refused)),
    };
    let mut report = CheckReport::new(PluginSummary::of(&subject), subject.limits.plugin);
    report.plans = plans(&subject).await.faults;
    report.plans.extend(claims(&subject).await);
    for (at, fixture) in fixtures.iter().enumerate() {
        on_run(Progress { number: at + 1, count: fixtures.len() });
        let beside = fixtures.get(at + 1).or(fixtures.first()).unwrap_or(fixture);
        report.runs.push(check_fixture(&subject, fixture, beside, options.renew).await?);
    }
    Ok(report)
}

/// The command lines that a plugin plans.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// Their faults, without duplicates.
    pub(super) faults: BTreeSet<String>,
    /// Variables that they set.
    pub(super) variables: BTreeSet<String>,
}

/// Calls `prepare` for turns of every kind.
pub(super) async fn plans(subject: &Subject) -> Plans {
    let mut plans = Plans::default();
    for turn in turns() {
        let prepared = match subject.instance().await {
            Ok(mut instance) => instance.prepare(&turn).await,
            Err(error) => Err(error),
        };
        match prepared {
            Ok(Ok(plan)) => {
                plans.faults.extend(judge(subject, &turn, &plan));
                let set = plan.env().iter().filter(|(_, value)| value.is_some());
                plans.variables.extend(set.map(|(name, _)| name.clone()));
            }
            // A plugin may refuse a turn.
            Ok(Err(_)) => {}
            Err(error) => {
                plans.faults.insert(error.to_string());
            }
        }
    }
    plans
}

/// Features that `describe` claims although `prepare` plans the same command line with and without them.
async fn claims(subject: &Subject) -> Vec<String> {
    let features = &subject.plugin.description().features;
    let usual = with(Permission::WorkspaceWrite);
    let claimed = [
        (features.read_only, "read-only", "`permission` is \"read-only\"", with(Permission::ReadOnly)),
        (
            features.model_choice,
            "model-choice",
            "a `model` is named",
            Turn { model: Some("model-1".to_owned()), ..usual.clone() },
        ),
        (
            features.resume,
            "resume",
            "a `session` is resumed",
            Turn { session: Some("session-1".to_owned()), ..usual.clone() },
        ),
    ];
    let mut faults = Vec::new();
    for (_, feature, condition, turn) in claimed.into_iter().filter(|(is_claimed, ..)| *is_claimed) {
        let (plain, other) = (started(subject, &usual).await, started(subject, &turn).await);
        if plain.is_some() && plain == other {
            faults.push(format!(
                "`describe` claims `{feature}`, but `prepare` plans the same command line whether or not {condition}"
            ));
        }
    }
    faults
}

/// The plan of a turn. `None` if there is none, or if the plugin keeps a dialogue with its CLI and may pass the setting there.
async fn started(subject: &Subject, turn: &Turn) -> Option<Plan> {
    let plan = subject.instance().await.ok()?.prepare(turn).await.ok()?.ok()?;
    let events = subject.transcript(turn).await.ok()?.begin(turn).await.ok()?;
    events.contains(&Event::EndInput).then_some(plan)
}

fn with(permission: Permission) -> Turn {
    Turn { permission, ..usual_turn() }
}

/// Turns that differ in the fields which plugins use.
fn turns() -> Vec<Turn> {
    let mut turns: Vec<Turn> =
        [Permission::ReadOnly, Permission::WorkspaceWrite, Permission::FullAccess].map(with).into();
    turns.push(Turn { session: Some("session-1".to_owned()), model: Some("model-1".to_owned()), ..usual_turn() });
    turns.push(Turn { partial: false, prompt: String::new(), ..usual_turn() });
    turns.push(Turn { prompt: "--agentbay-check".to_owned(), ..usual_turn() });
    turns
}

fn judge(subject: &Subject, turn: &Turn, plan: &Plan) -> Vec<String> {
    let mut faults = Vec::new();
    if !subject.plugin.description().declares(plan.program()) {
        faults.push(format!("`prepare` plans to start {:?}, which `describe` does not declare", plan.program()));
    }
    for (name, _) in plan.env().iter().filter(|(name, value)| value.is_some() && is_withheld(name)) {
        faults.push(format!("`prepare` sets the variable {name}, which no plugin may set: it changes what programs load or which server they contact"));
    }
    let prompt = plan.args().iter().position(|arg| *arg == turn.prompt && arg.starts_with('-'));
    if let Some(at) = prompt
        && !plan.args()[..at].iter().any(|arg| arg == "--")
    {
        let advice = "write the prompt to standard input, or put `--` before it";
        faults.push(format!("`prepare` passes a prompt that starts with `-` as an option: {advice}"));
    }
    faults
}

//! `plugin check`: loads a plugin as the host would, looks at the command lines it makes, and replays what was recorded of
//! its CLI.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use agentbay_config::{Overrides, Source};
use agentbay_domain::{Event, Permission, Plan, Turn};
use agentbay_os::process::is_withheld;

use super::error::AuthorError;
use super::fixture::{fixtures, usual_turn};
use super::report::{About, Report};
use super::subject::Subject;
use super::trial::examine;

/// What is to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The component.
    pub file: PathBuf,
    /// Recorded runs, or folders of such.
    pub fixtures: Vec<PathBuf>,
    /// What comes of the recorded runs is to be expected from now on.
    pub renew: bool,
}

/// Checks a plugin under the limits of the settings. A plugin that is refused or does wrong is no error.
///
/// # Errors
/// See [`AuthorError`].
pub async fn check(source: &Source, wanted: &Wanted) -> Result<Report, AuthorError> {
    let config = agentbay_config::load(source, &Overrides::default())?;
    let fixtures = fixtures(&wanted.fixtures)?;
    let subject = match Subject::load(&config, &wanted.file).await? {
        Ok(subject) => Arc::new(subject),
        Err(refused) => return Ok(Report::refused(wanted.file.clone(), &refused)),
    };
    let mut report = Report::new(About::of(&subject), subject.limits.plugin);
    report.plans = plans(&subject).await.faults;
    report.plans.extend(claims(&subject).await);
    for (at, fixture) in fixtures.iter().enumerate() {
        let beside = fixtures.get(at + 1).or(fixtures.first()).unwrap_or(fixture);
        report.runs.push(examine(&subject, fixture, beside, wanted.renew).await?);
    }
    Ok(report)
}

/// What was seen of the command lines that a plugin makes.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// What is wrong with them, each once.
    pub(super) faults: BTreeSet<String>,
    /// Variables that they set.
    pub(super) variables: BTreeSet<String>,
}

/// Has a plugin make command lines for several turns.
pub(super) async fn plans(subject: &Subject) -> Plans {
    let mut seen = Plans::default();
    for turn in turns() {
        let prepared = match subject.instance().await {
            Ok(mut instance) => instance.prepare(&turn).await,
            Err(error) => Err(error),
        };
        match prepared {
            Ok(Ok(plan)) => {
                seen.faults.extend(judge(subject, &turn, &plan));
                let set = plan.env().iter().filter(|(_, value)| value.is_some());
                seen.variables.extend(set.map(|(name, _)| name.clone()));
            }
            // A plugin may refuse a turn.
            Ok(Err(_)) => {}
            Err(error) => {
                seen.faults.insert(error.to_string());
            }
        }
    }
    seen
}

/// What `describe` claims and the command lines do not show: a turn that asks for it is started as any other.
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
    for (_, feature, asked, turn) in claimed.into_iter().filter(|(is_claimed, ..)| *is_claimed) {
        let (plain, other) = (started(subject, &usual).await, started(subject, &turn).await);
        if plain.is_some() && plain == other {
            faults.push(format!(
                "`describe` claims `{feature}`, and where {asked}, `prepare` gives the same command line as where it is not"
            ));
        }
    }
    faults
}

/// The plan of a turn; none if there is none, or if the plugin goes on to talk with its CLI, and may say there what is asked.
async fn started(subject: &Subject, turn: &Turn) -> Option<Plan> {
    let plan = subject.instance().await.ok()?.prepare(turn).await.ok()?.ok()?;
    let begun = subject.transcript(turn).await.ok()?.begin(turn).await.ok()?;
    begun.contains(&Event::EndInput).then_some(plan)
}

fn with(permission: Permission) -> Turn {
    Turn { permission, ..usual_turn() }
}

/// Turns that differ in what plugins look at.
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
        faults.push(format!("`prepare` sets the variable {name}, which no plugin may: it changes what programs load or whom they talk to"));
    }
    let prompt = plan.args().iter().position(|arg| *arg == turn.prompt && arg.starts_with('-'));
    if let Some(at) = prompt
        && !plan.args()[..at].iter().any(|arg| arg == "--")
    {
        let advice = "write it to standard input, or put `--` before it";
        faults.push(format!("`prepare` makes an option of a prompt that begins with `-`: {advice}"));
    }
    faults
}

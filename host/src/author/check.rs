//! `plugin check`: loads a plugin as the host would, looks at the command lines it makes, and replays what was recorded of
//! its CLI.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::AuthorError;
use super::fixture::{fixtures, usual_turn};
use super::report::{About, Report};
use super::subject::Subject;
use super::trial::examine;
use crate::config::{self, Overrides, Source};
use crate::domain::{Permission, Plan, Turn};
use crate::process::is_withheld;

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
    let config = config::load(source, &Overrides::default())?;
    let fixtures = fixtures(&wanted.fixtures)?;
    let subject = match Subject::load(&config, &wanted.file).await? {
        Ok(subject) => Arc::new(subject),
        Err(refused) => return Ok(Report::refused(wanted.file.clone(), &refused)),
    };
    let mut report = Report::new(About::of(&subject), subject.limits.plugin);
    report.plans = plans(&subject).await.faults;
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

/// Turns that differ in what plugins look at.
fn turns() -> Vec<Turn> {
    let with = |permission| Turn { permission, ..usual_turn() };
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

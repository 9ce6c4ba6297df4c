//! The report of `plugin check`, for people and as JSON.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_domain::{Description, Framing, Outcome, PluginLimits};
use agentbay_plugin_host::LoadError;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::replay::CallTimes;
use super::subject::Subject;

/// The result of a check.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    file: PathBuf,
    /// Why the host refuses the plugin.
    refused: Option<String>,
    plugin: Option<PluginSummary>,
    limits: Option<TimeLimits>,
    /// Faults of its command lines.
    pub(super) plans: BTreeSet<String>,
    pub(super) runs: Vec<FixtureReport>,
}

/// What a plugin declares.
#[derive(Debug, Serialize)]
pub(super) struct PluginSummary {
    #[serde(skip)]
    file: PathBuf,
    id: String,
    name: String,
    version: String,
    sha256: String,
    programs: Vec<String>,
    framing: &'static str,
    features: Vec<String>,
    models: Vec<String>,
    home: Option<String>,
    home_files: Vec<String>,
}

#[derive(Debug, Serialize)]
struct TimeLimits {
    #[serde(serialize_with = "microseconds", rename = "call_us")]
    call: Duration,
    #[serde(serialize_with = "microseconds", rename = "run_us")]
    run: Duration,
}

/// The result of one recorded run.
#[derive(Debug, Serialize)]
pub(super) struct FixtureReport {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) events: usize,
    pub(super) outcome: Option<Outcome>,
    pub(super) golden: GoldenResult,
    pub(super) faults: Vec<Fault>,
    #[serde(serialize_with = "call_times", rename = "longest_us")]
    pub(super) times: CallTimes,
}

/// The result of the comparison with `golden.json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GoldenResult {
    /// The events are equal.
    Same,
    /// The file was rewritten.
    Renewed { difference: String },
    /// Not compared; a fault gives the reason.
    NotCompared,
}

/// A defect that was found.
#[derive(Debug, Serialize)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    /// One line.
    pub(super) what: String,
    /// More lines, possibly none.
    pub(super) detail: String,
    /// Number of further faults of this kind.
    pub(super) more: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FaultKind {
    /// The plugin trapped or exceeded a limit.
    Trap,
    /// Events that the host drops or no client can use.
    Dropped,
    /// The events depend on how the output is split.
    Chunking,
    /// The outcome is finished although the CLI did not report it.
    FalseFinish,
    /// The events depend on another run at the same time.
    Mixed,
    /// The events differ from the expected ones.
    Golden,
    /// There is no `golden.json`.
    NoGolden,
}

impl CheckReport {
    pub(super) fn new(about: PluginSummary, limits: PluginLimits) -> Self {
        Self {
            file: about.file.clone(),
            refused: None,
            plugin: Some(about),
            limits: Some(TimeLimits { call: limits.call_cpu, run: limits.run_cpu }),
            plans: BTreeSet::new(),
            runs: Vec::new(),
        }
    }

    pub(super) fn refused(file: PathBuf, reason: &LoadError) -> Self {
        let refused = Some(reason.to_string());
        Self { file, refused, plugin: None, limits: None, plans: BTreeSet::new(), runs: Vec::new() }
    }

    /// Whether there are no faults.
    pub fn passed(&self) -> bool {
        self.refused.is_none() && self.plans.is_empty() && self.runs.iter().all(FixtureReport::passed)
    }

    /// The report as one JSON document.
    pub fn to_json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        json["well"] = self.passed().into();
        json
    }
}

impl PluginSummary {
    pub(super) fn of(subject: &Subject) -> Self {
        let Subject { plugin, .. } = subject;
        let Description { name, version, programs, framing, features, models, home, .. } = plugin.description().clone();
        let features = serde_json::to_value(features).unwrap_or_default();
        let has = |(name, has): (&String, &Value)| (*has == true).then(|| name.replace('_', "-"));
        let (home, home_files) = home.map_or_else(Default::default, |home| (Some(home.env), home.keep));
        Self {
            file: PathBuf::from(plugin.origin().to_string()),
            id: plugin.id().to_string(),
            name,
            version,
            sha256: plugin.sha256().to_string(),
            programs,
            framing: match framing {
                Framing::Lines => "lines",
                Framing::Text => "text",
            },
            features: features.as_object().into_iter().flatten().filter_map(has).collect(),
            models: models.into_iter().map(|model| model.id).collect(),
            home,
            home_files,
        }
    }
}

impl FixtureReport {
    fn passed(&self) -> bool {
        self.faults.is_empty()
    }
}

fn microseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

fn call_times<S: Serializer>(times: &CallTimes, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Longest {
        #[serde(serialize_with = "microseconds")]
        call: Duration,
        #[serde(serialize_with = "microseconds")]
        run: Duration,
    }
    Longest { call: times.longest_call, run: times.all_calls }.serialize(serializer)
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.refused {
            return writeln!(f, "refused: {}: {reason}", self.file.display());
        }
        if let Some(about) = &self.plugin {
            about.fmt(f)?;
        }
        for fault in &self.plans {
            writeln!(f, "WRONG {fault}")?;
        }
        let width = self.runs.iter().map(|run| run.name.chars().count()).max().unwrap_or(0);
        for run in &self.runs {
            run.show(f, width, self.limits.as_ref())?;
        }
        let (all, passed) = (self.runs.len(), self.runs.iter().filter(|run| run.passed()).count());
        let runs = if all == 0 {
            "no recorded runs were given".to_owned()
        } else {
            format!("{passed} of {all} recorded runs passed")
        };
        let plans = if self.plans.is_empty() { "the command lines are valid" } else { "the command lines have faults" };
        writeln!(f, "{plans}; {runs}")
    }
}

impl fmt::Display for PluginSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: &[String]| if items.is_empty() { "-".to_owned() } else { items.join(", ") };
        writeln!(f, "{} {} ({}) in {}", self.id, self.version, self.name, self.file.display())?;
        writeln!(f, "  sha256    {}", self.sha256)?;
        let programs = if self.programs.is_empty() { "the model's `program`".to_owned() } else { list(&self.programs) };
        writeln!(f, "  starts    {programs}")?;
        if let Some(home) = &self.home {
            writeln!(f, "  home      {home}, with the user's {}", list(&self.home_files))?;
        }
        writeln!(f, "  output    {}", self.framing)?;
        writeln!(f, "  features  {}", list(&self.features))?;
        writeln!(f, "  models    {}", list(&self.models))
    }
}

impl FixtureReport {
    fn show(&self, f: &mut fmt::Formatter<'_>, width: usize, limits: Option<&TimeLimits>) -> fmt::Result {
        let verdict = if self.passed() { "ok   " } else { "WRONG" };
        let outcome = match &self.outcome {
            Some(Outcome::Finished { .. }) => "finished".to_owned(),
            Some(Outcome::Failed { failure, .. }) => format!("failed ({})", failure.category.name()),
            None => "no outcome".to_owned(),
        };
        write!(f, "{verdict} {:width$}  {} events, {outcome}", self.name, self.events)?;
        if let Some(limits) = limits {
            let (call, run) = (shown(self.times.longest_call), shown(self.times.all_calls));
            write!(f, "; longest call {call} of {}, longest run {run} of {}", shown(limits.call), shown(limits.run))?;
        }
        writeln!(f)?;
        if let GoldenResult::Renewed { difference } = &self.golden {
            writeln!(f, "      golden.json was rewritten:")?;
            indent(f, difference)?;
        }
        for Fault { what, detail, more, .. } in &self.faults {
            let more = if *more > 0 { format!(" ({more} more of this kind)") } else { String::new() };
            writeln!(f, "      {what}{more}")?;
            indent(f, detail)?;
        }
        Ok(())
    }
}

fn indent(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "        {line}"))
}

/// A duration with two significant digits.
fn shown(time: Duration) -> String {
    let (number, unit) =
        if time < Duration::from_secs(1) { (time.as_secs_f64() * 1000.0, "ms") } else { (time.as_secs_f64(), "s") };
    let digits = usize::from(number < 10.0);
    format!("{number:.digits$} {unit}")
}

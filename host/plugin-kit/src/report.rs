//! What `plugin check` found, for people and for machines.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use agentbay_domain::{Description, Framing, Outcome, PluginLimits};
use agentbay_plugin_host::LoadError;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::replay::Spent;
use super::subject::Subject;

/// What was found.
#[derive(Debug, Serialize)]
pub struct Report {
    file: PathBuf,
    /// Why the host would refuse it.
    refused: Option<String>,
    plugin: Option<About>,
    limits: Option<TimeLimits>,
    /// What is wrong with its command lines.
    pub(super) plans: BTreeSet<String>,
    pub(super) runs: Vec<Checked>,
}

/// What a plugin is and asks for.
#[derive(Debug, Serialize)]
pub(super) struct About {
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

/// What was found of one recorded run.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) events: usize,
    pub(super) outcome: Option<Outcome>,
    pub(super) golden: Golden,
    pub(super) faults: Vec<Fault>,
    #[serde(serialize_with = "spent", rename = "longest_us")]
    pub(super) spent: Spent,
}

/// What became of the comparison with what is expected.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Golden {
    /// It is the same.
    Same,
    /// It was written anew.
    Renewed { difference: String },
    /// A fault says why.
    NotCompared,
}

/// Something that should be otherwise.
#[derive(Debug, Serialize)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    /// In one line.
    pub(super) what: String,
    /// The rest, perhaps nothing.
    pub(super) detail: String,
    /// How many more of the kind were found.
    pub(super) more: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FaultKind {
    /// The plugin trapped, or ran into a limit.
    Trap,
    /// Events that the host drops, or that no client can use.
    Dropped,
    /// Other events when the output is cut in another way.
    Chunking,
    /// Finished, where the CLI had not said so.
    FalseFinish,
    /// Other events when another run goes on.
    Mixed,
    /// Other events than expected.
    Golden,
    /// Nobody said what is expected.
    NoGolden,
}

impl Report {
    pub(super) fn new(about: About, limits: PluginLimits) -> Self {
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

    /// Whether nothing is wrong.
    pub fn is_well(&self) -> bool {
        self.refused.is_none() && self.plans.is_empty() && self.runs.iter().all(Checked::is_well)
    }

    /// The report as one JSON document.
    pub fn to_json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        json["well"] = self.is_well().into();
        json
    }
}

impl About {
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

impl Checked {
    fn is_well(&self) -> bool {
        self.faults.is_empty()
    }
}

fn microseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

fn spent<S: Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Longest {
        #[serde(serialize_with = "microseconds")]
        call: Duration,
        #[serde(serialize_with = "microseconds")]
        run: Duration,
    }
    Longest { call: spent.longest_call, run: spent.all_calls }.serialize(serializer)
}

impl fmt::Display for Report {
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
        let (all, well) = (self.runs.len(), self.runs.iter().filter(|run| run.is_well()).count());
        let runs = if all == 0 {
            "no recorded runs were given".to_owned()
        } else {
            format!("{well} of {all} recorded runs are well")
        };
        let plans = if self.plans.is_empty() { "the command lines are well" } else { "the command lines are not well" };
        writeln!(f, "{plans}; {runs}")
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: &[String]| if items.is_empty() { "-".to_owned() } else { items.join(", ") };
        writeln!(f, "{} {} ({}) in {}", self.id, self.version, self.name, self.file.display())?;
        writeln!(f, "  sha256    {}", self.sha256)?;
        let programs =
            if self.programs.is_empty() { "what the model's `program` says".to_owned() } else { list(&self.programs) };
        writeln!(f, "  starts    {programs}")?;
        if let Some(home) = &self.home {
            writeln!(f, "  home      {home}, with {} of the user's", list(&self.home_files))?;
        }
        writeln!(f, "  output    {}", self.framing)?;
        writeln!(f, "  features  {}", list(&self.features))?;
        writeln!(f, "  models    {}", list(&self.models))
    }
}

impl Checked {
    fn show(&self, f: &mut fmt::Formatter<'_>, width: usize, limits: Option<&TimeLimits>) -> fmt::Result {
        let verdict = if self.is_well() { "ok   " } else { "WRONG" };
        let outcome = match &self.outcome {
            Some(Outcome::Finished { .. }) => "finished".to_owned(),
            Some(Outcome::Failed { failure, .. }) => format!("failed ({})", failure.category.name()),
            None => "no verdict".to_owned(),
        };
        write!(f, "{verdict} {:width$}  {} events, {outcome}", self.name, self.events)?;
        if let Some(limits) = limits {
            let (call, run) = (shown(self.spent.longest_call), shown(self.spent.all_calls));
            write!(f, "; a call {call} of {}, a run {run} of {} at the most", shown(limits.call), shown(limits.run))?;
        }
        writeln!(f)?;
        if let Golden::Renewed { difference } = &self.golden {
            writeln!(f, "      golden.json is renewed:")?;
            indent(f, difference)?;
        }
        for Fault { what, detail, more, .. } in &self.faults {
            let more = if *more > 0 { format!(" ({more} more of the kind)") } else { String::new() };
            writeln!(f, "      {what}{more}")?;
            indent(f, detail)?;
        }
        Ok(())
    }
}

fn indent(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "        {line}"))
}

/// Two digits say enough.
fn shown(time: Duration) -> String {
    let (number, unit) =
        if time < Duration::from_secs(1) { (time.as_secs_f64() * 1000.0, "ms") } else { (time.as_secs_f64(), "s") };
    let digits = usize::from(number < 10.0);
    format!("{number:.digits$} {unit}")
}

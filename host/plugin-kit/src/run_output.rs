//! The output of `plugin run`: the plan, the events and the end, one line each for people or as JSON.

use std::fmt;
use std::path::PathBuf;

use agentbay_domain::{Event, Outcome, Plan, PlanFile};
use agentbay_runs::{Ended, PluginFailed};
use serde::Serialize;
use serde_json::{Value, json};

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutput {
    /// The command that will be started.
    Plan(PlanSummary),
    /// An event of the plugin.
    Event(Event),
    /// The plugin failed. The rest is produced without it.
    PluginFailed(PluginFailed),
    /// The end of the turn.
    Ended(Ended),
}

/// A plan without the values of variables, which may be secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanSummary {
    program: String,
    /// The file that will be started, if it was found.
    file: Option<PathBuf>,
    args: Vec<String>,
    /// Variables that the plan sets.
    sets: Vec<String>,
    /// Variables that the plan removes.
    removes: Vec<String>,
    files: Vec<PlanFile>,
}

impl PlanSummary {
    pub(super) fn of(plan: &Plan, file: Option<PathBuf>) -> Self {
        let names = |is_set: bool| {
            let env = plan.env().iter().filter(|(_, value)| value.is_some() == is_set);
            env.map(|(name, _)| name.clone()).collect()
        };
        Self {
            program: plan.program().to_owned(),
            file,
            args: plan.args().to_vec(),
            sets: names(true),
            removes: names(false),
            files: plan.files().to_vec(),
        }
    }
}

impl RunOutput {
    /// The JSON form. Events have the form of `golden.json`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Plan(plan) => json!({ "plan": plan }),
            Self::Event(event) => serde_json::to_value(event).unwrap_or_default(),
            Self::PluginFailed(failed) => json!({ "plugin-failed": failed.to_string() }),
            Self::Ended(Ended { outcome, usage, usage_estimated }) => {
                json!({ "outcome": outcome, "usage": usage, "usage-estimated": usage_estimated })
            }
        }
    }
}

impl fmt::Display for RunOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(plan) => plan.fmt(f),
            Self::Event(event) => show_event(event, f),
            Self::PluginFailed(failed) => write!(f, "warning      {failed}"),
            Self::Ended(ended) => show_end(ended, f),
        }
    }
}

impl fmt::Display for PlanSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "program      {}", file.display())?,
            None => write!(f, "program      {} (not found)", self.program)?,
        }
        for arg in &self.args {
            write!(f, "\nargument     {arg:?}")?;
        }
        for name in &self.sets {
            write!(f, "\nvariable     {name}")?;
        }
        for name in &self.removes {
            write!(f, "\nvariable     {name}, removed")?;
        }
        for file in &self.files {
            write!(f, "\nfile         {} ({} bytes)", file.name(), file.text().len())?;
        }
        Ok(())
    }
}

/// Always one line: line ends are escaped.
fn show_event(event: &Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        Event::Text(text) => write!(f, "text         {text:?}"),
        Event::TextBreak => f.write_str("text-break"),
        Event::Reasoning(text) => write!(f, "reasoning    {text:?}"),
        Event::ToolCall(call) => write!(f, "tool-call    {} {:?} ({})", call.name, call.input, call.id),
        Event::ToolResult(result) => {
            let failed = if result.is_error { "failed " } else { "" };
            write!(f, "tool-result  {failed}{:?} ({})", result.output, result.id)
        }
        Event::Session(id) => write!(f, "session      {id:?}"),
        Event::Extra(extra) => write!(f, "extra        {} {}", extra.kind, extra.json.escape_debug()),
        Event::Usage(_) | Event::Notice(_) | Event::Reply(_) | Event::EndInput | Event::Done(_) => {
            write!(f, "other        {event:?}")
        }
    }
}

fn show_end(ended: &Ended, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let answer = match &ended.outcome {
        Outcome::Finished { answer, .. } => {
            f.write_str("finished")?;
            answer
        }
        Outcome::Failed { failure, answer } => {
            write!(f, "failed       {}: {}", failure.category.name(), failure.message)?;
            for line in failure.detail.lines() {
                write!(f, "\ndetail       {line}")?;
            }
            answer
        }
    };
    if let Some(answer) = answer {
        write!(f, "\nanswer       {answer:?}")?;
    }
    let usage = &ended.usage;
    write!(f, "\ntokens       {} in, {} out", usage.input, usage.output)?;
    if ended.usage_estimated { f.write_str(" (estimated: the CLI reported none)") } else { Ok(()) }
}

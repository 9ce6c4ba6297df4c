//! Constructors and accessors for the contract's values. `wit/agent.wit` defines their meaning.

use serde_json::Value;

use crate::{
    Category, Description, Event, Extra, Failure, Features, Framing, Level, Notice, Outcome, Plan, Probe, Stop, Turn,
};

/// The agent finished its turn. `answer` counts only if no text was emitted.
pub fn finished(answer: Option<String>) -> Outcome {
    Outcome { stop: Stop::EndTurn, failure: None, answer }
}

/// The turn failed.
pub fn failed(category: Category, message: impl Into<String>, detail: impl Into<String>) -> Outcome {
    Failure::new(category, message, detail).into()
}

/// A notice for the log.
pub fn notice(level: Level, message: impl Into<String>) -> Event {
    Event::Notice(Notice { level, message: message.into() })
}

/// Asks the host to keep reading for a moment after the end of the turn (`limits.late_output_timeout`), for a CLI that may report the end before
/// the last events. Emit it before `Event::Done`; later events, including another `Event::Done`, count until the time is over.
pub fn settle() -> Event {
    Event::Extra(Extra { kind: "settle".into(), json: "{}".into() })
}

/// Parses the option `args` of a model, a list of strings.
///
/// # Errors
/// `configuration` if it is anything else.
pub fn parse_arguments(value: &str) -> Result<Vec<String>, Failure> {
    value
        .parse::<Value>()
        .ok()
        .and_then(|list| list.as_array()?.iter().map(|item| item.as_str().map(String::from)).collect())
        .ok_or_else(|| invalid_option(format!("option `args` is `{value}`: allowed is a list of strings")))
}

/// The failure of a model with an invalid option.
pub fn invalid_option(message: String) -> Failure {
    Failure::new(Category::Configuration, message, "")
}

impl Failure {
    /// A failure without a retry hint. The host replaces an empty `detail` with standard error.
    pub fn new(category: Category, message: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { category, message: message.into(), detail: detail.into(), retry: None }
    }

    /// Adds login instructions to the message of an `authentication` failure. An empty hint adds nothing.
    pub fn add_login_hint(&mut self, hint: &str) {
        if self.category == Category::Authentication && !hint.is_empty() {
            self.message = format!("{}. To log in: {hint}", self.message);
        }
    }

    /// The failure with login instructions, as [`add_login_hint`](Self::add_login_hint).
    #[must_use]
    pub fn with_login_hint(mut self, hint: &str) -> Self {
        self.add_login_hint(hint);
        self
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self { stop: Stop::EndTurn, failure: Some(failure), answer: None }
    }
}

impl Description {
    /// A description with the fields that every plugin needs. All others are empty: set the ones that apply.
    pub fn new(id: &str, name: &str, version: &str, framing: Framing) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            version: version.into(),
            programs: Vec::new(),
            framing,
            features: Features::empty(),
            models: Vec::new(),
            probe: Probe {
                version_args: Vec::new(),
                tested_versions: String::new(),
                install_hint: String::new(),
                login_hint: String::new(),
            },
            home: None,
        }
    }
}

impl Turn {
    /// The value of `[models.NAME.options]` in proxy.toml with this name.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Plan {
    /// A plan for a program with these arguments.
    pub fn new<'a>(program: &str, args: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(String::from).collect(),
            env: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Adds one argument as is.
    #[must_use]
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds `name value`.
    ///
    /// # Errors
    /// `validation` if the value is empty or starts with a dash: the CLI could take it for an option.
    pub fn option(self, name: &str, value: &str) -> Result<Self, Failure> {
        self.arg(name).value(name, value)
    }

    /// Adds a positional value; `what` names it in the failure.
    ///
    /// # Errors
    /// As for [`option`](Self::option).
    pub fn value(self, what: &str, value: &str) -> Result<Self, Failure> {
        if value.is_empty() || value.starts_with('-') {
            let message = format!("`{value}` cannot be the value of {what}: it is empty or starts with a dash");
            return Err(Failure::new(Category::Validation, message, ""));
        }
        Ok(self.arg(value))
    }
}

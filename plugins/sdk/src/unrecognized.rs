//! Output that was not understood: its text, for an answer in plain text or the detail of a failure, and the kinds of its
//! objects, for a message that names them.

use serde_json::Value;

use crate::{Category, Failure, LastBlock, StderrTail, json};

/// Maximum number of kinds in a message.
const KINDS: usize = 5;

/// Maximum number of characters of a kind.
const KIND_CHARS: usize = 60;

/// Fields in which events name their kind.
const KIND_FIELDS: [&str; 5] = ["type", "role", "event", "method", "kind"];

/// The output that was not understood so far.
#[derive(Debug, Default)]
pub(crate) struct Unrecognized {
    kinds: Vec<String>,
    more_kinds: bool,
    /// The text, without events.
    plain: LastBlock,
    /// There is text outside objects.
    has_text: bool,
    /// The tail of all output.
    all: StderrTail,
}

impl Unrecognized {
    /// Adds text outside objects.
    pub(crate) fn text(&mut self, text: &str) {
        self.all.push(text);
        // An incomplete event is not an answer, like a complete one.
        if self.broken_event(text) {
            return;
        }
        self.plain.push(text);
        self.has_text |= !is_separator(text);
    }

    /// Whether a text is an incomplete event. Its kind is kept.
    pub(crate) fn broken_event(&mut self, text: &str) -> bool {
        let is_broken = text.trim_start().starts_with("{\"");
        if is_broken {
            self.kind(Some("an incomplete object"));
        }
        is_broken
    }

    /// Adds an object that is not an event of the CLI. Once there were events, only its kind matters.
    pub(crate) fn object(&mut self, event: &Value, source: &str, understood: bool) {
        let kind = KIND_FIELDS.iter().find_map(|field| json::non_empty_text(event, &[field]));
        self.kind(kind);
        if understood {
            return;
        }
        self.all.push(source);
        // An object with a kind is never an answer. One that spans several lines may be: code, or a file.
        if kind.is_none() || source.contains('\n') {
            self.plain.push(source);
        }
    }

    /// Discards the text, since events were understood.
    pub(crate) fn forget_text(&mut self) {
        self.plain = LastBlock::default();
        self.all = StderrTail::default();
        self.has_text = false;
    }

    /// The plain-text answer, if there is text outside objects.
    pub(crate) fn answer(&self) -> Option<String> {
        self.has_text.then(|| self.plain.block()).flatten()
    }

    /// Whether there is only white space.
    pub(crate) fn is_blank(&self) -> bool {
        self.all.text().trim_matches(['\u{feff}', ' ', '\r', '\n']).is_empty()
    }

    /// The kinds of the objects, for a message; empty if there was none.
    pub(crate) fn kinds(&self) -> String {
        let more = if self.more_kinds { " and others" } else { "" };
        let names: Vec<String> = self.kinds.iter().map(|kind| format!("`{kind}`")).collect();
        if names.is_empty() { String::new() } else { format!("{}{more}", names.join(", ")) }
    }

    /// The message for a CLI that printed nothing recognisable.
    pub(crate) fn message(&self, cli: &str) -> String {
        match self.kinds().as_str() {
            "" => format!("{cli} printed no known event"),
            kinds => format!("{cli} printed no known event, only {kinds}"),
        }
    }

    /// The failure of a turn that finished without text, if something unknown may have been it.
    pub(crate) fn failure(&self, cli: &str) -> Option<Failure> {
        let kinds = self.kinds();
        (!kinds.is_empty()).then(|| unknown_answer(cli, &kinds))
    }

    /// The detail of a failure: the error text, then the output.
    pub(crate) fn detail(&self, error_text: String) -> String {
        match self.all.text() {
            "" => error_text,
            all if error_text.is_empty() => all.to_owned(),
            all => format!("{error_text}\n{all}"),
        }
    }

    /// Records an unknown kind.
    pub(crate) fn kind(&mut self, kind: Option<&str>) {
        let kind: String = kind.unwrap_or("an object without a kind").chars().take(KIND_CHARS).collect();
        if self.kinds.contains(&kind) {
            return;
        }
        if self.kinds.len() < KINDS {
            self.kinds.push(kind);
        } else {
            self.more_kinds = true;
        }
    }
}

/// The failure of a turn whose text must be in events of these kinds.
pub(crate) fn unknown_answer(cli: &str, kinds: &str) -> Failure {
    Failure::new(Category::Unknown, format!("{cli} sent its answer in an unknown format: {kinds}"), "")
}

/// Whether a text consists of separators of array items only.
pub(crate) fn is_separator(text: &str) -> bool {
    text.chars().all(|sign| sign.is_whitespace() || matches!(sign, '[' | ']' | ',' | '\u{feff}'))
}

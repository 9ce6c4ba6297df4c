//! Owns what a CLI printed that was not understood: the text, for an answer in plain text or the detail of a failure, and the
//! kinds of the objects, for a message that says what was seen.

use serde_json::Value;

use crate::{Category, Failure, LastBlock, StderrTail, json};

/// How many kinds of objects are named.
const KINDS: usize = 5;

/// How much of a kind is shown.
const KIND_CHARS: usize = 60;

/// The fields by which events name their kind.
const KIND_FIELDS: [&str; 5] = ["type", "role", "event", "method", "kind"];

/// What was not understood so far.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    kinds: Vec<String>,
    more_kinds: bool,
    /// The text without the events in it.
    plain: LastBlock,
    /// There is text outside of objects.
    has_words: bool,
    /// The end of all that was printed.
    all: StderrTail,
}

impl Unread {
    /// Takes text that belongs to no object.
    pub(crate) fn text(&mut self, text: &str) {
        self.all.push(text);
        // An event that breaks off is no more an answer than a whole one.
        if self.broken_event(text) {
            return;
        }
        self.plain.push(text);
        self.has_words |= !is_glue(text);
    }

    /// Whether a text is an event that breaks off. Its kind is kept.
    pub(crate) fn broken_event(&mut self, text: &str) -> bool {
        let is_broken = text.trim_start().starts_with("{\"");
        if is_broken {
            self.kind(Some("an object that breaks off"));
        }
        is_broken
    }

    /// Takes an object that is none of the CLI's events. Once others were understood, only its kind is of interest.
    pub(crate) fn object(&mut self, event: &Value, source: &str, understood: bool) {
        let kind = KIND_FIELDS.iter().find_map(|field| json::some_text(event, &[field]));
        self.kind(kind);
        if understood {
            return;
        }
        self.all.push(source);
        // What looks like an event is never an answer. What goes over several lines may be one: code, or a file.
        if kind.is_none() || source.contains('\n') {
            self.plain.push(source);
        }
    }

    /// Forgets the text, for events were understood.
    pub(crate) fn forget_text(&mut self) {
        self.plain = LastBlock::default();
        self.all = StderrTail::default();
        self.has_words = false;
    }

    /// The answer in plain text, if there is more than objects.
    pub(crate) fn answer(&self) -> Option<String> {
        self.has_words.then(|| self.plain.block()).flatten()
    }

    /// Whether nothing was printed but white space.
    pub(crate) fn is_blank(&self) -> bool {
        self.all.text().trim_matches(['\u{feff}', ' ', '\r', '\n']).is_empty()
    }

    /// The kinds of objects that were seen, for a message; empty if there was none.
    pub(crate) fn kinds(&self) -> String {
        let more = if self.more_kinds { " and others" } else { "" };
        let names: Vec<String> = self.kinds.iter().map(|kind| format!("`{kind}`")).collect();
        if names.is_empty() { String::new() } else { format!("{}{more}", names.join(", ")) }
    }

    /// Of a CLI that printed only what is not known: what was seen.
    pub(crate) fn message(&self, cli: &str) -> String {
        match self.kinds().as_str() {
            "" => format!("{cli} printed nothing that is known here"),
            kinds => format!("{cli} printed nothing that is known here, only {kinds}"),
        }
    }

    /// The failure of a turn that ended well without a text, if something was not known that may have been it.
    pub(crate) fn lost(&self, cli: &str) -> Option<Failure> {
        let kinds = self.kinds();
        (!kinds.is_empty()).then(|| lost(cli, &kinds))
    }

    /// The detail of a failure: what the CLI said about it, and what it printed.
    pub(crate) fn detail(&self, said: String) -> String {
        match self.all.text() {
            "" => said,
            all if said.is_empty() => all.to_owned(),
            all => format!("{said}\n{all}"),
        }
    }

    /// Something of this kind is not known.
    pub(crate) fn kind(&mut self, kind: Option<&str>) {
        let kind: String = kind.unwrap_or("an object of no kind").chars().take(KIND_CHARS).collect();
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

/// The failure of a turn whose text must be in these kinds of events.
pub(crate) fn lost(cli: &str, kinds: &str) -> Failure {
    Failure::new(Category::Unknown, format!("{cli} told its answer in a form that is not known: {kinds}"), "")
}

/// Whether a text is only what stands between objects that are the items of an array.
pub(crate) fn is_glue(text: &str) -> bool {
    text.chars().all(|sign| sign.is_whitespace() || matches!(sign, '[' | ']' | ',' | '\u{feff}'))
}

//! The kinds of the values, for the message if none of them was understood.

use agentbay_plugin_sdk::{Value, json};

/// Maximum number of distinct kinds.
const KINDS: usize = 12;

/// Maximum number of characters of a kind and of the last value.
const KIND_CHARS: usize = 60;
const VALUE_CHARS: usize = 2000;

/// The values so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    kinds: Vec<(String, usize)>,
    others: usize,
    last: String,
}

impl Seen {
    /// Counts a value, and keeps the start of its text, which shows the user which path to configure.
    pub(crate) fn count(&mut self, value: &Value, source: &str) {
        self.last = source.chars().take(VALUE_CHARS).collect();
        let kind = kind(value);
        let is_full = self.kinds.len() == KINDS;
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None if is_full => self.others += 1,
            None => self.kinds.push((kind, 1)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The start of the last value.
    pub(crate) fn last(&self) -> &str {
        &self.last
    }

    /// The kinds, in order of appearance.
    pub(crate) fn kinds(&self) -> String {
        let mut kinds: Vec<String> = self
            .kinds
            .iter()
            .map(|(kind, count)| if *count == 1 { kind.clone() } else { format!("{kind} ({count} times)") })
            .collect();
        if self.others > 0 {
            kinds.push(format!("{} others", self.others));
        }
        kinds.join(", ")
    }
}

/// The `type` of a value, also that of the `event` in it; else its fields.
fn kind(value: &Value) -> String {
    let name = json::text(value, &["type"]).or_else(|| json::text(value, &["role"])).map(str::to_owned);
    let inner = json::text(value, &["event", "type"]);
    let kind = match (name, inner) {
        (Some(name), Some(inner)) => format!("`{name}` with `{inner}`"),
        (Some(name), None) => format!("`{name}`"),
        (None, _) => {
            let fields: Vec<&str> =
                value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).take(8).collect();
            format!("an object of `{}`", fields.join("`, `"))
        }
    };
    kind.chars().take(KIND_CHARS).collect()
}

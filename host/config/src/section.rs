//! Reads a table of a settings file key by key, so that all faults are reported and not only the first. The keys of a section
//! are in the file of that section.

use std::collections::BTreeMap;

use strsim::levenshtein;

use super::fault::FaultReport;
use super::renamed::new_name;
use super::tree::{Node, Table, Value};

/// A table of the file; empty if the file has no such table.
pub(super) struct Section<'a> {
    key: String,
    line: Option<usize>,
    rest: BTreeMap<&'a str, &'a Node>,
    known: Vec<&'static str>,
    report: &'a FaultReport,
}

/// A value of the file.
pub(super) struct Item<'a> {
    /// Its path of keys.
    key: String,
    line: usize,
    value: &'a Value,
    report: &'a FaultReport,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn root(table: Option<&'a Table>, report: &'a FaultReport) -> Self {
        Self::new(String::new(), None, table, report)
    }

    fn new(key: String, line: Option<usize>, table: Option<&'a Table>, report: &'a FaultReport) -> Self {
        let rest = table.into_iter().flatten().map(|(key, node)| (key.as_str(), node)).collect();
        Self { key, line, rest, known: Vec::new(), report }
    }

    /// Takes the value of a key, if it is set.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.known.push(key);
        let node = self.rest.remove(key)?;
        Some(Item { key: join(&self.key, key), line: node.line, value: &node.value, report: self.report })
    }

    /// Takes the value of a required key; reports a fault if it is missing.
    pub(super) fn require(&mut self, key: &'static str, why: &str) -> Option<Item<'a>> {
        let item = self.take(key);
        if item.is_none() {
            self.fault(key, format!("is missing: {why}"));
        }
        item
    }

    /// Takes the table of a key; an empty one if it is not set.
    pub(super) fn section(&mut self, key: &'static str) -> Section<'a> {
        let section = self.take(key).and_then(|item| item.section());
        section.unwrap_or_else(|| Section::new(join(&self.key, key), None, None, self.report))
    }

    /// Takes the remaining tables, for a section that has tables of any name.
    pub(super) fn tables(&mut self) -> impl Iterator<Item = (&'a str, Item<'a>)> {
        let (tables, rest) = std::mem::take(&mut self.rest)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(_, node)| matches!(node.value, Value::Table(_)));
        self.rest = rest;
        items(self.key.clone(), tables, self.report)
    }

    /// The remaining items, for a section with keys of any name.
    pub(super) fn into_items(self) -> impl Iterator<Item = (&'a str, Item<'a>)> {
        let Self { key: parent, rest, report, .. } = self;
        items(parent, rest, report)
    }

    /// Reports a fault of a key that the section does not set.
    pub(super) fn fault(&self, key: &str, message: impl Into<String>) {
        self.report.add(self.line, &join(&self.key, key), message);
    }

    /// Reports each key that was not taken as a fault.
    pub(super) fn finish(mut self) {
        self.known.sort_unstable();
        for (key, node) in &self.rest {
            let message = format!("unknown key: {}", self.advice(key));
            self.report.add(Some(node.line), &join(&self.key, key), message);
        }
    }

    /// Returns what to write instead of an unknown key.
    fn advice(&self, key: &str) -> String {
        if let Some(new) = new_name(key, &self.known) {
            return format!("it is called `{}` now", join(&self.key, new));
        }
        let close = self.known.iter().map(|known| (levenshtein(key, known), known)).min();
        match close {
            Some((distance, known)) if distance <= 2 && distance < known.len() / 2 => {
                format!("did you mean `{known}`?")
            }
            _ => format!("the keys here are `{}`", self.known.join("`, `")),
        }
    }
}

fn items<'a>(
    parent: String,
    nodes: BTreeMap<&'a str, &'a Node>,
    report: &'a FaultReport,
) -> impl Iterator<Item = (&'a str, Item<'a>)> {
    let item = move |(key, node): (&'a str, &'a Node)| {
        (key, Item { key: join(&parent, key), line: node.line, value: &node.value, report })
    };
    nodes.into_iter().map(item)
}

impl<'a> Item<'a> {
    /// The value.
    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// Reports a fault of the value.
    pub(super) fn fault(&self, message: impl Into<String>) {
        self.report.add(Some(self.line), &self.key, message);
    }

    /// Reports that the value has the wrong type. The value itself is not shown.
    pub(super) fn wrong_type(&self, expected: &str) {
        self.fault(format!("expected {expected}, found {}", self.value.kind()));
    }

    /// A string, which may be empty. A NUL is a fault, since the operating system accepts none.
    pub(super) fn text(&self) -> Option<&'a str> {
        let Value::Text(text) = self.value else {
            self.wrong_type("a string");
            return None;
        };
        if text.contains('\0') {
            self.fault("contains a NUL character");
            return None;
        }
        Some(text)
    }

    /// A string that is not empty.
    pub(super) fn full_text(&self) -> Option<&'a str> {
        let text = self.text()?;
        if text.is_empty() {
            self.fault("is empty: give it a value or leave the key out");
            return None;
        }
        Some(text)
    }

    /// True or false.
    pub(super) fn flag(&self) -> Option<bool> {
        if let Value::Bool(value) = self.value {
            return Some(*value);
        }
        self.wrong_type("true or false");
        None
    }

    /// A list.
    pub(super) fn list(&self) -> Option<impl Iterator<Item = Item<'a>> + use<'a>> {
        let Value::List(nodes) = self.value else {
            self.wrong_type("a list");
            return None;
        };
        let (key, report) = (self.key.clone(), self.report);
        Some(nodes.iter().enumerate().map(move |(at, node)| Item {
            key: format!("{key}[{at}]"),
            line: node.line,
            value: &node.value,
            report,
        }))
    }

    /// A table.
    pub(super) fn section(&self) -> Option<Section<'a>> {
        let Value::Table(table) = self.value else {
            self.wrong_type("a table");
            return None;
        };
        Some(Section::new(self.key.clone(), Some(self.line), Some(table), self.report))
    }
}

/// A path of keys, quoted where TOML requires it.
pub(super) fn join(parent: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if parent.is_empty() { key } else { format!("{parent}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_bare_is_quoted() {
        assert_eq!(join("", "models"), "models");
        assert_eq!(join("models", "gpt-5"), "models.gpt-5");
        assert_eq!(join("models", "a/b.c:d"), "models.\"a/b.c:d\"");
        assert_eq!(join("models", "a\nb"), "models.\"a\\nb\"");
        assert_eq!(join("models", ""), "models.\"\"");
    }
}

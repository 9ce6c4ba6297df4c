//! Reading a table of the file key by key, so that every fault is told and not only the first. What the keys of which
//! section are is known to that section's file.

use std::collections::BTreeMap;

use strsim::levenshtein;

use super::fault::Report;
use super::tree::{Node, Table, Value};

/// A table of the file, or one that is not there.
pub(super) struct Section<'a> {
    key: String,
    line: Option<usize>,
    rest: BTreeMap<&'a str, &'a Node>,
    known: Vec<&'static str>,
    report: &'a Report,
}

/// A value of the file.
pub(super) struct Item<'a> {
    /// Its path of keys.
    key: String,
    line: usize,
    value: &'a Value,
    report: &'a Report,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn root(table: Option<&'a Table>, report: &'a Report) -> Self {
        Self::new(String::new(), None, table, report)
    }

    fn new(key: String, line: Option<usize>, table: Option<&'a Table>, report: &'a Report) -> Self {
        let rest = table.into_iter().flatten().map(|(key, node)| (key.as_str(), node)).collect();
        Self { key, line, rest, known: Vec::new(), report }
    }

    /// What stands under a key of the section, if anything does.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.known.push(key);
        let node = self.rest.remove(key)?;
        Some(Item { key: join(&self.key, key), line: node.line, value: &node.value, report: self.report })
    }

    /// The same of a key that has to be there; it is a fault if it is not.
    pub(super) fn require(&mut self, key: &'static str, why: &str) -> Option<Item<'a>> {
        let item = self.take(key);
        if item.is_none() {
            self.fault(key, format!("is missing: {why}"));
        }
        item
    }

    /// The section under a key; an empty one if it is not there.
    pub(super) fn section(&mut self, key: &'static str) -> Section<'a> {
        let section = self.take(key).and_then(|item| item.section());
        section.unwrap_or_else(|| Section::new(join(&self.key, key), None, None, self.report))
    }

    /// The tables among what is left, for a section in which there may be some of any name.
    pub(super) fn tables(&mut self) -> impl Iterator<Item = (&'a str, Item<'a>)> {
        let (tables, rest) = std::mem::take(&mut self.rest)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(_, node)| matches!(node.value, Value::Table(_)));
        self.rest = rest;
        items(self.key.clone(), tables, self.report)
    }

    /// What is left, for a section whose keys are free to choose.
    pub(super) fn into_items(self) -> impl Iterator<Item = (&'a str, Item<'a>)> {
        let Self { key: parent, rest, report, .. } = self;
        items(parent, rest, report)
    }

    /// Notes a fault of a key that is not in the section.
    pub(super) fn fault(&self, key: &str, message: impl Into<String>) {
        self.report.add(self.line, &join(&self.key, key), message);
    }

    /// Every key that was not asked for is a fault.
    pub(super) fn finish(mut self) {
        self.known.sort_unstable();
        for (key, node) in &self.rest {
            let close = self.known.iter().map(|known| (levenshtein(key, known), known)).min();
            let message = match close {
                Some((distance, known)) if distance <= 2 && distance < known.len() / 2 => {
                    format!("unknown key: did you mean `{known}`?")
                }
                _ => format!("unknown key: known here are `{}`", self.known.join("`, `")),
            };
            self.report.add(Some(node.line), &join(&self.key, key), message);
        }
    }
}

fn items<'a>(
    parent: String,
    nodes: BTreeMap<&'a str, &'a Node>,
    report: &'a Report,
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

    /// Notes a fault of the value.
    pub(super) fn fault(&self, message: impl Into<String>) {
        self.report.add(Some(self.line), &self.key, message);
    }

    /// Notes that the value is of the wrong type. The value itself is not shown.
    pub(super) fn wrong_type(&self, expected: &str) {
        self.fault(format!("expected {expected}, found {}", self.value.kind()));
    }

    /// A string, which may be empty. None may have a NUL in it, as the operating system takes none.
    pub(super) fn text(&self) -> Option<&'a str> {
        let Value::Text(text) = self.value else {
            self.wrong_type("a string");
            return None;
        };
        if text.contains('\0') {
            self.fault("has a NUL character in it");
            return None;
        }
        Some(text)
    }

    /// A string with something in it.
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

/// A path of keys, with quotes where TOML wants them.
pub(super) fn join(parent: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if parent.is_empty() { key } else { format!("{parent}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_no_bare_one_is_quoted() {
        assert_eq!(join("", "models"), "models");
        assert_eq!(join("models", "gpt-5"), "models.gpt-5");
        assert_eq!(join("models", "a/b.c:d"), "models.\"a/b.c:d\"");
        assert_eq!(join("models", "a\nb"), "models.\"a\\nb\"");
        assert_eq!(join("models", ""), "models.\"\"");
    }
}

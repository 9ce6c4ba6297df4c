//! What the settings files were like when they were read, and what a change of them takes away. A file that is being
//! written may be valid and still say less than it will.

use std::collections::BTreeSet;

use agentbay_domain::Sha256Sum;

use super::section::join;
use super::tree::{Table, Value};

/// What both files were like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    pub(super) settings: Option<SeenFile>,
    pub(super) registry: Option<SeenFile>,
}

/// What one file was like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenFile {
    /// The hash of its bytes.
    content: Sha256Sum,
    /// Every key in it, as a path of keys.
    keys: BTreeSet<String>,
}

impl SeenFile {
    pub(super) fn of(content: &[u8], table: &Table) -> Self {
        let mut keys = BTreeSet::new();
        collect(table, "", &mut keys);
        Self { content: Sha256Sum::of(content), keys }
    }

    /// Nothing is set in it.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl Seen {
    /// The keys that were set before and are not any more, without those below a table that is gone as a whole.
    pub fn lost_since(&self, before: &Self) -> Vec<String> {
        let files = [(&before.settings, &self.settings), (&before.registry, &self.registry)];
        let keys = |file: &Option<SeenFile>| file.as_ref().map(|file| file.keys.clone()).unwrap_or_default();
        files.into_iter().flat_map(|(before, now)| topmost(&keys(before), &keys(now))).collect()
    }
}

fn collect(table: &Table, parent: &str, keys: &mut BTreeSet<String>) {
    for (name, node) in table {
        let key = join(parent, name);
        if let Value::Table(inner) = &node.value {
            collect(inner, &key, keys);
        }
        keys.insert(key);
    }
}

fn topmost(before: &BTreeSet<String>, now: &BTreeSet<String>) -> Vec<String> {
    let mut lost: Vec<String> = Vec::new();
    for key in before.difference(now) {
        let is_below = |top: &String| key.strip_prefix(top.as_str()).is_some_and(|rest| rest.starts_with('.'));
        if !lost.iter().any(is_below) {
            lost.push(key.clone());
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::super::tree::from_toml;
    use super::*;

    fn seen(text: &str) -> Seen {
        let table = from_toml(text).unwrap();
        Seen { settings: Some(SeenFile::of(text.as_bytes(), &table)), registry: None }
    }

    #[test]
    fn what_is_not_set_any_more_is_lost() {
        let before = "server.api_keys = [\"k\"]\n[models.a]\ndriver = \"echo\"\npermission = \"read-only\"\n\
                      env = { A = \"1\" }\n[models.a-b]\ndriver = \"echo\"\n";
        let lost = |now: &str| seen(now).lost_since(&seen(before));
        assert_eq!(lost(before), [""; 0]);
        assert_eq!(lost(&format!("{before}repo = \".\"\n")), [""; 0]);
        assert_eq!(lost(""), ["models", "server"]);
        let kept = before.replace("permission = \"read-only\"\n", "").replace("{ A = \"1\" }", "{}");
        assert_eq!(lost(&kept), ["models.a.env.A", "models.a.permission"]);
        assert_eq!(lost(&before.replace("models.a]", "models.b]")), ["models.a"]);
    }

    #[test]
    fn a_value_that_changes_is_another_content_and_nothing_is_lost() {
        let [one, other] = ["a = 1", "a = 2"].map(seen);
        assert_ne!(one, other);
        assert_eq!(other.lost_since(&one), [""; 0]);
    }
}

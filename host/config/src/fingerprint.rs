//! Fingerprints of the settings files, and the keys that a change removes. A file that is being written can be valid before
//! it is complete.

use std::collections::BTreeSet;

use agentbay_domain::Sha256Sum;

use super::section::join;
use super::tree::{Table, Value};

/// Fingerprints of both files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprints {
    pub(super) settings: Option<FileFingerprint>,
    pub(super) registry: Option<FileFingerprint>,
}

/// The fingerprint of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileFingerprint {
    /// The hash of its bytes.
    content: Sha256Sum,
    /// Every key of the file, as a path of keys.
    keys: BTreeSet<String>,
}

impl FileFingerprint {
    pub(super) fn of(content: &[u8], table: &Table) -> Self {
        let mut keys = BTreeSet::new();
        collect(table, "", &mut keys);
        Self { content: Sha256Sum::of(content), keys }
    }

    /// Returns whether the file sets nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl Fingerprints {
    /// The keys that were removed since `before`, without those below a removed table.
    pub fn removed_since(&self, before: &Self) -> Vec<String> {
        let files = [(&before.settings, &self.settings), (&before.registry, &self.registry)];
        let keys = |file: &Option<FileFingerprint>| file.as_ref().map(|file| file.keys.clone()).unwrap_or_default();
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
    let mut removed: Vec<String> = Vec::new();
    for key in before.difference(now) {
        let is_below = |top: &String| key.strip_prefix(top.as_str()).is_some_and(|rest| rest.starts_with('.'));
        if !removed.iter().any(is_below) {
            removed.push(key.clone());
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::super::tree::from_toml;
    use super::*;

    fn fingerprints(text: &str) -> Fingerprints {
        let table = from_toml(text).unwrap();
        Fingerprints { settings: Some(FileFingerprint::of(text.as_bytes(), &table)), registry: None }
    }

    #[test]
    fn a_key_that_is_no_longer_set_is_removed() {
        let before = "server.api_keys = [\"k\"]\n[models.a]\ndriver = \"echo\"\npermission = \"read-only\"\n\
                      env = { A = \"1\" }\n[models.a-b]\ndriver = \"echo\"\n";
        let removed = |now: &str| fingerprints(now).removed_since(&fingerprints(before));
        assert_eq!(removed(before), [""; 0]);
        assert_eq!(removed(&format!("{before}repo = \".\"\n")), [""; 0]);
        assert_eq!(removed(""), ["models", "server"]);
        let kept = before.replace("permission = \"read-only\"\n", "").replace("{ A = \"1\" }", "{}");
        assert_eq!(removed(&kept), ["models.a.env.A", "models.a.permission"]);
        assert_eq!(removed(&before.replace("models.a]", "models.b]")), ["models.a"]);
    }

    #[test]
    fn a_changed_value_changes_the_fingerprint_and_removes_no_key() {
        let [one, other] = ["a = 1", "a = 2"].map(fingerprints);
        assert_ne!(one, other);
        assert_eq!(other.removed_since(&one), [""; 0]);
    }
}

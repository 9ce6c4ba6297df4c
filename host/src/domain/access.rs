//! Who may use the server: the keys it knows, by their digests, the names it answers to, and the pages it lets in.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Who may use the server.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Access {
    keys: Vec<[u8; 32]>,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// Keeps the digests of the keys, not the keys, and the names of hosts and origins in lower case.
    pub fn new<'a>(
        keys: impl IntoIterator<Item = &'a str>,
        hosts: impl IntoIterator<Item = &'a str>,
        origins: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self {
            keys: keys.into_iter().map(digest).collect(),
            hosts: hosts.into_iter().map(str::to_ascii_lowercase).collect(),
            origins: origins.into_iter().map(str::to_ascii_lowercase).collect(),
        }
    }

    /// Whether a key is asked for at all.
    pub fn needs_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether the key is one of those known. Takes as long for a wrong key as for a right one.
    pub fn knows(&self, key: &str) -> bool {
        let given = digest(key);
        let found = self.keys.iter().fold(subtle::Choice::from(0), |found, known| found | known.ct_eq(&given));
        found.into()
    }

    /// Whether every key of another one is among these.
    pub fn knows_all_of(&self, other: &Self) -> bool {
        other.keys.iter().all(|key| self.keys.contains(key))
    }

    /// Host names, with or without a port, to answer to besides the listen address.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Whether pages of this origin may use the server.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

/// Without the digests: a key that is short can be found by its digest.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, hosts, origins } = self;
        let keys = keys.len();
        f.debug_struct("Access").field("keys", &keys).field("hosts", hosts).field("origins", origins).finish()
    }
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_key_opens() {
        let access = Access::new(["one", "two"], [], []);
        assert!(access.needs_key());
        assert!(access.knows("one") && access.knows("two"));
        assert!(!access.knows("") && !access.knows("One") && !access.knows("onetwo"));
    }

    #[test]
    fn a_key_that_is_gone_is_noticed_and_none_is_shown() {
        let access = |keys: &[&str]| Access::new(keys.iter().copied(), ["box"], []);
        assert!(access(&["a", "b"]).knows_all_of(&access(&["b"])));
        assert!(!access(&["a"]).knows_all_of(&access(&["b"])));
        assert!(access(&["a"]).knows_all_of(&access(&[])));
        assert_eq!(format!("{:?}", access(&["a", "b"])), "Access { keys: 2, hosts: [\"box\"], origins: [] }");
    }

    #[test]
    fn without_keys_none_is_asked_for() {
        assert!(!Access::default().needs_key());
        assert!(!Access::default().knows(""));
    }
}

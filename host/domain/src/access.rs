//! Who may use the server, as the settings say it: the keys, by their digests, the names that it answers to, and the pages that it lets in. How
//! a request is checked against it, and a key compared, is the surfaces'.

use std::fmt;

use crate::Sha256Sum;

/// Who may use the server.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Access {
    keys: Vec<Sha256Sum>,
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
            keys: keys.into_iter().map(|key| Sha256Sum::of(key.as_bytes())).collect(),
            hosts: hosts.into_iter().map(str::to_ascii_lowercase).collect(),
            origins: origins.into_iter().map(str::to_ascii_lowercase).collect(),
        }
    }

    /// Whether a key is asked for at all.
    pub fn needs_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The digests of the keys.
    pub fn keys(&self) -> &[Sha256Sum] {
        &self.keys
    }

    /// Whether every key of another one is among these.
    pub fn has_all_keys_of(&self, other: &Self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_gone_is_noticed_and_none_is_shown() {
        let access = |keys: &[&str]| Access::new(keys.iter().copied(), ["box"], []);
        assert!(access(&["a", "b"]).has_all_keys_of(&access(&["b"])));
        assert!(!access(&["a"]).has_all_keys_of(&access(&["b"])));
        assert!(access(&["a"]).has_all_keys_of(&access(&[])));
        assert_eq!(format!("{:?}", access(&["a", "b"])), "Access { keys: 2, hosts: [\"box\"], origins: [] }");
    }

    #[test]
    fn without_keys_none_is_asked_for() {
        assert!(!Access::default().needs_key());
        assert!(Access::new(["one"], [], []).needs_key());
    }
}

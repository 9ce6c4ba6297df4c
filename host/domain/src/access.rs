//! Access rules from the settings: API keys (as digests), accepted host names and allowed origins. Checking a request
//! against them, and comparing a key, belongs to the `api` crate.

use std::fmt;

use crate::Sha256Sum;

/// The rules for who may use the server.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Access {
    keys: Vec<Sha256Sum>,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// Stores the digests of the keys, not the keys, and hosts and origins in lower case.
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

    /// Returns whether requests need a key.
    pub fn requires_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The digests of the keys.
    pub fn key_digests(&self) -> &[Sha256Sum] {
        &self.keys
    }

    /// Returns whether every key of `other` is also a key here.
    pub fn has_all_keys_of(&self, other: &Self) -> bool {
        other.keys.iter().all(|key| self.keys.contains(key))
    }

    /// Host names, with or without a port, that are accepted besides the listen address.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns whether pages of this origin may use the server.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

/// Omits the digests: a short key can be guessed from its digest.
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
    fn removed_keys_are_detected_and_debug_output_shows_none() {
        let access = |keys: &[&str]| Access::new(keys.iter().copied(), ["box"], []);
        assert!(access(&["a", "b"]).has_all_keys_of(&access(&["b"])));
        assert!(!access(&["a"]).has_all_keys_of(&access(&["b"])));
        assert!(access(&["a"]).has_all_keys_of(&access(&[])));
        assert_eq!(format!("{:?}", access(&["a", "b"])), "Access { keys: 2, hosts: [\"box\"], origins: [] }");
    }

    #[test]
    fn a_key_is_required_only_if_one_is_configured() {
        assert!(!Access::default().requires_key());
        assert!(Access::new(["one"], [], []).requires_key());
    }
}

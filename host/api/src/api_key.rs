//! The comparison of API keys.

use agentbay_domain::{Access, Sha256Sum};
use subtle::{Choice, ConstantTimeEq};

/// Returns whether the key is a known one, in the same time for wrong and right keys.
pub(super) fn is_known(access: &Access, key: &str) -> bool {
    let given = Sha256Sum::of(key.as_bytes());
    let same = |known: &Sha256Sum| known.as_bytes().ct_eq(given.as_bytes());
    access.key_digests().iter().fold(Choice::from(0), |found, known| found | same(known)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_key_is_accepted() {
        let access = Access::new(["one", "two"], [], []);
        assert!(is_known(&access, "one") && is_known(&access, "two"));
        assert!(!["", "One", "onetwo"].iter().any(|wrong| is_known(&access, wrong)));
        assert!(!is_known(&Access::default(), ""));
    }
}

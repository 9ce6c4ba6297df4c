//! The comparison of API keys.

use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// Whether the key is one of those known. Takes as long for a wrong key as for a right one.
pub(super) fn is_known(known: &[String], given: &str) -> bool {
    let given = digest(given);
    let found = known.iter().fold(Choice::from(0), |found, known| found | digest(known).ct_eq(&given));
    found.into()
}

/// Of one length, whatever the key's is.
fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_key_opens() {
        let known = ["one", "two"].map(str::to_owned);
        assert!(is_known(&known, "one") && is_known(&known, "two"));
        assert!(!["", "One", "onetwo"].iter().any(|wrong| is_known(&known, wrong)));
        assert!(!is_known(&[], ""));
    }
}

//! By what a request is known again: its `Idempotency-Key`, or that an SDK says it sends it once more.
//!
//! The SDKs made by Stainless, OpenAI's among them, repeat a request by themselves when a connection breaks, and count
//! the repetitions in `x-stainless-retry-count`.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};

use crate::run::Claim;

const KEY: &str = "idempotency-key";
const RETRY_COUNT: &str = "x-stainless-retry-count";

/// What a request may be known by, if it may be sent again.
pub(super) fn of(headers: &HeaderMap, body: &[u8]) -> Option<Claim> {
    let credential = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let session = headers.get("x-agent-session").map(|value| value.as_bytes()).unwrap_or_default();
    let body = digest(&[session, body]);
    if let Some(key) = headers.get(KEY) {
        return Some(Claim { key: digest(&[credential, key.as_bytes()]), body, joins: true });
    }
    let count = headers.get(RETRY_COUNT)?.to_str().ok()?.parse::<u32>().ok()?;
    Some(Claim { key: digest(&[credential, &body]), body, joins: count > 0 })
}

/// A digest in which no part can pass for the beginning of the next.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(headers: &[(&'static str, &'static str)], body: &str) -> Option<Claim> {
        let headers = headers.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        of(&headers.collect(), body.as_bytes())
    }

    #[test]
    fn only_a_request_that_may_come_again_is_known_again() {
        assert_eq!(claim(&[], "a"), None);
        assert_eq!(claim(&[(RETRY_COUNT, "x")], "a"), None);
        let joins = |headers: &[(&'static str, &'static str)]| claim(headers, "a").unwrap().joins;
        assert_eq!(
            [joins(&[(RETRY_COUNT, "0")]), joins(&[(RETRY_COUNT, "1")]), joins(&[(KEY, "k")])],
            [false, true, true]
        );
    }

    #[test]
    fn another_client_a_new_key_or_another_body_is_another_request() {
        let one = claim(&[(KEY, "k"), ("authorization", "Bearer a")], "a").unwrap();
        let other = |headers: &[(&'static str, &'static str)], body| claim(headers, body).unwrap();
        assert_eq!(other(&[(KEY, "k"), ("authorization", "Bearer a")], "a"), one);
        assert_ne!(other(&[(KEY, "k"), ("authorization", "Bearer b")], "a").key, one.key);
        assert_ne!(other(&[(KEY, "l"), ("authorization", "Bearer a")], "a").key, one.key);
        let changed = other(&[(KEY, "k"), ("authorization", "Bearer a")], "b");
        assert_eq!((changed.key == one.key, changed.body == one.body), (true, false));
        assert_ne!(other(&[(RETRY_COUNT, "1")], "a").key, other(&[(RETRY_COUNT, "1")], "b").key);
    }
}

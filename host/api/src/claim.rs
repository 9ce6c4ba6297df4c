//! By what a request is known again: who asks what, its `Idempotency-Key`, or that its client says it sends it once more.
//!
//! The SDKs made by Stainless, OpenAI's among them, repeat a request by themselves when a connection breaks, and count
//! the repetitions in `x-stainless-retry-count`; others, and proxies on the way, count in headers of their own.

use agentbay_runs::{Claim, Identity};
use axum::http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};

const KEY: &str = "idempotency-key";

/// Asks for a run, whatever is remembered of the same request.
const RERUN: &str = "x-agentbay-rerun";

/// Headers in which tries are counted, and what the first one is.
const COUNTS: [(&str, u32); 6] = [
    ("x-stainless-retry-count", 0),
    ("x-retry-count", 0),
    ("x-retry-attempt", 0),
    ("grpc-previous-rpc-attempts", 0),
    ("x-envoy-attempt-count", 1),
    ("amz-sdk-request", 1),
];

/// What a request is, and what it may be known by if it may be sent again.
pub(super) fn of(headers: &HeaderMap, body: &[u8]) -> Identity {
    let bytes = |name: &str| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    let credential = bytes(header::AUTHORIZATION.as_str());
    let body = digest(&[bytes("x-agent-session"), body]);
    let request = digest(&[credential, &body]);
    let count = COUNTS.iter().find_map(|(name, first)| Some(count(headers.get(*name)?)?.saturating_sub(*first)));
    let repeated = count.is_some_and(|count| count > 0);
    let anew = headers.get(RERUN).is_some_and(|value| !matches!(value.as_bytes(), b"false" | b"0" | b""));
    let claim = match headers.get(KEY) {
        Some(key) => Some(Claim { key: digest(&[credential, key.as_bytes()]), body, joins: !anew }),
        None => count.map(|_| Claim { key: request, body, joins: repeated && !anew }),
    };
    Identity { request, claim, repeated, anew }
}

/// The number in a header: it stands alone, or as `attempt=2; max=3`.
fn count(value: &HeaderValue) -> Option<u32> {
    let value = value.to_str().ok()?;
    let attempt = value.split(';').find_map(|part| part.trim().strip_prefix("attempt="));
    attempt.unwrap_or(value).trim().parse().ok()
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

    const RETRY_COUNT: &str = "x-stainless-retry-count";

    fn identity(headers: &[(&'static str, &'static str)], body: &str) -> Identity {
        let headers = headers.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        of(&headers.collect(), body.as_bytes())
    }

    fn claim(headers: &[(&'static str, &'static str)], body: &str) -> Option<Claim> {
        identity(headers, body).claim
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
    fn a_repetition_is_known_by_any_of_the_headers_that_count_it() {
        for (name, first, second) in [
            (RETRY_COUNT, "0", "1"),
            ("x-retry-count", "0", "2"),
            ("x-envoy-attempt-count", "1", "2"),
            ("grpc-previous-rpc-attempts", "0", "1"),
            ("amz-sdk-request", "attempt=1; max=3", "attempt=2; max=3"),
        ] {
            let repeated = [first, second].map(|value| identity(&[(name, value)], "a").repeated);
            assert_eq!(repeated, [false, true], "{name}");
        }
        assert!(!identity(&[], "a").repeated);
    }

    #[test]
    fn a_request_is_told_apart_by_who_asks_what_in_which_session() {
        let request = |headers: &[(&'static str, &'static str)], body| identity(headers, body).request;
        let one = request(&[], "a");
        assert_eq!(request(&[(RETRY_COUNT, "1"), (RERUN, "true")], "a"), one);
        for other in [
            request(&[], "b"),
            request(&[("authorization", "Bearer x")], "a"),
            request(&[("x-agent-session", "s")], "a"),
        ] {
            assert_ne!(other, one);
        }
        let again = claim(&[(KEY, "k"), (RERUN, "true")], "a").unwrap();
        assert_eq!((again.joins, Some(again.key)), (false, claim(&[(KEY, "k")], "a").map(|claim| claim.key)));
        assert_eq!([identity(&[(RERUN, "true")], "a").anew, identity(&[(RERUN, "false")], "a").anew], [true, false]);
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

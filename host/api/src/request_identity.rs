//! The identity of a request, by which a repetition is recognised: credential and body, its `Idempotency-Key`, or a header in
//! which its client counts repetitions.
//!
//! SDKs made by Stainless, OpenAI's among them, repeat a request by themselves when a connection breaks, and count the
//! repetitions in `x-stainless-retry-count`; other clients and proxies count in headers of their own.

use agentbay_runs::{Identity, RequestKey};
use axum::http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};

use super::credential;

const KEY: &str = "idempotency-key";

/// Asks for a run although a failure of the same request is remembered.
const RERUN: &str = "x-agentbay-rerun";

/// Headers that count attempts, with the count of the first one.
const COUNTS: [(&str, u32); 6] = [
    ("x-stainless-retry-count", 0),
    ("x-retry-count", 0),
    ("x-retry-attempt", 0),
    ("grpc-previous-rpc-attempts", 0),
    ("x-envoy-attempt-count", 1),
    ("amz-sdk-request", 1),
];

/// Returns the identity of a request, with a key if the request may be repeated.
pub(super) fn of(headers: &HeaderMap, body: &[u8]) -> Identity {
    of_parts(headers, &[body])
}

/// Returns the identity of a request that other parts than its body determine as well.
pub(super) fn of_parts(headers: &HeaderMap, parts: &[&[u8]]) -> Identity {
    let bytes = |name: &str| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    let credential = &credential::bytes(headers)[..];
    let body = digest(&[&[bytes("x-agent-session")], parts].concat());
    let request = digest(&[credential, &body]);
    let count = COUNTS.iter().find_map(|(name, first)| Some(count(headers.get(*name)?)?.saturating_sub(*first)));
    let repeated = count.is_some_and(|count| count > 0);
    let rerun = headers.get(RERUN).is_some_and(|value| !matches!(value.as_bytes(), b"false" | b"0" | b""));
    let key = match headers.get(KEY) {
        Some(key) => Some(RequestKey { key: digest(&[credential, key.as_bytes()]), body, may_join: !rerun }),
        None => count.map(|_| RequestKey { key: request, body, may_join: repeated && !rerun }),
    };
    Identity { request, key, repeated, rerun }
}

/// Returns the identity of a request that a client repeats in another form: a failure is remembered for all that ask the same.
pub(super) fn of_question(headers: &HeaderMap, body: &[u8], question: &[&[u8]]) -> Identity {
    Identity { request: of_parts(headers, question).request, ..of(headers, body) }
}

/// The number in a header: alone, or as `attempt=2; max=3`.
fn count(value: &HeaderValue) -> Option<u32> {
    let value = value.to_str().ok()?;
    let attempt = value.split(';').find_map(|part| part.trim().strip_prefix("attempt="));
    attempt.unwrap_or(value).trim().parse().ok()
}

/// A digest of parts, each with its length, so that parts cannot be mistaken for one another.
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

    fn key(headers: &[(&'static str, &'static str)], body: &str) -> Option<RequestKey> {
        identity(headers, body).key
    }

    #[test]
    fn only_a_request_that_may_be_repeated_has_a_key() {
        assert_eq!(key(&[], "a"), None);
        assert_eq!(key(&[(RETRY_COUNT, "x")], "a"), None);
        let may_join = |headers: &[(&'static str, &'static str)]| key(headers, "a").unwrap().may_join;
        assert_eq!(
            [may_join(&[(RETRY_COUNT, "0")]), may_join(&[(RETRY_COUNT, "1")]), may_join(&[(KEY, "k")])],
            [false, true, true]
        );
    }

    #[test]
    fn each_header_that_counts_attempts_marks_a_repetition() {
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
    fn a_request_in_another_form_asks_the_same_with_a_key_of_its_own() {
        let [streamed, whole] = ["a, streamed", "a"].map(|body| {
            let headers = [(RETRY_COUNT.parse().unwrap(), HeaderValue::from_static("0"))].into_iter().collect();
            of_question(&headers, body.as_bytes(), &[b"a"])
        });
        assert_eq!(streamed.request, whole.request);
        assert_ne!(streamed.key.map(|key| key.key), whole.key.map(|key| key.key));
        assert_ne!(identity(&[], "b").request, whole.request);
    }

    #[test]
    fn requests_differ_by_credential_body_and_session() {
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
        let again = key(&[(KEY, "k"), (RERUN, "true")], "a").unwrap();
        assert_eq!((again.may_join, Some(again.key)), (false, key(&[(KEY, "k")], "a").map(|key| key.key)));
        assert_eq!([identity(&[(RERUN, "true")], "a").rerun, identity(&[(RERUN, "false")], "a").rerun], [true, false]);
    }

    #[test]
    fn another_credential_key_or_body_is_another_request() {
        let one = key(&[(KEY, "k"), ("authorization", "Bearer a")], "a").unwrap();
        let other = |headers: &[(&'static str, &'static str)], body| key(headers, body).unwrap();
        assert_eq!(other(&[(KEY, "k"), ("authorization", "Bearer a")], "a"), one);
        assert_ne!(other(&[(KEY, "k"), ("authorization", "Bearer b")], "a").key, one.key);
        assert_ne!(other(&[(KEY, "l"), ("authorization", "Bearer a")], "a").key, one.key);
        let changed = other(&[(KEY, "k"), ("authorization", "Bearer a")], "b");
        assert_eq!((changed.key == one.key, changed.body == one.body), (true, false));
        assert_ne!(other(&[(RETRY_COUNT, "1")], "a").key, other(&[(RETRY_COUNT, "1")], "b").key);
    }
}

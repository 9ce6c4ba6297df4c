//! The id of a request: the client's if it is fit for a log, else a new one. Every response and every log line of the request
//! has it.

use std::time::Instant;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;
use uuid::Uuid;

/// The header of the id.
pub(super) const HEADER: &str = "x-request-id";

/// Assigns an id to the request and its response.
pub(super) async fn assign(request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER).filter(|id| is_plain(id)).cloned();
    let id = given.or_else(|| HeaderValue::from_str(&Uuid::now_v7().to_string()).ok());
    let shown = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default();
    let span = tracing::info_span!("request", id = shown, method = %request.method(), path = request.uri().path());
    let started = Instant::now();
    let answer = async {
        let response = next.run(request).await;
        tracing::info!(status = response.status().as_u16(), ms = started.elapsed().as_millis(), "answered");
        response
    };
    let mut response = answer.instrument(span).await;
    if let Some(id) = id {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

fn is_plain(id: &HeaderValue) -> bool {
    const LONGEST: usize = 128;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let bytes = id.as_bytes();
    (1..=LONGEST).contains(&bytes.len()) && bytes.iter().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_id_of_the_client_is_used() {
        let plain = |id: &str| is_plain(&HeaderValue::from_str(id).unwrap());
        assert!(plain("req-1_A.b") && plain(&"a".repeat(128)));
        assert!(!plain("") && !plain("a b") && !plain("a;b") && !plain(&"a".repeat(129)));
    }
}

//! The body of a request, complete and within the limit.

use axum::body::{Body, Bytes, to_bytes};

use super::error::ApiError;

/// Reads a body of at most `limit` bytes.
pub(super) async fn read(body: Body, limit: u64) -> Result<Bytes, ApiError> {
    let bytes = to_bytes(body, usize::try_from(limit).unwrap_or(usize::MAX)).await;
    bytes.map_err(|error| match std::error::Error::source(&error) {
        Some(source) if source.is::<http_body_util::LengthLimitError>() => ApiError::body_too_large(limit),
        _ => ApiError::bad_request(format!("the body is incomplete: {error}")),
    })
}

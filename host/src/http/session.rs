//! The header `x-agent-session`: the CLI's own id of a session, which a client may send back to go on with it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::error::ApiError;
use crate::domain::SessionId;

const HEADER: HeaderName = HeaderName::from_static("x-agent-session");

/// The session that a client wants to go on with.
pub(super) fn wanted(headers: &HeaderMap) -> Result<Option<SessionId>, ApiError> {
    let Some(given) = headers.get(&HEADER) else { return Ok(None) };
    let refuse = |reason: String| ApiError::bad_request(format!("the header x-agent-session: {reason}"));
    let given = given.to_str().map_err(|_| refuse("is no text".to_owned()))?;
    SessionId::try_from(given).map(Some).map_err(|error| refuse(error.to_string()))
}

/// Tells a client of the session. An id that could not be sent back is not told.
pub(super) fn tell(headers: &mut HeaderMap, id: Option<&str>) {
    let id = id.filter(|id| SessionId::try_from(*id).is_ok());
    if let Some(value) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
        headers.insert(HEADER, value);
    }
}

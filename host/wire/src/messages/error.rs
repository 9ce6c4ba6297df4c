//! Errors, as a body and as the last event of a stream.

use serde::Serialize;

/// An error.
#[derive(Debug, Serialize)]
pub struct Error<'a> {
    /// Always `error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What failed.
    pub error: ErrorDetail<'a>,
    /// The id of the request; `None` in a stream, whose headers have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<&'a str>,
}

/// What failed. `code`, `detail` and `partial` are not fields of the Anthropic API.
#[derive(Debug, Serialize)]
pub struct ErrorDetail<'a> {
    /// The type of the error.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What is wrong.
    pub message: &'a str,
    /// The category of the failure.
    pub code: &'a str,
    /// Its cause.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub detail: &'a str,
    /// The part of an answer that had arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<&'a str>,
}

/// The type of an error with this status.
pub fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 => "overloaded_error",
        504 => "timeout_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

//! Errors, as a body and as the last chunk of a stream.

use serde::Serialize;

/// An error.
#[derive(Debug, Serialize)]
pub struct Error<'a> {
    error: Status<'a>,
}

/// The form of all Google APIs, `google.rpc.Status`.
#[derive(Debug, Serialize)]
struct Status<'a> {
    code: u16,
    message: &'a str,
    status: &'static str,
    details: [ErrorInfo<'a>; 1],
}

/// `google.rpc.ErrorInfo`.
#[derive(Debug, Serialize)]
struct ErrorInfo<'a> {
    #[serde(rename = "@type")]
    kind: &'static str,
    reason: &'a str,
    domain: &'static str,
    metadata: Metadata<'a>,
}

#[derive(Debug, Serialize)]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    /// The part of an answer that had arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'a str>,
}

impl<'a> Error<'a> {
    /// An error with its HTTP status, message, category, cause, and the part of an answer that had arrived.
    pub fn new(status: u16, message: &'a str, category: &'a str, detail: &'a str, partial: Option<&'a str>) -> Self {
        let info = ErrorInfo {
            kind: "type.googleapis.com/google.rpc.ErrorInfo",
            reason: category,
            domain: "agentbay",
            metadata: Metadata { detail, partial },
        };
        Self { error: Status { code: status, message, status: status_name(status), details: [info] } }
    }
}

/// The name of the canonical code that belongs to a status.
fn status_name(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        405 => "UNIMPLEMENTED",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        502 | 503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        400..500 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

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
    details: Vec<Detail<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "@type")]
enum Detail<'a> {
    #[serde(rename = "type.googleapis.com/google.rpc.ErrorInfo")]
    ErrorInfo { reason: &'a str, domain: &'static str, metadata: Metadata<'a> },
    /// The time that a client waits before it repeats the request.
    #[serde(rename = "type.googleapis.com/google.rpc.RetryInfo", rename_all = "camelCase")]
    RetryInfo { retry_delay: String },
}

#[derive(Debug, Serialize)]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    /// The part of an answer that had arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'a str>,
}

/// What is known of an error.
#[derive(Debug)]
pub struct Cause<'a> {
    /// Its category.
    pub category: &'a str,
    /// Its cause; may be empty.
    pub detail: &'a str,
    /// The part of an answer that had arrived.
    pub partial: Option<&'a str>,
    /// The seconds after which a repetition may succeed.
    pub retry_after: Option<u64>,
    /// The client must not repeat the request.
    pub is_final: bool,
}

impl<'a> Error<'a> {
    /// An error with its HTTP status and message.
    pub fn new(status: u16, message: &'a str, cause: &Cause<'a>) -> Self {
        let &Cause { category, detail, partial, retry_after, is_final } = cause;
        let (code, status) = status_of(status, is_final);
        let info = Detail::ErrorInfo { reason: category, domain: "agentbay", metadata: Metadata { detail, partial } };
        let retry = retry_after.map(|seconds| Detail::RetryInfo { retry_delay: format!("{seconds}s") });
        let details = std::iter::once(info).chain(retry).collect();
        Self { error: Status { code, message, status, details } }
    }

    /// The HTTP status of the error.
    pub fn code(&self) -> u16 {
        self.error.code
    }
}

/// The status of an error in this API, and its canonical name. Clients repeat each 5xx, whatever a header says; Google's code for
/// a request that is not to be repeated is FAILED_PRECONDITION.
fn status_of(status: u16, is_final: bool) -> (u16, &'static str) {
    if is_final && status >= 500 { (400, "FAILED_PRECONDITION") } else { (status, status_name(status)) }
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

//! The one table from failures to responses: status, type, code, and whether a retry makes sense.
//!
//! The form is that of the OpenAI API, with `detail` added: the cause of the failure. `surface` gives it the forms of the others.

use std::time::Duration;

use agentbay_domain::{Category, Failure};
use agentbay_runs::{StartError, UnknownModel};
use agentbay_wire::Malformed;
use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    status: StatusCode,
    error: Box<ErrorBody>,
    retry_after: Option<Duration>,
    /// The age of the failure, if it is a remembered one of the same request.
    remembered: Option<Duration>,
    /// Set if a repetition would fail again, or run an agent a second time. SDKs repeat by themselves.
    no_retry: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ErrorBody {
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    param: Option<&'static str>,
    code: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    /// The part of an answer that had arrived when the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: &'a ErrorBody,
}

/// The maximum of `Retry-After` in seconds: no quota period is longer than a month.
const MAX_RETRY_AFTER: u64 = 31 * 24 * 60 * 60;

/// The code of a missing or unknown API key.
const INVALID_KEY: &str = "invalid_api_key";

const INVALID: &str = "invalid_request_error";

/// Status and `type` of a category.
fn status_and_type(category: Category) -> (StatusCode, &'static str) {
    match category {
        Category::Quota => (StatusCode::TOO_MANY_REQUESTS, "insufficient_quota"),
        Category::RateLimit => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error"),
        Category::Authentication => (StatusCode::UNAUTHORIZED, "authentication_error"),
        Category::Validation => (StatusCode::BAD_REQUEST, INVALID),
        Category::Network | Category::Server => (StatusCode::BAD_GATEWAY, "server_error"),
        Category::Timeout => (StatusCode::GATEWAY_TIMEOUT, "server_error"),
        Category::NotFound => (StatusCode::NOT_FOUND, "not_found_error"),
        Category::Configuration | Category::Unknown => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
    }
}

impl ApiError {
    /// The request is invalid or not allowed: the client must change it.
    pub(super) fn refused(
        status: StatusCode,
        code: &'static str,
        param: Option<&'static str>,
        message: impl Into<String>,
    ) -> Self {
        let error =
            ErrorBody { message: message.into(), kind: INVALID, param, code, detail: String::new(), partial: None };
        Self { status, error: Box::new(error), retry_after: None, remembered: None, no_retry: true }
    }

    /// The API key is missing or unknown.
    pub(super) fn missing_key() -> Self {
        let message = "an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or `x-goog-api-key`";
        Self::refused(StatusCode::UNAUTHORIZED, INVALID_KEY, None, message)
    }

    /// The body as a whole, or a header, is invalid.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Malformed { param: None, message: message.into() }.into()
    }

    /// The body is larger than `limits.body`.
    pub(super) fn body_too_large(limit: u64) -> Self {
        let message = format!("the body is larger than {limit} bytes (`limits.body` in proxy.toml)");
        Self::refused(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", None, message)
    }

    /// The model of a `GET` does not exist.
    pub(super) fn no_such_model(model: &str) -> Self {
        let message = format!("The model `{model}` does not exist");
        Self::refused(StatusCode::NOT_FOUND, "model_not_found", Some("model"), message)
    }

    /// The run has ended or never existed.
    pub(super) fn no_such_run(id: &str) -> Self {
        let message = format!("no active run `{id}`: GET /v1/runs lists the active runs");
        Self::refused(StatusCode::NOT_FOUND, Category::NotFound.name(), None, message)
    }

    /// There is no saved work of a run.
    pub(super) fn no_saved_work(id: &str) -> Self {
        let message = format!(
            "no saved work of the run `{id}`: it left nothing in a worktree of its own, has not ended, or never existed"
        );
        Self::refused(StatusCode::NOT_FOUND, Category::NotFound.name(), None, message)
    }

    /// The path has no route.
    pub(super) fn no_route(path: &str) -> Self {
        let message = format!("no route {path}: see /v1/models and /v1/chat/completions");
        Self::refused(StatusCode::NOT_FOUND, "not_found", None, message)
    }

    /// The path names no method of a model of the Gemini API.
    pub(super) fn no_method(path: &str) -> Self {
        let message = format!(
            "{path} names no method of a model: use models/MODEL:generateContent, :streamGenerateContent or :countTokens"
        );
        Self::refused(StatusCode::NOT_FOUND, "not_found", None, message)
    }

    /// The Interactions API of Google does not exist here.
    pub(super) fn no_interactions(path: &str) -> Self {
        let message = format!("{path}: there is no Interactions API here: use models/MODEL:generateContent instead");
        Self::refused(StatusCode::NOT_FOUND, "not_found", None, message)
    }

    /// The path accepts other methods only.
    pub(super) fn wrong_method(method: &Method, path: &str) -> Self {
        let message = format!("{path} does not accept {method}");
        Self::refused(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", None, message)
    }

    /// Adds the part of an answer that had arrived.
    pub(super) fn with_partial(mut self, partial: Option<String>) -> Self {
        self.error.partial = partial.filter(|text| !text.is_empty());
        self
    }

    /// The status.
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// What is wrong.
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// The category of a failure, or the reason of a refusal.
    pub(super) fn code(&self) -> &'static str {
        self.error.code
    }

    /// The cause of a failure; may be empty.
    pub(super) fn detail(&self) -> &str {
        &self.error.detail
    }

    /// The part of an answer that had arrived.
    pub(super) fn partial(&self) -> Option<&str> {
        self.error.partial.as_deref()
    }

    /// Returns whether the client must not repeat the request by itself.
    pub(super) fn is_final(&self) -> bool {
        self.no_retry
    }

    /// The whole seconds after which a repetition may succeed.
    pub(super) fn retry_after(&self) -> Option<u64> {
        let wait = self.retry_after?;
        let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
        Some(seconds.clamp(1, MAX_RETRY_AFTER))
    }

    /// The body of the error, for a stream that has started.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(&Envelope { error: &self.error }).unwrap_or_default()
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let (status, kind) = status_and_type(failure.category);
        let code = failure.category.name();
        let error =
            ErrorBody { message: failure.message, kind, param: None, code, detail: failure.detail, partial: None };
        Self {
            status,
            error: Box::new(error),
            retry_after: failure.retry.as_ref().and_then(|hint| hint.wait(Timestamp::now())),
            remembered: None,
            no_retry: !failure.category.client_may_retry(),
        }
    }
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::UnknownModel(unknown) => unknown.into(),
            StartError::InvalidSchema(_) => Self::bad_request(message),
            StartError::OtherRequest => Self::refused(StatusCode::CONFLICT, "idempotency_key_in_use", None, message),
            StartError::Remembered { failure, ago } => Self { remembered: Some(ago), ..failure.into() },
            StartError::Stopping => {
                let mut stopping = Self::refused(StatusCode::SERVICE_UNAVAILABLE, "stopping", None, message);
                stopping.error.kind = "server_error";
                stopping.no_retry = false;
                stopping
            }
        }
    }
}

impl From<UnknownModel> for ApiError {
    fn from(unknown: UnknownModel) -> Self {
        let UnknownModel { model } = &unknown;
        let detail = format!("there is no model `{model}`: GET /v1/models lists the models");
        let refused = Self::refused(StatusCode::BAD_REQUEST, "model_not_found", Some("model"), unknown.to_string());
        Self { error: Box::new(ErrorBody { detail, ..*refused.error }), ..refused }
    }
}

impl From<Malformed> for ApiError {
    fn from(Malformed { param, message }: Malformed) -> Self {
        Self::refused(StatusCode::BAD_REQUEST, Category::Validation.name(), param, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(Envelope { error: &self.error })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.no_retry {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if let Some(ago) = self.remembered {
            headers.insert("x-agentbay-remembered", HeaderValue::from(ago.as_secs()));
        }
        // Another key of the client does not help a CLI that is not logged in.
        if self.error.code == INVALID_KEY {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // For surfaces whose errors have another form.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::RetryHint;

    use super::*;

    fn failure(category: Category) -> ApiError {
        Failure::new(category, "m", "d").into()
    }

    #[test]
    fn every_category_has_its_status_type_and_retry_advice() {
        let answers: Vec<(u16, &str, &str, bool)> = [
            Category::Quota,
            Category::RateLimit,
            Category::Authentication,
            Category::Validation,
            Category::Network,
            Category::Server,
            Category::Timeout,
            Category::NotFound,
            Category::Configuration,
            Category::Unknown,
        ]
        .map(failure)
        .map(|error| (error.status.as_u16(), error.error.code, error.error.kind, error.no_retry))
        .to_vec();
        let expected = [
            (429, "quota", "insufficient_quota", true),
            (429, "rate_limit", "rate_limit_error", false),
            (401, "authentication", "authentication_error", true),
            (400, "validation", "invalid_request_error", true),
            (502, "network", "server_error", true),
            (502, "server", "server_error", true),
            (504, "timeout", "server_error", true),
            (404, "not_found", "not_found_error", true),
            (500, "configuration", "server_error", true),
            (500, "unknown", "server_error", true),
        ];
        assert_eq!(answers, expected);
    }

    #[test]
    fn the_body_has_every_key_and_the_detail() {
        let expected = r#"{"error":{"message":"m","type":"server_error","param":null,"code":"unknown","detail":"d"}}"#;
        assert_eq!(failure(Category::Unknown).to_json(), expected);
    }

    #[test]
    fn retry_after_is_rounded_up_to_seconds() {
        let retry = Some(RetryHint::AfterMs(1_200));
        let error = ApiError::from(Failure { retry, ..Failure::new(Category::RateLimit, "m", "") });
        let response = error.into_response();
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        assert!(!response.headers().contains_key("x-should-retry"));
    }

    #[test]
    fn an_implausible_retry_after_is_clamped() {
        for (ms, seconds) in [(0, "1"), (1, "1"), (1_000, "1"), (u64::MAX, "2678400")] {
            let retry = Some(RetryHint::AfterMs(ms));
            let error = ApiError::from(Failure { retry, ..Failure::new(Category::Quota, "m", "") });
            assert_eq!(error.into_response().headers()[header::RETRY_AFTER], seconds, "{ms}");
        }
    }
}

//! The surface that a request belongs to, and the form of its errors. The path decides, and a header where APIs share a path, so
//! that also the guard and the router, which know no surface, answer in the form that the client reads.

use agentbay_wire::{gemini, messages};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::error::ApiError;
use super::request_id;

/// The API whose form a response has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surface {
    /// Chat Completions, Responses and everything that belongs to no other API.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini REST.
    Gemini,
}

/// The request id under the name that Anthropic's clients read.
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// The header that each client of the Anthropic API sends.
const ANTHROPIC_VERSION: &str = "anthropic-version";

/// The header of a key that only clients of the Gemini API send.
const GEMINI_KEY: &str = "x-goog-api-key";

impl Surface {
    /// The surface of a request. The models are shared by all.
    pub(super) fn of(path: &str, headers: &HeaderMap) -> Self {
        let is_below =
            |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let is_shared = is_below("/v1/models");
        let is_gemini = path.starts_with("/v1beta/") || is_below("/v1/interactions");
        if is_gemini || gemini::Method::split(path).is_some() {
            Self::Gemini
        } else if is_below("/v1/messages") || (is_shared && headers.contains_key(ANTHROPIC_VERSION)) {
            Self::Anthropic
        } else if is_shared && headers.contains_key(GEMINI_KEY) {
            Self::Gemini
        } else {
            Self::OpenAi
        }
    }
}

impl ApiError {
    /// The error as JSON in the form of a surface.
    pub(super) fn to_json_of(&self, surface: Surface, request_id: Option<&str>) -> String {
        let (status, code) = (self.status().as_u16(), self.code());
        let json = match surface {
            Surface::OpenAi => return self.to_json(),
            Surface::Anthropic => serde_json::to_string(&messages::Error {
                kind: "error",
                error: messages::ErrorDetail {
                    kind: messages::error_type(status),
                    message: self.message(),
                    code,
                    detail: self.detail(),
                    partial: self.partial(),
                },
                request_id,
            }),
            Surface::Gemini => serde_json::to_string(&self.gemini()),
        };
        json.unwrap_or_default()
    }

    /// The HTTP status on a surface.
    fn status_on(&self, surface: Surface) -> StatusCode {
        match surface {
            Surface::OpenAi | Surface::Anthropic => self.status(),
            Surface::Gemini => StatusCode::from_u16(self.gemini().code()).unwrap_or(self.status()),
        }
    }

    fn gemini(&self) -> gemini::Error<'_> {
        let cause = gemini::Cause {
            category: self.code(),
            detail: self.detail(),
            partial: self.partial(),
            retry_after: self.retry_after(),
            is_final: self.is_final(),
        };
        gemini::Error::new(self.status().as_u16(), self.message(), &cause)
    }
}

/// Gives errors the form of the request's surface.
pub(super) async fn adapt(request: Request, next: Next) -> Response {
    let surface = Surface::of(request.uri().path(), request.headers());
    let mut response = next.run(request).await;
    let error = response.extensions_mut().remove::<ApiError>();
    let id = response.headers().get(request_id::HEADER).cloned();
    if let (Some(error), Surface::Anthropic | Surface::Gemini) = (error, surface) {
        let id = id.as_ref().and_then(|id| id.to_str().ok());
        *response.body_mut() = error.to_json_of(surface, id).into();
        *response.status_mut() = error.status_on(surface);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let (Some(id), Surface::Anthropic) = (id, surface) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Category, Failure, RetryHint};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_error_that_must_not_be_repeated_has_a_status_that_gemini_clients_do_not_repeat() {
        let on = |category: Category| {
            let error = ApiError::from(Failure::new(category, "m", ""));
            let json: Value = serde_json::from_str(&error.to_json_of(Surface::Gemini, None)).unwrap();
            let code = error.status_on(Surface::Gemini).as_u16();
            assert_eq!((&json["error"]["code"], error.status_on(Surface::OpenAi)), (&json!(code), error.status()));
            json!([code, json["error"]["status"]])
        };
        for category in [Category::Unknown, Category::Server, Category::Timeout, Category::Configuration] {
            assert_eq!(on(category), json!([400, "FAILED_PRECONDITION"]));
        }
        for (category, expected) in [
            (Category::RateLimit, json!([429, "RESOURCE_EXHAUSTED"])),
            (Category::Authentication, json!([401, "UNAUTHENTICATED"])),
            (Category::NotFound, json!([404, "NOT_FOUND"])),
            (Category::Validation, json!([400, "INVALID_ARGUMENT"])),
        ] {
            assert_eq!(on(category), expected);
        }
    }

    #[test]
    fn a_gemini_error_states_when_to_repeat_the_request() {
        let retry = Some(RetryHint::AfterMs(1_200));
        let error = ApiError::from(Failure { retry, ..Failure::new(Category::RateLimit, "m", "d") });
        let expected = json!({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "rate_limit",
                "domain": "agentbay",
                "metadata": {"detail": "d"},
            },
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"},
        ]}});
        let json = error.to_json_of(Surface::Gemini, None);
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), expected);
    }

    #[test]
    fn the_path_decides_the_surface() {
        for (path, surface) in [
            ("/v1/chat/completions", Surface::OpenAi),
            ("/v1/models/team:m", Surface::OpenAi),
            ("/v1/models", Surface::OpenAi),
            ("/v1/messages", Surface::Anthropic),
            ("/v1/messages/count_tokens", Surface::Anthropic),
            ("/v1/messagesx", Surface::OpenAi),
            ("/v1/models/m:generateContent", Surface::Gemini),
            ("/v1beta/models/team/m:x:streamGenerateContent", Surface::Gemini),
            ("/v1beta/interactions", Surface::Gemini),
            ("/v1/interactions", Surface::Gemini),
        ] {
            assert_eq!(Surface::of(path, &HeaderMap::new()), surface, "{path}");
        }
    }

    #[test]
    fn a_header_decides_the_surface_of_the_models() {
        let of = |path: &str, header: &'static str| {
            let headers = [(HeaderName::from_static(header), HeaderValue::from_static("x"))].into_iter().collect();
            Surface::of(path, &headers)
        };
        for path in ["/v1/models", "/v1/models/team/m:x"] {
            assert_eq!(of(path, ANTHROPIC_VERSION), Surface::Anthropic);
            assert_eq!(of(path, GEMINI_KEY), Surface::Gemini);
        }
        assert_eq!(of("/v1/chat/completions", ANTHROPIC_VERSION), Surface::OpenAi);
        assert_eq!(of("/v1/models/m:countTokens", ANTHROPIC_VERSION), Surface::Gemini);
    }
}

//! Normalisation of paths. With a base URL that ends in a slash, a client requests `/v1//models` or `/v1/models/`.
//!
//! A name with such slashes of its own is reached by `%2F`.

use axum::extract::{FromRequestParts, Path, Request};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;

use super::error::ApiError;

/// The name in a path, decoded. A path that is not UTF-8 has no route.
pub(super) struct Name(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        name.map(|Path(name)| Self(name)).map_err(|_| ApiError::no_route(parts.uri.path()))
    }
}

/// Removes the superfluous slashes of a request's path.
pub(super) fn normalized(mut request: Request) -> Request {
    if let Some(uri) = normalized_uri(request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

fn normalized_uri(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let is_normal = !path.contains("//") && (path.len() == 1 || !path.ends_with('/'));
    if is_normal || !path.starts_with('/') {
        return None;
    }
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("/{}{query}", steps.join("/"))).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superfluous_slashes_are_removed() {
        for (given, expected) in [
            ("/v1//models", Some("/v1/models")),
            ("//v1/models///", Some("/v1/models")),
            ("/v1/models/?a=//b", Some("/v1/models?a=//b")),
            ("http://host:1/v1//runs/", Some("http://host:1/v1/runs")),
            ("/v1/models/team%2F%2Fx", None),
            ("/", None),
            ("//", Some("/")),
            ("*", None),
        ] {
            let normalized = normalized_uri(&given.parse().unwrap()).map(|uri| uri.to_string());
            assert_eq!(normalized.as_deref(), expected, "{given}");
        }
    }
}

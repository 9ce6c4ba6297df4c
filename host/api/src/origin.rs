//! Web pages that may use the server. A browser states the origin of a request in `Origin` and `Sec-Fetch-Site`; other clients
//! send neither. A request of a foreign page is refused before it has any effect.

use agentbay_domain::Access;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// The schemes of programs that are made of web technology. No web page can have them.
const PROGRAMS: [&str; 6] = ["app", "capacitor", "ionic", "tauri", "vscode-file", "vscode-webview"];

/// The origin of a page that may use the server although it is not the server's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForeignOrigin(HeaderValue);

/// Returns the origin of a request, if it is an allowed one other than the server's own. `host` is the name by which the client
/// addressed the server.
pub(super) fn foreign_origin(
    headers: &HeaderMap,
    host: &str,
    access: &Access,
) -> Result<Option<ForeignOrigin>, ApiError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) if is_foreign(headers) => Err(refused("a page of another origin")),
        (None, _) => Ok(None),
        (Some(origin), None) => match origin.to_str() {
            Ok(name) if is_own(name, host) => Ok(None),
            Ok(name) if is_program(name) || access.allows_origin(name) => Ok(Some(ForeignOrigin(origin.clone()))),
            Ok(name) => Err(refused(&format!("the origin {name:?}"))),
            Err(_) => Err(refused("an origin that is not text")),
        },
        (Some(_), Some(_)) => Err(refused("several origins")),
    }
}

/// Returns whether a browser reports another page as the sender. It omits `Origin` where the page cannot read the answer.
fn is_foreign(headers: &HeaderMap) -> bool {
    let sites = headers.get_all("sec-fetch-site").iter();
    !sites.into_iter().all(|site| matches!(site.as_bytes(), b"none" | b"same-origin"))
}

fn is_own(origin: &str, host: &str) -> bool {
    let authority = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
    authority.is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
}

fn is_program(origin: &str) -> bool {
    let scheme = origin.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| PROGRAMS.contains(&scheme.as_str()))
}

fn refused(who: &str) -> ApiError {
    let message = format!(
        "{who} may not use this server: to allow a page, add its origin to `server.allowed_origins` in proxy.toml"
    );
    ApiError::refused(StatusCode::FORBIDDEN, "origin_not_allowed", None, message)
}

impl ForeignOrigin {
    /// The answer to a CORS preflight, if the request is one.
    pub(super) fn preflight(&self, request: &Request) -> Option<Response> {
        let is_preflight = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if request.method() != Method::OPTIONS || !is_preflight {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        if let Some(requested) = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
        }
        if request.headers().contains_key("access-control-request-private-network") {
            headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
        }
        Some(response)
    }

    /// Lets the page read an answer.
    pub(super) fn add_cors_headers(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a request with these headers to `localhost:8787`.
    fn check(headers: &[(&'static str, &'static str)]) -> Result<Option<ForeignOrigin>, ApiError> {
        let headers = headers.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        foreign_origin(&headers.collect(), "localhost:8787", &Access::new([], [], ["https://chat.example"]))
    }

    #[test]
    fn requests_without_an_origin_and_of_the_own_origin_are_allowed() {
        for headers in [
            &[][..],
            &[("sec-fetch-mode", "cors")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", "http://localhost:8787"), ("sec-fetch-site", "same-origin")],
            &[("origin", "https://LOCALHOST:8787")],
        ] {
            assert_eq!(check(headers), Ok(None), "{headers:?}");
        }
    }

    #[test]
    fn programs_and_configured_origins_are_allowed_as_foreign_origins() {
        for origin in [
            "app://obsidian.md",
            "tauri://localhost",
            "vscode-webview://0a1b",
            "https://chat.example",
            "HTTPS://Chat.Example",
        ] {
            let expected = Ok(Some(ForeignOrigin(HeaderValue::from_static(origin))));
            assert_eq!(check(&[("origin", origin), ("sec-fetch-site", "cross-site")]), expected);
        }
    }

    #[test]
    fn foreign_pages_are_refused() {
        for headers in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "file://")],
            &[("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")],
            &[("origin", "http://localhost")],
            &[("origin", "ftp://localhost:8787")],
            &[("origin", "https://chat.example.evil.example")],
            &[("origin", "app")],
            &[("origin", "app://x"), ("origin", "https://evil.example")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "something new")],
        ] {
            let code = check(headers).map_err(|error| error.to_json().contains("origin_not_allowed"));
            assert_eq!(code, Err(true), "{headers:?}");
        }
    }
}

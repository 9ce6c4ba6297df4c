//! Pages: which of them may use the server. A browser says in `Origin` and `Sec-Fetch-Site` where a request comes from; what
//! is no browser says nothing. Nothing of a foreign page is carried out, whatever it would do with the answer.

use agentbay_domain::Access;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// The schemes of programs that are made of web technology. No page of the web can have them.
const PROGRAMS: [&str; 6] = ["app", "capacitor", "ionic", "tauri", "vscode-file", "vscode-webview"];

/// A page of another origin that may use the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page(HeaderValue);

/// Which page a request comes from, if it is one of another origin. `host` is the name by which the server was called.
pub(super) fn page(headers: &HeaderMap, host: &str, access: &Access) -> Result<Option<Page>, ApiError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) if is_foreign(headers) => Err(refused("a page of another origin")),
        (None, _) => Ok(None),
        (Some(origin), None) => match origin.to_str() {
            Ok(name) if is_own(name, host) => Ok(None),
            Ok(name) if is_program(name) || access.allows_origin(name) => Ok(Some(Page(origin.clone()))),
            Ok(name) => Err(refused(&format!("the origin {name:?}"))),
            Err(_) => Err(refused("an origin that is no text")),
        },
        (Some(_), Some(_)) => Err(refused("several origins")),
    }
}

/// Whether a browser says that another page is behind a request. It leaves `Origin` out where the page cannot see the answer.
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
        "{who} may not use this server: to let a page in, add its origin to `server.allowed_origins` in proxy.toml"
    );
    ApiError::refused(StatusCode::FORBIDDEN, "origin_not_allowed", None, message)
}

impl Page {
    /// The answer to a browser that asks before it sends what a form could not, if this is what the request does.
    pub(super) fn preflight(&self, request: &Request) -> Option<Response> {
        let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if request.method() != Method::OPTIONS || !asks {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        if let Some(asked) = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
        }
        if request.headers().contains_key("access-control-request-private-network") {
            headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
        }
        Some(response)
    }

    /// Lets the page see an answer.
    pub(super) fn may_see(self, mut response: Response) -> Response {
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

    /// What becomes of a request with these headers to `localhost:8787`.
    fn judged(headers: &[(&'static str, &'static str)]) -> Result<Option<Page>, ApiError> {
        let headers = headers.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        page(&headers.collect(), "localhost:8787", &Access::new([], [], ["https://chat.example"]))
    }

    #[test]
    fn what_is_no_page_and_a_page_of_the_server_itself_come_in() {
        for headers in [
            &[][..],
            &[("sec-fetch-mode", "cors")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", "http://localhost:8787"), ("sec-fetch-site", "same-origin")],
            &[("origin", "https://LOCALHOST:8787")],
        ] {
            assert_eq!(judged(headers), Ok(None), "{headers:?}");
        }
    }

    #[test]
    fn programs_and_what_is_allowed_come_in_as_pages() {
        for origin in [
            "app://obsidian.md",
            "tauri://localhost",
            "vscode-webview://0a1b",
            "https://chat.example",
            "HTTPS://Chat.Example",
        ] {
            let expected = Ok(Some(Page(HeaderValue::from_static(origin))));
            assert_eq!(judged(&[("origin", origin), ("sec-fetch-site", "cross-site")]), expected);
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
            let code = judged(headers).map_err(|error| error.to_json().contains("origin_not_allowed"));
            assert_eq!(code, Err(true), "{headers:?}");
        }
    }
}

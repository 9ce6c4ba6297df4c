//! Who gets in: the `Host` header against pages that point their own name at this machine, the origin against all other
//! pages, the content type against forms, the key against everybody else.

use std::net::SocketAddr;

use agentbay_domain::Access;
use axum::extract::{Request, State as FromState};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::State;
use super::api_key;
use super::error::ApiError;
use super::origin::page;

/// Lets a request pass or answers it.
pub(super) async fn check(FromState(state): FromState<State>, request: Request, next: Next) -> Response {
    let snapshot = state.snapshots.newest();
    let access = &snapshot.access;
    let page = check_host(&request, access, state.listen).and_then(|host| page(request.headers(), host, access));
    let page = match page {
        Ok(page) => page,
        Err(refused) => return refused.into_response(),
    };
    let checked = check_key(&request, access).and_then(|()| check_content_type(&request));
    drop(snapshot);
    let preflight = page.as_ref().and_then(|page| page.preflight(&request));
    let response = match (preflight, checked) {
        (Some(preflight), _) => preflight,
        (None, Ok(())) => next.run(request).await,
        (None, Err(refused)) => refused.into_response(),
    };
    match page {
        Some(page) => page.may_see(response),
        None => response,
    }
}

/// The name by which the server was called.
fn check_host<'a>(request: &'a Request, access: &Access, listen: SocketAddr) -> Result<&'a str, ApiError> {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let named = named.or_else(|| request.uri().authority().map(Authority::as_str));
    match named {
        Some(host) if is_ours(&host.to_ascii_lowercase(), access, listen) => Ok(host),
        _ => {
            let message = "the Host header is not a name of this server: to use another name, add it to \
                           `server.allowed_hosts` in proxy.toml";
            Err(ApiError::refused(StatusCode::FORBIDDEN, "host_not_allowed", None, message))
        }
    }
}

/// Loopback names where loopback is listened to; where every address is, any address but no name; and what is allowed
/// in so many words. A page can give its own name this machine's address, but an address cannot be given to a page.
fn is_ours(host: &str, access: &Access, listen: SocketAddr) -> bool {
    if access.hosts().iter().any(|allowed| allowed == host || host_without_port(host) == allowed) {
        return true;
    }
    let name = host.strip_suffix(&format!(":{}", listen.port())).or_else(|| (listen.port() == 80).then_some(host));
    let Some(name) = name else { return false };
    let ip = listen.ip();
    let is_address = host_ip(name);
    if ip.is_unspecified() {
        return is_address.is_some() || name == "localhost";
    }
    is_address == Some(ip)
        || (ip.is_loopback() && (name == "localhost" || is_address.is_some_and(|ip| ip.is_loopback())))
}

fn host_without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn host_ip(name: &str) -> Option<std::net::IpAddr> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare.parse().ok()
}

fn check_key(request: &Request, access: &Access) -> Result<(), ApiError> {
    let open = matches!(request.uri().path(), "/healthz" | "/readyz");
    if open || !access.requires_key() || key(request.headers()).is_some_and(|key| api_key::is_known(access, key)) {
        return Ok(());
    }
    Err(ApiError::no_key())
}

fn key(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// A form on a page can send a request here, but not of this content type.
fn check_content_type(request: &Request) -> Result<(), ApiError> {
    let given = request.headers().get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or("");
    let essence = given.split(';').next().unwrap_or("").trim();
    if request.method() != Method::POST || essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "send JSON, with the header `content-type: application/json`";
    Err(ApiError::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", None, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(host: &str, listen: &str, allowed: &[&str]) -> bool {
        is_ours(host, &Access::new([], allowed.iter().copied(), []), listen.parse().unwrap())
    }

    #[test]
    fn on_loopback_only_loopback_names_are_ours() {
        for host in ["127.0.0.1:8787", "localhost:8787", "[::1]:8787"] {
            assert!(ours(host, "127.0.0.1:8787", &[]), "{host}");
        }
        for host in
            ["evil.example:8787", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8787", "192.168.1.2:8787", ""]
        {
            assert!(!ours(host, "127.0.0.1:8787", &[]), "{host}");
        }
        assert!(ours("localhost", "127.0.0.1:80", &[]));
    }

    #[test]
    fn on_every_address_any_address_is_ours_but_no_name() {
        assert!(ours("192.168.1.2:8787", "0.0.0.0:8787", &[]));
        assert!(ours("[fe80::1]:8787", "[::]:8787", &[]));
        assert!(!ours("evil.example:8787", "0.0.0.0:8787", &[]));
    }

    #[test]
    fn a_name_that_is_allowed_is_ours_with_any_port_or_with_the_one_named() {
        assert!(ours("proxy.lan:443", "127.0.0.1:8787", &["Proxy.lan"]));
        assert!(ours("proxy.lan", "127.0.0.1:8787", &["proxy.lan"]));
        assert!(ours("proxy.lan:443", "127.0.0.1:8787", &["proxy.lan:443"]));
        assert!(!ours("proxy.lan:80", "127.0.0.1:8787", &["proxy.lan:443"]));
    }
}

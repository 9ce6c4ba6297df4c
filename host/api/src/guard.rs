//! Access control. The `Host` header stops pages that point their own name at this machine, the origin all other pages, the
//! content type forms, and the key all other clients.

use std::net::SocketAddr;

use agentbay_domain::Access;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::AppState;
use super::credential;
use super::error::ApiError;
use super::origin::foreign_origin;

/// Passes an allowed request on, and answers any other.
pub(super) async fn check(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let snapshot = state.snapshots.newest();
    let access = &snapshot.access;
    let origin = check_host(&request, access, state.listen);
    let origin = match origin.and_then(|host| foreign_origin(request.headers(), host, access)) {
        Ok(origin) => origin,
        Err(refused) => return refused.into_response(),
    };
    let checked = check_key(&request, access).and_then(|()| check_content_type(&request));
    drop(snapshot);
    let preflight = origin.as_ref().and_then(|origin| origin.preflight(&request));
    let response = match (preflight, checked) {
        (Some(preflight), _) => preflight,
        (None, Ok(())) => next.run(request).await,
        (None, Err(refused)) => refused.into_response(),
    };
    match origin {
        Some(origin) => origin.add_cors_headers(response),
        None => response,
    }
}

/// Returns the name by which the client addressed the server.
fn check_host<'a>(request: &'a Request, access: &Access, listen: SocketAddr) -> Result<&'a str, ApiError> {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let named = named.or_else(|| request.uri().authority().map(Authority::as_str));
    match named {
        Some(host) if is_own_host(&host.to_ascii_lowercase(), access, listen) => Ok(host),
        _ => {
            let message = "the Host header is not a name of this server: to use another name, add it to \
                           `server.allowed_hosts` in proxy.toml";
            Err(ApiError::refused(StatusCode::FORBIDDEN, "host_not_allowed", None, message))
        }
    }
}

/// A server on loopback accepts loopback names, one on all addresses any address but no name, and both the configured names. A
/// page can point its own name at this machine's address, but cannot have an address as its name.
fn is_own_host(host: &str, access: &Access, listen: SocketAddr) -> bool {
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
    let open = matches!(request.uri().path(), "/" | "/api/hello" | "/healthz" | "/readyz");
    if open || !access.requires_key() || credential::is_known(access, request.headers(), request.uri()) {
        return Ok(());
    }
    Err(ApiError::missing_key())
}

/// A form on a page can send a request to this server, but not with this content type.
fn check_content_type(request: &Request) -> Result<(), ApiError> {
    let given = request.headers().get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or("");
    let essence = given.split(';').next().unwrap_or("").trim();
    // A cancellation has no body, and the client for JavaScript declares none. Its id cannot be guessed.
    let has_no_body = request.uri().path().ends_with("/cancel") && essence.is_empty();
    if request.method() != Method::POST || has_no_body || essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "send JSON, with the header `content-type: application/json`";
    Err(ApiError::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", None, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_own(host: &str, listen: &str, allowed: &[&str]) -> bool {
        is_own_host(host, &Access::new([], allowed.iter().copied(), []), listen.parse().unwrap())
    }

    #[test]
    fn a_server_on_loopback_accepts_only_loopback_names() {
        for host in ["127.0.0.1:8787", "localhost:8787", "[::1]:8787"] {
            assert!(is_own(host, "127.0.0.1:8787", &[]), "{host}");
        }
        for host in
            ["evil.example:8787", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8787", "192.168.1.2:8787", ""]
        {
            assert!(!is_own(host, "127.0.0.1:8787", &[]), "{host}");
        }
        assert!(is_own("localhost", "127.0.0.1:80", &[]));
    }

    #[test]
    fn a_server_on_all_addresses_accepts_any_address_but_no_name() {
        assert!(is_own("192.168.1.2:8787", "0.0.0.0:8787", &[]));
        assert!(is_own("[fe80::1]:8787", "[::]:8787", &[]));
        assert!(!is_own("evil.example:8787", "0.0.0.0:8787", &[]));
    }

    #[test]
    fn an_allowed_name_is_accepted_with_its_port_or_without_one_with_any() {
        assert!(is_own("proxy.lan:443", "127.0.0.1:8787", &["Proxy.lan"]));
        assert!(is_own("proxy.lan", "127.0.0.1:8787", &["proxy.lan"]));
        assert!(is_own("proxy.lan:443", "127.0.0.1:8787", &["proxy.lan:443"]));
        assert!(!is_own("proxy.lan:80", "127.0.0.1:8787", &["proxy.lan:443"]));
    }
}

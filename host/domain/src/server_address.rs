//! The server's own addresses. A CLI that uses one of them as its provider would send its request to the server that
//! started it, which would start it again in a loop.

use std::net::{IpAddr, SocketAddr};

/// The addresses at which this machine reaches the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    listen: SocketAddr,
    names: Vec<String>,
}

/// Parts of the names of variables that contain the address of a provider.
const ADDRESS_VARIABLES: [&str; 7] =
    ["BASE_URL", "API_URL", "API_BASE", "API_HOST", "ENDPOINT", "BASE_URI", "OLLAMA_HOST"];

impl ServerAddress {
    /// `listen` is the listen address; `names` are the additional host names that the server accepts, in lower case,
    /// with or without a port.
    pub fn new(listen: SocketAddr, names: &[String]) -> Self {
        Self { listen, names: names.to_vec() }
    }

    /// Returns whether a variable with this name and value makes a CLI use this server as its provider.
    pub fn matches_variable(&self, variable: &str, value: &str) -> bool {
        let name = variable.to_ascii_uppercase();
        ADDRESS_VARIABLES.iter().any(|part| name.contains(part)) && self.matches_url(value)
    }

    /// Returns whether a URL leads to this server.
    fn matches_url(&self, url: &str) -> bool {
        let url = url.trim().to_ascii_lowercase();
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", &url));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let (host, port) = host_and_port(authority);
        let default = if scheme == "https" { 443 } else { 80 };
        let Ok(port) = port.map_or(Ok(default), str::parse) else { return false };
        let host = host.trim_end_matches('.');
        // A name without a port may belong to a reverse proxy on the default port of its scheme.
        let is_here = port == self.listen.port();
        let is_allowed = |name: &String| name == authority || name == host && (is_here || port == default);
        let is_in_front = !self.is_host(host) && self.names.iter().any(is_allowed);
        is_in_front || is_here && (self.is_host(host) || self.names.iter().any(is_allowed))
    }

    fn is_host(&self, host: &str) -> bool {
        if is_local_name(host) {
            return true;
        }
        let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        ip.is_ok_and(|ip| {
            let ip = ip.to_canonical();
            ip.is_loopback() || ip.is_unspecified() || ip == self.listen.ip().to_canonical()
        })
    }
}

fn is_local_name(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        // The colons of an IPv6 address are inside brackets.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_back(listen: &str, names: &[&str], value: &str) -> bool {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        ServerAddress::new(listen.parse().unwrap(), &names).matches_variable("OPENAI_BASE_URL", value)
    }

    #[test]
    fn every_spelling_of_the_own_address_is_recognised() {
        for url in [
            "http://127.0.0.1:8787/v1",
            "http://127.0.0.1:8787",
            " HTTP://LOCALHOST:8787/ ",
            "http://localhost.:8787/v1",
            "https://localhost:8787/v1",
            "http://user:pass@localhost:8787/v1?x#y",
            "http://[::1]:8787/v1",
            "http://0.0.0.0:8787",
            "http://127.1.2.3:8787",
            "http://[::ffff:127.0.0.1]:8787",
            "http://api.localhost:8787",
            "localhost:8787",
        ] {
            assert!(leads_back("127.0.0.1:8787", &[], url), "{url}");
        }
        assert!(leads_back("192.168.1.5:8787", &[], "http://192.168.1.5:8787"));
        assert!(leads_back("127.0.0.1:80", &[], "http://localhost/v1"));
        assert!(leads_back("127.0.0.1:8787", &["box.lan"], "https://box.lan/v1"));
        assert!(leads_back("127.0.0.1:8787", &["box.lan:8443"], "https://box.lan:8443/v1"));
    }

    #[test]
    fn other_servers_of_the_machine_and_other_variables_are_not_the_own_address() {
        for url in [
            "http://127.0.0.1:11434/v1",
            "http://localhost/v1",
            "https://api.openai.com/v1",
            "http://localhost.example:8787",
            "http://10.0.0.1:8787",
            "",
            "://",
            "http://",
            "http://[::1",
            "http://127.0.0.1:87870",
        ] {
            assert!(!leads_back("127.0.0.1:8787", &["box.lan:8443"], url), "{url}");
        }
        let own = ServerAddress::new("127.0.0.1:8787".parse().unwrap(), &[]);
        assert!(!own.matches_variable("NO_PROXY", "127.0.0.1:8787"));
        assert!(own.matches_variable("anthropic_base_url", "http://127.0.0.1:8787"));
    }
}

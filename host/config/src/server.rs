//! `[server]`: the listen address and who has access. `api` checks requests against it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use agentbay_domain::Access;

use super::Overrides;
use super::section::{Item, Section};
use super::tree::Value;
use super::values::{self, AllowZero};

/// The listen address and who has access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Who has access.
    pub access: Access,
    /// How long runs may continue after the server received a signal to stop.
    pub shutdown_timeout: Duration,
}

/// Long enough for an answer that is nearly complete; service managers wait about as long before they kill a process.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// The default: only programs of this machine can connect.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);

/// A running server keeps the address `open` until it is restarted.
pub(super) fn read(mut section: Section<'_>, overrides: &Overrides, open: Option<SocketAddr>) -> Server {
    let listen = section.take("listen");
    let api_keys = section.take("api_keys");
    let hosts = texts(section.take("allowed_hosts").as_ref(), host);
    let origins = texts(section.take("allowed_origins").as_ref(), origin);
    let keys = texts(api_keys.as_ref(), api_key);

    let address = overrides.listen.or_else(|| listen.as_ref().and_then(address)).unwrap_or(LISTEN);
    // Faulty keys still count as keys: only their own fault is reported.
    let has_keys = api_keys.is_some_and(|item| !matches!(item.value(), Value::List(keys) if keys.is_empty()));
    if !has_keys && let Some(open) = open.filter(is_reachable) {
        let message = format!(
            "the server listens on {open}, which can be reached from other machines: without a key anyone there could \
             run agents here; keep a key until the server is restarted on another address"
        );
        section.fault("api_keys", message);
    } else if !has_keys && is_reachable(&address) {
        let message = format!(
            "{address} can be reached from other machines, and without a key anyone there could run agents here: \
             set server.api_keys, or listen on 127.0.0.1"
        );
        match listen {
            Some(item) if overrides.listen.is_none() => item.fault(message),
            _ => section.fault("listen", format!("(from the command line) {message}")),
        }
    }
    let shutdown_timeout = section
        .take("shutdown_timeout")
        .and_then(|item| values::duration(&item, AllowZero::Yes))
        .unwrap_or(SHUTDOWN_TIMEOUT);
    section.finish();
    Server { listen: address, access: Access::new(keys, hosts, origins), shutdown_timeout }
}

/// Returns whether other machines can reach an address.
fn is_reachable(address: &SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

fn address(item: &Item<'_>) -> Option<SocketAddr> {
    let text = item.text()?;
    let address = text.parse().ok();
    if address.is_none() {
        item.fault(format!("{text:?} is not an address with a port, such as \"127.0.0.1:8787\" or \"[::1]:8787\""));
    }
    address
}

fn texts<'a>(list: Option<&Item<'a>>, read: fn(&Item<'a>) -> Option<&'a str>) -> Vec<&'a str> {
    list.and_then(Item::list).into_iter().flatten().filter_map(|item| read(&item)).collect()
}

/// A key must fit into a header. No fault shows it.
fn api_key<'a>(item: &Item<'a>) -> Option<&'a str> {
    let text = item.full_text()?;
    if text.trim() != text {
        item.fault("has white space around it, which no client can send");
        return None;
    }
    if !text.chars().all(|c| c.is_ascii_graphic()) {
        item.fault("contains characters other than visible ASCII, which do not fit into a header");
        return None;
    }
    Some(text)
}

fn host<'a>(item: &Item<'a>) -> Option<&'a str> {
    let text = item.full_text()?;
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]".contains(c)) {
        item.fault(format!("{text:?} is not a host name, such as \"box.local\" or \"box.local:8787\""));
        return None;
    }
    Some(text)
}

/// An origin as a browser sends it: a scheme and a host, nothing after them. `null` is the origin of any page that hides its own.
fn origin<'a>(item: &Item<'a>) -> Option<&'a str> {
    let text = item.full_text()?;
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]+".contains(c));
    if !text.split_once("://").is_some_and(|(scheme, host)| is_plain(scheme) && is_plain(host)) {
        item.fault(format!("{text:?} is not an origin, such as \"https://chat.example\" or \"http://localhost:3000\""));
        return None;
    }
    Some(text)
}

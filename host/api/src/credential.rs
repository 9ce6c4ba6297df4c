//! The API key of a request, in the places of all surfaces: `Authorization: Bearer` (OpenAI, Anthropic), `x-api-key`
//! (Anthropic), `x-goog-api-key` and the parameter `key` (Gemini). A client may send several at once.

use std::convert::Infallible;
use std::fmt;

use agentbay_domain::{Access, Sha256Sum};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Uri, header};

use super::{AppState, api_key};

/// The headers that hold a key alone.
static KEY_HEADERS: [HeaderName; 2] = [HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];

/// Returns whether one of the request's keys is a known one.
pub(super) fn is_known(access: &Access, headers: &HeaderMap, uri: &Uri) -> bool {
    keys(headers, uri).any(|key| api_key::is_known(access, key))
}

/// The keys of a request.
fn keys<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> impl Iterator<Item = &'a str> {
    let in_headers = KEY_HEADERS.iter().filter_map(|name| headers.get(name)?.to_str().ok());
    // A key of other characters than these would need decoding; made keys have none.
    let in_query =
        uri.query().into_iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.strip_prefix("key="));
    bearer(headers).into_iter().chain(in_headers).chain(in_query)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The client that something belongs to: a hash of its key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(Sha256Sum);

/// Omits the hash: a short key can be guessed from it.
impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner")
    }
}

impl FromRequestParts<AppState> for Owner {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::of(&state.snapshots.newest().access, &parts.headers, &parts.uri))
    }
}

impl Owner {
    /// The client of a request: its known key, or whatever it sends where no key is needed.
    fn of(access: &Access, headers: &HeaderMap, uri: &Uri) -> Self {
        let known = keys(headers, uri).find(|key| api_key::is_known(access, key));
        Self(known.map_or_else(|| Sha256Sum::of(&bytes(headers)), |key| Sha256Sum::of(key.as_bytes())))
    }
}

/// The bytes of all keys in headers, to tell one client from another.
pub(super) fn bytes(headers: &HeaderMap) -> Vec<u8> {
    let names = [&header::AUTHORIZATION].into_iter().chain(&KEY_HEADERS);
    let given = names.map(|name| headers.get(name).map(|value| value.as_bytes()).unwrap_or_default());
    given.collect::<Vec<_>>().join(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_the_places_of_all_surfaces() {
        let access = Access::new(["one"], [], []);
        let known = |name: &'static str, value: &'static str, uri: &'static str| {
            let headers = [(HeaderName::from_static(name), value.parse().unwrap())].into_iter().collect();
            is_known(&access, &headers, &Uri::from_static(uri))
        };
        for (name, value, uri) in [
            ("authorization", "Bearer one", "/"),
            ("authorization", "bearer  one", "/"),
            ("x-api-key", "one", "/"),
            ("x-goog-api-key", "one", "/"),
            ("x-api-key", "two", "/?alt=sse&key=one"),
        ] {
            assert!(known(name, value, uri), "{name}: {value} {uri}");
        }
        for (name, value, uri) in [
            ("authorization", "one", "/"),
            ("authorization", "Basic one", "/"),
            ("x-api-key", "two", "/?akey=one"),
            ("key", "one", "/?key=two"),
        ] {
            assert!(!known(name, value, uri), "{name}: {value} {uri}");
        }
    }
}

//! The state of the credentials that a run depends on: it changes when a user logs in.

use std::hash::{DefaultHasher, Hash, Hasher};

use agentbay_domain::Environment;

use super::route::Route;

/// The state of the credentials at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Logins(u64);

impl Logins {
    /// The credentials of a model and of its fallbacks, as they are now.
    pub(super) fn of(route: &Route, resumes: bool, host: &Environment) -> Self {
        let mut hasher = DefaultHasher::new();
        for route in route.with_fallbacks(resumes) {
            route.backend.logins(host).hash(&mut hasher);
        }
        Self(hasher.finish())
    }
}

#[cfg(test)]
impl Logins {
    /// Some state.
    pub(super) fn unknown(state: u64) -> Self {
        Self(state)
    }
}

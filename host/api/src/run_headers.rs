//! The response headers that describe a run, and the session header that a client may send back:
//!
//! - `x-agent-session`: the CLI's own id of the session, by which it is resumed;
//! - `x-agentbay-model`: the model that answered, a fallback if the requested one failed;
//! - `x-agentbay-attempts`: the attempts that failed before, such as `codex;rate_limit, codex;server`;
//! - `x-agentbay-plugin`: `trapped` if the plugin failed during the run, so that the rest is as the CLI printed it;
//! - `x-agentbay-ref`: the ref under which the work in the worktree is saved. It exists after the clean-up of the run, if the
//!   run left any work;
//! - `x-agentbay-ignored`: the parameters of the request that have no effect, such as `seed, temperature`.
//!
//! `x-agentbay-remembered`, the seconds since the same request failed, is set by `error`; `x-agentbay-rerun`, by which a client
//! asks for a run all the same, is read by `request_identity`.

use agentbay_domain::SessionId;
use agentbay_runs::{FailedAttempt, Step};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::error::ApiError;

const SESSION: HeaderName = HeaderName::from_static("x-agent-session");
const MODEL: HeaderName = HeaderName::from_static("x-agentbay-model");
const REFERENCE: HeaderName = HeaderName::from_static("x-agentbay-ref");
const PLUGIN: HeaderName = HeaderName::from_static("x-agentbay-plugin");
const IGNORED: HeaderName = HeaderName::from_static("x-agentbay-ignored");
const ATTEMPTS: HeaderName = HeaderName::from_static("x-agentbay-attempts");

/// The state of a run that its headers describe.
#[derive(Debug, Clone, Default)]
pub(super) struct RunHeaders {
    session: Option<String>,
    model: Option<String>,
    reference: Option<String>,
    failed_attempts: Vec<FailedAttempt>,
    trapped: bool,
}

/// Reads the session that a client wants to resume.
pub(super) fn session_header(headers: &HeaderMap) -> Result<Option<SessionId>, ApiError> {
    let Some(given) = headers.get(&SESSION) else { return Ok(None) };
    let refuse = |reason: String| ApiError::bad_request(format!("the header x-agent-session: {reason}"));
    let given = given.to_str().map_err(|_| refuse("is not text".to_owned()))?;
    SessionId::try_from(given).map(Some).map_err(|error| refuse(error.to_string()))
}

/// Sets the header of the parameters that have no effect.
pub(super) fn apply_ignored(names: &[String], headers: &mut HeaderMap) {
    if let Some(names) = HeaderValue::try_from(names.join(", ")).ok().filter(|names| !names.is_empty()) {
        headers.insert(IGNORED, names);
    }
}

impl RunHeaders {
    /// Records what a step reports.
    pub(super) fn observe(&mut self, step: &Step) {
        match step {
            Step::Trying { model, reference } => {
                self.model = Some(model.clone());
                self.reference.clone_from(reference);
            }
            Step::Failed(failed) => {
                self.failed_attempts.push(failed.clone());
                self.session = None;
            }
            Step::PluginFailed(_) => self.trapped = true,
            Step::Session(id) => self.session = Some(id.clone()),
            Step::Reply(_) | Step::Ended(_) => {}
        }
    }

    /// Sets the headers, without values that a header cannot hold and without a session that could not be sent back.
    pub(super) fn apply(&self, headers: &mut HeaderMap) {
        let session = self.session.clone().filter(|id| SessionId::try_from(id.as_str()).is_ok());
        let failed: Vec<String> =
            self.failed_attempts.iter().map(|failed| format!("{};{}", failed.model, failed.category.name())).collect();
        let attempts = Some(failed.join(", ")).filter(|attempts| !attempts.is_empty());
        for (name, value) in [
            (SESSION, session),
            (MODEL, self.model.clone()),
            (REFERENCE, self.reference.clone()),
            (PLUGIN, self.trapped.then(|| "trapped".to_owned())),
            (ATTEMPTS, attempts),
        ] {
            if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
                headers.insert(name, value);
            }
        }
    }
}

//! Why a request starts no run.

use std::time::Duration;

use agentbay_domain::Failure;

use super::delivery::InvalidSchema;

/// When a client may retry that found no free slot, or a plugin that is still being compiled. Runs take minutes: a shorter
/// time only adds requests.
pub(super) const RETRY_AFTER_MS: u64 = 10_000;

/// No model has the name that the client gave.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Unknown model")]
pub struct UnknownModel {
    /// The name that the client gave.
    pub model: String,
}

/// Why no run was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// No model has the name.
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    /// The answer cannot be checked.
    #[error(transparent)]
    InvalidSchema(#[from] InvalidSchema),
    /// The client's key for the request stands for another one that goes on.
    #[error("the Idempotency-Key stands for another request that is still running: choose a new one for each request")]
    OtherRequest,
    /// The same request has failed a while ago, and would fail again.
    #[error("{}", .failure.message)]
    Remembered {
        /// How it failed.
        failure: Failure,
        /// How long ago.
        ago: Duration,
    },
    /// The host is about to end.
    #[error("the proxy is stopping and takes no new requests: try again when it has been started again")]
    Stopping,
}

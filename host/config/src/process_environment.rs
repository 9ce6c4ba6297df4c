//! The environment of the process, taken once: nothing else reads it.

use agentbay_domain::Environment;

/// What this process was started with. For `main`: everything else is given a snapshot.
#[expect(clippy::disallowed_methods, reason = "the one reader of the environment")]
pub fn process_environment() -> Environment {
    Environment::from_pairs(std::env::vars_os())
}

//! The environment of the process, read once and nowhere else.

use agentbay_domain::Environment;

/// The environment that this process was started with. For `main`: all other code receives the snapshot.
#[expect(clippy::disallowed_methods, reason = "the one reader of the environment")]
pub fn process_environment() -> Environment {
    Environment::from_pairs(std::env::vars_os())
}

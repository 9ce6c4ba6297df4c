//! The log: to standard error, one line an event, with the request and the run it belongs to.

use tracing_subscriber::EnvFilter;

/// The variable that says what is logged, such as `debug` or `agentbay::run=debug,info`.
pub const VARIABLE: &str = "AGENTBAY_LOG";

/// Starts the log. A filter that cannot be read is as good as none: everything from `info` on.
pub fn start(filter: Option<&str>) {
    let filter = filter.and_then(|filter| EnvFilter::try_new(filter).ok()).unwrap_or_else(|| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second start, as in a test, leaves the first in place.
    let _started = log.with_ansi(false).try_init();
}

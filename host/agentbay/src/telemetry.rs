//! The log: one line for each event, with the request and the run that it belongs to.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The variable that filters the log, such as `debug` or `agentbay::run=debug,info`.
pub const VARIABLE: &str = "AGENTBAY_LOG";

/// Starts the log. Without a valid filter, it has everything from `info` on.
pub fn start(filter: Option<&str>, colours: bool, writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static) {
    let filter = filter.and_then(|filter| EnvFilter::try_new(filter).ok()).unwrap_or_else(|| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_target(false);
    // A second start, as in a test, leaves the first in place.
    let _started = log.with_ansi(colours).try_init();
}

//! The errors of the commands.

use std::io;
use std::net::SocketAddr;

use agentbay_config::ConfigError;
use agentbay_plugin_host::SummaryError;
use agentbay_runs::compiler::NoEngine;

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The configuration has faults.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// WebAssembly cannot be used.
    #[error(transparent)]
    Engine(#[from] NoEngine),
    /// The program was built wrongly.
    #[error("the program was not built correctly")]
    Summaries(#[from] SummaryError),
    /// The address cannot be used.
    #[error("cannot listen on {address}: {error}: choose another with --listen or `server.listen`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        error: io::Error,
    },
    /// Files cannot be watched.
    #[error(
        "cannot watch for changes: set `plugins.watch = \"poll\"` in proxy.toml, or raise fs.inotify.max_user_watches"
    )]
    Watch(#[from] notify::Error),
    /// A second signal stopped the server before its runs had ended.
    #[error("stopped at once: active runs were killed")]
    StoppedAtOnce,
    /// Signals cannot be received, or standard output is closed.
    #[error("the server failed")]
    Server(#[from] io::Error),
}

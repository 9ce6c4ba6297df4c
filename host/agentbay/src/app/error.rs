//! Why the program cannot do what it was asked to.

use std::io;
use std::net::SocketAddr;

use agentbay_config::ConfigError;
use agentbay_plugin_host::LoadError;
use agentbay_runs::compiler::NoEngine;

/// Why the program cannot do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The configuration has faults.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// WebAssembly cannot be used.
    #[error(transparent)]
    Engine(#[from] NoEngine),
    /// A plugin of the program cannot be loaded.
    #[error("cannot load the plugin `{id}` of the program")]
    Plugin {
        /// Its id.
        id: &'static str,
        /// Why not.
        source: LoadError,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}: choose another with --listen or `server.listen`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// Files cannot be watched.
    #[error(
        "cannot watch for changes: set `plugins.watch = \"poll\"` in proxy.toml, or let a user watch more files (fs.inotify.max_user_watches)"
    )]
    Watch(#[from] notify::Error),
    /// It was told to stop a second time, and did not wait for its runs.
    #[error("stopped at once: the runs that went on were killed")]
    StoppedAtOnce,
    /// Signals cannot be received, or standard output is closed.
    #[error("the server failed")]
    Server(#[from] io::Error),
}

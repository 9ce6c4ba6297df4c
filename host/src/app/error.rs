//! Why the program cannot do what it was asked to.

use std::io;
use std::net::SocketAddr;

use crate::config::ConfigError;
use crate::plugin::{EngineError, LoadError};

/// Why the program cannot do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The configuration has faults.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// WebAssembly cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A plugin of the program cannot be loaded.
    #[error("a plugin of the program {0}")]
    Plugin(#[from] LoadError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}: choose another with --listen or `server.listen`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// Files cannot be watched.
    #[error("cannot watch for changes: {0}")]
    Watch(#[from] notify::Error),
    /// The server came to an end by itself, or standard output is closed.
    #[error("the server failed: {0}")]
    Server(#[from] io::Error),
}

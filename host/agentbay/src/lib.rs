//! The binary: the command line, the composition of the crates below it, reload, watch, the installation of plugins, telemetry
//! and metrics. The map of the crates is host/README.md.

pub mod app;
pub mod cli;
pub mod echo_agent;
pub mod init;
pub mod install;
pub mod metrics;
pub mod status;
pub mod telemetry;
pub mod watch;

//! Tests through the real binary, over real sockets, with real processes and real git: one folder an area. `support`
//! holds what they share.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod api;
mod cli;
mod docs;
mod faults;
mod hostile;
mod plugins;
mod runs;
mod security;
mod support;
mod swap;
mod workspace;

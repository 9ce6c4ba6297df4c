//! Tests through the real binary, over real sockets, with real processes and real git: one file an area. `support`
//! holds what they share.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod abilities;
mod auth;
mod author;
mod captures;
mod cases;
mod chat;
mod config;
mod connections;
mod container;
mod doctor;
mod endings;
mod environment;
mod errors;
mod faults;
mod folders;
mod generic_clis;
mod git_authority;
mod git_hangs;
mod goldens;
mod histories;
mod history;
mod hostile;
mod killed;
mod limits;
mod openai_client;
mod plugins;
mod policy;
mod process;
mod queue;
mod reload;
mod repeats;
mod retry;
mod saving;
mod saving_sizes;
mod session;
mod soak;
mod spec;
mod stream;
mod support;
mod swap;
mod system;
mod terminal;
mod trust;
mod versions;
mod watch;
mod wire;
mod worktree;

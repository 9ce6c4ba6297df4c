//! Security: keys, the user's environment and files, and code execution.

pub(crate) mod auth;
mod environment;
mod folders;
mod git_authority;
mod trust;

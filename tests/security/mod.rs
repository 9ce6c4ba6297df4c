//! What the program protects: keys, the user's environment and files, and who may have code run.

pub(crate) mod auth;
mod environment;
mod folders;
mod git_authority;
mod trust;

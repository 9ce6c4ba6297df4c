//! The repository of a run: its worktree, what is saved of it, and a git that does not answer.

pub(crate) mod git_hangs;
mod policy;
mod saving;
mod saving_sizes;
pub(crate) mod worktree;

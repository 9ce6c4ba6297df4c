//! The workspace of a run: its worktree, its saved work, and git commands that hang.

pub(crate) mod git_hangs;
mod policy;
mod saving;
mod saving_sizes;
pub(crate) mod worktree;

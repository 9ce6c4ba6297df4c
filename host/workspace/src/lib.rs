//! Where a run works: the repository itself or a git worktree of its own, lent for the time of the run; and the run's
//! private folder. The only place that calls git.

mod additions;
mod call;
mod error;
mod git;
mod lease;
mod lease_file;
mod leftover;
mod log_file;
mod nested;
mod overrides;
mod own_index;
mod repo_lock;
mod repository;
mod run_dir;
mod saved;
mod state;

pub use additions::{Additions, Author};
pub use error::WorkspaceError;
pub use git::Git;
pub use lease::{Cleared, Lease, Site};
pub use leftover::{Listed, State, clear_left_over, worktrees_in};
pub use repository::is_repository;
pub use run_dir::RunDir;
pub use saved::{patch, reference};
pub use state::TreeState;

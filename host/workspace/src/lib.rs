//! Working directories of runs: the repository itself or a separate git worktree, leased for the duration of the run; and
//! the run's private folder. The only crate that calls git.

mod additions;
mod cached;
mod call;
mod error;
mod file_time;
mod git;
mod lease;
mod lease_file;
mod log_file;
mod nested;
mod overrides;
mod plain_file;
mod repo_lock;
mod repository;
mod run_dir;
mod saved;
mod stale;
mod state;
mod temp_index;

pub use additions::{Additions, Author};
pub use cached::canonical_folder;
pub use error::WorkspaceError;
pub use file_time::FileTime;
pub use git::Git;
pub use lease::{Lease, Released, WorkspaceSpec};
pub use repository::{is_repository, top};
pub use run_dir::RunDir;
pub use saved::{patch, reference};
pub use stale::{ListedWorktree, WorktreeState, list_worktrees, release_stale};
pub use state::TreeState;

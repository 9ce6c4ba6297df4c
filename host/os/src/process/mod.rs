//! The only place that starts, feeds, ends and reaps processes. It knows nothing of plugins or HTTP.
//!
//! `program` finds the file, `environment` builds the variables, `withheld` lists those that no plan may set, `start` starts
//! the process, `child` is the running process with its `leader`, and `capture` runs a short command to its end. An
//! `obstacle` is a reason why a program cannot be started. Every process of a run has a `run_tag`: what `remains` of a run is
//! found by it among the `children` of this process or, as `orphans`, in the `process_table`. The `watchdog` searches there
//! when the host is gone.

mod capture;
mod child;
mod children;
mod command;
mod environment;
mod error;
mod exit_watcher;
mod inherited;
mod init;
mod input;
mod leader;
mod machine;
mod obstacle;
mod orphans;
mod pipe;
mod process_table;
mod program;
mod remains;
mod rlimits;
mod run_tag;
mod session;
mod size;
mod start;
mod start_time;
mod watchdog;
mod withheld;

pub use capture::{Captured, capture, capture_until};
pub use child::{CHUNK, Child, ChildEvent};
pub use children::reap_children;
pub use command::Command;
pub use environment::Variables;
pub use error::SpawnError;
pub use inherited::login_remarks;
pub use init::{is_first, run as run_first};
pub use machine::host_name;
pub use obstacle::Obstacle;
pub use orphans::end_orphans;
pub use program::{Executable, current_exe, find};
pub use rlimits::{ResourceLimits, limit_resources};
pub use run_tag::{HostProcess, InvalidHostProcess};
pub use start::start;
pub use watchdog::{TASK as WATCHDOG_TASK, Watchdog, run as run_watchdog};
pub use withheld::is_withheld;

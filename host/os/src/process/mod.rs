//! The only place that starts, feeds, ends and reaps processes. It knows nothing of plugins or HTTP.
//!
//! `program` finds the file, `environment` makes the variables, `withheld` knows those that no plan sets, `start` starts it,
//! `child` is the process while it runs, and `capture` runs a short one to its end. What stands in the way of starting one is
//! an `obstacle`. Every process of a run bears a `mark`, by which `orphans` finds in the `table` of processes
//! what is left of a run; the `guard` does so when the host is gone.

mod apart;
mod birth;
mod capture;
mod child;
mod command;
mod ending;
mod environment;
mod error;
mod guard;
mod init;
mod input;
mod machine;
mod mark;
mod obstacle;
mod orphans;
mod passed;
mod pipe;
mod program;
mod restraint;
mod size;
mod start;
mod table;
mod withheld;

pub use capture::{Captured, capture, capture_until};
pub use child::{CHUNK, Child, Sign};
pub use command::Command;
pub use environment::Variables;
pub use error::SpawnError;
pub use guard::{Guard, TASK as GUARD_TASK, run as run_guard};
pub use init::{is_first, run as run_first};
pub use machine::host_name;
pub use mark::{Host, NoHost};
pub use obstacle::Obstacle;
pub use orphans::end_orphans;
pub use passed::login_remarks;
pub use program::{Executable, find, ourselves};
pub use restraint::{Restraint, restrain};
pub use start::start;
pub use withheld::is_withheld;

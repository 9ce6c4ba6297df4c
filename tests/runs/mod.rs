//! Runs of agents: admission, start, output, limits, retries and end.

mod abilities;
mod captures;
pub(crate) mod cases;
mod endings;
mod generic_clis;
mod goldens;
pub(crate) mod killed;
pub(crate) mod limits;
pub(crate) mod process;
pub(crate) mod queue;
pub(crate) mod retry;
pub(crate) mod soak;
pub(crate) mod spec;
pub(crate) mod system;

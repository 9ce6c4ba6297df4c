//! A run of an agent: how it is admitted, started, read, limited, tried again and ended.

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

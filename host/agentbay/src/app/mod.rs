//! Puts everything together: settings, plugins, server; and orders start and stop.

mod check;
mod connections;
mod diagnose;
mod error;
mod held;
mod load;
mod missing;
mod reload;
mod serve;
mod signals;
mod telling;
pub mod worktrees;

pub use check::check;
pub use diagnose::{Diagnosis, diagnose};
pub use error::AppError;
pub use load::{Loaded, load};
pub use serve::serve;
pub use signals::Stop;

//! The composition: settings, plugins, server, and the order of start and stop.

mod check;
mod connections;
mod diagnose;
mod error;
mod held_change;
mod load;
mod model_faults;
mod preparation;
mod reload;
mod screen;
mod serve;
mod signals;
mod status_writer;
pub mod worktrees;

pub use check::check;
pub use diagnose::{Diagnosis, diagnose};
pub use error::AppError;
pub use load::{Loaded, discovered, load};
pub use screen::{Screen, during};
pub use serve::serve;
pub use signals::Stop;

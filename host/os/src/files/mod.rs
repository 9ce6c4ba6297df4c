//! The program's own files and folders: written completely or not at all, and closed to other users. Their content is up to
//! the caller.

mod atomic;
mod private;

pub use atomic::{Staged, atomic_write};
pub use private::{FolderError, private_dir};

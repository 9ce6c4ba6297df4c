//! Files and folders of the program's own: written whole or not at all, and closed to other users. What stands in them is
//! the caller's.

mod atomic;
mod private;

pub use atomic::{Staged, atomic_write};
pub use private::{FolderError, private_dir};

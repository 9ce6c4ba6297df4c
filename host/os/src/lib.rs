//! What the operating system does for the program: processes, which are started, fed and ended here, and the program's own
//! files and folders. Nothing here knows what runs, or why.

pub mod files;
pub mod process;

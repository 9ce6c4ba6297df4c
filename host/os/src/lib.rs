//! Operating system access: processes (start, feed, end) and the program's own files and folders. This crate does not know
//! which programs run, or why.

pub mod files;
pub mod process;

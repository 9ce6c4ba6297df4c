//! Plugins: those of the plugin folder, the versions of their contract, and how changes are noticed.

mod author;
mod embedded;
mod folder;
mod versions;
mod watch;

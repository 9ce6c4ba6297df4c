//! The program as a person starts it: commands, settings, terminal.

mod config;
mod container;
mod doctor;
mod init;
mod reload;
pub(crate) mod screen;
mod terminal;

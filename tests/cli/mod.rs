//! The program as a person starts it: its commands, its settings, its terminal.

mod config;
mod container;
mod doctor;
mod reload;
mod terminal;

//! The documents, compared with the program: their code blocks are run, their links followed, and every name of the program is
//! searched in them.

mod answers;
mod commands;
mod links;
mod map;
mod markdown;
mod names;
mod session;
mod settings;
mod source;

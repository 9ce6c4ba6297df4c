//! What the documents say, held against the program: their code blocks are run, their links followed, and whatever has a
//! name in the program is looked up in them.

mod answers;
mod commands;
mod links;
mod map;
mod markdown;
mod names;
mod settings;
mod source;

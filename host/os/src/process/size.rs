//! Checks that the command line and the environment are small enough to start a program. The operating system checks as
//! well, but does not say what is too long.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::command::Command;
use super::error::SpawnError;

/// The maximum length of one argument or variable on Linux: 32 pages, `MAX_ARG_STRLEN` of execve(2), including the
/// terminating byte. macOS has no such limit.
const MAX_ONE: usize = 128 * 1024;

/// The maximum of all together. Linux allows a quarter of the stack limit, mostly 2 MiB, and at least 128 KiB; macOS allows
/// 1 MiB.
const MAX_TOTAL: usize = 1024 * 1024;

/// Overhead of each argument and variable: the terminating byte and the pointer to it.
const OVERHEAD: usize = 1 + size_of::<usize>();

/// Checks the arguments and variables of a command.
pub(super) fn check(command: &Command) -> Result<(), SpawnError> {
    let mut all = 0;
    for (at, argument) in command.args.iter().enumerate() {
        one(argument.len(), || format!("argument {} of the CLI", at + 1))?;
        all += argument.len() + OVERHEAD;
    }
    for (name, value) in command.variables.iter() {
        let length = name.len() + 1 + value.len();
        one(length, || format!("the variable {}", shown(name)))?;
        all += length + OVERHEAD;
    }
    if all > MAX_TOTAL {
        return Err(SpawnError::TotalTooLong { length: all, max: MAX_TOTAL });
    }
    Ok(())
}

fn one(length: usize, what: impl FnOnce() -> String) -> Result<(), SpawnError> {
    if length < MAX_ONE {
        return Ok(());
    }
    Err(SpawnError::TooLong { what: what(), length, max: MAX_ONE - 1 })
}

fn shown(name: &OsStr) -> String {
    String::from_utf8_lossy(name.as_bytes()).into_owned()
}

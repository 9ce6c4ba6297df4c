//! Whether a command line and an environment are of a size that a program can be started with. The operating system
//! would refuse as well, but not say what is too long.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::command::Command;
use super::error::SpawnError;

/// The most that Linux takes as one argument or variable: 32 pages, `MAX_ARG_STRLEN` of execve(2). The byte that ends it
/// is counted. macOS knows no such limit; what fits here fits there.
const MOST_OF_ONE: usize = 128 * 1024;

/// The most of all together. Linux takes a quarter of the stack's limit, mostly 2 MiB, and at least 128 KiB; macOS takes
/// 1 MiB.
const MOST_OF_ALL: usize = 1024 * 1024;

/// What each argument and variable takes besides its text: the byte that ends it, and the pointer to it.
const EACH: usize = 1 + size_of::<usize>();

/// Looks at all that a program is to be started with.
pub(super) fn check(command: &Command) -> Result<(), SpawnError> {
    let mut all = 0;
    for (at, argument) in command.args.iter().enumerate() {
        one(argument.len(), || format!("argument {} of the CLI", at + 1))?;
        all += argument.len() + EACH;
    }
    for (name, value) in command.variables.iter() {
        let length = name.len() + 1 + value.len();
        one(length, || format!("the variable {}", shown(name)))?;
        all += length + EACH;
    }
    if all > MOST_OF_ALL {
        return Err(SpawnError::TooMuch { length: all, most: MOST_OF_ALL });
    }
    Ok(())
}

fn one(length: usize, what: impl FnOnce() -> String) -> Result<(), SpawnError> {
    if length < MOST_OF_ONE {
        return Ok(());
    }
    Err(SpawnError::TooLong { what: what(), length, most: MOST_OF_ONE - 1 })
}

fn shown(name: &OsStr) -> String {
    String::from_utf8_lossy(name.as_bytes()).into_owned()
}

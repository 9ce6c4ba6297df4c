//! Completions for shells and manual pages, generated from the definition of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Command;

/// The shell to complete in.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// The folder of the manual pages.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(super) struct ManArgs {
    /// The folder, which is created if it does not exist.
    dir: PathBuf,
}

impl CompletionsArgs {
    /// Prints a script that completes commands and options.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn print(self) -> io::Result<()> {
        let mut command = Command::command();
        let name = command.get_name().to_owned();
        // Into memory first: clap_complete panics if it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        io::stdout().write_all(&script)
    }
}

impl ManArgs {
    /// Writes a page for the program and one for each of its commands.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(super) fn write(self) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        clap_mangen::generate_to(Command::command(), &self.dir)
    }
}

//! The program: reads the command line, does what it says, and turns the result into an exit code.

use std::process::ExitCode;

use agentbay::{cli, process};
use anyhow::Context;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            cli::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let command = cli::Command::of_process();
    if let Some(small) = command.small() {
        return Ok(small.carry_out()?);
    }
    let cwd = std::env::current_dir().context("cannot tell the current folder")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    if process::is_first() {
        return runtime
            .block_on(process::run_first())
            .context("cannot start the program again, as a child of the first process");
    }
    runtime.block_on(command.carry_out(cwd))
}

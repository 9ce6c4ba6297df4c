//! The program: reads the command line, runs the command, and turns the result into an exit code.

use std::process::ExitCode;
use std::time::Duration;

use agentbay::cli;
use anyhow::Context;

/// The time that work which cannot be interrupted gets after everything else has ended.
const BLOCKING: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            cli::print_error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let command = match cli::Command::read(std::env::args_os()) {
        Ok(command) => command,
        Err(code) => return Ok(code),
    };
    if let Some(worker) = command.worker() {
        return Ok(worker.run()?);
    }
    let cwd = std::env::current_dir().context("cannot find the current folder")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let result = if agentbay_os::process::is_first() {
        let ended = runtime.block_on(agentbay_os::process::run_first());
        ended.context("cannot start the program again, as a child of the first process")
    } else {
        runtime.block_on(command.run(cwd))
    };
    // Dropping the runtime would wait for as long as a file system hangs.
    runtime.shutdown_timeout(BLOCKING);
    result
}

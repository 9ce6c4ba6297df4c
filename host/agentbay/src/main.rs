//! The program: reads the command line, does what it says, and turns the result into an exit code.

use std::process::ExitCode;
use std::time::Duration;

use agentbay::cli;
use anyhow::Context;

/// How long what cannot be interrupted may take when everything else has ended.
const BLOCKING: Duration = Duration::from_millis(500);

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
    let result = if agentbay_os::process::is_first() {
        let ended = runtime.block_on(agentbay_os::process::run_first());
        ended.context("cannot start the program again, as a child of the first process")
    } else {
        runtime.block_on(command.carry_out(cwd))
    };
    // Dropping it would wait for as long as a file system hangs.
    runtime.shutdown_timeout(BLOCKING);
    result
}

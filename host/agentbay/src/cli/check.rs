//! `check`: the faults of the settings, as a table or as JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use agentbay_config::Source;
use serde_json::json;

use super::console::Console;
use super::table::Table;
use crate::app;

/// Prints every fault.
///
/// # Errors
/// See [`app::AppError`]; or standard output is closed.
pub(super) async fn check(source: &Source, json: bool, console: &Console) -> anyhow::Result<ExitCode> {
    let faults = app::check(source, console).await?;
    let code = if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if json {
        writeln!(io::stdout(), "{:#}", json!({ "faults": faults }))?;
        return Ok(code);
    }
    let mut table = Table::new(["WHERE", "KEY", "FAULT"]);
    for fault in faults {
        table.row([fault.place().unwrap_or_default(), fault.key.unwrap_or_default(), fault.message], []);
    }
    if table.is_empty() {
        writeln!(io::stdout(), "no faults found")?;
    } else {
        console.print(&table)?;
    }
    Ok(code)
}

//! `doctor`: the state of each model, as a table or as JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use agentbay_domain::Failure;
use agentbay_runs::doctor::Examined;
use serde_json::{Value, json};

use super::NO_MODELS;
use super::console::Console;
use super::table::Table;
use crate::app::Diagnosis;

/// Prints what was found.
///
/// # Errors
/// Standard output is closed.
pub(super) fn show(diagnoses: &[Diagnosis], json: bool, console: &Console) -> anyhow::Result<ExitCode> {
    if json {
        let models: Vec<Value> = diagnoses.iter().map(to_json).collect::<Result<_, _>>()?;
        writeln!(io::stdout(), "{:#}", json!({ "models": models }))?;
    } else if diagnoses.is_empty() {
        writeln!(io::stdout(), "{NO_MODELS}")?;
    } else {
        console.print(&table(diagnoses))?;
    }
    let all_healthy = diagnoses.iter().all(Diagnosis::is_healthy);
    Ok(if all_healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The fields of `GET /v1/drivers`, and the answer.
fn to_json(diagnosis: &Diagnosis) -> serde_json::Result<Value> {
    let mut model = serde_json::to_value(&diagnosis.examined)?;
    let (text, failure) = match &diagnosis.answer {
        Some(Ok(text)) => (Some(text), None),
        Some(Err(Failure { category, message, detail, .. })) => {
            (None, Some(json!({ "category": category.name(), "message": message, "detail": detail })))
        }
        None => (None, None),
    };
    model["answer"] = json!(text);
    model["failure"] = json!(failure);
    Ok(model)
}

fn table(diagnoses: &[Diagnosis]) -> Table<5> {
    let mut table = Table::new(["MODEL", "DRIVER", "STATE", "VERSION", "PROGRAM"]);
    for diagnosis in diagnoses {
        let Examined { model, driver, program, version, faults, notes, .. } = &diagnosis.examined;
        let state = match &diagnosis.answer {
            _ if !faults.is_empty() => "cannot run",
            Some(Ok(_)) => "answered",
            Some(Err(_)) => "failed",
            None => "ready",
        };
        let known = |value: &Option<String>| value.clone().unwrap_or_default();
        let remarks = faults.iter().map(|fault| format!("fault: {fault}"));
        let remarks = remarks.chain(notes.iter().map(|note| format!("note: {note}"))).chain(answer(diagnosis));
        table.row([model.clone(), driver.clone(), state.to_owned(), known(version), known(program)], remarks);
    }
    table
}

/// The answer of a model, or its failure with the last line of the detail.
fn answer(diagnosis: &Diagnosis) -> Option<String> {
    match diagnosis.answer.as_ref()? {
        Ok(answer) => Some(format!("answered: {}", answer.trim())),
        Err(Failure { category, message, detail, .. }) => {
            let detail = detail.lines().last().filter(|line| !message.ends_with(line));
            let detail = detail.map(|line| format!(": {line}")).unwrap_or_default();
            Some(format!("failed ({}): {message}{detail}", category.name()))
        }
    }
}

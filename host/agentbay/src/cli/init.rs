//! `init`: what was written, and the next command.

use std::io::{self, Write};
use std::process::ExitCode;

use agentbay_config::Source;
use agentbay_domain::{terminal_safe, terminal_safe_path};

use super::console::Console;
use crate::init::{Written, init};

/// Writes a proxy.toml and prints what is in it.
///
/// # Errors
/// See [`crate::init::InitError`]; or standard output is closed.
pub(super) async fn run(source: &Source, console: &Console) -> anyhow::Result<ExitCode> {
    let Written { path, repo, models, left_out } = init(source, console).await?;
    let only_echo = models == ["echo"] && left_out.is_empty();
    let mut stdout = io::stdout();
    writeln!(stdout, "wrote {}", terminal_safe_path(&path))?;
    writeln!(stdout, "  repository  {}", terminal_safe_path(&repo))?;
    writeln!(stdout, "  models      {}", if models.is_empty() { "none".to_owned() } else { models.join(", ") })?;
    for (model, reason) in left_out {
        writeln!(stdout, "  left out    {model}: {}", terminal_safe(&reason))?;
    }
    if only_echo {
        writeln!(stdout, "  no CLI of a coding agent was found on PATH; `echo` needs none and repeats its prompt")?;
    }
    writeln!(stdout, "\nNext: agentbay serve")?;
    Ok(ExitCode::SUCCESS)
}

//! `plugin add`: shows what a component asks for, and adds it if that is granted.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use agentbay_config::InlineLimits;
use agentbay_domain::{Environment, Wasi};
use clap::Args;

use super::{NOT_DONE, not_done};
use crate::cli::{Settings, complain};
use crate::install::{Addition, Candidate};

/// The component that is to be added.
#[derive(Debug, Args)]
pub(in crate::cli) struct AddArgs {
    /// The component.
    file: PathBuf,
    #[command(flatten)]
    settings: Settings,
    /// Let calls of WASI trap, in place of refusing a component that imports it.
    #[arg(long)]
    trap_wasi: bool,
    /// Limits of its own, as in proxy.toml: '{ memory = "256 MiB" }'.
    #[arg(long, value_name = "TABLE")]
    limits: Option<InlineLimits>,
    /// Grant what it asks for without being asked.
    #[arg(long)]
    yes: bool,
}

impl AddArgs {
    /// Does what the command line says.
    pub(super) async fn carry_out(self, cwd: PathBuf, environment: Environment) -> anyhow::Result<ExitCode> {
        let source = self.settings.source(cwd, environment);
        let wasi = if self.trap_wasi { Wasi::Trap } else { Wasi::Refuse };
        let addition = Addition { file: self.file, wasi, limits: self.limits };
        let candidate = match Candidate::look_at(&source, addition).await {
            Ok(candidate) => candidate,
            Err(error) => return Ok(not_done(error)),
        };
        writeln!(io::stdout(), "{candidate}")?;
        if !self.yes && !is_granted()? {
            complain("nothing was added");
            return Ok(ExitCode::from(NOT_DONE));
        }
        match candidate.add(&source) {
            Ok([settings, component]) => {
                writeln!(io::stdout(), "wrote {}\nwrote {}", settings.display(), component.display())?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => Ok(not_done(error)),
        }
    }
}

/// Asks whoever sits there. Nobody is asked through a pipe.
fn is_granted() -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        complain("to grant this, add --yes");
        return Ok(false);
    }
    let mut stdout = io::stdout();
    write!(stdout, "Grant this? [y/N] ")?;
    stdout.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

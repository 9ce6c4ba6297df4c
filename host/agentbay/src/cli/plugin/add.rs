//! `plugin add`: shows what a component asks for, and installs it if that is granted.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use agentbay_config::InlineLimits;
use agentbay_config::Source;
use agentbay_domain::Wasi;
use clap::Args;

use super::{name_of, usage_error};
use crate::app::during;
use crate::cli::console::Console;
use crate::cli::{Settings, USAGE, print_error};
use crate::install::{InstallOptions, InstallPlan};

/// The component, and its terms.
#[derive(Debug, Args)]
pub(in crate::cli) struct AddArgs {
    /// The component.
    file: PathBuf,
    #[command(flatten)]
    settings: Settings,
    /// Accept a component that imports WASI; calls of it trap.
    #[arg(long)]
    trap_wasi: bool,
    /// Give the plugin limits of its own, as in proxy.toml: '{ memory = "256 MiB" }'.
    #[arg(long, value_name = "TABLE")]
    limits: Option<InlineLimits>,
    /// Grant what it asks for without a question.
    #[arg(long)]
    yes: bool,
}

impl AddArgs {
    /// Runs the command.
    pub(super) async fn run(self, source: Source, console: &Console) -> anyhow::Result<ExitCode> {
        let source = self.settings.of(source);
        let wasi = if self.trap_wasi { Wasi::Trap } else { Wasi::Refuse };
        let compiling = format!("compiling {}", name_of(&self.file));
        let options = InstallOptions { file: self.file, wasi, limits: self.limits };
        let plan = match during(console, &compiling, InstallPlan::new(&source, options)).await {
            Ok(plan) => plan,
            Err(error) => return Ok(usage_error(error)),
        };
        writeln!(io::stdout(), "{plan}")?;
        if !self.yes && !is_granted()? {
            print_error("nothing was added");
            return Ok(ExitCode::from(USAGE));
        }
        match plan.install(&source) {
            Ok([settings, component]) => {
                writeln!(io::stdout(), "wrote {}\nwrote {}", settings.display(), component.display())?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => Ok(usage_error(error)),
        }
    }
}

/// Asks the person at the terminal. Without a terminal nothing is granted.
fn is_granted() -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        print_error("to grant this, add --yes");
        return Ok(false);
    }
    let mut stdout = io::stdout();
    write!(stdout, "Grant this? [y/N] ")?;
    stdout.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

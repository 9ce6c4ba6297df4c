//! The command line of the benchmark: `make bench`.

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use bench::plan::Plan;
use bench::{Binary, Setup};
use clap::Parser;

/// Markers around the table in the file.
const TABLE: [&str; 2] = ["<!-- table: begin -->", "<!-- table: end -->"];

/// Measures the time that the program adds to a direct run of the CLI.
#[derive(Debug, Parser)]
struct Arguments {
    /// A program to measure, with its name; several are measured alternately and compared with the first. A path is relative to the
    /// checkout [default: the release build of this checkout]
    #[arg(long, value_name = "NAME=FILE")]
    binary: Vec<String>,
    /// Measures for half a minute only
    #[arg(long)]
    quick: bool,
    /// Writes the table to tests/bench/README.md too, if the machine was idle
    #[arg(long)]
    write: bool,
    /// The seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cargo sets it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checkout = crate_dir.ancestors().nth(2).context("a checkout")?;
    let beside = |name: &str| Ok::<_, anyhow::Error>(built()?.join(name));
    let mut binaries = arguments.binary.iter().map(|word| binary(word, checkout)).collect::<Result<Vec<_>>>()?;
    if binaries.is_empty() {
        binaries.push(Binary { name: "this".into(), program: beside("agentbay")? });
    }
    let setup = Setup {
        binaries,
        stand_in: beside("stand-in")?,
        fixtures: checkout.join("fixtures"),
        plan: if arguments.quick { Plan::QUICK } else { Plan::FULL },
        seed: arguments.seed,
        cache: None,
    };
    let report = bench::run(&setup)?;
    write!(stdout(), "{report}")?;
    if arguments.write {
        ensure!(report.is_quiet(), "the machine is busy: the table is not written");
        put(&crate_dir.join("README.md"), &report.to_string())?;
    }
    Ok(())
}

/// Cargo's folder of build artifacts.
fn built() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    own.ancestors().nth(2).map(Path::to_owned).context("a folder of builds")
}

fn binary(word: &str, checkout: &Path) -> Result<Binary> {
    let (name, file) = word.split_once('=').with_context(|| format!("`{word}` is not NAME=FILE"))?;
    let program = checkout.join(file);
    ensure!(program.is_file(), "`{file}` of `{name}` is not a file");
    Ok(Binary { name: name.into(), program })
}

/// Replaces the table in the file.
fn put(file: &Path, table: &str) -> Result<()> {
    let text = fs::read_to_string(file)?;
    let [begin, end] = TABLE;
    let (before, rest) = text.split_once(begin).with_context(|| format!("no {begin}"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("no {end}"))?;
    Ok(fs::write(file, format!("{before}{begin}\n{table}{end}{after}"))?)
}

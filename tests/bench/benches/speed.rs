//! The command line of the benchmark: `make bench`.

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use bench::check::Check;
use bench::group::Group;
use bench::machine::{self, QUIET};
use bench::peers::Peer;
use bench::plan::Plan;
use bench::report::Report;
use bench::{Binary, Setup};
use clap::Parser;

/// The exit code if the machine is too busy to judge.
const BUSY: u8 = 3;

/// Markers around the tables in the file: that of this program, and that of its peers.
const TABLE: [&str; 2] = ["<!-- table: begin -->", "<!-- table: end -->"];
const PEERS: [&str; 2] = ["<!-- peers: begin -->", "<!-- peers: end -->"];

/// Measures the time that the program adds to a direct run of the CLI.
#[derive(Debug, Parser)]
struct Arguments {
    /// A program to measure, with its name; several are measured alternately and compared with the first. A path is relative to the
    /// checkout [default: the release build of this checkout]
    #[arg(long, value_name = "NAME=FILE")]
    binary: Vec<String>,
    /// Measures these groups of figures only [default: all]
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    only: Vec<Group>,
    /// Measures for a minute only
    #[arg(long)]
    quick: bool,
    /// Writes the table to tests/bench/README.md too, if the machine was idle
    #[arg(long)]
    write: bool,
    /// Judges the figures by the bars. Ends with 1 if one is missed, and with 3 on a busy machine, which is not judged
    #[arg(long)]
    check: bool,
    /// Measures nothing, and takes the raw figures of an earlier run from a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["binary", "only", "quick"])]
    from: Option<PathBuf>,
    /// A running server that is measured beside this program, and nothing else is; `peers/run` passes them
    #[arg(long, value_name = "NAME VERSION,ADDRESS,MODEL,PROCESS", conflicts_with_all = ["only", "from"])]
    peer: Vec<Peer>,
    /// The stand-in for real CLIs [default: the release build of this checkout]
    #[arg(long, value_name = "FILE")]
    stand_in: Option<PathBuf>,
    /// The seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cargo sets it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plan = if arguments.quick { Plan::QUICK } else { Plan::FULL };
    if arguments.check && arguments.from.is_none() && machine::used(plan.watched).is_some_and(|used| used > QUIET) {
        return busy();
    }
    let report = match &arguments.from {
        Some(file) => bench::saved::load(file)?,
        None => measure(&arguments, plan, crate_dir.ancestors().nth(2).context("a checkout")?)?,
    };
    write!(stdout(), "{report}")?;
    if arguments.write {
        ensure!(report.is_quiet(), "the machine is busy: the table is not written");
        let markers = if report.groups == [Group::Peers] { PEERS } else { TABLE };
        put(&crate_dir.join("README.md"), markers, &report.to_string())?;
    }
    if arguments.check { judge(&report) } else { Ok(ExitCode::SUCCESS) }
}

/// Measures, and saves the raw figures.
fn measure(arguments: &Arguments, plan: Plan, checkout: &Path) -> Result<Report> {
    let mut binaries = arguments.binary.iter().map(|word| binary(word, checkout)).collect::<Result<Vec<_>>>()?;
    if binaries.is_empty() {
        binaries.push(Binary { name: "this".into(), program: built()?.join("agentbay") });
    }
    let stand_in = arguments
        .stand_in
        .as_ref()
        .map_or_else(|| Ok(built()?.join("stand-in")), |file| anyhow::Ok(checkout.join(file)))?;
    ensure!(stand_in.is_file(), "there is no stand-in {}", stand_in.display());
    let setup = Setup {
        binaries,
        stand_in,
        fixtures: checkout.join("fixtures"),
        groups: if !arguments.peer.is_empty() {
            vec![Group::Peers]
        } else if arguments.only.is_empty() {
            Group::ALL.into()
        } else {
            arguments.only.clone()
        },
        plan,
        quick: arguments.quick,
        seed: arguments.seed,
        cache: None,
    };
    let report = match &arguments.peer[..] {
        [] => bench::run(&setup)?,
        peers => bench::peers::run(&setup, peers)?,
    };
    let file = bench::saved::save(&report, &built()?.parent().context("a target folder")?.join("bench"))?;
    writeln!(stdout(), "raw figures: {}\n", file.display())?;
    Ok(report)
}

/// Judges the figures by the bars.
fn judge(report: &Report) -> Result<ExitCode> {
    if !report.is_quiet() {
        return busy();
    }
    let check = Check::of(report);
    write!(stdout(), "\n{check}")?;
    Ok(if check.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn busy() -> Result<ExitCode> {
    let most = QUIET * 100.0;
    writeln!(stdout(), "others use more than {most:.0} % of the processors: the bars are not judged")?;
    Ok(ExitCode::from(BUSY))
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
fn put(file: &Path, [begin, end]: [&str; 2], table: &str) -> Result<()> {
    let text = fs::read_to_string(file)?;
    let (before, rest) = text.split_once(begin).with_context(|| format!("no {begin}"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("no {end}"))?;
    Ok(fs::write(file, format!("{before}{begin}\n{table}{end}{after}"))?)
}

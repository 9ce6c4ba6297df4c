//! Measures the time that AgentBay adds to a direct run of the CLI. `README.md` explains the figures.
//!
//! | module | content |
//! |---|---|
//! | [`plan`], [`group`] | the extent of the measurement, and its groups of figures |
//! | `site`, `repository`, `crowd` | the place where a program is measured: configuration, repository, CLIs, other processes |
//! | `server`, `direct`, `answer` | the running server, the CLI run directly, and the result of one run |
//! | `client`, `open_stream`, `connection` | clients of the server |
//! | `transcript` | plugins that read long transcripts, natively and as components |
//! | `measure` | the runs and their order |
//! | [`row`], [`statistics`] | figures and their statistics |
//! | [`report`], `table`, [`machine`] | figures as text, and the machine |
//! | [`peers`] | other programs that are measured beside this one |
//! | [`saved`] | raw figures as a file |
//! | `bars`, [`check`] | the figures that must be reached, and whether they are |

mod answer;
mod bars;
pub mod check;
mod client;
mod clock;
mod connection;
mod crowd;
mod direct;
pub mod group;
pub mod machine;
mod measure;
mod open_stream;
pub mod peers;
pub mod plan;
pub mod report;
mod repository;
pub mod row;
pub mod saved;
mod server;
mod site;
pub mod statistics;
mod table;
mod transcript;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::group::Group;
use crate::machine::Machine;
use crate::measure::Measuring;
use crate::plan::Plan;
use crate::report::Report;
use crate::site::Site;

/// A program that is measured.
#[derive(Debug, Clone)]
pub struct Binary {
    /// Its name in the table.
    pub name: String,
    /// Its file.
    pub program: PathBuf,
}

/// The measurement.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The programs; others are compared with the first.
    pub binaries: Vec<Binary>,
    /// The stand-in for real CLIs.
    pub stand_in: PathBuf,
    /// The folder of recorded runs.
    pub fixtures: PathBuf,
    /// The groups of figures.
    pub groups: Vec<Group>,
    /// The extent.
    pub plan: Plan,
    /// Whether the extent is that of a quick measurement.
    pub quick: bool,
    /// The seed of the order.
    pub seed: u64,
    /// The folder for compiled plugins, for a plan without cold starts; without it each program has a separate one.
    pub cache: Option<PathBuf>,
}

/// Measures everything, and ends all processes that it has started.
///
/// # Errors
/// A program does not start, or gives another answer than it should.
pub fn run(setup: &Setup) -> Result<Report> {
    let begun = Instant::now();
    let used_before = machine::used(setup.plan.watched);
    let sites = setup.binaries.iter().map(|binary| {
        let site = Site::new(setup, binary);
        site.with_context(|| format!("`{}`", binary.name))
    });
    let sites = sites.collect::<Result<Vec<_>>>()?;
    let chance = fastrand::Rng::with_seed(setup.seed);
    let rows = Measuring { sites: &sites, groups: &setup.groups, fixtures: &setup.fixtures, plan: setup.plan, chance }
        .rows()?;
    let took = begun.elapsed();
    Ok(Report {
        groups: setup.groups.clone(),
        quick: setup.quick,
        programs: setup.binaries.iter().map(report::Program::of).collect(),
        machine: Machine::this(),
        date: machine::date(),
        used: [used_before, machine::used(setup.plan.watched)].map(Option::unwrap_or_default),
        took,
        seed: setup.seed,
        rows,
    })
}

#[cfg(test)]
mod tests;

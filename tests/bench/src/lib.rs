//! Measures the time that AgentBay adds to a direct run of the CLI. `README.md` explains the figures.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | the extent of the measurement |
//! | `site` | the place where a program is measured: configuration, repository, CLIs |
//! | `server`, `direct`, `client`, `answer` | the running server, the CLI run directly, and the result of one run |
//! | `measure` | the runs and their order |
//! | [`row`], [`statistics`] | figures and their statistics |
//! | [`report`], `table`, `machine` | figures as text, and the machine |

mod answer;
mod client;
mod clock;
mod direct;
mod machine;
mod measure;
pub mod plan;
pub mod report;
pub mod row;
mod server;
mod site;
pub mod statistics;
mod table;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

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
    /// The extent.
    pub plan: Plan,
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
    let end = begun + setup.plan.lasting;
    let rows = Measuring { sites: &sites, plan: setup.plan, end, chance }.rows()?;
    let took = begun.elapsed();
    Ok(Report {
        rows,
        programs: setup.binaries.iter().map(report::Program::of).collect(),
        machine: machine::description(),
        date: machine::date(),
        used: [used_before, machine::used(setup.plan.watched)].map(Option::unwrap_or_default),
        took,
        seed: setup.seed,
    })
}

#[cfg(test)]
mod tests;

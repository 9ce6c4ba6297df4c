//! Measures what an answer through AgentBay costs beside the CLI run directly. What the figures mean stands in `README.md`.
//!
//! | module | what it owns |
//! |---|---|
//! | [`plan`] | how much is measured |
//! | `site` | the place where a program is measured: configuration, repository, CLIs |
//! | `server`, `direct`, `client`, `answer` | the program while it serves, the CLI run directly, and one run by either way |
//! | `measure` | which runs, in which order |
//! | [`row`], [`statistics`] | figures, and what their samples say |
//! | [`report`], `table`, `machine` | figures as text, and the machine that they come from |

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
    /// What it is called in the table.
    pub name: String,
    /// Its file.
    pub program: PathBuf,
}

/// What is measured.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The programs; others are compared with the first.
    pub binaries: Vec<Binary>,
    /// The CLI that stands for real ones.
    pub stand_in: PathBuf,
    /// The folder of recorded runs.
    pub fixtures: PathBuf,
    /// How much.
    pub plan: Plan,
    /// The seed of the order.
    pub seed: u64,
    /// The folder for compiled plugins, for a plan without cold starts; without it each program has one of its own.
    pub cache: Option<PathBuf>,
}

/// Measures everything, and ends everything that it has started.
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

//! A figure of the table: its samples of each program, round by round.

use serde::{Deserialize, Serialize};

/// The samples of one round of one program.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Round {
    /// Direct runs of the CLI; empty if there are none.
    pub direct: Vec<f64>,
    /// Runs through the program. For paired runs both have the same length.
    pub through: Vec<f64>,
}

/// The kind of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Seconds of a run, each paired with a direct one.
    Time,
    /// Runs per second.
    Rate,
    /// Bytes per second.
    Throughput,
    /// Seconds from a write to a read.
    Delay,
    /// Seconds of an event that has no counterpart in a direct run.
    Duration,
    /// Bytes.
    Memory,
    /// Requests that failed, each round beside the number of all.
    Failures,
}

/// A figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The rounds of each program, in the order of the programs.
    pub programs: Vec<Vec<Round>>,
}

impl Round {
    /// A single pair.
    pub(crate) fn pair(direct: f64, through: f64) -> Self {
        Self { direct: vec![direct], through: vec![through] }
    }

    /// A single sample without a direct counterpart.
    pub(crate) fn alone(through: f64) -> Self {
        Self { direct: Vec::new(), through: vec![through] }
    }

    /// The time that the program added to each direct run.
    pub fn added(&self) -> Vec<f64> {
        self.direct.iter().zip(&self.through).map(|(direct, through)| through - direct).collect()
    }

    /// The share of each direct figure that was reached.
    pub fn share(&self) -> Vec<f64> {
        self.direct.iter().zip(&self.through).map(|(direct, through)| through / direct).collect()
    }

    /// Adds a pair.
    pub(crate) fn push(&mut self, direct: f64, through: f64) {
        self.direct.push(direct);
        self.through.push(through);
    }
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, kind: Kind, programs: usize) -> Self {
        Self { name: name.into(), kind, programs: vec![Vec::new(); programs] }
    }

    /// Whether each program has samples.
    pub(crate) fn is_measured(&self) -> bool {
        self.programs.iter().all(|rounds| !rounds.is_empty())
    }
}

/// One series of a program's rounds, all in one.
pub fn flat(rounds: &[Round], series: impl Fn(&Round) -> Vec<f64>) -> Vec<f64> {
    rounds.iter().flat_map(series).collect()
}

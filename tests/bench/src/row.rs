//! A figure of the table: what was measured of it, of each program, round by round.

/// What was measured in one round of one program.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// Of the CLI run directly; empty where there is no such thing.
    pub direct: Vec<f64>,
    /// Through the program. Where each run has a direct one beside it, both are equally many.
    pub through: Vec<f64>,
}

/// What kind of figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Seconds of a run, each beside a direct one.
    Time,
    /// Runs a second.
    Rate,
    /// Seconds from a write to a read.
    Delay,
    /// Seconds of a start.
    Start,
    /// Bytes.
    Memory,
}

/// A figure.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// Of which kind.
    pub kind: Kind,
    /// The rounds of each program, in the order of the programs.
    pub programs: Vec<Vec<Round>>,
}

impl Round {
    /// What the program added to each direct run beside it.
    pub fn added(&self) -> Vec<f64> {
        self.direct.iter().zip(&self.through).map(|(direct, through)| through - direct).collect()
    }

    /// The part of each direct figure that was reached.
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
}

/// One series of a program's rounds, all in one.
pub fn flat(rounds: &[Round], series: impl Fn(&Round) -> Vec<f64>) -> Vec<f64> {
    rounds.iter().flat_map(series).collect()
}

//! AgentBay beside other programs that serve the same CLI: which ones, and where they listen. `peers/run` starts them.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::group::Group;
use crate::machine::{self, Machine};
use crate::measure::beside;
use crate::report::{Program, Report};
use crate::site::Site;
use crate::{Binary, Setup};

/// A server that is measured beside this program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Its name and version.
    pub program: Program,
    /// Its address.
    pub address: SocketAddr,
    /// The model that runs the CLI.
    pub model: String,
    /// Its process.
    pub process: u32,
}

impl FromStr for Peer {
    type Err = anyhow::Error;

    /// `NAME VERSION,ADDRESS,MODEL,PROCESS`.
    fn from_str(word: &str) -> Result<Self> {
        let parts: Vec<_> = word.split(',').collect();
        let [program, address, model, process] = parts[..] else { anyhow::bail!("`{word}` has not four parts") };
        let (name, version) = program.split_once(' ').context("a name and a version")?;
        Ok(Self {
            program: Program { name: name.into(), version: version.into() },
            address: address.parse().with_context(|| format!("`{address}` is not an address"))?,
            model: model.into(),
            process: process.parse().with_context(|| format!("`{process}` is not a process"))?,
        })
    }
}

/// Measures the first program of the set-up alternately with its peers.
///
/// # Errors
/// This program gives another answer than it should. Failures of the peers are figures.
pub fn run(setup: &Setup, peers: &[Peer]) -> Result<Report> {
    let begun = Instant::now();
    let used_before = machine::used(setup.plan.watched);
    ensure!(setup.binaries.len() == 1, "one program is measured beside its peers");
    let own: &Binary = &setup.binaries[0];
    let site = Site::new(setup, own)?;
    let rows = beside::rows(&site, setup.plan, fastrand::Rng::with_seed(setup.seed), peers)?;
    let programs = [Program::of(own)].into_iter().chain(peers.iter().map(|peer| peer.program.clone()));
    Ok(Report {
        groups: vec![Group::Peers],
        quick: setup.quick,
        programs: programs.collect(),
        machine: Machine::this(),
        date: machine::date(),
        used: [used_before, machine::used(setup.plan.watched)].map(Option::unwrap_or_default),
        took: begun.elapsed(),
        seed: setup.seed,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_read_from_the_command_line() {
        let program = Program { name: "other".into(), version: "1.0".into() };
        let address = "127.0.0.1:80".parse().unwrap();
        let peer = Peer { program, address, model: "sonnet".into(), process: 7 };
        assert_eq!("other 1.0,127.0.0.1:80,sonnet,7".parse::<Peer>().unwrap(), peer);
        assert!("other 1.0,localhost,sonnet,7".parse::<Peer>().is_err());
        assert!("other".parse::<Peer>().is_err());
    }
}

//! Other processes on the machine, which do nothing. They end with this, and with the benchmark itself, however that ends: their
//! standard input is a pipe that only the benchmark writes to.

use std::io::{self, PipeWriter};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Some idle processes.
#[derive(Debug)]
pub(crate) struct Crowd {
    members: Vec<Child>,
    end: Option<PipeWriter>,
}

impl Crowd {
    /// Starts a number of processes that read their standard input and then end.
    pub(crate) fn start(count: usize, mut command: Command) -> Result<Self> {
        let (input, end) = io::pipe()?;
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // Dropped if one cannot be started, which ends the others.
        let mut crowd = Self { members: Vec::with_capacity(count), end: Some(end) };
        for _ in 0..count {
            let member = command.stdin(input.try_clone()?).spawn();
            crowd.members.push(member.context("the machine permits no more processes")?);
        }
        Ok(crowd)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.end = None;
        for member in &mut self.members {
            // No effect if it has ended, which it does by itself.
            let _ended = member.wait();
        }
    }
}

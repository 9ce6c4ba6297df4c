//! The leader of a process group: a child of this process, from its start until it is reaped. Signals for its group are sent
//! from here only, and only before it is reaped: after that, the number of the group may belong to another one.

use std::io;

use agentbay_domain::ExitStatus;
use process_wrap::std::{ChildWrapper, CommandWrap};
use rustix::process::{Pid, Signal, kill_process_group};

use super::children;
use super::exit_watcher::ExitWatcher;

/// A child that leads its own process group.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    exit_watcher: ExitWatcher,
    is_reaped: bool,
}

impl Leader {
    /// Starts a command that makes its process the leader of a group. The second value has its pipes.
    pub(super) fn start(wrap: &mut CommandWrap) -> io::Result<(Self, Box<dyn ChildWrapper>)> {
        let (pid, child) = children::start(|| wrap.spawn())?;
        match ExitWatcher::of(pid) {
            Ok(exit_watcher) => Ok((Self { pid, exit_watcher, is_reaped: false }, child)),
            Err(error) => {
                let _has_ended = kill_process_group(pid, Signal::KILL);
                children::abandon(pid);
                Err(error)
            }
        }
    }

    /// Its number, and that of its group.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits for its exit. Its number stays reserved. Cancel-safe.
    pub(super) async fn exit(&mut self) -> ExitStatus {
        self.exit_watcher.wait().await
    }

    /// Sends a signal to its group. Returns whether the group had a process.
    pub(super) fn signal_group(&self, signal: Signal) -> bool {
        !self.is_reaped && kill_process_group(self.pid, signal).is_ok()
    }

    /// Reaps it. It has exited.
    pub(super) fn reap(&mut self) {
        if !self.is_reaped {
            self.is_reaped = true;
            children::reap(self.pid);
        }
    }
}

impl Drop for Leader {
    /// It is reaped once it ends. Its owner ends it, if it does not end by itself.
    fn drop(&mut self) {
        if !self.is_reaped {
            children::abandon(self.pid);
        }
    }
}

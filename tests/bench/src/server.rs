//! The running server: its start, memory and end.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::clock::now;

/// Time limit for the start: compiling all plugins on a busy machine takes far less.
const START: Duration = Duration::from_secs(300);

/// Time limit for the end, after which it is killed.
const END: Duration = Duration::from_secs(10);

/// A running server, which ends on drop.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Its address.
    pub(crate) address: SocketAddr,
    /// The time of its start.
    pub(crate) begun: Duration,
    /// The duration of the start.
    pub(crate) took: Duration,
}

impl Server {
    /// Starts it, and waits until it listens. Its log goes to a file.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(fs::File::create(log)?);
        let begun = now();
        let mut child = Starting(Some(command.spawn().with_context(|| format!("cannot start {command:?}"))?));
        let stdout = child.0.as_mut().and_then(|child| child.stdout.take()).context("a pipe")?;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line);
            // The receiver is gone if it took too long.
            let _late = sender.send((now(), read.map(|_| line)));
        });
        let (at, line) = receiver.recv_timeout(START).context("it does not listen")?;
        let line = line?;
        let Some(address) = line.trim_end().strip_prefix("listening on http://") else {
            bail!("it does not listen, but says {line:?} and logs:\n{}", fs::read_to_string(log)?);
        };
        let address = address.parse()?;
        let child = child.0.take().context("a process")?;
        Ok(Self { child, address, begun, took: at - begun })
    }

    /// Its resident memory in bytes, where the system reports it as Linux does.
    pub(crate) fn resident(&self) -> Option<f64> {
        resident(self.process())
    }

    /// The largest resident memory that it has had, in bytes.
    pub(crate) fn peak(&self) -> Option<f64> {
        memory(self.process(), "VmHWM:")
    }

    /// Its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

/// The resident memory of a process in bytes.
pub(crate) fn resident(process: u32) -> Option<f64> {
    memory(process, "VmRSS:")
}

fn memory(process: u32, field: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix(field))?;
    size.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kib| kib * 1024.0)
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// A process that does not listen yet.
struct Starting(Option<Child>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            end(child);
        }
    }
}

/// Requests the end of a process, and kills it if it does not end.
fn end(child: &mut Child) {
    let asked = Instant::now();
    if kill_process(Pid::from_child(child), Signal::TERM).is_ok() {
        while asked.elapsed() < END && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
    }
    // Both have no effect if it has ended.
    let _ended = child.kill();
    let _reaped = child.wait();
}

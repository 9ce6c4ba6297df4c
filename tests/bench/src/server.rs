//! The program while it serves: started, looked at, ended.

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

/// How long it may take until it listens: compiling all plugins on a busy machine is far below.
const START: Duration = Duration::from_secs(300);

/// How long it may take to end before it is killed.
const END: Duration = Duration::from_secs(10);

/// A program that serves as long as this lives.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// How long it took until it said so.
    pub(crate) took: Duration,
}

impl Server {
    /// Starts it, and waits until it listens. What it logs goes to a file.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(fs::File::create(log)?);
        let begun = now();
        let mut child = Starting(Some(command.spawn().with_context(|| format!("cannot start {command:?}"))?));
        let stdout = child.0.as_mut().and_then(|child| child.stdout.take()).context("a pipe")?;
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line);
            // Nobody waits any more if it took too long.
            let _late = tell.send((now(), read.map(|_| line)));
        });
        let (at, line) = told.recv_timeout(START).context("it does not listen")?;
        let line = line?;
        let Some(address) = line.trim_end().strip_prefix("listening on http://") else {
            bail!("it does not listen, but says {line:?} and logs:\n{}", fs::read_to_string(log)?);
        };
        let address = address.parse()?;
        let child = child.0.take().context("a process")?;
        Ok(Self { child, address, took: at - begun })
    }

    /// Its resident memory in bytes, where the system tells it as Linux does.
    pub(crate) fn resident(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        size.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kib| kib * 1024.0)
    }
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

/// Asks a process to end, and kills it if it does not.
fn end(child: &mut Child) {
    let asked = Instant::now();
    if kill_process(Pid::from_child(child), Signal::TERM).is_ok() {
        while asked.elapsed() < END && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
    }
    // Both do nothing if it has ended.
    let _ended = child.kill();
    let _reaped = child.wait();
}

//! The time from the cancellation of a run to the end of its last process.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Measuring;
use super::running::Running;
use crate::client::Client;
use crate::clock::now;
use crate::group::Group;
use crate::open_stream::OpenStream;
use crate::row::{Kind, Round, Row};
use crate::site::{CANCELLED, PROMPT};

/// Time limit for the end. Only a broken program reaches it.
const LIMIT: Duration = Duration::from_secs(60);

impl Measuring<'_> {
    /// A CLI with a process that it has started, cancelled by a request and by the end of the connection.
    pub(super) fn cancellations(&mut self, running: &[Running<'_>]) -> Result<Vec<Row>> {
        let names = ["cancel to last process gone", "disconnect to last process gone"];
        let mut rows = names.map(|name| Row::new(name, Kind::Duration, running.len()));
        let mut share = self.share(Group::Cancel);
        while share.next() {
            for number in self.shuffled(rows.len()) {
                for program in self.shuffled(running.len()) {
                    let (address, locks) = (running[program].server.address, running[program].site.locks());
                    let stream = OpenStream::open(address, CANCELLED, PROMPT)?;
                    let mut client = Client::connect(address)?;
                    let gone = gone(&locks)?;
                    let asked = now();
                    // The connection stays open in the first case until the processes are gone.
                    let kept = if number == 0 {
                        client.cancel(stream.run())?;
                        Some(stream)
                    } else {
                        drop(stream);
                        None
                    };
                    let at = gone.recv_timeout(LIMIT).context("a cancelled process does not end")?;
                    drop(kept);
                    rows[number].programs[program].push(Round::alone((at - asked).as_secs_f64()));
                    for lock in locks {
                        fs::remove_file(lock)?;
                    }
                }
            }
        }
        Ok(rows.into())
    }
}

/// Reports the time at which no process holds a lock on one of the files.
fn gone(locks: &[PathBuf]) -> Result<mpsc::Receiver<Duration>> {
    let files = locks.iter().map(File::open).collect::<Result<Vec<_>, _>>()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        if files.iter().all(|file| file.lock().is_ok()) {
            // The receiver is gone if it took too long.
            let _late = sender.send(now());
        }
    });
    Ok(receiver)
}

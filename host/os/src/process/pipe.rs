//! The pipes of a process: their ends in this process, and the capacity of its output pipe.
//!
//! Some CLIs exit without waiting until their output is read (`process.exit` of Node.js does): output that does not fit into
//! the pipe is lost, and the run appears truncated. A larger pipe holds the output of such a CLI while the host is busy.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::net::unix::pipe::{Receiver, Sender};

/// Bytes that a pipe should hold. Linux has 64 KiB by default and allows 64 MiB for all pipes of a user, so that 128 runs fit.
pub(super) const CAPACITY: usize = 512 * 1024;

/// The end that a process's output is read from.
pub(super) fn receiver(end: impl Into<OwnedFd>) -> io::Result<Receiver> {
    Receiver::from_owned_fd(end.into())
}

/// The end that a process's input is written to.
pub(super) fn sender(end: impl Into<OwnedFd>) -> io::Result<Sender> {
    Sender::from_owned_fd(end.into())
}

/// Enlarges a pipe where the system can. A refusal is not an error: the pipe works at its default size.
#[cfg(target_os = "linux")]
pub(super) fn enlarge(pipe: impl AsFd) {
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(pipe, CAPACITY) {
        tracing::debug!(%error, "the output pipe keeps its default size");
    }
}

/// Other systems choose the size of a pipe themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn enlarge(_pipe: impl AsFd) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// `dd` with `nonblock` writes what fits and ends.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process whose output is not read until it has ended")]
    fn a_process_that_exits_without_waiting_for_its_reader_loses_nothing() {
        let bytes = 300_000;
        // It waits until the pipe has been enlarged.
        let script = format!("read go; exec dd if=/dev/zero bs={bytes} count=1 oflag=nonblock");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        enlarge(child.stdout.as_ref().unwrap());
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert!(child.wait().unwrap().success());
        let mut output = Vec::new();
        std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut output).unwrap();
        assert_eq!(output.len(), bytes);
    }
}

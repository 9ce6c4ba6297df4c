//! What is written to a process's standard input: a queue, so that the writer does not wait for the process to read.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

/// Standard input, and what waits to be written to it.
#[derive(Debug)]
pub(super) struct Input {
    /// Nothing once it is closed.
    stdin: Option<ChildStdin>,
    queue: VecDeque<Bytes>,
    /// Bytes in the queue.
    waiting: usize,
    /// To be closed once all is written.
    closing: bool,
}

impl Input {
    pub(super) fn of(stdin: Option<ChildStdin>) -> Self {
        Self { stdin, queue: VecDeque::new(), waiting: 0, closing: false }
    }

    /// Puts this into the queue.
    pub(super) fn push(&mut self, input: Bytes) {
        if self.stdin.is_some() && !self.closing && !input.is_empty() {
            self.waiting += input.len();
            self.queue.push_back(input);
        }
    }

    /// Closes standard input once all that is queued is written.
    pub(super) fn close(&mut self) {
        self.closing = true;
        self.close_if_done();
    }

    /// Bytes that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Writes as much of the queue as the process takes. Waits for as long as there is nothing to write. May be dropped
    /// and called again at any time.
    pub(super) async fn write_some(&mut self) {
        let (Some(stdin), Some(front)) = (&mut self.stdin, self.queue.front_mut()) else {
            return std::future::pending().await;
        };
        match stdin.write(front).await {
            Ok(count) => {
                front.advance(count);
                self.waiting -= count;
                if front.is_empty() {
                    self.queue.pop_front();
                }
                self.close_if_done();
            }
            // The process does not want to hear more. Its exit says whether that is a failure.
            Err(_) => {
                self.stdin = None;
                self.queue.clear();
                self.waiting = 0;
            }
        }
    }

    fn close_if_done(&mut self) {
        if self.closing && self.queue.is_empty() {
            self.stdin = None;
        }
    }
}

//! Standard input of a process, behind a queue: the writer does not wait for the process to read.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;

/// Standard input and the bytes queued for it.
#[derive(Debug)]
pub(super) struct Input {
    /// `None` once it is closed.
    stdin: Option<Sender>,
    queue: VecDeque<Bytes>,
    /// Number of bytes in the queue.
    waiting: usize,
    /// Close standard input once the queue is empty.
    closing: bool,
}

impl Input {
    pub(super) fn of(stdin: Option<Sender>) -> Self {
        Self { stdin, queue: VecDeque::new(), waiting: 0, closing: false }
    }

    /// Adds bytes to the queue.
    pub(super) fn push(&mut self, input: Bytes) {
        if self.stdin.is_some() && !self.closing && !input.is_empty() {
            self.waiting += input.len();
            self.queue.push_back(input);
        }
    }

    /// Closes standard input once the queue is written.
    pub(super) fn close(&mut self) {
        self.closing = true;
        self.close_if_done();
    }

    /// Number of bytes that are not written yet.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Writes as much of the queue as the process accepts; pending while the queue is empty. Cancel-safe.
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
            // The process closed its standard input. Its exit status shows whether that is a failure.
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

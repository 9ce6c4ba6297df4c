//! The compiler's turn: one file after the other, off the threads that serve, each for a limited time.
//!
//! A compiler cannot be stopped. What takes too long is given up on: its thread goes on until it is through, and what it
//! made is dropped. So that many such files cannot take many threads, there are few places; and the threads are not the
//! runtime's, which waits for its own when the process is to end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// One for the file whose turn it is, and one for a file that was given up on.
const PLACES: usize = 2;

/// The places there are. A clone stands for the same ones.
#[derive(Debug, Clone)]
pub(super) struct Compiler(Arc<Semaphore>);

/// Why there is nothing compiled.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// It took too long.
    #[error("took longer than {} to compile: raise `limits.plugin_compile` in proxy.toml if it needs more", humantime::format_duration(*.0))]
    TooLong(Duration),
    /// Every place is taken by a file that was given up on.
    #[error("cannot be compiled yet: other files that took too long are still being compiled (look again with SIGHUP)")]
    Busy,
    /// The compiler panicked, or there is no thread for it.
    #[error("made the compiler fail: {0}")]
    Failed(String),
}

impl Compiler {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(PLACES)))
    }

    /// Does it on a thread of its own, but waits no longer than this.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        patience: Duration,
        compile: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CompileError> {
        // Files are loaded one after the other, so whoever has a place now keeps it for long.
        let place = Arc::clone(&self.0).try_acquire_owned().map_err(|_taken| CompileError::Busy)?;
        let (done, compiled) = oneshot::channel();
        let work = move || {
            // What is half done is dropped with the panic.
            let result = catch_unwind(AssertUnwindSafe(compile));
            drop(place);
            // Nobody waits for what was given up on.
            let _given_up = done.send(result);
        };
        let started = thread::Builder::new().name("plugin-compiler".to_owned()).spawn(work);
        started.map_err(|error| CompileError::Failed(error.to_string()))?;
        match timeout(patience, compiled).await {
            Ok(Ok(result)) => result.map_err(|panic| CompileError::Failed(words(&*panic))),
            Ok(Err(_lost)) => Err(CompileError::Failed("it was broken off".to_owned())),
            Err(_elapsed) => Err(CompileError::TooLong(patience)),
        }
    }
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_panic_of_the_compiler_is_an_error_and_the_place_is_free_again() {
        let compiler = Compiler::new();
        for _ in 0..=PLACES {
            let failed = compiler.run(LONG, || -> u8 { panic!("for the test") }).await;
            assert_eq!(failed, Err(CompileError::Failed("for the test".to_owned())));
        }
        assert_eq!(compiler.run(LONG, || 1).await, Ok(1));
    }

    #[tokio::test]
    async fn what_takes_too_long_is_given_up_on_and_cannot_take_more_than_the_places_there_are() {
        let (compiler, short) = (Compiler::new(), Duration::from_millis(1));
        let held: Vec<_> = (0..PLACES).map(|_| mpsc::channel::<()>()).collect();
        let mut ends = Vec::new();
        for (end, wait) in held {
            let given_up = compiler.run(short, move || wait.recv().is_ok()).await;
            assert_eq!(given_up, Err(CompileError::TooLong(short)));
            ends.push(end);
        }
        assert_eq!(compiler.run(LONG, || 1).await, Err(CompileError::Busy));
        drop(ends.pop());
        let free = Arc::clone(&compiler.0).acquire_owned().await;
        drop(free);
        assert_eq!(compiler.run(LONG, || 1).await, Ok(1));
    }
}

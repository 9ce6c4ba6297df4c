//! Where plugins compute that take long: on threads of their own.
//!
//! A call mostly takes microseconds and is made where it is wanted. One that goes on after the engine's tick would hold
//! up whatever else that thread has to do, so it moves here, where such calls take turns, a tick each. The threads that
//! serve requests are then never held for more than a tick by a plugin, however many plugins are busy.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::task::AbortOnDropHandle;

/// The threads. A clone stands for the same ones.
#[derive(Debug, Clone)]
pub(super) struct Lane(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    handle: Handle,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

/// What was done in the lane is lost: it panicked, or the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost;

impl Lane {
    /// Starts the threads: half as many as the machine has processors, so that the other half is there for requests.
    pub(super) fn new() -> io::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let runtime =
            Builder::new_multi_thread().worker_threads((processors / 2).max(1)).thread_name("plugin-lane").build()?;
        Ok(Self(Arc::new(Threads { handle: runtime.handle().clone(), runtime: Some(runtime) })))
    }

    /// Does something that yields at ticks only: its first part here, the rest in the lane. If this is dropped, so is
    /// that.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Lost> {
        let mut work = Box::pin(work);
        let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        match first {
            Poll::Ready(done) => Ok(done),
            Poll::Pending => {
                let rest = pin!(AbortOnDropHandle::new(self.0.handle.spawn(work)));
                rest.await.map_err(|_lost| Lost)
            }
        }
    }
}

impl Drop for Threads {
    /// A runtime may not be waited for where it is dropped: that may be inside another.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    fn thread_name() -> Option<String> {
        thread::current().name().map(str::to_owned)
    }

    #[tokio::test]
    async fn what_is_done_at_once_stays_and_the_rest_of_what_is_not_moves() {
        let (lane, here) = (Lane::new().unwrap(), thread_name());
        assert_eq!(lane.run(async { thread_name() }).await, Ok(here.clone()));
        let both = async {
            let first = thread_name();
            yield_now().await;
            (first, thread_name())
        };
        assert_eq!(lane.run(both).await, Ok((here, Some("plugin-lane".to_owned()))));
    }

    #[tokio::test]
    async fn a_panic_in_the_lane_loses_that_work_only() {
        let lane = Lane::new().unwrap();
        let panics = async {
            yield_now().await;
            panic!("for the test");
        };
        assert_eq!(lane.run::<()>(panics).await, Err(Lost));
        assert_eq!(lane.run(async { yield_now().await }).await, Ok(()));
    }
}

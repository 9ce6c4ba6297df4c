//! Where plugins compute that take long: on threads of their own.
//!
//! A call mostly takes microseconds and is made where it is wanted. One that has used a tick of processor time would hold
//! up whatever else that thread has to do, so it moves here. Where a thread can have less of the processors than others,
//! those of the lane have.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio_util::task::AbortOnDropHandle;

use super::epoch::{TICK, processor_time};

/// The threads. A clone stands for the same ones.
#[derive(Debug, Clone)]
pub(super) struct Lane(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    handle: Handle,
    /// There until it is dropped.
    runtime: Option<Runtime>,
    /// One for each processor that long work may take.
    turns: Arc<Semaphore>,
}

/// What was done in the lane is lost: it panicked, or the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost;

/// Work that knows how much processor time it has used.
struct Timed<T> {
    work: Pin<Box<dyn Future<Output = T> + Send>>,
    used: Duration,
}

impl<T> Timed<T> {
    /// Does some of it, until it yields. When all is done, the processor time that it took is told as well.
    async fn some(&mut self) -> Poll<(T, Duration)> {
        poll_fn(|context| {
            let before = processor_time();
            let polled = self.work.as_mut().poll(context);
            self.used += processor_time().saturating_sub(before);
            Poll::Ready(polled.map(|done| (done, self.used)))
        })
        .await
    }
}

impl Lane {
    /// Starts the threads. There are more than processors, so that short work does not wait for long work. What is long
    /// takes turns on half of the processors, a tick each, so that the other half is there for requests.
    pub(super) fn new() -> io::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2 * processors + 2)
            .thread_name("plugin-lane")
            .on_thread_start(step_back)
            .build()?;
        let turns = Arc::new(Semaphore::new((processors / 2).max(1)));
        Ok(Self(Arc::new(Threads { handle: runtime.handle().clone(), runtime: Some(runtime), turns })))
    }

    /// Does something that yields at ticks: here until it has used a tick, and the rest in the lane. If this is dropped,
    /// so is that. Tells how much processor time it took as well.
    pub(super) async fn begin_here<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<(T, Duration), Lost> {
        let mut work = Timed { work: Box::pin(work), used: Duration::ZERO };
        // A tick also comes while the thread has to wait for a processor, which is not the plugin's doing.
        while work.used < TICK {
            if let Poll::Ready(done) = work.some().await {
                return Ok(done);
            }
            yield_now().await;
        }
        self.rest(work).await
    }

    /// Does all of it in the lane.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<(T, Duration), Lost> {
        self.rest(Timed { work: Box::pin(work), used: Duration::ZERO }).await
    }

    async fn rest<T: Send + 'static>(&self, work: Timed<T>) -> Result<(T, Duration), Lost> {
        let turns = Arc::clone(&self.0.turns);
        let all = async move {
            let mut work = work;
            loop {
                // Nobody closes it, so that there always is a turn in the end.
                let turn = if work.used < TICK { None } else { Some(turns.acquire().await) };
                if let Poll::Ready(done) = work.some().await {
                    return done;
                }
                drop(turn);
                yield_now().await;
            }
        };
        AbortOnDropHandle::new(self.0.handle.spawn(all)).await.map_err(|_lost| Lost)
    }
}

/// Lets other threads go first. On Linux this is for the one thread; elsewhere it would be for all of the process.
fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 10) {
        tracing::debug!(%error, "threads for plugins have the priority of all others");
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
    use super::*;

    fn thread_name() -> Option<String> {
        thread::current().name().map(str::to_owned)
    }

    /// Works for longer than a tick, and then lets others go first.
    async fn work_for_a_tick() {
        let before = processor_time();
        while processor_time() - before <= TICK {}
        yield_now().await;
    }

    #[tokio::test]
    async fn what_is_short_stays_and_the_rest_of_what_is_not_moves() {
        let (lane, here, there) = (Lane::new().unwrap(), thread_name(), Some("plugin-lane".to_owned()));
        let short = async {
            yield_now().await;
            thread_name()
        };
        assert_eq!(lane.begin_here(short).await.unwrap().0, here);
        let long = async {
            let first = thread_name();
            work_for_a_tick().await;
            (first, thread_name())
        };
        let (names, used) = lane.begin_here(long).await.unwrap();
        assert_eq!(names, (here, there.clone()));
        assert!(used > TICK, "{used:?}");
        assert_eq!(lane.run(async { thread_name() }).await.unwrap().0, there);
    }

    #[tokio::test]
    async fn a_panic_in_the_lane_loses_that_work_only() {
        let lane = Lane::new().unwrap();
        let panics = async { panic!("for the test") };
        assert_eq!(lane.run::<()>(panics).await, Err(Lost));
        assert_eq!(lane.run(async { 1 }).await.unwrap().0, 1);
    }
}

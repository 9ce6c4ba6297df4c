//! The executor for long plugin calls: separate threads of lower priority.
//!
//! Most calls take microseconds and run inline. A call that has used a tick of processor time would block other work of its
//! thread, so it moves here. Where the system supports priorities of threads, those of the executor have a lower one.

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

/// The executor. Clones share its threads.
#[derive(Debug, Clone)]
pub(super) struct Executor(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    handle: Handle,
    /// `None` only during drop.
    runtime: Option<Runtime>,
    /// One slot for each processor that long work may use.
    slots: Arc<Semaphore>,
}

/// The result of a task is lost: it panicked, or the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskLost;

/// A task that measures its processor time.
struct TimedTask<T> {
    work: Pin<Box<dyn Future<Output = T> + Send>>,
    used: Duration,
}

impl<T> TimedTask<T> {
    /// Polls it once. Its result includes the processor time used.
    async fn poll_once(&mut self) -> Poll<(T, Duration)> {
        poll_fn(|context| {
            let before = processor_time();
            let polled = self.work.as_mut().poll(context);
            self.used += processor_time().saturating_sub(before);
            Poll::Ready(polled.map(|done| (done, self.used)))
        })
        .await
    }
}

impl Executor {
    /// Starts the threads. There are more threads than processors, so that short work does not wait for long work. Long work
    /// shares half of the processors, one tick at a time, so that the other half is free for requests.
    pub(super) fn new() -> io::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2 * processors + 2)
            .thread_name("plugin-executor")
            .on_thread_start(lower_priority)
            .build()?;
        let slots = Arc::new(Semaphore::new((processors / 2).max(1)));
        Ok(Self(Arc::new(Threads { handle: runtime.handle().clone(), runtime: Some(runtime), slots })))
    }

    /// Runs a task that yields at ticks: inline until it has used a tick, and the rest in the executor. Dropping this future
    /// drops the task. Returns the processor time used as well.
    pub(super) async fn run_inline_first<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<(T, Duration), TaskLost> {
        let mut work = TimedTask { work: Box::pin(work), used: Duration::ZERO };
        // A tick also passes while the thread waits for a processor, which is not time of the plugin.
        while work.used < TICK {
            if let Poll::Ready(done) = work.poll_once().await {
                return Ok(done);
            }
            yield_now().await;
        }
        self.offload(work).await
    }

    /// Runs all of it in the executor.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<(T, Duration), TaskLost> {
        self.offload(TimedTask { work: Box::pin(work), used: Duration::ZERO }).await
    }

    async fn offload<T: Send + 'static>(&self, work: TimedTask<T>) -> Result<(T, Duration), TaskLost> {
        let slots = Arc::clone(&self.0.slots);
        let all = async move {
            let mut work = work;
            loop {
                // The semaphore is never closed.
                let slot = if work.used < TICK { None } else { Some(slots.acquire().await) };
                if let Poll::Ready(done) = work.poll_once().await {
                    return done;
                }
                drop(slot);
                yield_now().await;
            }
        };
        AbortOnDropHandle::new(self.0.handle.spawn(all)).await.map_err(|_lost| TaskLost)
    }
}

/// Lowers the priority of this thread. Only on Linux: on other systems it would apply to the process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 10) {
        tracing::debug!(%error, "cannot lower the priority of a plugin thread");
    }
}

impl Drop for Threads {
    /// Without waiting: the drop may happen inside another runtime.
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

    /// Works for longer than a tick, and then yields.
    async fn work_for_a_tick() {
        let before = processor_time();
        while processor_time() - before <= TICK {}
        yield_now().await;
    }

    #[tokio::test]
    async fn a_short_task_stays_inline_and_the_rest_of_a_long_one_moves_to_the_executor() {
        let (executor, here, there) = (Executor::new().unwrap(), thread_name(), Some("plugin-executor".to_owned()));
        let short = async {
            yield_now().await;
            thread_name()
        };
        assert_eq!(executor.run_inline_first(short).await.unwrap().0, here);
        let long = async {
            let first = thread_name();
            work_for_a_tick().await;
            (first, thread_name())
        };
        let (names, used) = executor.run_inline_first(long).await.unwrap();
        assert_eq!(names, (here, there.clone()));
        assert!(used > TICK, "{used:?}");
        assert_eq!(executor.run(async { thread_name() }).await.unwrap().0, there);
    }

    #[tokio::test]
    async fn a_panic_in_the_executor_loses_only_that_task() {
        let executor = Executor::new().unwrap();
        let panics = async { panic!("for the test") };
        assert_eq!(executor.run::<()>(panics).await, Err(TaskLost));
        assert_eq!(executor.run(async { 1 }).await.unwrap().0, 1);
    }
}

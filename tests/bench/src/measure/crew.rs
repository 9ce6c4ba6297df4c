//! Several clients at once, each in a thread of its own.

use std::thread;

use anyhow::{Result, anyhow};

/// The results of all members, each working in a thread, in their order.
pub(super) fn together<M: Send, T: Send>(members: Vec<M>, work: impl Fn(M) -> Result<T> + Sync) -> Result<Vec<T>> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = members.into_iter().map(|member| scope.spawn(move || work(member))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a client panics"))?).collect()
    })
}

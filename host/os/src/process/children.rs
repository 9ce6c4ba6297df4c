//! The children of this process: those that it has started, and those that it has adopted.
//!
//! On Linux this process adopts every descendant that loses its parent. What a run leaves is then found among the children of
//! this process, instead of among all processes of the machine. A child that was started is reaped by its `leader`, or here
//! once it is abandoned; adopted children are reaped here.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use std::{fs, io, process};

use process_wrap::std::ChildWrapper;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

/// How long a child that has ended may wait until it is reaped here.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

/// Read while a child is started, written while adopted children are selected: a child that is being started is
/// not in `STARTED` yet, and would be taken for an adopted one.
static CHANGING: RwLock<()> = RwLock::new(());

/// The children that were started and are not reaped. Held while children are listed and reaped: the list misses a child if
/// another one is reaped meanwhile.
static STARTED: LazyLock<Mutex<HashSet<Pid>>> = LazyLock::new(Mutex::default);

/// Those of them that have to be reaped here.
static ABANDONED: LazyLock<Mutex<HashSet<Pid>>> = LazyLock::new(Mutex::default);

/// Whether this process adopts. It begins with the first child.
static ADOPTS: LazyLock<bool> = LazyLock::new(|| listed().is_some() && system::adopt());

/// Starts a child with a function that does so.
pub(super) fn start(
    spawn: impl FnOnce() -> io::Result<Box<dyn ChildWrapper>>,
) -> io::Result<(Pid, Box<dyn ChildWrapper>)> {
    reap_abandoned();
    LazyLock::force(&ADOPTS);
    let _changing = CHANGING.read().unwrap_or_else(PoisonError::into_inner);
    let child = spawn()?;
    let pid = pid(child.id()).ok_or(io::ErrorKind::NotFound)?;
    lock(&STARTED).insert(pid);
    Ok((pid, child))
}

/// Reaps a child that was started and has ended. Its number may belong to another process after that.
pub(super) fn reap(child: Pid) {
    let mut started = lock(&STARTED);
    match ended(child) {
        Ok(None) => {
            lock(&ABANDONED).insert(child);
        }
        Ok(Some(_)) | Err(_) => {
            started.remove(&child);
        }
    }
}

/// Leaves a child, which may be running, to be reaped here.
pub(super) fn abandon(child: Pid) {
    lock(&ABANDONED).insert(child);
    reap_abandoned();
}

/// Whether a child has not ended.
pub(super) fn runs(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

/// Whether this process adopts descendants that lose their parent. Otherwise they are children of another process.
pub(super) fn adopts() -> bool {
    *ADOPTS
}

/// Whether there may be adopted children. A child that is being started counts as well.
pub(super) fn may_have_adopted() -> bool {
    !unknown(&lock(&STARTED)).is_empty()
}

/// Calls a function with all adopted children that run, after those that have ended are reaped. Meanwhile none is reaped: a
/// number means the same process.
pub(super) fn with_adopted<T>(select: impl FnOnce(&[Pid]) -> T) -> T {
    let _changing = CHANGING.write().unwrap_or_else(PoisonError::into_inner);
    let running: Vec<Pid> = {
        let started = lock(&STARTED);
        unknown(&started).into_iter().filter(|child| !matches!(ended(*child), Ok(Some(_)))).collect()
    };
    select(&running)
}

/// Reaps adopted and abandoned children when they end. Returns only if the system reports no ends.
pub async fn reap_children() {
    let Ok(mut ended) = signal(SignalKind::child()).inspect_err(|error| {
        tracing::warn!(%error, "processes that lost their parent stay in the process table after their end");
    }) else {
        return;
    };
    while ended.recv().await.is_some() {
        sleep(REAP_INTERVAL).await;
        reap_abandoned();
        if adopts() && may_have_adopted() {
            with_adopted(|_running| ());
        }
    }
}

fn reap_abandoned() {
    let mut started = lock(&STARTED);
    lock(&ABANDONED).retain(|child| {
        let runs = matches!(ended(*child), Ok(None));
        if !runs {
            started.remove(child);
        }
        runs
    });
}

/// Reaps a child if it has ended.
fn ended(child: Pid) -> rustix::io::Result<Option<WaitIdStatus>> {
    waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG)
}

/// The children that were not started here.
fn unknown(started: &HashSet<Pid>) -> Vec<Pid> {
    listed().unwrap_or_default().into_iter().filter(|child| !started.contains(child)).collect()
}

/// The children of the main thread, which adopts, see proc_tid_children(5). `None` where the system has no such list.
fn listed() -> Option<Vec<Pid>> {
    let this = process::id();
    let children = fs::read_to_string(format!("/proc/{this}/task/{this}/children")).ok()?;
    Some(children.split_ascii_whitespace().filter_map(|child| pid(child.parse().ok()?)).collect())
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(number.try_into().ok()?)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(target_os = "linux")]
mod system {
    /// Adopts from now on.
    pub(super) fn adopt() -> bool {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
    }
}

/// Other systems have no adoption by a process that is not the first one.
#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn adopt() -> bool {
        false
    }
}

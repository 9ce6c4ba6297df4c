//! Reading the files of the plugin folder off the threads that serve: a few at once, so that few are in memory, and for a
//! limited time, since the folder may be on a file system that does not answer. What is in a file is judged by `file`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use agentbay_domain::{PluginLimits, Sha256Sum};
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::error::LoadError;
use super::file::{self, Stamp};

/// How many files are looked at at once.
const GLANCES: usize = 8;

/// Most plugins are smaller than this, and do not wait for those that are not.
const SMALL: u64 = 4 * 1024 * 1024;

/// How many small files, and how many larger ones, are in memory at once.
const IN_MEMORY: [usize; 2] = [4, 2];

/// How many files may fail to answer before no more are read: each keeps a thread.
const MOST_HANGING: usize = 64;

/// Reads files. A clone reads with the same places.
#[derive(Clone)]
pub(super) struct Reader {
    glances: Arc<Semaphore>,
    in_memory: [Arc<Semaphore>; 2],
    hanging: Arc<Hanging>,
}

/// The files that did not answer in time, as long as their threads wait.
#[derive(Default)]
struct Hanging(Mutex<BTreeMap<PathBuf, Weak<()>>>);

/// A component file as it was read, and the text of the signature beside it.
pub(super) struct Found {
    pub(super) bytes: Bytes,
    pub(super) sha256: Sha256Sum,
    pub(super) signature: Option<String>,
    pub(super) stamp: Option<Stamp>,
    /// The place in memory that it takes.
    _place: Option<OwnedSemaphorePermit>,
}

impl Found {
    /// What may have been read.
    pub(super) fn of(bytes: Bytes) -> Self {
        Self { sha256: Sha256Sum::of(&bytes), bytes, signature: None, stamp: None, _place: None }
    }
}

/// What is to be read.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) path: &'a Path,
    pub(super) limits: &'a PluginLimits,
    /// Whether the signature beside it is asked for. One that nobody asks for is not read.
    pub(super) signature: bool,
}

impl Reader {
    pub(super) fn new() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { glances: places(GLANCES), in_memory: IN_MEMORY.map(places), hanging: Arc::default() }
    }

    /// The stamp of a file, if it can be a component at all.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn glance(&self, wanted: Wanted<'_>) -> Result<Stamp, LoadError> {
        let _place = place(&self.glances).await;
        let (path, limit) = (wanted.path.to_owned(), wanted.limits.file);
        self.hanging.answer(wanted, move || file::glance(&path, limit)).await
    }

    /// Reads a file. It is in memory as long as this lives.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn read(&self, wanted: Wanted<'_>) -> Result<Found, LoadError> {
        let length = self.glance(wanted).await?.length;
        let place = place(&self.in_memory[usize::from(length > SMALL)]).await;
        let (path, limit, signed) = (wanted.path.to_owned(), wanted.limits.file, wanted.signature);
        let read = move || {
            let (bytes, before) = file::read(&path, limit)?;
            let signature = if signed { file::signature(&path)? } else { None };
            // A stamp that is to be trusted is the same before and after.
            let stamp = file::glance(&path, limit).ok();
            let stamp = stamp.filter(|after| *after == before && after.is_settled(SystemTime::now()));
            Ok(Found { signature, stamp, ..Found::of(bytes.into()) })
        };
        let found = self.hanging.answer(wanted, read).await?;
        Ok(Found { _place: place, ..found })
    }

    /// The component files of a folder, in order.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn list(&self, dir: &Path, limits: &PluginLimits) -> Result<Vec<PathBuf>, LoadError> {
        let (path, wanted) = (dir.to_owned(), Wanted { path: dir, limits, signature: false });
        self.hanging.answer(wanted, move || super::scan::list(&path).map_err(LoadError::Read)).await
    }
}

/// A place, once there is one. None is ever closed.
async fn place(places: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(places).acquire_owned().await.ok()
}

impl Hanging {
    /// Has a thread do this, and waits for it no longer than `limits.plugin_read`. While a thread of an earlier time still
    /// waits for the same file, none is given to it.
    async fn answer<T: Send + 'static>(
        &self,
        wanted: Wanted<'_>,
        work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
    ) -> Result<T, LoadError> {
        let (path, time) = (wanted.path, wanted.limits.read);
        if self.holds(path) {
            return Err(LoadError::NoAnswer(time));
        }
        let waits = Arc::new(());
        let token = Arc::downgrade(&waits);
        let working = spawn_blocking(move || {
            let _waits = waits;
            work()
        });
        match timeout(time, working).await {
            Ok(done) => done.unwrap_or_else(|lost| Err(LoadError::Read(lost.into()))),
            Err(_elapsed) => {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), token);
                Err(LoadError::NoAnswer(time))
            }
        }
    }

    /// Whether a thread still waits for this file, or too many do for others.
    fn holds(&self, path: &Path) -> bool {
        let mut hanging = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hanging.retain(|_, waits| waits.strong_count() > 0);
        hanging.contains_key(path) || hanging.len() >= MOST_HANGING
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    fn limits(read: Duration) -> PluginLimits {
        PluginLimits { read, ..PluginLimits::default() }
    }

    #[tokio::test]
    async fn a_file_that_does_not_answer_is_given_up_on_and_not_asked_again_until_its_thread_is_free() {
        let (hanging, limits) = (Hanging::default(), limits(Duration::from_millis(1)));
        let wanted = Wanted { path: Path::new("a.wasm"), limits: &limits, signature: false };
        let (answer, waits) = mpsc::channel::<()>();
        let hangs = move || {
            let _until_dropped = waits.recv();
            Ok(())
        };
        assert!(matches!(hanging.answer(wanted, hangs).await, Err(LoadError::NoAnswer(_))));
        let patient = PluginLimits::default();
        let again = Wanted { limits: &patient, ..wanted };
        assert!(matches!(hanging.answer(again, || Ok(())).await, Err(LoadError::NoAnswer(_))));
        let other = Wanted { path: Path::new("b.wasm"), ..again };
        assert!(hanging.answer(other, || Ok(())).await.is_ok());
        drop(answer);
        while hanging.holds(Path::new("a.wasm")) {
            tokio::task::yield_now().await;
        }
        assert!(hanging.answer(again, || Ok(())).await.is_ok());
    }

    #[tokio::test]
    async fn a_signature_that_nobody_asked_for_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, COMPONENT).unwrap();
        fs::write(path.with_extension("wasm.minisig"), [0xff]).unwrap();
        let (reader, limits) = (Reader::new(), PluginLimits::default());
        let wanted = Wanted { path: &path, limits: &limits, signature: false };
        let found = reader.read(wanted).await.unwrap();
        assert_eq!((&found.bytes[..], found.signature), (COMPONENT, None));
        let asked = reader.read(Wanted { signature: true, ..wanted }).await;
        assert!(matches!(asked, Err(LoadError::SignatureFile(_))));
    }

    #[tokio::test]
    async fn only_so_many_files_are_in_memory_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, COMPONENT).unwrap();
        let (reader, limits) = (Reader::new(), PluginLimits::default());
        let wanted = Wanted { path: &path, limits: &limits, signature: false };
        let mut held = Vec::new();
        for _ in 0..IN_MEMORY[0] {
            held.push(reader.read(wanted).await.unwrap());
        }
        let mut next = std::pin::pin!(reader.read(wanted));
        assert!(timeout(Duration::from_millis(20), &mut next).await.is_err());
        held.pop();
        assert!(next.await.is_ok());
    }
}

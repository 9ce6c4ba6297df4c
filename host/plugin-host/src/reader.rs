//! Reads the files of the plugin folder outside of the serving threads: a few at once to limit memory, and for a limited time,
//! since the folder may be on a file system that does not respond. `file` checks the content.

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

/// Number of files that are probed at once.
const MAX_PROBES: usize = 8;

/// Most plugins are smaller than this, and do not wait for larger ones.
const SMALL: u64 = 4 * 1024 * 1024;

/// Number of small files, and of larger ones, that are in memory at once.
const MAX_IN_MEMORY: [usize; 2] = [4, 2];

/// Number of hung reads at which no more files are read: each blocks a thread.
const MAX_HUNG: usize = 64;

/// Reads files. Clones share the limits.
#[derive(Clone)]
pub(super) struct Reader {
    probes: Arc<Semaphore>,
    in_memory: [Arc<Semaphore>; 2],
    hung: Arc<HungReads>,
}

/// Reads that timed out and whose threads still wait.
#[derive(Default)]
struct HungReads(Mutex<BTreeMap<PathBuf, Weak<()>>>);

/// A component file, and the text of its signature file.
pub(super) struct ComponentFile {
    pub(super) bytes: Bytes,
    pub(super) sha256: Sha256Sum,
    pub(super) signature: Option<String>,
    pub(super) stamp: Option<Stamp>,
    /// The permit for its memory.
    _permit: Option<OwnedSemaphorePermit>,
}

impl ComponentFile {
    /// A file with this content.
    pub(super) fn of(bytes: Bytes) -> Self {
        Self { sha256: Sha256Sum::of(&bytes), bytes, signature: None, stamp: None, _permit: None }
    }
}

/// A request to read a file.
#[derive(Clone, Copy)]
pub(super) struct ReadRequest<'a> {
    pub(super) path: &'a Path,
    pub(super) limits: &'a PluginLimits,
    /// Whether to read the signature file as well.
    pub(super) signature: bool,
}

impl Reader {
    pub(super) fn new() -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        Self { probes: permits(MAX_PROBES), in_memory: MAX_IN_MEMORY.map(permits), hung: Arc::default() }
    }

    /// The stamp of a file that could be a component.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn probe(&self, request: ReadRequest<'_>) -> Result<Stamp, LoadError> {
        let _permit = permit(&self.probes).await;
        let (path, limit) = (request.path.to_owned(), request.limits.file);
        self.hung.run(request, move || file::probe(&path, limit)).await
    }

    /// Reads a file. The result holds its memory permit.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn read(&self, request: ReadRequest<'_>) -> Result<ComponentFile, LoadError> {
        let length = self.probe(request).await?.length;
        let permit = permit(&self.in_memory[usize::from(length > SMALL)]).await;
        let (path, limit, with_signature) = (request.path.to_owned(), request.limits.file, request.signature);
        let read = move || {
            let (bytes, before) = file::read(&path, limit)?;
            let signature = if with_signature { file::signature(&path)? } else { None };
            // A stamp is reliable only if it is the same before and after.
            let stamp = file::probe(&path, limit).ok();
            let stamp = stamp.filter(|after| *after == before && after.is_settled(SystemTime::now()));
            Ok(ComponentFile { signature, stamp, ..ComponentFile::of(bytes.into()) })
        };
        let found = self.hung.run(request, read).await?;
        Ok(ComponentFile { _permit: permit, ..found })
    }

    /// The component files of a folder, in order.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn list(&self, dir: &Path, limits: &PluginLimits) -> Result<Vec<PathBuf>, LoadError> {
        let (path, request) = (dir.to_owned(), ReadRequest { path: dir, limits, signature: false });
        self.hung.run(request, move || super::scan::list(&path).map_err(LoadError::Read)).await
    }
}

/// Waits for a permit. The semaphores are never closed.
async fn permit(permits: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(permits).acquire_owned().await.ok()
}

impl HungReads {
    /// Runs a read on a blocking thread, and waits for at most `limits.plugin_read_timeout`. While an earlier read of the same file
    /// hangs, no thread is started.
    async fn run<T: Send + 'static>(
        &self,
        request: ReadRequest<'_>,
        work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
    ) -> Result<T, LoadError> {
        let (path, time) = (request.path, request.limits.read_timeout);
        if self.is_blocked(path) {
            return Err(LoadError::ReadTimeout(time));
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
                Err(LoadError::ReadTimeout(time))
            }
        }
    }

    /// Whether a read of this file hangs, or too many other reads do.
    fn is_blocked(&self, path: &Path) -> bool {
        let mut hung = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hung.retain(|_, waits| waits.strong_count() > 0);
        hung.contains_key(path) || hung.len() >= MAX_HUNG
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
        PluginLimits { read_timeout: read, ..PluginLimits::default() }
    }

    #[tokio::test]
    async fn a_hung_read_times_out_and_the_file_is_not_read_again_until_its_thread_is_free() {
        let (hung, limits) = (HungReads::default(), limits(Duration::from_millis(1)));
        let request = ReadRequest { path: Path::new("a.wasm"), limits: &limits, signature: false };
        let (answer, waits) = mpsc::channel::<()>();
        let hangs = move || {
            let _until_dropped = waits.recv();
            Ok(())
        };
        assert!(matches!(hung.run(request, hangs).await, Err(LoadError::ReadTimeout(_))));
        let patient = PluginLimits::default();
        let again = ReadRequest { limits: &patient, ..request };
        assert!(matches!(hung.run(again, || Ok(())).await, Err(LoadError::ReadTimeout(_))));
        let other = ReadRequest { path: Path::new("b.wasm"), ..again };
        assert!(hung.run(other, || Ok(())).await.is_ok());
        drop(answer);
        while hung.is_blocked(Path::new("a.wasm")) {
            tokio::task::yield_now().await;
        }
        assert!(hung.run(again, || Ok(())).await.is_ok());
    }

    #[tokio::test]
    async fn a_signature_file_is_read_only_on_request() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, COMPONENT).unwrap();
        fs::write(path.with_extension("wasm.minisig"), [0xff]).unwrap();
        let (reader, limits) = (Reader::new(), PluginLimits::default());
        let request = ReadRequest { path: &path, limits: &limits, signature: false };
        let found = reader.read(request).await.unwrap();
        assert_eq!((&found.bytes[..], found.signature), (COMPONENT, None));
        let asked = reader.read(ReadRequest { signature: true, ..request }).await;
        assert!(matches!(asked, Err(LoadError::SignatureFile(_))));
    }

    #[tokio::test]
    async fn the_number_of_files_in_memory_is_limited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, COMPONENT).unwrap();
        let (reader, limits) = (Reader::new(), PluginLimits::default());
        let request = ReadRequest { path: &path, limits: &limits, signature: false };
        let mut held = Vec::new();
        for _ in 0..MAX_IN_MEMORY[0] {
            held.push(reader.read(request).await.unwrap());
        }
        let mut next = std::pin::pin!(reader.read(request));
        assert!(timeout(Duration::from_millis(20), &mut next).await.is_err());
        held.pop();
        assert!(next.await.is_ok());
    }
}

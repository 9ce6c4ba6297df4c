//! The files of the plugin folder: the fingerprint of each, its loading state, and its last good version. `catalogue` decides
//! which are in use, `reader` reads them, and `compile_queue` orders their compilation.
//!
//! Files are read and loaded concurrently, and a scan waits for them only for a limited time: a slow file delays neither the
//! others nor the settings. It comes into use with the scan after it was loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{PluginLimits, Sha256Sum};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::JoinMap;

use super::admission::AdmissionRules;
use super::engine::Engine;
use super::error::CompileError;
use super::error::LoadError;
use super::file::Stamp;
use super::load::LoadedPlugin;
use super::loader::{LoadJob, Loader};
use super::reader::{ComponentFile, ReadRequest};

/// Options of a scan of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// How long the scan waits for files to be loaded.
    pub load_timeout: Duration,
    /// Retry files that could not be compiled in time, although they are unchanged.
    pub retry: bool,
}

/// The files of the plugin folder.
pub(super) struct Folder {
    loader: Arc<Loader>,
    files: BTreeMap<PathBuf, TrackedFile>,
    /// Files that are being read.
    reading: JoinMap<PathBuf, ReadResult>,
    /// Files that are being loaded, with their fingerprint at the start.
    loading: JoinMap<PathBuf, (Fingerprint, LoadResult)>,
}

/// The state of one file.
#[derive(Default)]
pub(super) struct TrackedFile {
    /// The last fingerprint; `None` if the file has to be evaluated again.
    fingerprint: Option<Fingerprint>,
    /// The file system's metadata at that time; `None` if it cannot show whether the file changed.
    stamp: Option<Stamp>,
    /// Retry it if it could not be compiled in time.
    retry: bool,
    /// Read it again when the current read is done.
    reread: bool,
    state: FileState,
    /// The last good version.
    pub(super) good: Option<Arc<LoadedPlugin>>,
}

/// The loading state of the current content.
#[derive(Default)]
enum FileState {
    /// It is still being loaded.
    #[default]
    Loading,
    /// It was loaded. Admission decides whether it is used.
    Loaded(Arc<LoadedPlugin>),
    /// It was refused.
    Refused(LoadError),
}

/// The hash of a file and its signature.
type Fingerprint = (Sha256Sum, Option<String>);

type LoadResult = Result<LoadedPlugin, LoadError>;

/// The result of reading a file; `None` if it is unchanged.
type ReadResult = Result<Option<ComponentFile>, LoadError>;

/// An event of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileEvent {
    /// It is unchanged.
    Unchanged,
    /// It was read, and is being loaded.
    Started,
    /// It was refused, or could not be loaded.
    Refused,
    /// It was loaded.
    Loaded,
}

impl Folder {
    pub(super) fn new(engine: &Engine) -> Self {
        let loader = Arc::new(Loader::new(engine.clone()));
        Self { loader, files: BTreeMap::new(), reading: JoinMap::new(), loading: JoinMap::new() }
    }

    /// Marks all files to be loaded again, since the rules have changed.
    pub(super) fn invalidate(&mut self) {
        for tracked in self.files.values_mut() {
            (tracked.fingerprint, tracked.stamp) = (None, None);
        }
    }

    /// The component files of a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn list(&self, dir: &Path, limits: &PluginLimits) -> Result<Vec<PathBuf>, LoadError> {
        self.loader.reader().list(dir, limits).await
    }

    /// Updates the state from the complete list of files: loads changed ones and waits for them within the time limits.
    pub(super) async fn update(&mut self, files: Vec<PathBuf>, options: ScanOptions, rules: &AdmissionRules) {
        self.files.retain(|path, _| files.contains(path));
        self.loading.abort_matching(|path| !files.contains(path));
        let mut awaited: BTreeSet<PathBuf> = files.iter().cloned().collect();
        for path in files {
            self.start_reading(path, options.retry, rules);
        }
        let started = Instant::now();
        let read_until = started + rules.limits.read_timeout;
        let mut until = later(started, options.load_timeout);
        while !awaited.is_empty() {
            let still_reads = awaited.iter().any(|path| self.reading.contains_key(path));
            let wait_until = if still_reads { until.max(read_until) } else { until };
            let Ok((path, event)) = timeout_at(wait_until, self.next_event(rules)).await else { break };
            if event != FileEvent::Started {
                awaited.remove(&path);
            }
            if event == FileEvent::Loaded && !options.retry {
                // A loaded file waits for the rest at most as long as it took itself.
                until = until.min(later(Instant::now(), started.elapsed()));
            }
        }
    }

    fn start_reading(&mut self, path: PathBuf, retry: bool, rules: &AdmissionRules) {
        let tracked = self.files.entry(path.clone()).or_default();
        tracked.retry |= retry;
        tracked.reread = self.reading.contains_key(&path);
        if tracked.reread {
            return;
        }
        // On a requested retry every byte is read again.
        let known = tracked.stamp.filter(|_| !retry);
        let limits = *rules.admission(&path).limits();
        let (loader, signature) = (Arc::clone(&self.loader), rules.requires_signatures());
        let at = path.clone();
        self.reading.spawn(path, async move {
            let request = ReadRequest { path: &at, limits: &limits, signature };
            // The stamp does not cover the signature file.
            if let Some(known) = known
                && !signature
                && loader.reader().probe(request).await? == known
            {
                return Ok(None);
            }
            loader.reader().read(request).await.map(Some)
        });
    }

    /// Waits for the next event of a file; pending without limit if none is being read or loaded. Cancel-safe.
    async fn next_event(&mut self, rules: &AdmissionRules) -> (PathBuf, FileEvent) {
        loop {
            tokio::select! {
                Some((path, read)) = self.reading.join_next() => {
                    let result = read.unwrap_or_else(|lost| Err(LoadError::Read(lost.into())));
                    let event = self.on_read(&path, result, rules);
                    return (path, event);
                }
                Some((path, ended)) = self.loading.join_next() => {
                    if let Some(event) = self.on_loaded(&path, ended) {
                        return (path, event);
                    }
                }
                else => return std::future::pending().await,
            }
        }
    }

    fn on_read(&mut self, path: &Path, result: ReadResult, rules: &AdmissionRules) -> FileEvent {
        let Some(tracked) = self.files.get_mut(path) else { return FileEvent::Unchanged };
        if tracked.reread {
            let retry = tracked.retry;
            self.start_reading(path.to_owned(), retry, rules);
            return FileEvent::Started;
        }
        let found = match result {
            Ok(Some(found)) => found,
            Ok(None) => return FileEvent::Unchanged,
            Err(error) => {
                self.loading.abort(path);
                return tracked.refuse(error);
            }
        };
        tracked.stamp = found.stamp;
        let fingerprint = (found.sha256, found.signature.clone());
        let timed_out_before = tracked.state.timed_out() && tracked.fingerprint.as_ref() == Some(&fingerprint);
        let retries = std::mem::take(&mut tracked.retry) && tracked.state.is_retryable();
        if tracked.fingerprint.as_ref() == Some(&fingerprint) && !retries {
            return FileEvent::Unchanged;
        }
        let admission = rules.admission(path);
        let signer = match admission.verify_provenance(&found) {
            Ok(signer) => signer,
            Err(error) => {
                self.loading.abort(path);
                let event = tracked.refuse(error);
                tracked.fingerprint = Some(fingerprint);
                return event;
            }
        };
        let is_known = signer.is_some() || rules.trust.is_pinned(found.sha256) || tracked.state.is_loaded();
        (tracked.fingerprint, tracked.state) = (Some(fingerprint.clone()), FileState::Loading);
        let job = LoadJob {
            path: path.to_owned(),
            sha256: found.sha256,
            signer,
            limits: *admission.limits(),
            wasi: admission.wasi(),
            is_known,
            timed_out_before,
        };
        let loader = Arc::clone(&self.loader);
        self.loading.spawn(path.to_owned(), async move { (fingerprint, loader.load(job).await) });
        FileEvent::Started
    }

    fn on_loaded(
        &mut self,
        path: &Path,
        ended: Result<(Fingerprint, LoadResult), tokio::task::JoinError>,
    ) -> Option<FileEvent> {
        let tracked = self.files.get_mut(path).filter(|tracked| matches!(tracked.state, FileState::Loading))?;
        tracked.state = match ended {
            // The content has changed since.
            Ok((fingerprint, _)) if tracked.fingerprint.as_ref() != Some(&fingerprint) => return None,
            Ok((_, Ok(plugin))) => FileState::Loaded(Arc::new(plugin)),
            // This content was not evaluated: it is read again when it is back.
            Ok((_, Err(error @ LoadError::Changed))) => {
                tracked.refuse(error);
                return Some(FileEvent::Refused);
            }
            Ok((_, Err(error))) => FileState::Refused(error),
            Err(lost) if lost.is_cancelled() => return None,
            Err(lost) => FileState::Refused(CompileError::Failed(lost.to_string()).into()),
        };
        Some(if tracked.state.is_loaded() { FileEvent::Loaded } else { FileEvent::Refused })
    }

    /// Waits until another file has been loaded or refused; pending without limit if none is being loaded. Cancel-safe.
    pub(super) async fn loaded(&mut self, rules: &AdmissionRules) {
        while !matches!(self.next_event(rules).await.1, FileEvent::Loaded | FileEvent::Refused) {}
    }

    /// Every file, in order.
    pub(super) fn files(&mut self) -> impl Iterator<Item = (&PathBuf, &mut TrackedFile)> {
        self.files.iter_mut()
    }
}

fn later(time: Instant, wait: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    time + wait.min(FAR)
}

impl TrackedFile {
    /// Refuses the file. It is unchanged if the reason is.
    fn refuse(&mut self, error: LoadError) -> FileEvent {
        let same = matches!(&self.state, FileState::Refused(before) if before.to_string() == error.to_string());
        *self = Self { state: FileState::Refused(error), good: self.good.take(), ..Self::default() };
        if same { FileEvent::Unchanged } else { FileEvent::Refused }
    }

    /// Replaces the good version by the current one if that is admitted, and drops the good version if it is no longer
    /// admitted.
    pub(super) fn evaluate(&mut self, check_grant: impl Fn(&LoadedPlugin) -> Result<(), LoadError>) -> Verdict {
        self.good = self.good.take().filter(|good| check_grant(good).is_ok());
        match &self.state {
            FileState::Loading => Verdict::Loading,
            FileState::Refused(error) => Verdict::Refused(error.to_string()),
            FileState::Loaded(plugin) => match check_grant(plugin) {
                Ok(()) => {
                    self.good = Some(Arc::clone(plugin));
                    Verdict::Accepted
                }
                Err(error) => Verdict::Refused(error.to_string()),
            },
        }
    }
}

/// The result for a file.
pub(super) enum Verdict {
    /// The current content is used.
    Accepted,
    /// It is still being loaded.
    Loading,
    /// It is not used, for this reason.
    Refused(String),
}

impl FileState {
    /// Whether the same content may succeed in another attempt.
    fn is_retryable(&self) -> bool {
        matches!(self, Self::Refused(LoadError::Compile(CompileError::TooLong(_) | CompileError::Failed(_))))
    }

    fn timed_out(&self) -> bool {
        matches!(self, Self::Refused(LoadError::Compile(CompileError::TooLong(_))))
    }

    fn is_loaded(&self) -> bool {
        matches!(self, Self::Loaded(_))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use agentbay_domain::Trust;
    use bytes::Bytes;

    use super::*;
    use crate::compile_queue::{QueueKind, unknown_slots};
    use crate::{CompileFuture, Compiler};

    #[derive(Debug)]
    struct Compiles;

    impl Compiler for Compiles {
        fn compile<'a>(&'a self, _component: Bytes, _limits: &'a PluginLimits) -> CompileFuture<'a> {
            Box::pin(async { Ok(()) })
        }
    }

    #[tokio::test]
    async fn content_that_was_absent_at_its_turn_to_compile_is_loaded_when_it_is_back() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine::new(&dir.path().join("cache"), Arc::new(Compiles), Arc::new(())).unwrap();
        let (path, component) = (dir.path().join("echo.wasm"), crate::embedded::COMPONENTS[0].1);
        fs::write(&path, component).unwrap();
        let rules = AdmissionRules { trust: Trust::default(), limits: PluginLimits::default() };
        let (mut folder, options) = (Folder::new(&engine), ScanOptions { load_timeout: Duration::ZERO, retry: false });

        let loader = Arc::clone(&folder.loader);
        let mut held = Vec::new();
        for _ in 0..unknown_slots() {
            held.push(loader.queues.acquire(QueueKind::Unknown).await);
        }
        folder.update(vec![path.clone()], options, &rules).await;
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        drop(held);
        folder.loaded(&rules).await;
        let refused = LoadError::Changed.to_string();
        assert!(matches!(&folder.files[&path].state, FileState::Refused(error) if error.to_string() == refused));

        fs::remove_dir(&path).unwrap();
        fs::write(&path, component).unwrap();
        folder.update(vec![path.clone()], ScanOptions { load_timeout: Duration::MAX, retry: false }, &rules).await;
        assert!(folder.files[&path].state.is_loaded());
    }
}

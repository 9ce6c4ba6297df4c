//! Loads one file of the plugin folder whose provenance was verified: the file waits for a compile slot without being in
//! memory, and is read again then.

use std::path::PathBuf;

use agentbay_domain::{PluginLimits, Sha256Sum, Signer, Wasi};

use super::compile_queue::{CompileQueues, FIRST_ATTEMPT_PART, QueueKind};
use super::engine::Engine;
use super::error::CompileError;
use super::error::LoadError;
use super::load::{File, LoadedPlugin};
use super::reader::{ReadRequest, Reader};

/// Reads and compiles files.
pub(super) struct Loader {
    engine: Engine,
    reader: Reader,
    pub(super) queues: CompileQueues,
}

/// A file to load.
pub(super) struct LoadJob {
    pub(super) path: PathBuf,
    pub(super) sha256: Sha256Sum,
    pub(super) signer: Option<Signer>,
    pub(super) limits: PluginLimits,
    pub(super) wasi: Wasi,
    /// Whether it has a verified pin or signature, or its last version loaded.
    pub(super) is_known: bool,
    /// Whether compiling these bytes has timed out before.
    pub(super) timed_out_before: bool,
}

impl Loader {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, reader: Reader::new(), queues: CompileQueues::new() }
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Loads a file: with a short time limit first, then with the full one.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn load(&self, job: LoadJob) -> Result<LoadedPlugin, LoadError> {
        let first = if job.is_known { QueueKind::Known } else { QueueKind::Unknown };
        if !job.timed_out_before {
            let short = PluginLimits { compile_timeout: job.limits.compile_timeout / FIRST_ATTEMPT_PART, ..job.limits };
            match self.attempt(first, &job, &short).await {
                Err(LoadError::Compile(CompileError::TooLong(_))) => {}
                ended => return ended,
            }
        }
        self.attempt(QueueKind::Long, &job, &job.limits).await
    }

    async fn attempt(&self, kind: QueueKind, job: &LoadJob, limits: &PluginLimits) -> Result<LoadedPlugin, LoadError> {
        let _slot = self.queues.acquire(kind).await;
        let found = self.reader.read(ReadRequest { path: &job.path, limits, signature: false }).await;
        // It was readable before, with these bytes. The next scan reports what is wrong now.
        let found = found.ok().filter(|found| found.sha256 == job.sha256).ok_or(LoadError::Changed)?;
        let file = File::found(&job.path, found, job.signer.clone());
        LoadedPlugin::load(&self.engine, file, limits, job.wasi).await
    }
}

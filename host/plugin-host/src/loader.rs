//! Loading one file of the plugin folder that was read and vouched for: it waits for its turn without being in memory, and
//! is read again when that has come.

use std::path::PathBuf;

use agentbay_domain::{PluginLimits, Sha256Sum, Signer, Wasi};

use super::engine::Engine;
use super::error::CompileError;
use super::error::LoadError;
use super::load::{File, LoadedPlugin};
use super::places::{FIRST_PART, Places, Try};
use super::reader::{Reader, Wanted};

/// Where files are read and compiled.
pub(super) struct Workshop {
    engine: Engine,
    reader: Reader,
    pub(super) places: Places,
}

/// A file to be loaded.
pub(super) struct Job {
    pub(super) path: PathBuf,
    pub(super) sha256: Sha256Sum,
    pub(super) signer: Option<Signer>,
    pub(super) limits: PluginLimits,
    pub(super) wasi: Wasi,
    /// Whether somebody vouches for it, or the version before it did well.
    pub(super) is_known: bool,
    /// Whether these bytes have used up their time before.
    pub(super) tried_before: bool,
}

impl Workshop {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, reader: Reader::new(), places: Places::new() }
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn load(&self, job: Job) -> Result<LoadedPlugin, LoadError> {
        let first = if job.is_known { Try::Known } else { Try::Unknown };
        if !job.tried_before {
            let short = PluginLimits { compile: job.limits.compile / FIRST_PART, ..job.limits };
            match self.attempt(first, &job, &short).await {
                Err(LoadError::Compile(CompileError::TooLong(_))) => {}
                ended => return ended,
            }
        }
        self.attempt(Try::Long, &job, &job.limits).await
    }

    async fn attempt(&self, attempt: Try, job: &Job, limits: &PluginLimits) -> Result<LoadedPlugin, LoadError> {
        let _place = self.places.one(attempt).await;
        let found = self.reader.read(Wanted { path: &job.path, limits, signature: false }).await;
        // It could be read before, with these bytes. What stands in the way now is for the next look to say.
        let found = found.ok().filter(|found| found.sha256 == job.sha256).ok_or(LoadError::Changed)?;
        let file = File::found(&job.path, found, job.signer.clone());
        LoadedPlugin::load(&self.engine, file, limits, job.wasi).await
    }
}

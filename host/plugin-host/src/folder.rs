//! The files of the plugin folder: what was seen of each, what came of loading that, and the last version that was good.
//! Which of them are in use is `catalogue`'s, how a file is read `reader`'s, whose turn it is to be compiled `places`'.
//!
//! Files are read and loaded beside each other, and a look waits for them only so long: one that takes its time holds up
//! neither the others nor the settings. It comes into use with the look that follows when it is through.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_domain::{PluginLimits, Sha256Sum};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::JoinMap;

use super::engine::Engine;
use super::error::CompileError;
use super::error::LoadError;
use super::file::Stamp;
use super::load::LoadedPlugin;
use super::loading::{Job, Workshop};
use super::reader::{Found, Wanted};
use super::terms::Said;

/// How the folder is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How long it waits for what has to be loaded.
    pub patience: Duration,
    /// What could not be compiled in time is tried once more, though it is as it was.
    pub anew: bool,
}

/// The files of the plugin folder.
pub(super) struct Folder {
    workshop: Arc<Workshop>,
    files: BTreeMap<PathBuf, Slot>,
    /// What is being read.
    reading: JoinMap<PathBuf, Glanced>,
    /// What is being loaded, with what was seen of the file when that began.
    loading: JoinMap<PathBuf, (Seen, Loaded)>,
}

/// What is known of one file.
#[derive(Default)]
pub(super) struct Slot {
    /// What was seen last; none if that has to be looked at again.
    seen: Option<Seen>,
    /// What the file system said of the file then; none if that does not tell whether it is as it was.
    stamp: Option<Stamp>,
    /// What could not be compiled in time is to be tried once more.
    anew: bool,
    /// It is to be read once more when it is through with being read.
    again: bool,
    state: State,
    /// The last version that was good.
    pub(super) good: Option<Arc<LoadedPlugin>>,
}

/// What has become of the file as it was seen last.
#[derive(Default)]
enum State {
    /// It is still being loaded.
    #[default]
    Loading,
    /// It was loaded. Whether it is taken is for its terms to say.
    Loaded(Arc<LoadedPlugin>),
    /// It is not taken.
    Refused(LoadError),
}

/// The bytes of a file and the signature beside it.
type Seen = (Sha256Sum, Option<String>);

type Loaded = Result<LoadedPlugin, LoadError>;

/// What came of reading a file; nothing if it is as it was.
type Glanced = Result<Option<Found>, LoadError>;

/// What has happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It is as it was.
    Same,
    /// It was read, and is being loaded.
    Begun,
    /// It is refused, or could not be loaded.
    Refused,
    /// It was loaded.
    Loaded,
}

impl Folder {
    pub(super) fn new(engine: &Engine) -> Self {
        let workshop = Arc::new(Workshop::new(engine.clone()));
        Self { workshop, files: BTreeMap::new(), reading: JoinMap::new(), loading: JoinMap::new() }
    }

    /// Everything in it is to be loaded again, since something else is said of it now.
    pub(super) fn forget(&mut self) {
        for slot in self.files.values_mut() {
            (slot.seen, slot.stamp) = (None, None);
        }
    }

    /// The component files of a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn list(&self, dir: &Path, limits: &PluginLimits) -> Result<Vec<PathBuf>, LoadError> {
        self.workshop.reader().list(dir, limits).await
    }

    /// Looks at these files, which are all there are: loads what is not as it was, and waits for it, but no longer than it
    /// may.
    pub(super) async fn look_at(&mut self, files: Vec<PathBuf>, look: Look, said: &Said) {
        self.files.retain(|path, _| files.contains(path));
        self.loading.abort_matching(|path| !files.contains(path));
        let mut awaited: BTreeSet<PathBuf> = files.iter().cloned().collect();
        for path in files {
            self.begin_to_read(path, look.anew, said);
        }
        let begun = Instant::now();
        let read_until = begun + said.limits.read;
        let mut until = later(begun, look.patience);
        while !awaited.is_empty() {
            let still_reads = awaited.iter().any(|path| self.reading.contains_key(path));
            let wait_until = if still_reads { until.max(read_until) } else { until };
            let Ok((path, step)) = timeout_at(wait_until, self.step(said)).await else { break };
            if step != Step::Begun {
                awaited.remove(&path);
            }
            if step == Step::Loaded && !look.anew {
                // What is good does not wait for the rest longer than it took itself.
                until = until.min(later(Instant::now(), begun.elapsed()));
            }
        }
    }

    fn begin_to_read(&mut self, path: PathBuf, anew: bool, said: &Said) {
        let slot = self.files.entry(path.clone()).or_default();
        slot.anew |= anew;
        slot.again = self.reading.contains_key(&path);
        if slot.again {
            return;
        }
        // Whoever asks has every byte read.
        let known = slot.stamp.filter(|_| !anew);
        let limits = *said.terms(&path).limits();
        let (workshop, signature) = (Arc::clone(&self.workshop), said.asks_for_signatures());
        let at = path.clone();
        self.reading.spawn(path, async move {
            let wanted = Wanted { path: &at, limits: &limits, signature };
            // A signature has a stamp of its own.
            if let Some(known) = known
                && !signature
                && workshop.reader().glance(wanted).await? == known
            {
                return Ok(None);
            }
            workshop.reader().read(wanted).await.map(Some)
        });
    }

    /// Waits until something has happened to a file, for ever if none is being read or loaded. Nothing is lost if it is
    /// given up on.
    async fn step(&mut self, said: &Said) -> (PathBuf, Step) {
        loop {
            tokio::select! {
                Some((path, read)) = self.reading.join_next() => {
                    let glanced = read.unwrap_or_else(|lost| Err(LoadError::Read(lost.into())));
                    let step = self.was_read(&path, glanced, said);
                    return (path, step);
                }
                Some((path, ended)) = self.loading.join_next() => {
                    if let Some(step) = self.was_loaded(&path, ended) {
                        return (path, step);
                    }
                }
                else => return std::future::pending().await,
            }
        }
    }

    fn was_read(&mut self, path: &Path, glanced: Glanced, said: &Said) -> Step {
        let Some(slot) = self.files.get_mut(path) else { return Step::Same };
        if slot.again {
            let anew = slot.anew;
            self.begin_to_read(path.to_owned(), anew, said);
            return Step::Begun;
        }
        let found = match glanced {
            Ok(Some(found)) => found,
            Ok(None) => return Step::Same,
            Err(error) => {
                self.loading.abort(path);
                return slot.refuse(error);
            }
        };
        slot.stamp = found.stamp;
        let seen = (found.sha256, found.signature.clone());
        let tried_before = slot.state.ran_out_of_time() && slot.seen.as_ref() == Some(&seen);
        let try_again = std::mem::take(&mut slot.anew) && slot.state.may_pass();
        if slot.seen.as_ref() == Some(&seen) && !try_again {
            return Step::Same;
        }
        let terms = said.terms(path);
        let signer = match terms.vouch(&found) {
            Ok(signer) => signer,
            Err(error) => {
                self.loading.abort(path);
                let step = slot.refuse(error);
                slot.seen = Some(seen);
                return step;
            }
        };
        let is_known = signer.is_some() || said.trust.is_pinned(found.sha256) || slot.state.did_well();
        (slot.seen, slot.state) = (Some(seen.clone()), State::Loading);
        let job = Job {
            path: path.to_owned(),
            sha256: found.sha256,
            signer,
            limits: *terms.limits(),
            wasi: terms.wasi(),
            is_known,
            tried_before,
        };
        let workshop = Arc::clone(&self.workshop);
        self.loading.spawn(path.to_owned(), async move { (seen, workshop.load(job).await) });
        Step::Begun
    }

    fn was_loaded(&mut self, path: &Path, ended: Result<(Seen, Loaded), tokio::task::JoinError>) -> Option<Step> {
        let slot = self.files.get_mut(path).filter(|slot| matches!(slot.state, State::Loading))?;
        slot.state = match ended {
            // Something else has come in its place since.
            Ok((seen, _)) if slot.seen.as_ref() != Some(&seen) => return None,
            Ok((_, Ok(plugin))) => State::Loaded(Arc::new(plugin)),
            // These bytes were not judged: they are read again when they come back.
            Ok((_, Err(error @ LoadError::Changed))) => {
                slot.refuse(error);
                return Some(Step::Refused);
            }
            Ok((_, Err(error))) => State::Refused(error),
            Err(lost) if lost.is_cancelled() => return None,
            Err(lost) => State::Refused(CompileError::Failed(lost.to_string()).into()),
        };
        Some(if slot.state.did_well() { Step::Loaded } else { Step::Refused })
    }

    /// Waits until another file is through with loading, for ever if none is being loaded. Nothing is lost if it is given
    /// up on.
    pub(super) async fn loaded(&mut self, said: &Said) {
        while !matches!(self.step(said).await.1, Step::Loaded | Step::Refused) {}
    }

    /// Every file, in order.
    pub(super) fn slots(&mut self) -> impl Iterator<Item = (&PathBuf, &mut Slot)> {
        self.files.iter_mut()
    }
}

fn later(time: Instant, wait: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    time + wait.min(FAR)
}

impl Slot {
    /// It is not taken. That is the same as before if the reason is.
    fn refuse(&mut self, error: LoadError) -> Step {
        let same = matches!(&self.state, State::Refused(before) if before.to_string() == error.to_string());
        *self = Self { state: State::Refused(error), good: self.good.take(), ..Self::default() };
        if same { Step::Same } else { Step::Refused }
    }

    /// Has the version that was seen last take the place of the good one, if it is to be taken; and gives up the good one
    /// if that is not any more. What keeps the file out of use is told.
    pub(super) fn judge(&mut self, admit: impl Fn(&LoadedPlugin) -> Result<(), LoadError>) -> Judged {
        self.good = self.good.take().filter(|good| admit(good).is_ok());
        match &self.state {
            State::Loading => Judged::Loading,
            State::Refused(error) => Judged::Refused(error.to_string()),
            State::Loaded(plugin) => match admit(plugin) {
                Ok(()) => {
                    self.good = Some(Arc::clone(plugin));
                    Judged::Taken
                }
                Err(error) => Judged::Refused(error.to_string()),
            },
        }
    }
}

/// What becomes of a file.
pub(super) enum Judged {
    /// What was seen last is good.
    Taken,
    /// It is not known yet.
    Loading,
    /// It is not taken, for this reason.
    Refused(String),
}

impl State {
    /// Whether the same bytes may be taken another time.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Refused(LoadError::Compile(CompileError::TooLong(_) | CompileError::Failed(_))))
    }

    fn ran_out_of_time(&self) -> bool {
        matches!(self, Self::Refused(LoadError::Compile(CompileError::TooLong(_))))
    }

    fn did_well(&self) -> bool {
        matches!(self, Self::Loaded(_))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use agentbay_domain::Trust;
    use bytes::Bytes;

    use super::*;
    use crate::places::{Try, unknown_at_once};
    use crate::{Compiler, Compiling};

    #[derive(Debug)]
    struct Compiles;

    impl Compiler for Compiles {
        fn compile<'a>(&'a self, _component: Bytes, _limits: &'a PluginLimits) -> Compiling<'a> {
            Box::pin(async { Ok(()) })
        }
    }

    #[tokio::test]
    async fn bytes_that_were_away_when_their_turn_came_are_loaded_when_they_are_back() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine::new(&dir.path().join("cache"), Arc::new(Compiles), Arc::new(())).unwrap();
        let (path, component) = (dir.path().join("echo.wasm"), crate::embedded::COMPONENTS[0].1);
        fs::write(&path, component).unwrap();
        let said = Said { trust: Trust::default(), limits: PluginLimits::default() };
        let (mut folder, look) = (Folder::new(&engine), Look { patience: Duration::ZERO, anew: false });

        let workshop = Arc::clone(&folder.workshop);
        let mut held = Vec::new();
        for _ in 0..unknown_at_once() {
            held.push(workshop.places.one(Try::Unknown).await);
        }
        folder.look_at(vec![path.clone()], look, &said).await;
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        drop(held);
        folder.loaded(&said).await;
        let refused = LoadError::Changed.to_string();
        assert!(matches!(&folder.files[&path].state, State::Refused(error) if error.to_string() == refused));

        fs::remove_dir(&path).unwrap();
        fs::write(&path, component).unwrap();
        folder.look_at(vec![path.clone()], Look { patience: Duration::MAX, anew: false }, &said).await;
        assert!(folder.files[&path].state.did_well());
    }
}

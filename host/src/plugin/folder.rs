//! The files of the plugin folder: what was seen of each, what came of loading that, and the last version that was good.
//! Which of them are in use is `catalogue`'s.
//!
//! Files are loaded beside each other, and a look waits for them only so long: one that takes its time holds up neither
//! the others nor the settings. It comes into use with the look that follows when it is through.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::task::JoinMap;

use super::compile::CompileError;
use super::engine::Engine;
use super::error::LoadError;
use super::load::{File, LoadedPlugin};
use super::scan::Found;
use super::terms::{Said, Terms};
use crate::domain::Sha256Sum;

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
    files: BTreeMap<PathBuf, Slot>,
    /// What is being loaded, with what was seen of the file when that began.
    loading: JoinMap<PathBuf, (Seen, Loaded)>,
}

/// What is known of one file.
#[derive(Default)]
pub(super) struct Slot {
    /// What was looked at last; none if that has to be looked at again.
    seen: Option<Seen>,
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

impl Folder {
    pub(super) fn new() -> Self {
        Self { files: BTreeMap::new(), loading: JoinMap::new() }
    }

    /// Everything in it is to be loaded again, since something else is said of it now.
    pub(super) fn forget(&mut self) {
        self.files.values_mut().for_each(|slot| slot.seen = None);
    }

    /// Looks at these files, which are all there are: loads what is not as it was, and waits for it, but no longer than it
    /// may.
    pub(super) async fn look_at(&mut self, files: Vec<PathBuf>, look: Look, engine: &Engine, said: &Said) {
        self.files.retain(|path, _| files.contains(path));
        self.loading.abort_matching(|path| !files.contains(path));
        let mut begun = BTreeSet::new();
        for path in files {
            if self.look_at_one(&path, look.anew, engine, &said.terms(&path)).await {
                begun.insert(path);
            }
        }
        let all = async {
            while begun.iter().any(|path| self.is_loading(path)) {
                self.loaded().await;
            }
        };
        let _in_time = timeout(look.patience, all).await;
    }

    /// Whether it has to be loaded, which is begun.
    async fn look_at_one(&mut self, path: &Path, anew: bool, engine: &Engine, terms: &Terms<'_>) -> bool {
        let slot = self.files.entry(path.to_owned()).or_default();
        let found = match Found::at(path, terms.limits().file).await {
            Ok(found) => found,
            Err(error) => {
                self.loading.abort(path);
                (slot.seen, slot.state) = (None, State::Refused(error));
                return false;
            }
        };
        let seen = (found.sha256, found.signature.clone());
        if slot.seen.as_ref() == Some(&seen) && !(anew && slot.state.may_pass()) {
            return false;
        }
        slot.seen = Some(seen.clone());
        match terms.vouch(&found) {
            Ok(signer) => {
                slot.state = State::Loading;
                let file = File::found(path, found, signer);
                let (engine, limits, wasi) = (engine.clone(), *terms.limits(), terms.wasi());
                let load = async move { (seen, LoadedPlugin::load(&engine, file, &limits, wasi).await) };
                self.loading.spawn(path.to_owned(), load);
                true
            }
            Err(error) => {
                self.loading.abort(path);
                slot.state = State::Refused(error);
                false
            }
        }
    }

    /// Waits until another file is through with loading, for ever if none is being loaded. Nothing is lost if it is given
    /// up on.
    pub(super) async fn loaded(&mut self) {
        let Some((path, ended)) = self.loading.join_next().await else { return std::future::pending().await };
        let Some(slot) = self.files.get_mut(&path).filter(|slot| matches!(slot.state, State::Loading)) else { return };
        slot.state = match ended {
            // Something else has come in its place since.
            Ok((seen, _)) if slot.seen.as_ref() != Some(&seen) => return,
            Ok((_, Ok(plugin))) => State::Loaded(Arc::new(plugin)),
            Ok((_, Err(error))) => State::Refused(error),
            Err(lost) if lost.is_cancelled() => return,
            Err(lost) => State::Refused(CompileError::Failed(lost.to_string()).into()),
        };
    }

    fn is_loading(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|slot| matches!(slot.state, State::Loading))
    }

    /// Every file, in order.
    pub(super) fn slots(&mut self) -> impl Iterator<Item = (&PathBuf, &mut Slot)> {
        self.files.iter_mut()
    }
}

impl Slot {
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
}

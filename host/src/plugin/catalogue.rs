//! Which plugins there are: those of the program, and those of the plugin folder in their last good version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compile::CompileError;
use super::embedded;
use super::engine::Engine;
use super::error::LoadError;
use super::load::{LoadedPlugin, Origin, Sha256Sum};
use super::scan;
use crate::domain::{PluginId, PluginLimits};

/// A file of the plugin folder that is not in use, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub path: PathBuf,
    /// Why it is not in use.
    pub reason: String,
}

/// The plugins in use, and the files that are not.
#[derive(Debug, Clone, Default)]
pub struct PluginSet {
    /// The plugins in use.
    pub plugins: BTreeMap<PluginId, Arc<LoadedPlugin>>,
    /// The files that are not.
    pub refusals: Vec<Refusal>,
}

/// What is known of one file in the folder.
struct Slot {
    /// The bytes that were looked at last; none if they could not be read.
    seen: Option<Sha256Sum>,
    /// The last version that could be loaded.
    good: Option<Arc<LoadedPlugin>>,
    /// Why the bytes looked at last are not in use.
    refused: Option<String>,
}

/// Every plugin there is, kept from one look at the folder to the next.
pub struct Catalogue {
    engine: Engine,
    embedded: Vec<Arc<LoadedPlugin>>,
    folder: BTreeMap<PathBuf, Slot>,
    /// What was in use after the last look.
    chosen: BTreeMap<PluginId, Arc<LoadedPlugin>>,
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue").field("chosen", &self.chosen).finish_non_exhaustive()
    }
}

impl Catalogue {
    /// Loads the plugins of the program.
    ///
    /// # Errors
    /// The one of this id cannot be loaded: the program was built wrongly, or the limits are too tight even for it.
    pub async fn new(engine: Engine, limits: &PluginLimits) -> Result<Self, (&'static str, LoadError)> {
        let mut embedded = Vec::new();
        for (id, bytes) in embedded::COMPONENTS {
            let plugin = LoadedPlugin::load(&engine, bytes.to_vec(), Origin::Embedded, limits).await;
            embedded.push(Arc::new(plugin.map_err(|error| (id, error))?));
        }
        Ok(Self { engine, embedded, folder: BTreeMap::new(), chosen: BTreeMap::new() })
    }

    /// The programs which the plugin of the program with this id declares. They are granted to whatever takes its
    /// place.
    pub fn grants(&self, id: &PluginId) -> Vec<String> {
        let of_ours = self.embedded.iter().find(|plugin| plugin.id() == id);
        of_ours.map(|plugin| plugin.description().programs.clone()).unwrap_or_default()
    }

    /// Looks at the folder and says what is in use from now on. Files that did not change are not loaded again.
    pub async fn rescan(&mut self, dir: &Path, limits: &PluginLimits) -> PluginSet {
        let mut refusals = Vec::new();
        match scan::files(dir) {
            Ok(files) => self.look_at(files, limits).await,
            Err(error) => refusals.push(Refusal { path: dir.to_owned(), reason: error.to_string() }),
        }
        let plugins = self.choose(&mut refusals);
        for (path, slot) in &self.folder {
            refusals.extend(slot.refused.clone().map(|reason| Refusal { path: path.clone(), reason }));
        }
        self.chosen.clone_from(&plugins);
        PluginSet { plugins, refusals }
    }

    async fn look_at(&mut self, files: Vec<PathBuf>, limits: &PluginLimits) {
        self.folder.retain(|path, _| files.contains(path));
        for path in files {
            let slot = self.folder.remove(&path);
            let slot = self.look_at_file(&path, slot, limits).await;
            self.folder.insert(path, slot);
        }
    }

    async fn look_at_file(&self, path: &Path, before: Option<Slot>, limits: &PluginLimits) -> Slot {
        let good = before.as_ref().and_then(|slot| slot.good.clone());
        let bytes = match scan::read(path, limits.file) {
            Ok(bytes) => bytes,
            Err(error) => return Slot { seen: None, good, refused: Some(error.to_string()) },
        };
        let seen = Some(Sha256Sum::of(&bytes));
        match before {
            Some(slot) if slot.seen == seen => return slot,
            _ => {}
        }
        let origin = Origin::File(path.to_owned());
        match LoadedPlugin::load(&self.engine, bytes, origin, limits).await {
            Ok(plugin) => Slot { seen, good: Some(Arc::new(plugin)), refused: None },
            // Nothing is known of these bytes yet.
            Err(error @ LoadError::Compile(CompileError::Busy)) => {
                Slot { seen: None, good, refused: Some(error.to_string()) }
            }
            Err(error) => Slot { seen, good, refused: Some(error.to_string()) },
        }
    }

    /// A file takes the place of an embedded plugin. Of two files with one id neither is taken; what was in use stays.
    fn choose(&self, refusals: &mut Vec<Refusal>) -> BTreeMap<PluginId, Arc<LoadedPlugin>> {
        let mut plugins: BTreeMap<_, _> = self.embedded.iter().map(|plugin| (plugin.id().clone(), plugin)).collect();
        let mut files: BTreeMap<&PluginId, Vec<(&PathBuf, &Arc<LoadedPlugin>)>> = BTreeMap::new();
        for (path, slot) in &self.folder {
            if let Some(plugin) = &slot.good {
                files.entry(plugin.id()).or_default().push((path, plugin));
            }
        }
        for (id, claims) in files {
            match claims.as_slice() {
                [(_, plugin)] => {
                    plugins.insert(id.clone(), plugin);
                }
                many => {
                    refusals.extend(claimed_twice(id, many));
                    if let Some(before) = self.chosen.get(id) {
                        plugins.insert(id.clone(), before);
                    }
                }
            }
        }
        plugins.into_iter().map(|(id, plugin)| (id, Arc::clone(plugin))).collect()
    }
}

fn claimed_twice(id: &PluginId, claims: &[(&PathBuf, &Arc<LoadedPlugin>)]) -> Vec<Refusal> {
    let refuse = |(path, _): &(&PathBuf, &Arc<LoadedPlugin>)| {
        let others = claims.iter().filter(|(other, _)| other != path).map(|(other, _)| other.display().to_string());
        let other = others.collect::<Vec<_>>().join(" and ");
        Refusal { path: (*path).clone(), reason: LoadError::Twice { id: id.to_string(), other }.to_string() }
    };
    claims.iter().map(refuse).collect()
}

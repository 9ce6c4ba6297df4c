//! Which plugins there are: those of the program, and those of the plugin folder in their last good version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compile::CompileError;
use super::embedded;
use super::engine::Engine;
use super::error::LoadError;
use super::load::{File, LoadedPlugin, Origin};
use super::scan;
use super::terms::Terms;
use crate::domain::{Description, PluginId, PluginLimits, Sha256Sum, Trust, Wasi};

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
    /// What was looked at last, bytes and signature; none if that has to be looked at again.
    seen: Option<(Sha256Sum, Option<String>)>,
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
    /// What was said of plugins at the last look.
    said: Option<(Trust, PluginLimits)>,
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
            let plugin = LoadedPlugin::load(&engine, File::embedded(bytes), limits, Wasi::Refuse).await;
            embedded.push(Arc::new(plugin.map_err(|error| (id, error))?));
        }
        Ok(Self { engine, embedded, folder: BTreeMap::new(), chosen: BTreeMap::new(), said: None })
    }

    /// The programs which a plugin may start: those that are granted to it, or else those of the plugin of the program
    /// whose place it takes.
    pub fn programs(&self, id: &PluginId, trust: &Trust) -> Vec<String> {
        let granted = trust.grants.get(id).and_then(|grant| grant.programs.as_ref());
        let granted = granted.map(|programs| programs.iter().cloned().collect());
        granted.or_else(|| Some(self.built_in(id)?.programs.clone())).unwrap_or_default()
    }

    /// What the plugin of the program with this id says of itself.
    fn built_in(&self, id: &PluginId) -> Option<&Description> {
        self.embedded.iter().find(|plugin| plugin.id() == id).map(|plugin| plugin.description())
    }

    /// Looks at the folder and says what is in use from now on. Files that did not change are not loaded again, unless
    /// something else is said of plugins now.
    pub async fn rescan(&mut self, dir: &Path, trust: &Trust, limits: &PluginLimits) -> PluginSet {
        let mut refusals = Vec::new();
        let said = Some((trust.clone(), *limits));
        if self.said != said {
            self.folder.values_mut().for_each(|slot| slot.seen = None);
            self.said = said;
        }
        match scan::files(dir) {
            Ok(files) => self.look_at(files, trust, limits).await,
            Err(error) => refusals.push(Refusal { path: dir.to_owned(), reason: error.to_string() }),
        }
        let plugins = self.choose(&mut refusals, trust, limits);
        for (path, slot) in &self.folder {
            refusals.extend(slot.refused.clone().map(|reason| Refusal { path: path.clone(), reason }));
        }
        self.chosen.clone_from(&plugins);
        PluginSet { plugins, refusals }
    }

    async fn look_at(&mut self, files: Vec<PathBuf>, trust: &Trust, limits: &PluginLimits) {
        self.folder.retain(|path, _| files.contains(path));
        for path in files {
            let slot = self.folder.remove(&path);
            let slot = self.look_at_file(&path, slot, &Terms::of(trust, limits, &path)).await;
            self.folder.insert(path, slot);
        }
    }

    async fn look_at_file(&self, path: &Path, before: Option<Slot>, terms: &Terms<'_>) -> Slot {
        // What was good is kept only as long as it still would be taken.
        let good = before.as_ref().and_then(|slot| slot.good.clone()).filter(|good| self.admit(good, terms).is_ok());
        let read = scan::read(path, terms.limits().file).and_then(|bytes| Ok((bytes, scan::signature(path)?)));
        let (bytes, signature) = match read {
            Ok(read) => read,
            Err(error) => return Slot { seen: None, good, refused: Some(error.to_string()) },
        };
        let seen = (Sha256Sum::of(&bytes), signature);
        match before {
            Some(slot) if slot.seen.as_ref() == Some(&seen) => return slot,
            _ => {}
        }
        let loaded = self.load(path, bytes, &seen, terms).await;
        let seen = Some(seen);
        match loaded {
            Ok(plugin) => Slot { seen, good: Some(Arc::new(plugin)), refused: None },
            // Nothing is known of these bytes yet.
            Err(error @ LoadError::Compile(CompileError::Busy)) => {
                Slot { seen: None, good, refused: Some(error.to_string()) }
            }
            Err(error) => Slot { seen, good, refused: Some(error.to_string()) },
        }
    }

    async fn load(
        &self,
        path: &Path,
        bytes: Vec<u8>,
        (sha256, signature): &(Sha256Sum, Option<String>),
        terms: &Terms<'_>,
    ) -> Result<LoadedPlugin, LoadError> {
        let sha256 = *sha256;
        let signer = terms.vouch(&bytes, sha256, signature.as_deref())?;
        let file = File { bytes, origin: Origin::File(path.to_owned()), sha256, signer };
        let plugin = LoadedPlugin::load(&self.engine, file, terms.limits(), terms.wasi()).await?;
        self.admit(&plugin, terms)?;
        Ok(plugin)
    }

    fn admit(&self, plugin: &LoadedPlugin, terms: &Terms<'_>) -> Result<(), LoadError> {
        terms.admit(plugin, self.built_in(plugin.id()))
    }

    /// Whether what was in use before may still be.
    fn is_admitted(&self, plugin: &LoadedPlugin, trust: &Trust, limits: &PluginLimits) -> bool {
        match plugin.origin() {
            Origin::Embedded => true,
            Origin::File(path) => self.admit(plugin, &Terms::of(trust, limits, path)).is_ok(),
        }
    }

    /// A file takes the place of an embedded plugin. Of two files with one id neither is taken; what was in use stays.
    fn choose(
        &self,
        refusals: &mut Vec<Refusal>,
        trust: &Trust,
        limits: &PluginLimits,
    ) -> BTreeMap<PluginId, Arc<LoadedPlugin>> {
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
                    let before = self.chosen.get(id);
                    if let Some(before) = before.filter(|before| self.is_admitted(before, trust, limits)) {
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

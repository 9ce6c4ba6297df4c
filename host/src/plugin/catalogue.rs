//! Which plugins there are: those of the program, and those of the plugin folder in their last good version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::driver::Driver;
use super::embedded;
use super::engine::Engine;
use super::error::LoadError;
use super::folder::{Folder, Judged, Look};
use super::health::Trouble;
use super::load::{File, LoadedPlugin, Origin};
use super::scan;
use super::terms::{Said, Terms};
use crate::domain::{Authority, Description, PluginId, PluginLimits, Trust, Wasi};

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
    /// The plugins in use, with what each may do.
    pub drivers: BTreeMap<PluginId, Arc<Driver>>,
    /// The files that are not.
    pub refusals: Vec<Refusal>,
    /// The files that are still being loaded. What they were before stays in use.
    pub loading: Vec<PathBuf>,
}

/// Every plugin there is, kept from one look at the folder to the next.
pub struct Catalogue {
    engine: Engine,
    embedded: Vec<Arc<LoadedPlugin>>,
    folder: Folder,
    /// What was in use after the last look.
    chosen: BTreeMap<PluginId, Arc<LoadedPlugin>>,
    /// What was said of plugins at the last look.
    said: Said,
}

/// The files that claim to be the plugin of an id.
type Claims = BTreeMap<PluginId, Vec<(PathBuf, Arc<LoadedPlugin>)>>;

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
        Ok(Self { engine, embedded, folder: Folder::new(), chosen: BTreeMap::new(), said: Said::default() })
    }

    /// Tells when one of the plugins fails.
    pub fn trouble(&self) -> Trouble {
        self.engine.trouble().clone()
    }

    /// A plugin with what it may do and use by what was said at the last look. Where nothing was said of programs, it may
    /// start those of the plugin of the program whose place it takes.
    fn driver(&self, plugin: &Arc<LoadedPlugin>) -> Driver {
        let (id, grant) = (plugin.id(), self.said.trust.grants.get(plugin.id()));
        let granted = grant.and_then(|grant| grant.programs.clone());
        let own = || built_in(&self.embedded, id).map(|built_in| built_in.programs.iter().cloned().collect());
        let authority = Authority {
            programs: granted.or_else(own).unwrap_or_default(),
            env: grant.and_then(|grant| grant.env.clone()),
        };
        let limits = self.said.trust.limits_of(id, self.said.limits);
        Driver { plugin: Arc::clone(plugin), authority, limits }
    }

    /// Looks at the folder and says what is in use from now on. Files that did not change are not loaded again, unless
    /// something else is said of plugins now.
    pub async fn rescan(&mut self, dir: &Path, trust: &Trust, limits: &PluginLimits, look: Look) -> PluginSet {
        let said = Said { trust: trust.clone(), limits: *limits };
        if self.said != said {
            self.folder.forget();
            self.said = said;
        }
        let mut set = PluginSet::default();
        match scan::files(dir).await {
            Ok(files) => self.folder.look_at(files, look, &self.engine, &self.said).await,
            Err(error) => set.refusals.push(Refusal { path: dir.to_owned(), reason: error.to_string() }),
        }
        let claims = self.judge(&mut set);
        self.chosen = self.choose(claims, &mut set.refusals);
        let driver = |(id, plugin): (&PluginId, &Arc<LoadedPlugin>)| (id.clone(), Arc::new(self.driver(plugin)));
        set.drivers = self.chosen.iter().map(driver).collect();
        set
    }

    /// Waits until another file is through with loading, so that it is time to look again; for ever if none is being
    /// loaded. Nothing is lost if it is given up on.
    pub async fn loaded(&mut self) {
        self.folder.loaded().await;
    }

    /// The good version of each file that has one, by id.
    fn judge(&mut self, set: &mut PluginSet) -> Claims {
        let mut claims = Claims::new();
        for (path, slot) in self.folder.slots() {
            match slot.judge(|plugin| admit(&self.embedded, plugin, &self.said.terms(path))) {
                Judged::Taken => {}
                Judged::Loading => set.loading.push(path.clone()),
                Judged::Refused(reason) => set.refusals.push(Refusal { path: path.clone(), reason }),
            }
            if let Some(plugin) = &slot.good {
                claims.entry(plugin.id().clone()).or_default().push((path.clone(), Arc::clone(plugin)));
            }
        }
        claims
    }

    /// A file takes the place of an embedded plugin. Of two files with one id neither is taken; what was in use stays.
    fn choose(&self, claims: Claims, refusals: &mut Vec<Refusal>) -> BTreeMap<PluginId, Arc<LoadedPlugin>> {
        let embedded = self.embedded.iter().map(|plugin| (plugin.id().clone(), Arc::clone(plugin)));
        let mut plugins: BTreeMap<_, _> = embedded.collect();
        for (id, mut claims) in claims {
            let chosen = if claims.len() == 1 {
                claims.pop().map(|(_, plugin)| plugin)
            } else {
                refusals.extend(claimed_twice(&id, &claims));
                self.chosen.get(&id).filter(|before| self.is_admitted(before)).cloned()
            };
            plugins.extend(chosen.map(|plugin| (id, plugin)));
        }
        plugins
    }

    /// Whether what was in use before may still be.
    fn is_admitted(&self, plugin: &LoadedPlugin) -> bool {
        match plugin.origin() {
            Origin::Embedded => true,
            Origin::File(path) => admit(&self.embedded, plugin, &self.said.terms(path)).is_ok(),
        }
    }
}

/// Looks whether a plugin asks for no more than it may, given the plugins of the program.
fn admit(embedded: &[Arc<LoadedPlugin>], plugin: &LoadedPlugin, terms: &Terms<'_>) -> Result<(), LoadError> {
    terms.admit(plugin, built_in(embedded, plugin.id()))
}

/// What the plugin of the program with this id says of itself.
fn built_in<'a>(embedded: &'a [Arc<LoadedPlugin>], id: &PluginId) -> Option<&'a Description> {
    embedded.iter().find(|plugin| plugin.id() == id).map(|plugin| plugin.description())
}

fn claimed_twice(id: &PluginId, claims: &[(PathBuf, Arc<LoadedPlugin>)]) -> Vec<Refusal> {
    let refuse = |(path, _): &(PathBuf, Arc<LoadedPlugin>)| {
        let others = claims.iter().filter(|(other, _)| other != path).map(|(other, _)| other.display().to_string());
        let other = others.collect::<Vec<_>>().join(" and ");
        Refusal { path: path.clone(), reason: LoadError::Twice { id: id.to_string(), other }.to_string() }
    };
    claims.iter().map(refuse).collect()
}

//! Which plugins there are: those of the program, and those of the plugin folder in their last good version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Authority, Description, Granted, PluginId, PluginLimits, Trust, Wasi, visible_path};

use super::driver::Driver;
use super::embedded;
use super::engine::Engine;
use super::error::LoadError;
use super::folder::{Folder, Judged, Look};
use super::health::Trouble;
use super::load::{File, LoadedPlugin};
use super::terms::{Said, Terms};

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
    /// What was said of plugins at the last look.
    said: Said,
}

/// The files that claim to be the plugin of an id.
type Claims = BTreeMap<PluginId, Vec<Claim>>;

type Claim = (PathBuf, Arc<LoadedPlugin>);

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue").field("embedded", &self.embedded).finish_non_exhaustive()
    }
}

impl Catalogue {
    /// Loads the plugins of the program.
    ///
    /// # Errors
    /// The one of this id cannot be loaded: the program was built wrongly, or the limits are too tight even for it.
    pub async fn new(engine: Engine, limits: &PluginLimits) -> Result<Self, (&'static str, LoadError)> {
        let (mut embedded, folder) = (Vec::new(), Folder::new(&engine));
        for &(id, bytes) in embedded::COMPONENTS {
            let plugin = LoadedPlugin::load(&engine, File::embedded(bytes), limits, Wasi::Refuse).await;
            embedded.push(Arc::new(plugin.map_err(|error| (id, error))?));
        }
        Ok(Self { engine, embedded, folder, said: Said::default() })
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
            variables: Granted::by(grant, self.is_built_in(plugin)),
        };
        let limits = self.said.trust.limits_of(id, self.said.limits);
        Driver { plugin: Arc::clone(plugin), authority, limits }
    }

    /// Whether it is one of the program's own, wherever it lies.
    fn is_built_in(&self, plugin: &LoadedPlugin) -> bool {
        self.embedded.iter().any(|own| own.sha256() == plugin.sha256())
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
        match self.folder.list(dir, limits).await {
            Ok(files) => self.folder.look_at(files, look, &self.said).await,
            Err(error) => set.refusals.push(Refusal { path: dir.to_owned(), reason: error.to_string() }),
        }
        let claims = self.judge(&mut set);
        let chosen = self.choose(claims, &mut set.refusals);
        let driver = |(id, plugin): (PluginId, Arc<LoadedPlugin>)| (id, Arc::new(self.driver(&plugin)));
        set.drivers = chosen.into_iter().map(driver).collect();
        set
    }

    /// Waits until another file is through with loading, so that it is time to look again; for ever if none is being
    /// loaded. Nothing is lost if it is given up on.
    pub async fn loaded(&mut self) {
        self.folder.loaded(&self.said).await;
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

    /// A file takes the place of an embedded plugin. Of several with one id, the one that is named after it is taken, else
    /// none: what was in use before does not count, since it would not be known at the next start.
    fn choose(&self, claims: Claims, refusals: &mut Vec<Refusal>) -> BTreeMap<PluginId, Arc<LoadedPlugin>> {
        let embedded = self.embedded.iter().map(|plugin| (plugin.id().clone(), Arc::clone(plugin)));
        let mut plugins: BTreeMap<_, _> = embedded.collect();
        for (id, claims) in claims {
            let chosen = match &claims[..] {
                [only] => Some(only),
                several => several.iter().find(|(path, _)| is_named_after(&id, path)),
            };
            let others = claims.iter().filter(|(path, _)| chosen.is_none_or(|(chosen, _)| chosen != path));
            refusals.extend(others.map(|(path, _)| claimed_twice(&id, path, chosen, &claims)));
            plugins.extend(chosen.map(|(_, plugin)| (id, Arc::clone(plugin))));
        }
        plugins
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

/// As `plugin add` names it.
fn is_named_after(id: &PluginId, path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == id.as_str())
}

/// Why a file is not taken whose id another has as well.
fn claimed_twice(id: &PluginId, path: &Path, chosen: Option<&Claim>, claims: &[Claim]) -> Refusal {
    let others = claims.iter().filter(|(other, _)| other != path).map(|(other, _)| visible_path(other));
    let id = id.clone();
    let reason = match chosen {
        Some((chosen, _)) => LoadError::Second { id, other: visible_path(chosen) },
        None => LoadError::Twice { id, other: others.collect::<Vec<_>>().join(" and ") },
    };
    Refusal { path: path.to_owned(), reason: reason.to_string() }
}

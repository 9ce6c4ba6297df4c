//! The catalogue of plugins: those of the program, and those of the plugin folder in their last good version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Authority, Description, PluginId, PluginLimits, Trust, VariableGrant, terminal_safe_path};

use super::admission::{Admission, AdmissionRules};
use super::driver::Driver;
use super::embedded::{self, SummaryError};
use super::engine::Engine;
use super::error::LoadError;
use super::folder::{Folder, ScanOptions, Verdict};
use super::health::FailureSignal;
use super::load::LoadedPlugin;

/// A file of the plugin folder that is not in use, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

/// The plugins in use, and the files that are not.
#[derive(Debug, Clone, Default)]
pub struct PluginSet {
    /// The plugins in use, with their authority.
    pub drivers: BTreeMap<PluginId, Arc<Driver>>,
    /// The files that are not in use.
    pub refusals: Vec<Refusal>,
    /// The files that are still being loaded. Their previous versions stay in use.
    pub loading: Vec<PathBuf>,
}

/// All plugins, kept from one scan of the folder to the next.
pub struct Catalogue {
    engine: Engine,
    embedded: Vec<Arc<LoadedPlugin>>,
    folder: Folder,
    /// The rules of the last scan.
    rules: AdmissionRules,
}

/// The files that have a plugin of an id.
type Candidates = BTreeMap<PluginId, Vec<Candidate>>;

type Candidate = (PathBuf, Arc<LoadedPlugin>);

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue").field("embedded", &self.embedded).finish_non_exhaustive()
    }
}

impl Catalogue {
    /// The plugins of the program. None of them is compiled yet.
    ///
    /// # Errors
    /// The program was built wrongly.
    pub fn new(engine: Engine) -> Result<Self, SummaryError> {
        let plugin = |(summary, component)| Arc::new(LoadedPlugin::embedded(&engine, summary, component));
        let (embedded, folder) = (embedded::plugins()?.into_iter().map(plugin).collect(), Folder::new(&engine));
        Ok(Self { engine, embedded, folder, rules: AdmissionRules::default() })
    }

    /// Signals failures of the plugins.
    pub fn failure_signal(&self) -> FailureSignal {
        self.engine.failure_signal().clone()
    }

    /// A plugin with its authority and limits by the current rules. Without a grant of programs, it may start those of the
    /// embedded plugin that it replaces.
    fn driver(&self, plugin: &Arc<LoadedPlugin>) -> Driver {
        let (id, grant) = (plugin.id(), self.rules.trust.grants.get(plugin.id()));
        let granted = grant.and_then(|grant| grant.programs.clone());
        let own = || built_in(&self.embedded, id).map(|built_in| built_in.programs.iter().cloned().collect());
        let authority = Authority {
            programs: granted.or_else(own).unwrap_or_default(),
            variables: VariableGrant::from_grant(grant, self.is_built_in(plugin)),
        };
        let limits = self.rules.trust.limits_of(id, self.rules.limits);
        Driver { plugin: Arc::clone(plugin), authority, limits }
    }

    /// Whether it has the same bytes as an embedded plugin.
    fn is_built_in(&self, plugin: &LoadedPlugin) -> bool {
        self.embedded.iter().any(|own| own.sha256() == plugin.sha256())
    }

    /// Scans the folder and returns the plugins in use. Unchanged files are not loaded again, unless the rules have changed.
    pub async fn rescan(
        &mut self,
        dir: &Path,
        trust: &Trust,
        limits: &PluginLimits,
        options: ScanOptions,
    ) -> PluginSet {
        let rules = AdmissionRules { trust: trust.clone(), limits: *limits };
        if self.rules != rules {
            self.folder.invalidate();
            self.rules = rules;
        }
        if options.retry {
            self.renew_embedded(|plugin| plugin.has_failed());
        }
        let mut set = PluginSet::default();
        match self.folder.list(dir, limits).await {
            Ok(files) => self.folder.update(files, options, &self.rules).await,
            Err(error) => set.refusals.push(Refusal { path: dir.to_owned(), reason: error.to_string() }),
        }
        let candidates = self.evaluate(&mut set);
        let chosen = self.choose(candidates, &mut set.refusals);
        // A file has taken its place.
        self.renew_embedded(|plugin| chosen.get(plugin.id()).is_some_and(|in_use| !Arc::ptr_eq(in_use, plugin)));
        let driver = |(id, plugin): (PluginId, Arc<LoadedPlugin>)| (id, Arc::new(self.driver(&plugin)));
        set.drivers = chosen.into_iter().map(driver).collect();
        set
    }

    /// Drops the code of embedded plugins for which this holds. Requests that use it keep it.
    fn renew_embedded(&mut self, which: impl Fn(&Arc<LoadedPlugin>) -> bool) {
        for plugin in self.embedded.iter_mut().filter(|plugin| which(plugin)) {
            if let Some(renewed) = plugin.renewed() {
                *plugin = Arc::new(renewed);
            }
        }
    }

    /// Waits until another file has been loaded, so that a scan is due; pending without limit if none is being loaded.
    /// Cancel-safe.
    pub async fn loaded(&mut self) {
        self.folder.loaded(&self.rules).await;
    }

    /// The good version of each file that has one, by id.
    fn evaluate(&mut self, set: &mut PluginSet) -> Candidates {
        let mut candidates = Candidates::new();
        for (path, tracked) in self.folder.files() {
            match tracked.evaluate(|plugin| check_grant(&self.embedded, plugin, &self.rules.admission(path))) {
                Verdict::Accepted => {}
                Verdict::Loading => set.loading.push(path.clone()),
                Verdict::Refused(reason) => set.refusals.push(Refusal { path: path.clone(), reason }),
            }
            if let Some(plugin) = &tracked.good {
                candidates.entry(plugin.id().clone()).or_default().push((path.clone(), Arc::clone(plugin)));
            }
        }
        candidates
    }

    /// A file replaces an embedded plugin. Of several with one id, the one that is named after it is used, else none: the one
    /// in use before does not count, since that would not be known at the next start.
    fn choose(&self, candidates: Candidates, refusals: &mut Vec<Refusal>) -> BTreeMap<PluginId, Arc<LoadedPlugin>> {
        let embedded = self.embedded.iter().map(|plugin| (plugin.id().clone(), Arc::clone(plugin)));
        let mut plugins: BTreeMap<_, _> = embedded.collect();
        for (id, candidates) in candidates {
            let chosen = match &candidates[..] {
                [only] => Some(only),
                several => several.iter().find(|(path, _)| is_named_after(&id, path)),
            };
            let others = candidates.iter().filter(|(path, _)| chosen.is_none_or(|(chosen, _)| chosen != path));
            refusals.extend(others.map(|(path, _)| duplicate_id(&id, path, chosen, &candidates)));
            plugins.extend(chosen.map(|(_, plugin)| (id, Arc::clone(plugin))));
        }
        plugins
    }
}

/// Checks that a plugin requires no more than it is granted, given the embedded plugins.
fn check_grant(
    embedded: &[Arc<LoadedPlugin>],
    plugin: &LoadedPlugin,
    admission: &Admission<'_>,
) -> Result<(), LoadError> {
    admission.check_grant(plugin, built_in(embedded, plugin.id()))
}

/// The description of the embedded plugin with this id.
fn built_in<'a>(embedded: &'a [Arc<LoadedPlugin>], id: &PluginId) -> Option<&'a Description> {
    embedded.iter().find(|plugin| plugin.id() == id).map(|plugin| plugin.description())
}

/// Whether a file has the name that `plugin add` gives it.
fn is_named_after(id: &PluginId, path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == id.as_str())
}

/// The refusal of a file whose id another file has as well.
fn duplicate_id(id: &PluginId, path: &Path, chosen: Option<&Candidate>, candidates: &[Candidate]) -> Refusal {
    let others = candidates.iter().filter(|(other, _)| other != path).map(|(other, _)| terminal_safe_path(other));
    let id = id.clone();
    let reason = match chosen {
        Some((chosen, _)) => LoadError::IdInUse { id, other: terminal_safe_path(chosen) },
        None => LoadError::DuplicateId { id, other: others.collect::<Vec<_>>().join(" and ") },
    };
    Refusal { path: path.to_owned(), reason: reason.to_string() }
}

//! Loads a plugin from a file: size, compilation, imports, version, description. The bytes come from `reader`. An `embedded`
//! plugin is known without all that, and its `code` is compiled when it is first needed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Description, PluginId, PluginLimits, Sha256Sum, Signer, Wasi, terminal_safe_path};
use bytes::Bytes;
use rayon::ThreadPoolBuilder;
use tokio::task::spawn_blocking;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker};

use super::abi::{self, Line};
use super::code::Code;
use super::embedded::Summary;
use super::engine::Engine;
use super::error::CompileError;
use super::error::{CallError, LoadError};
use super::health::{Health, HealthTracker};
use super::instance::Instance;
use super::limits::StoreState;
use super::reader::ComponentFile;
use super::text::one_line;

/// The origin of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the program.
    Embedded,
    /// It was in the plugin folder.
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::File(path) => f.write_str(&terminal_safe_path(path)),
        }
    }
}

/// The bytes of a file with their path, hash and signer.
pub(super) struct File {
    bytes: Bytes,
    path: PathBuf,
    sha256: Sha256Sum,
    signer: Option<Signer>,
}

impl File {
    /// A component that was read from this path.
    pub(super) fn found(path: &Path, found: ComponentFile, signer: Option<Signer>) -> Self {
        Self { bytes: found.bytes, path: path.to_owned(), sha256: found.sha256, signer }
    }
}

/// A plugin that can be run: checked and described. Its code is compiled, unless it is embedded and was not needed yet.
pub struct LoadedPlugin {
    description: Description,
    origin: Origin,
    sha256: Sha256Sum,
    signer: Option<Signer>,
    traps: Vec<String>,
    contract: String,
    engine: Engine,
    code: Code,
    health: Arc<HealthTracker>,
}

impl fmt::Debug for LoadedPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedPlugin").field("id", &self.description.id).field("origin", &self.origin).finish()
    }
}

impl LoadedPlugin {
    /// A plugin of the program. Nothing is compiled.
    pub(super) fn embedded(engine: &Engine, summary: Summary, component: &'static [u8]) -> Self {
        Self::with_code(engine, summary, Code::of_component(component))
    }

    fn with_code(engine: &Engine, summary: Summary, code: Code) -> Self {
        let Summary { sha256, contract, description } = summary;
        let (origin, health) = (Origin::Embedded, health_tracker(engine, &description));
        let (signer, traps) = (None, Vec::new());
        Self { description, origin, sha256, signer, traps, contract, engine: engine.clone(), code, health }
    }

    /// The same embedded plugin without its code. `None` if it has none yet, or is not embedded.
    pub(super) fn renewed(&self) -> Option<Self> {
        self.code.renewed().map(|code| Self::with_code(&self.engine, Summary::of(self), code))
    }

    /// Compiles and checks the component of a file.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn load(
        engine: &Engine,
        file: File,
        limits: &PluginLimits,
        wasi: Wasi,
    ) -> Result<Self, LoadError> {
        let File { bytes, path, sha256, signer } = file;
        if bytes.len() as u64 > limits.file {
            return Err(LoadError::TooLarge { limit: limits.file });
        }
        engine.compiler().compile(bytes.clone(), limits).await?;
        let component = component(engine, bytes).await?;
        let traps = refuse_imports(&component, wasi)?;
        let (line, contract) = Line::of(&component)?;
        let agent = link_line(engine, line, &component, !traps.is_empty())?;
        let description = Instance::first(engine, &agent, limits).await?.describe().await??.validated()?;
        let health = health_tracker(engine, &description);
        health.version_loaded();
        let (origin, code) = (Origin::File(path), Code::compiled(agent));
        Ok(Self { description, origin, sha256, signer, traps, contract, engine: engine.clone(), code, health })
    }

    /// Compiles an embedded plugin, unless it is compiled already. One compilation serves all that wait for it, and continues
    /// if they stop waiting.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub async fn compile(&self) -> Result<(), CallError> {
        self.agent().await.map(drop)
    }

    /// Returns whether it is compiled.
    pub fn is_compiled(&self) -> bool {
        self.code.is_compiled()
    }

    /// Returns whether it is embedded and could not be compiled.
    pub(super) fn has_failed(&self) -> bool {
        self.code.has_failed()
    }

    async fn agent(&self) -> Result<&Arc<dyn abi::Pre>, CallError> {
        let code = self.code.get(&self.engine, &self.health).await;
        code.map_err(|error| CallError::NotCompiled { id: self.id().clone(), error })
    }

    /// Creates a fresh instance for one run, once the plugin is compiled.
    ///
    /// # Errors
    /// The plugin traps when it is instantiated, or cannot be compiled.
    pub async fn instance(&self, limits: &PluginLimits) -> Result<Instance, CallError> {
        Instance::open(&self.engine, self.agent().await?, &self.health, limits).await
    }

    /// The driver's name.
    pub fn id(&self) -> &PluginId {
        &self.description.id
    }

    /// The description that the plugin returned.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Its origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The version of the contract that it was built against.
    pub fn contract(&self) -> &str {
        &self.contract
    }

    /// Its health.
    pub fn health(&self) -> Health {
        self.health.health()
    }

    /// Its signer, if signatures are required.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The imports that trap when called, each in backquotes.
    pub fn traps(&self) -> &[String] {
        &self.traps
    }

    /// The hash of its bytes.
    pub fn sha256(&self) -> Sha256Sum {
        self.sha256
    }
}

/// Compiles a component of the program, which needs no checks. It has threads of its own, one for each processor: with shared
/// ones, a plugin that a request waits for would be compiled after those of the background.
pub(super) async fn compile_embedded(
    engine: &Engine,
    component: &'static [u8],
) -> Result<Arc<dyn abi::Pre>, CompileError> {
    let wasm = engine.wasm().clone();
    let made = spawn_blocking(move || {
        let threads = ThreadPoolBuilder::new().thread_name(|_| "plugin-compiler".to_owned()).build();
        let threads = threads.map_err(|error| CompileError::Failed(error.to_string()))?;
        threads.install(|| Component::from_binary(&wasm, component)).map_err(|invalid| invalid_because(&invalid))
    });
    let component = made.await.map_err(|lost| CompileError::Failed(lost.to_string()))??;
    let failed = |error: LoadError| CompileError::Failed(error.to_string());
    let (line, _) = Line::of(&component).map_err(failed)?;
    link_line(engine, line, &component, false).map_err(failed)
}

fn health_tracker(engine: &Engine, description: &Description) -> Arc<HealthTracker> {
    let (observer, failures) = (Arc::clone(engine.observer()), engine.failure_signal().clone());
    Arc::new(HealthTracker::new(description.id.clone(), observer, failures))
}

/// The compiled code of a component, from the cache if possible. Runs on a blocking thread, since it may take long.
async fn component(engine: &Engine, bytes: Bytes) -> Result<Component, CompileError> {
    let wasm = engine.wasm().clone();
    let made = spawn_blocking(move || Component::from_binary(&wasm, &bytes)).await;
    made.map_err(|lost| CompileError::Failed(lost.to_string()))?.map_err(|invalid| invalid_because(&invalid))
}

fn invalid_because(error: &wasmtime::Error) -> CompileError {
    CompileError::Invalid(one_line(&format!("{error:#}")))
}

/// Refuses imports by name, except for imports of types. Imports of WASI can be permitted: they are returned.
fn refuse_imports(component: &Component, wasi: Wasi) -> Result<Vec<String>, LoadError> {
    let engine = component.engine();
    let is_refused = |item: &ComponentItem| match item {
        ComponentItem::Type(_) => false,
        ComponentItem::ComponentInstance(instance) => {
            instance.exports(engine).any(|(_, inner)| !matches!(inner.ty, ComponentItem::Type(_)))
        }
        ComponentItem::ComponentFunc(_)
        | ComponentItem::CoreFunc(_)
        | ComponentItem::Module(_)
        | ComponentItem::Component(_)
        | ComponentItem::Resource(_) => true,
    };
    let ty = component.component_type();
    let imports = ty.imports(engine).filter(|(_, import)| is_refused(&import.ty));
    let quoted = imports.map(|(name, _)| (name.starts_with("wasi:"), format!("`{name}`")));
    let (of_wasi, others): (Vec<_>, Vec<_>) = quoted.partition(|(is_wasi, _)| *is_wasi);
    let names = |imports: Vec<(bool, String)>| imports.into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    match wasi {
        _ if !others.is_empty() => Err(LoadError::Imports(names(others).join(", "))),
        Wasi::Refuse if !of_wasi.is_empty() => Err(LoadError::Wasi(names(of_wasi).join(", "))),
        Wasi::Refuse | Wasi::Trap => Ok(names(of_wasi)),
    }
}

/// Links the component, and checks the types of its line.
fn link_line(engine: &Engine, line: &Line, component: &Component, traps: bool) -> Result<Arc<dyn abi::Pre>, LoadError> {
    let linked = line.link(link(engine, component, traps)?);
    linked.map(Arc::from).map_err(|other| LoadError::Types(one_line(&format!("{other:#}"))))
}

/// Links the component without imports, or with traps for the permitted ones.
fn link(engine: &Engine, component: &Component, traps: bool) -> Result<InstancePre<StoreState>, CompileError> {
    let failed = |failed: wasmtime::Error| invalid_because(&failed);
    let mut linker = Linker::new(engine.wasm());
    if traps {
        linker.define_unknown_imports_as_traps(component).map_err(failed)?;
    }
    linker.instantiate_pre(component).map_err(failed)
}

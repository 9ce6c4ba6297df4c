//! Loads a plugin from bytes: size, compilation, imports, version, description. The bytes come from `embedded` and `reader`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Description, PluginId, PluginLimits, Sha256Sum, Signer, Wasi, terminal_safe_path};
use bytes::Bytes;
use tokio::task::spawn_blocking;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker};

use super::abi::{self, Line};
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

/// The bytes of a component with their origin, hash and signer.
pub(super) struct File {
    pub(super) bytes: Bytes,
    pub(super) origin: Origin,
    pub(super) sha256: Sha256Sum,
    pub(super) signer: Option<Signer>,
}

impl File {
    /// A component that was read from this path.
    pub(super) fn found(path: &Path, found: ComponentFile, signer: Option<Signer>) -> Self {
        Self { bytes: found.bytes, origin: Origin::File(path.to_owned()), sha256: found.sha256, signer }
    }

    /// A component that is part of the program.
    pub(super) fn embedded(bytes: &'static [u8]) -> Self {
        Self { bytes: Bytes::from_static(bytes), origin: Origin::Embedded, sha256: Sha256Sum::of(bytes), signer: None }
    }
}

/// A plugin that can be run: compiled, checked, described.
pub struct LoadedPlugin {
    description: Description,
    origin: Origin,
    sha256: Sha256Sum,
    signer: Option<Signer>,
    traps: Vec<String>,
    contract: String,
    engine: Engine,
    agent: Arc<dyn abi::Pre>,
    health: Arc<HealthTracker>,
}

impl fmt::Debug for LoadedPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedPlugin").field("id", &self.description.id).field("origin", &self.origin).finish()
    }
}

impl LoadedPlugin {
    /// Compiles and checks a component.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn load(
        engine: &Engine,
        file: File,
        limits: &PluginLimits,
        wasi: Wasi,
    ) -> Result<Self, LoadError> {
        let File { bytes, origin, sha256, signer } = file;
        if bytes.len() as u64 > limits.file {
            return Err(LoadError::TooLarge { limit: limits.file });
        }
        if origin != Origin::Embedded {
            engine.compiler().compile(bytes.clone(), limits).await?;
        }
        let component = component(engine, bytes).await?;
        let traps = refuse_imports(&component, wasi)?;
        let (line, contract) = Line::of(&component)?;
        let pre = link(engine, &component, !traps.is_empty())?;
        let agent = line.link(pre).map_err(|other| LoadError::Types(one_line(&format!("{other:#}"))))?.into();
        let description = Instance::first(engine, &agent, limits).await?.describe().await??.validated()?;
        let health = Arc::new(HealthTracker::new(
            description.id.clone(),
            Arc::clone(engine.observer()),
            engine.failure_signal().clone(),
        ));
        Ok(Self { description, origin, sha256, signer, traps, contract, engine: engine.clone(), agent, health })
    }

    /// Creates a fresh instance for one run.
    ///
    /// # Errors
    /// The plugin traps when it is instantiated.
    pub async fn instance(&self, limits: &PluginLimits) -> Result<Instance, CallError> {
        Instance::open(&self.engine, &self.agent, &self.health, limits).await
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

/// Links the component without imports, or with traps for the permitted ones.
fn link(engine: &Engine, component: &Component, traps: bool) -> Result<InstancePre<StoreState>, CompileError> {
    let failed = |failed: wasmtime::Error| invalid_because(&failed);
    let mut linker = Linker::new(engine.wasm());
    if traps {
        linker.define_unknown_imports_as_traps(component).map_err(failed)?;
    }
    linker.instantiate_pre(component).map_err(failed)
}

//! From bytes to a plugin that can be run: size, compiler, imports, version, description. Where the bytes come from is
//! `embedded`'s and `scan`'s.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentbay_domain::{Description, PluginId, PluginLimits, Sha256Sum, Signer, Wasi, visible_path};
use bytes::Bytes;
use tokio::task::spawn_blocking;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker};

use super::abi::{self, Line};
use super::engine::Engine;
use super::error::CompileError;
use super::error::{CallError, LoadError};
use super::health::{Health, Record};
use super::instance::Instance;
use super::limits::State;
use super::reader::Found;
use super::text::one_line;

/// Where a plugin came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the program.
    Embedded,
    /// It lay in the plugin folder.
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::File(path) => f.write_str(&visible_path(path)),
        }
    }
}

/// The bytes of a component, and what is known of them.
pub(super) struct File {
    pub(super) bytes: Bytes,
    pub(super) origin: Origin,
    pub(super) sha256: Sha256Sum,
    pub(super) signer: Option<Signer>,
}

impl File {
    /// One that was read from this path, and signed by somebody or not.
    pub(super) fn found(path: &Path, found: Found, signer: Option<Signer>) -> Self {
        Self { bytes: found.bytes, origin: Origin::File(path.to_owned()), sha256: found.sha256, signer }
    }

    /// One that is part of the program.
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
    record: Arc<Record>,
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
        let record =
            Arc::new(Record::new(description.id.clone(), Arc::clone(engine.observer()), engine.trouble().clone()));
        Ok(Self { description, origin, sha256, signer, traps, contract, engine: engine.clone(), agent, record })
    }

    /// A fresh instance, for one run.
    ///
    /// # Errors
    /// The plugin traps when it is instantiated.
    pub async fn instance(&self, limits: &PluginLimits) -> Result<Instance, CallError> {
        Instance::open(&self.engine, &self.agent, &self.record, limits).await
    }

    /// The driver's name.
    pub fn id(&self) -> &PluginId {
        &self.description.id
    }

    /// What the plugin says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Where it came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The version of the contract that it was built against.
    pub fn contract(&self) -> &str {
        &self.contract
    }

    /// How it fares.
    pub fn health(&self) -> Health {
        self.record.health()
    }

    /// Who signed it, if signatures are asked for.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The imports behind which there is nothing, each in backquotes.
    pub fn traps(&self) -> &[String] {
        &self.traps
    }

    /// The hash of its bytes.
    pub fn sha256(&self) -> Sha256Sum {
        self.sha256
    }
}

/// The code of a component, from the cache if it is there. Off the threads that serve, since it may be long.
async fn component(engine: &Engine, bytes: Bytes) -> Result<Component, CompileError> {
    let wasm = engine.wasm().clone();
    let made = spawn_blocking(move || Component::from_binary(&wasm, &bytes)).await;
    made.map_err(|lost| CompileError::Failed(lost.to_string()))?.map_err(|invalid| invalid_because(&invalid))
}

fn invalid_because(error: &wasmtime::Error) -> CompileError {
    CompileError::Invalid(one_line(&format!("{error:#}")))
}

/// An import of types alone asks for nothing; anything else is refused by name. Those of WASI may be let pass: they are
/// given.
fn refuse_imports(component: &Component, wasi: Wasi) -> Result<Vec<String>, LoadError> {
    let engine = component.engine();
    let asks = |item: &ComponentItem| match item {
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
    let asked = ty.imports(engine).filter(|(_, import)| asks(&import.ty));
    let quoted = asked.map(|(name, _)| (name.starts_with("wasi:"), format!("`{name}`")));
    let (of_wasi, others): (Vec<_>, Vec<_>) = quoted.partition(|(is_wasi, _)| *is_wasi);
    let names = |imports: Vec<(bool, String)>| imports.into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    match wasi {
        _ if !others.is_empty() => Err(LoadError::Imports(names(others).join(", "))),
        Wasi::Refuse if !of_wasi.is_empty() => Err(LoadError::Wasi(names(of_wasi).join(", "))),
        Wasi::Refuse | Wasi::Trap => Ok(names(of_wasi)),
    }
}

/// With nothing behind any import, or with a trap behind those that were let pass.
fn link(engine: &Engine, component: &Component, traps: bool) -> Result<InstancePre<State>, CompileError> {
    let failed = |failed: wasmtime::Error| invalid_because(&failed);
    let mut linker = Linker::new(engine.wasm());
    if traps {
        linker.define_unknown_imports_as_traps(component).map_err(failed)?;
    }
    linker.instantiate_pre(component).map_err(failed)
}

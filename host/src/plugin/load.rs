//! From bytes to a plugin that can be run: size, compiler, imports, version, description. Where the bytes come from is
//! `embedded`'s and `scan`'s.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker};

use super::abi::v0_1;
use super::engine::Engine;
use super::error::{CallError, LoadError};
use super::health::{Health, Record};
use super::instance::Instance;
use super::limits::{State, one_line};
use crate::domain::{Description, PluginId, PluginLimits};

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
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// The hash of a component's bytes, as `sha256sum` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sha256Sum([u8; 32]);

impl Sha256Sum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A plugin that can be run: compiled, checked, described.
pub struct LoadedPlugin {
    description: Description,
    origin: Origin,
    sha256: Sha256Sum,
    contract: String,
    engine: Engine,
    agent: v0_1::Pre,
    record: Arc<Record>,
}

impl fmt::Debug for LoadedPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedPlugin").field("id", &self.description.id).field("origin", &self.origin).finish()
    }
}

impl LoadedPlugin {
    /// Compiles and checks a component. Compiling happens on a thread of its own, and takes no longer than it may.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub(super) async fn load(
        engine: &Engine,
        bytes: Vec<u8>,
        origin: Origin,
        limits: &PluginLimits,
    ) -> Result<Self, LoadError> {
        if bytes.len() as u64 > limits.file {
            return Err(LoadError::TooLarge { limit: limits.file });
        }
        let sha256 = Sha256Sum::of(&bytes);
        let wasm = engine.wasm().clone();
        let compile = move || Component::from_binary(&wasm, &bytes);
        let component = engine
            .compiler()
            .run(limits.compile, compile)
            .await?
            .map_err(|invalid| LoadError::NotAComponent(one_line(&format!("{invalid:#}"))))?;
        refuse_imports(&component)?;
        let contract = v0_1::speaks(&component)?;
        let pre = link(engine, &component)?;
        let agent = v0_1::Pre::new(pre).map_err(|other| LoadError::Types(one_line(&format!("{other:#}"))))?;
        let description = Instance::first(engine, &agent, limits).await?.describe().await??.checked()?;
        let record = Arc::new(Record::new(description.id.clone(), engine.metrics().clone()));
        Ok(Self { description, origin, sha256, contract, engine: engine.clone(), agent, record })
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

    /// The hash of its bytes.
    pub fn sha256(&self) -> Sha256Sum {
        self.sha256
    }
}

/// An import of types alone asks for nothing; anything else is refused by name.
fn refuse_imports(component: &Component) -> Result<(), LoadError> {
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
    let names: Vec<String> = component
        .component_type()
        .imports(engine)
        .filter(|(_, import)| asks(&import.ty))
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    if names.is_empty() { Ok(()) } else { Err(LoadError::Imports(names.join(", "))) }
}

fn link(engine: &Engine, component: &Component) -> Result<InstancePre<State>, LoadError> {
    let linker = Linker::new(engine.wasm());
    linker.instantiate_pre(component).map_err(|failed| LoadError::NotAComponent(one_line(&format!("{failed:#}"))))
}

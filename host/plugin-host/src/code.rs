//! The compiled code of a plugin. That of an embedded plugin is compiled when it is first needed.
//!
//! The compilation is a task of its own: it belongs to no request, and a request that is cancelled does not stop it for the
//! others. Its result is kept, also if it failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;
use tokio::sync::SetOnce;

use super::abi::Pre;
use super::engine::Engine;
use super::error::CompileError;
use super::health::HealthTracker;

/// The code of a plugin, or the component to compile.
pub(super) struct Code {
    compiled: Arc<SetOnce<Compiled>>,
    /// The component of an embedded plugin.
    component: Option<&'static [u8]>,
    /// Its compilation has started.
    is_started: AtomicBool,
}

type Compiled = Result<Arc<dyn Pre>, CompileError>;

impl Code {
    /// Code that is compiled already.
    pub(super) fn compiled(agent: Arc<dyn Pre>) -> Self {
        let compiled = Arc::new(SetOnce::new_with(Some(Ok(agent))));
        Self { compiled, component: None, is_started: AtomicBool::new(true) }
    }

    /// The code of a component of the program, which is not compiled yet.
    pub(super) fn of_component(component: &'static [u8]) -> Self {
        Self { compiled: Arc::default(), component: Some(component), is_started: AtomicBool::new(false) }
    }

    /// The code. If it is not compiled yet, this starts the compilation or waits for the one that was started.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub(super) async fn get(
        &self,
        engine: &Engine,
        health: &Arc<HealthTracker>,
    ) -> Result<&Arc<dyn Pre>, CompileError> {
        if !self.compiled.initialized() {
            self.start(engine, health);
        }
        self.compiled.wait().await.as_ref().map_err(Clone::clone)
    }

    fn start(&self, engine: &Engine, health: &Arc<HealthTracker>) {
        let Some(component) = self.component.filter(|_| !self.is_started.swap(true, Ordering::AcqRel)) else { return };
        let (compiled, engine, health) = (Arc::clone(&self.compiled), engine.clone(), Arc::clone(health));
        Handle::current().spawn(async move {
            let code = super::load::compile_embedded(&engine, component).await;
            match &code {
                Ok(_) => {
                    health.version_loaded();
                    tracing::info!(plugin = %health.plugin(), "a built-in plugin is compiled");
                }
                Err(error) => tracing::error!(plugin = %health.plugin(), %error, "a built-in plugin is not usable"),
            }
            // Only this task sets it.
            let _set = compiled.set(code);
        });
    }

    /// The code of the same component, not compiled. `None` for code that is not embedded, or has not been needed yet.
    pub(super) fn renewed(&self) -> Option<Self> {
        self.component.filter(|_| self.is_started.load(Ordering::Acquire)).map(Self::of_component)
    }

    /// Returns whether it is compiled.
    pub(super) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some_and(Result::is_ok)
    }

    /// Returns whether it could not be compiled.
    pub(super) fn has_failed(&self) -> bool {
        self.compiled.get().is_some_and(Result::is_err)
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::PluginLimits;
    use bytes::Bytes;

    use super::*;
    use crate::{CompileFuture, Compiler, FailureSignal};

    /// Embedded components are compiled in this process.
    #[derive(Debug)]
    struct Unused;

    impl Compiler for Unused {
        fn compile<'a>(&'a self, _component: Bytes, _limits: &'a PluginLimits) -> CompileFuture<'a> {
            Box::pin(async { panic!("it is not a file") })
        }
    }

    #[tokio::test]
    async fn a_failure_is_kept_until_the_code_is_renewed() {
        let cache = tempfile::tempdir().unwrap();
        let engine = Engine::new(cache.path(), Arc::new(Unused), Arc::new(())).unwrap();
        let id = "x".to_owned().try_into().unwrap();
        let health = Arc::new(HealthTracker::new(id, Arc::new(()), FailureSignal::default()));
        let code = Code::of_component(b"not a component");
        assert!(!code.has_failed() && code.renewed().is_none());
        let (one, other) = tokio::join!(code.get(&engine, &health), code.get(&engine, &health));
        let [one, other, later] = [one, other, code.get(&engine, &health).await].map(|code| code.err().unwrap());
        assert!(matches!(one, CompileError::Invalid(_)), "{one}");
        assert_eq!((&one, code.has_failed(), code.is_compiled()), (&other, true, false));
        assert_eq!(one, later);
        assert!(code.renewed().is_some_and(|renewed| !renewed.has_failed() && renewed.renewed().is_none()));
    }
}

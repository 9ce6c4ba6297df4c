//! The supported lines of the contract, behind one interface in domain types. A line has one file, with its generated types
//! and their conversions, and one row in [`LINES`].

#[cfg(test)]
mod frozen;
mod v0_1;

use std::pin::Pin;

use agentbay_domain::{
    Description, DescriptionError, Event, ExitStatus, Failure, Outcome, Plan, PlanError, StreamName, Turn,
};
use wasmtime::Store;
use wasmtime::component::{Component, Instance, InstancePre, ResourceAny};

use super::error::LoadError;
use super::limits::StoreState;

/// A line of the contract.
pub(super) struct Line {
    /// Its number, such as `0.1`.
    name: &'static str,
    link: fn(InstancePre<StoreState>) -> wasmtime::Result<Box<dyn Pre>>,
}

/// Every supported line, oldest first.
const LINES: &[Line] = &[Line { name: "0.1", link: v0_1::link }];

const INTERFACE: &str = "agentbay:plugin/agent@";

/// The future of a call.
pub(super) type Answer<'a, T> = Pin<Box<dyn Future<Output = wasmtime::Result<T>> + Send + 'a>>;

/// A component with the types of its line.
pub(super) trait Pre: Send + Sync {
    /// The component to instantiate.
    fn component(&self) -> &InstancePre<StoreState>;

    /// Finds the contract's functions in an instance and checks their types.
    fn agent(&self, store: &mut Store<StoreState>, instance: &Instance) -> wasmtime::Result<Box<dyn Agent>>;
}

/// An instance of it. The functions are those of the contract.
pub(super) trait Agent: Send + Sync {
    fn describe<'a>(&'a self, store: &'a mut Store<StoreState>) -> Answer<'a, Result<Description, DescriptionError>>;

    fn prepare<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        turn: &'a Turn,
    ) -> Answer<'a, Result<Result<Plan, PlanError>, Failure>>;

    fn transcript<'a>(&'a self, store: &'a mut Store<StoreState>, turn: &'a Turn) -> Answer<'a, ResourceAny>;

    fn begin<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        this: ResourceAny,
        turn: &'a Turn,
    ) -> Answer<'a, Vec<Event>>;

    fn output<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        this: ResourceAny,
        source: StreamName,
        text: &'a str,
    ) -> Answer<'a, Vec<Event>>;

    fn exit<'a>(&'a self, store: &'a mut Store<StoreState>, this: ResourceAny, how: ExitStatus) -> Answer<'a, Outcome>;
}

impl Line {
    /// The line that a component was built against, and its full version.
    ///
    /// # Errors
    /// It exports no contract, or one that is not supported.
    pub(super) fn of(component: &Component) -> Result<(&'static Self, String), LoadError> {
        let (ty, engine) = (component.component_type(), component.engine());
        let version = ty.exports(engine).find_map(|(name, _)| name.strip_prefix(INTERFACE).map(str::to_owned));
        let Some(found) = version else { return Err(LoadError::NoContract) };
        match LINES.iter().find(|line| number(line.name) == number(&found)) {
            Some(line) => Ok((line, found)),
            None => Err(unsupported(found)),
        }
    }

    /// Checks the types.
    ///
    /// # Errors
    /// They are not those of the line.
    pub(super) fn link(&self, component: InstancePre<StoreState>) -> wasmtime::Result<Box<dyn Pre>> {
        (self.link)(component)
    }
}

/// The numbers of the supported lines, oldest first.
pub fn contracts() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|line| line.name)
}

/// The error for an unsupported version. If it is newer than all lines, agentbay is outdated, else the plugin.
fn unsupported(found: String) -> LoadError {
    let newer = LINES.iter().all(|line| number(line.name) < number(&found));
    let upgrade = if newer { "agentbay" } else { "the plugin" };
    LoadError::Version { found, supported: contracts().collect::<Vec<_>>().join(", "), upgrade }
}

/// Major and minor of a version: before 1.0 each minor is a line. A version that cannot be parsed counts as newer than all.
fn number(version: &str) -> (u64, u64) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(u64::MAX));
    (parts.next().unwrap_or(u64::MAX), parts.next().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_outdated_side() {
        let message = |found: &str| unsupported(found.to_owned()).to_string();
        let expected = |found: &str, behind: &str| {
            format!("was built against contract {found}, and this agentbay supports 0.1: {behind} must be updated")
        };
        for newer in ["0.2.0", "0.10.3", "1.0.0", "x"] {
            assert_eq!(message(newer), expected(newer, "agentbay"));
        }
        assert_eq!(message("0.0.9"), expected("0.0.9", "the plugin"));
    }

    #[test]
    fn a_line_is_major_and_minor() {
        assert_eq!(number("0.1"), number("0.1.7-rc.1"));
        assert!(number("0.1.0") < number("0.10.0") && number("0.10.0") < number("1.0.0"));
    }
}

//! The supported lines of the contract, and what every one of them comes to: calls in the domain's words. A line has one
//! file, with its generated types and their way into the domain's, and one row in [`LINES`].

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
use super::limits::State;

/// A line of the contract.
pub(super) struct Line {
    /// Its number, such as `0.1`.
    name: &'static str,
    link: fn(InstancePre<State>) -> wasmtime::Result<Box<dyn Pre>>,
}

/// Every supported line, the oldest first.
const LINES: &[Line] = &[Line { name: "0.1", link: v0_1::link }];

const INTERFACE: &str = "agentbay:plugin/agent@";

/// What comes of a call.
pub(super) type Answer<'a, T> = Pin<Box<dyn Future<Output = wasmtime::Result<T>> + Send + 'a>>;

/// A component whose types are those of its line.
pub(super) trait Pre: Send + Sync {
    /// What it is instantiated from.
    fn component(&self) -> &InstancePre<State>;

    /// Finds the contract's functions in an instance of it, which must have the contract's types.
    fn agent(&self, store: &mut Store<State>, instance: &Instance) -> wasmtime::Result<Box<dyn Agent>>;
}

/// An instance of it. The functions are the contract's.
pub(super) trait Agent: Send + Sync {
    fn describe<'a>(&'a self, store: &'a mut Store<State>) -> Answer<'a, Result<Description, DescriptionError>>;

    fn prepare<'a>(
        &'a self,
        store: &'a mut Store<State>,
        turn: &'a Turn,
    ) -> Answer<'a, Result<Result<Plan, PlanError>, Failure>>;

    fn transcript<'a>(&'a self, store: &'a mut Store<State>, turn: &'a Turn) -> Answer<'a, ResourceAny>;

    fn begin<'a>(&'a self, store: &'a mut Store<State>, this: ResourceAny, turn: &'a Turn) -> Answer<'a, Vec<Event>>;

    fn output<'a>(
        &'a self,
        store: &'a mut Store<State>,
        this: ResourceAny,
        source: StreamName,
        text: &'a str,
    ) -> Answer<'a, Vec<Event>>;

    fn exit<'a>(&'a self, store: &'a mut Store<State>, this: ResourceAny, how: ExitStatus) -> Answer<'a, Outcome>;
}

impl Line {
    /// The line that a component was built against, and its version in full.
    ///
    /// # Errors
    /// It was built against none, or against one that is not supported.
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
    pub(super) fn link(&self, component: InstancePre<State>) -> wasmtime::Result<Box<dyn Pre>> {
        (self.link)(component)
    }
}

/// The numbers of the supported lines, the oldest first.
pub fn contracts() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|line| line.name)
}

/// A plugin that is older than all lines is behind; one that is newer than any of them is ahead.
fn unsupported(found: String) -> LoadError {
    let newer = LINES.iter().all(|line| number(line.name) < number(&found));
    let upgrade = if newer { "agentbay" } else { "the plugin" };
    LoadError::Version { found, supported: contracts().collect::<Vec<_>>().join(", "), upgrade }
}

/// Major and minor of a version: before 1.0 each minor is a line, and what cannot be read is newer than all there is.
fn number(version: &str) -> (u64, u64) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(u64::MAX));
    (parts.next().unwrap_or(u64::MAX), parts.next().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_behind_must_be_brought_up_to_date() {
        let told = |found: &str| unsupported(found.to_owned()).to_string();
        let expected = |found: &str, behind: &str| {
            format!(
                "was built against contract {found}, and this agentbay speaks 0.1: {behind} must be brought up to date"
            )
        };
        for newer in ["0.2.0", "0.10.3", "1.0.0", "x"] {
            assert_eq!(told(newer), expected(newer, "agentbay"));
        }
        assert_eq!(told("0.0.9"), expected("0.0.9", "the plugin"));
    }

    #[test]
    fn a_line_is_major_and_minor() {
        assert_eq!(number("0.1"), number("0.1.7-rc.1"));
        assert!(number("0.1.0") < number("0.10.0") && number("0.10.0") < number("1.0.0"));
    }
}

//! The connection between the component's exports and an author's traits: a handle's shared reference becomes `&mut self`.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::bindings::exports::agentbay::plugin::agent as border;
use crate::{Agent, Description, Event, ExitStatus, Failure, Outcome, Plan, StreamName, Transcript, Turn};

/// An author's agent in the form that the generated code requires. Used by [`export_agent!`](crate::export_agent) only.
#[derive(Debug)]
pub struct Exported<A>(PhantomData<A>);

/// An author's transcript behind the host's handle.
#[derive(Debug)]
pub struct Shared<T>(RefCell<T>);

impl<A> border::Guest for Exported<A>
where
    A: Agent + 'static,
{
    type Transcript = Shared<A::Transcript>;

    fn describe() -> Description {
        A::describe()
    }

    fn prepare(turn: Turn) -> Result<Plan, Failure> {
        A::prepare(&turn)
    }
}

impl<T: Transcript + 'static> border::GuestTranscript for Shared<T> {
    fn new(turn: Turn) -> Self {
        Self(RefCell::new(T::new(&turn)))
    }

    fn begin(&self, turn: Turn) -> Vec<Event> {
        self.0.borrow_mut().begin(&turn)
    }

    fn output(&self, source: StreamName, text: String) -> Vec<Event> {
        self.0.borrow_mut().output(source, &text)
    }

    fn exit(&self, how: ExitStatus) -> Outcome {
        self.0.borrow_mut().exit(how)
    }
}

/// Exports the crate as a plugin: `export_agent!(MyAgent);`, once, at the top of `lib.rs`.
///
/// Expands to nothing on targets other than wasm, so that a plugin's tests run natively.
#[macro_export]
macro_rules! export_agent {
    ($agent:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            // The author's type is resolved in this scope too, so this name must not collide with it.
            type __AgentbayExported = $crate::export::Exported<$agent>;
    $crate::bindings::export_bindings!(__AgentbayExported with_types_in $crate::bindings);
        };
    };
}

//! What the author of a plugin works with, and the author's CI: a plugin is tried here without a server.
//!
//! A plugin on the bench is a `subject`. `check` puts each recorded run, a `fixture`, through a `trial`: it is cut by
//! `chunking` or harmed by `damage`, where a long one is `shorten`ed; a `replay` makes events of it, and the `bench` plays
//! many at once; `golden` holds what the events should be, what of them would be `dropped` is told, and the `report` shows the `difference`.
//!
//! `run` carries out one turn with the real CLI, and what there is to say of it is `told`. `record` makes a fixture of a
//! CLI's run, after a `scrub`. `new` writes a project from a `template`, and `pack` makes ready what comes of one.
//!
//! Nothing of a request's way is done a second time: bytes become text by `runs`' cleaner, and text becomes events in the
//! instance that a run has.

mod bench;
mod check;
mod chunking;
mod damage;
mod difference;
mod dropped;
mod error;
mod fixture;
mod golden;
mod needs;
mod new;
mod pack;
mod record;
mod replay;
mod report;
mod run;
mod scrub;
mod shorten;
mod strip;
mod subject;
mod template;
mod told;
mod trial;

pub use check::{Wanted, check};
pub use error::AuthorError;
pub use needs::needs;
pub use new::Project;
pub use pack::{Packed, Packing, Stripped, pack};
pub use record::{Recorded, Recording, record};
pub use report::Report;
pub use run::{Asked, run};
pub use subject::Subject;
pub use template::{Language, NoSuchLanguage};
pub use told::Told;

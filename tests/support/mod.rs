//! Shared parts of the tests: a machine that runs the program, the serving program, and a client.

mod chat;
mod clis;
mod http;
mod machine;
mod proxy;
mod python;
mod repo;
mod responses;
mod sse;
mod wait;

pub(crate) use chat::{Streamed, chat, error, known, user};
pub(crate) use clis::{CLIS, FAILING_MODELS, codex_says, drivers, failing_clis};
pub(crate) use http::{Answer, Request};
pub(crate) use machine::{ECHO, Machine, Run, binary, built_plugin, faults, fixtures, has_curl, quoted};
pub(crate) use proxy::Proxy;
pub(crate) use python::PythonClient;
pub(crate) use repo::Repo;
pub(crate) use responses::{Responding, event, kinds, output_text};
pub(crate) use sse::{Events, StreamItem};
pub(crate) use wait::{
    DEADLINE, is_alive, is_asleep, marked_by, processes_marked_by, read_once_there, wait_for, with_time_enough,
};

//! The vocabulary: what the parts of the host say to each other. No I/O, and no knowledge of HTTP, WebAssembly or git.
//!
//! Values are built valid, so nothing downstream checks again.

mod access;
mod conversation;
mod description;
mod environment;
mod event;
mod failure;
mod helpers;
mod limits;
mod model;
mod outcome;
mod own_address;
mod plan;
mod reply;
mod retry;
mod session;
mod sha256;
mod shown;
mod signer;
mod trust;
mod turn;
mod usage;

pub use access::Access;
pub use conversation::{Block, Conversation, ConversationError, Message, Role};
pub use description::{Description, DescriptionError, Features, Framing, Home, OfferedModel, PluginId, Probe};
pub use environment::Environment;
pub use event::{Event, Extra, Level, Notice, ToolCall, ToolResult};
pub use failure::{Category, Failure};
pub use helpers::{Helpers, NoRepoPath, RepoPath};
pub use limits::{
    ConnectionLimits, HttpLimits, Limits, PluginLimits, QueueLimits, ReloadLimits, RetryLimits, RunLimits,
};
pub use model::{CliTarget, EnvSetting, Keep, Model, Target, Worktree};
pub use outcome::{ExitStatus, KillReason, Outcome, Stop};
pub use own_address::OwnAddress;
pub use plan::{Plan, PlanError, PlanFile};
pub use reply::{Part, Reply};
pub use retry::{RetryHint, WallClock};
pub use session::{NoSessionId, SessionId};
pub use sha256::{NoSha256Sum, Sha256Sum};
pub use shown::{is_deceptive, visible, visible_path};
pub use signer::{NoSigner, Signer};
pub use trust::{Authority, Grant, Granted, Trust, Wasi};
pub use turn::{NoRunId, Permission, RunId, StreamName, Turn};
pub use usage::{Usage, UsageReport, UsageScope, UsageTally};

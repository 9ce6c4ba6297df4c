//! Types that the crates of the host share. No I/O, and no knowledge of HTTP, WebAssembly or git.
//!
//! Constructors validate, so that no other code has to check a value again.

mod access;
mod ask;
mod chores;
mod conversation;
mod description;
mod environment;
mod event;
mod failure;
mod helper_scripts;
mod limits;
mod media;
mod model;
mod outcome;
mod plan;
mod reply;
mod retry;
mod server_address;
mod session;
mod sha256;
mod signer;
mod terminal_safe;
mod trust;
mod turn;
mod usage;

pub use access::Access;
pub use ask::{AnswerFormat, AnswerSchema, Ask};
pub use chores::Chores;
pub use conversation::{Block, Conversation, ConversationError, Message, Role};
pub use description::{Description, DescriptionError, Features, Framing, Home, OfferedModel, PluginId, Probe};
pub use environment::Environment;
pub use event::{Event, Extra, Level, Notice, ToolCall, ToolResult};
pub use failure::{Category, Failure};
pub use helper_scripts::{HelperScripts, InvalidRepoPath, RepoPath};
pub use limits::{
    ConnectionLimits, HttpLimits, Limits, PluginLimits, QueueLimits, ReloadLimits, RetryLimits, RunLimits, StoreLimits,
};
pub use media::{Media, MediaContent};
pub use model::{CliTarget, EnvSetting, Keep, Model, Show, ShownAs, Target, Worktree};
pub use outcome::{ExitStatus, KillReason, Outcome, StopReason};
pub use plan::{Plan, PlanError, PlanFile};
pub use reply::{Part, Reply};
pub use retry::{RetryHint, WallClock};
pub use server_address::ServerAddress;
pub use session::{InvalidSessionId, SessionId};
pub use sha256::{InvalidSha256Sum, Sha256Sum};
pub use signer::{InvalidSigner, Signer};
pub use terminal_safe::{is_deceptive, terminal_safe, terminal_safe_path};
pub use trust::{Authority, Grant, Trust, VariableGrant, Wasi};
pub use turn::{InvalidRunId, Permission, RunId, StreamName, Turn};
pub use usage::{Usage, UsageReport, UsageScope, UsageTally};

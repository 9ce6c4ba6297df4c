//! Contract 0.1: generated bindings, and conversions between their types and the domain's.

use wasmtime::component::Component;

use crate::domain;
use crate::plugin::error::LoadError;

wasmtime::component::bindgen!({
    path: "../wit",
    world: "cli-agent",
    exports: { default: async },
});

use exports::agentbay::plugin::agent as wit;

pub(in crate::plugin) use CliAgent as Agent;
pub(in crate::plugin) use wit::Event as WitEvent;
pub(in crate::plugin) type Pre = CliAgentPre<crate::plugin::limits::State>;

const INTERFACE: &str = "agentbay:plugin/agent@";
const SUPPORTED: &str = "0.1";

/// Whether a component exports this line of the contract, and in which version.
pub(in crate::plugin) fn speaks(component: &Component) -> Result<String, LoadError> {
    let ty = component.component_type();
    let engine = component.engine();
    let version = ty.exports(engine).find_map(|(name, _)| name.strip_prefix(INTERFACE).map(str::to_owned));
    let Some(found) = version else { return Err(LoadError::NoContract) };
    if found.starts_with("0.1.") {
        return Ok(found);
    }
    let upgrade = if found.starts_with("0.0.") { "the plugin" } else { "agentbay" };
    Err(LoadError::Version { found, supported: SUPPORTED, upgrade })
}

impl From<&domain::Turn> for wit::Turn {
    fn from(turn: &domain::Turn) -> Self {
        Self {
            prompt: turn.prompt.clone(),
            system: turn.system.clone(),
            model: turn.model.clone(),
            permission: match turn.permission {
                domain::Permission::ReadOnly => wit::Permission::ReadOnly,
                domain::Permission::WorkspaceWrite => wit::Permission::WorkspaceWrite,
                domain::Permission::FullAccess => wit::Permission::FullAccess,
            },
            workdir: turn.workdir.clone(),
            extra_dirs: turn.extra_dirs.clone(),
            session: turn.session.clone(),
            output_schema: turn.output_schema.clone(),
            partial: turn.partial,
            run_dir: turn.run_dir.clone(),
            options: turn.options.clone(),
        }
    }
}

impl From<domain::StreamName> for wit::StreamName {
    fn from(source: domain::StreamName) -> Self {
        match source {
            domain::StreamName::Stdout => Self::Stdout,
            domain::StreamName::Stderr => Self::Stderr,
        }
    }
}

impl From<domain::ExitStatus> for wit::ExitStatus {
    fn from(how: domain::ExitStatus) -> Self {
        match how {
            domain::ExitStatus::Code(code) => Self::Code(code),
            domain::ExitStatus::Signal(signal) => Self::Signal(signal),
            domain::ExitStatus::Killed(reason) => Self::Killed(match reason {
                domain::KillReason::Cancelled => wit::KillReason::Cancelled,
                domain::KillReason::Timeout => wit::KillReason::Timeout,
                domain::KillReason::Idle => wit::KillReason::Idle,
                domain::KillReason::OutputLimit => wit::KillReason::OutputLimit,
                domain::KillReason::Shutdown => wit::KillReason::Shutdown,
            }),
        }
    }
}

impl TryFrom<wit::Plan> for domain::Plan {
    type Error = domain::PlanError;

    fn try_from(plan: wit::Plan) -> Result<Self, domain::PlanError> {
        let files = plan.files.into_iter().map(|file| (file.name, file.text)).collect();
        Self::new(plan.program, plan.args, plan.env, files)
    }
}

impl From<wit::Failure> for domain::Failure {
    fn from(failure: wit::Failure) -> Self {
        Self {
            category: failure.category.into(),
            message: failure.message,
            detail: failure.detail,
            retry: failure.retry.map(|hint| match hint {
                wit::RetryHint::AfterMs(ms) => domain::RetryHint::AfterMs(ms),
                wit::RetryHint::AtEpochMs(ms) => domain::RetryHint::AtEpochMs(ms),
                wit::RetryHint::AtClock(clock) => domain::RetryHint::AtClock(domain::WallClock {
                    hour: clock.hour,
                    minute: clock.minute,
                    day: clock.day,
                    month: clock.month,
                    year: clock.year,
                    zone: clock.zone,
                }),
            }),
        }
    }
}

impl From<wit::Category> for domain::Category {
    fn from(category: wit::Category) -> Self {
        match category {
            wit::Category::Quota => Self::Quota,
            wit::Category::RateLimit => Self::RateLimit,
            wit::Category::Authentication => Self::Authentication,
            wit::Category::Validation => Self::Validation,
            wit::Category::Network => Self::Network,
            wit::Category::Server => Self::Server,
            wit::Category::Timeout => Self::Timeout,
            wit::Category::NotFound => Self::NotFound,
            wit::Category::Configuration => Self::Configuration,
            wit::Category::Unknown => Self::Unknown,
        }
    }
}

impl From<wit::Outcome> for domain::Outcome {
    fn from(outcome: wit::Outcome) -> Self {
        let answer = outcome.answer;
        if let Some(failure) = outcome.failure {
            return Self::Failed { failure: failure.into(), answer };
        }
        let stop = match outcome.stop {
            wit::Stop::EndTurn => domain::Stop::EndTurn,
            wit::Stop::MaxTurns => domain::Stop::MaxTurns,
            wit::Stop::MaxTokens => domain::Stop::MaxTokens,
            wit::Stop::Refusal => domain::Stop::Refusal,
        };
        Self::Finished { stop, answer }
    }
}

impl From<wit::Usage> for domain::UsageReport {
    fn from(told: wit::Usage) -> Self {
        Self {
            scope: match told.scope {
                wit::UsageScope::Step => domain::UsageScope::Step,
                wit::UsageScope::Run => domain::UsageScope::Run,
                wit::UsageScope::Thread => domain::UsageScope::Thread,
            },
            usage: domain::Usage {
                input: told.input,
                cached_input: told.cached_input,
                cache_write: told.cache_write,
                output: told.output,
                reasoning: told.reasoning,
            },
        }
    }
}

impl From<wit::Event> for domain::Event {
    fn from(event: wit::Event) -> Self {
        match event {
            wit::Event::Text(text) => Self::Text(text),
            wit::Event::TextBreak => Self::TextBreak,
            wit::Event::Reasoning(text) => Self::Reasoning(text),
            wit::Event::ToolCall(wit::ToolCall { id, name, input }) => {
                Self::ToolCall(domain::ToolCall { id, name, input })
            }
            wit::Event::ToolResult(wit::ToolResult { id, output, is_error }) => {
                Self::ToolResult(domain::ToolResult { id, output, is_error })
            }
            wit::Event::Session(id) => Self::Session(id),
            wit::Event::Usage(told) => Self::Usage(told.into()),
            wit::Event::Notice(notice) => Self::Notice(domain::Notice {
                level: match notice.level {
                    wit::Level::Debug => domain::Level::Debug,
                    wit::Level::Info => domain::Level::Info,
                    wit::Level::Warning => domain::Level::Warning,
                },
                message: notice.message,
            }),
            wit::Event::Reply(text) => Self::Reply(text),
            wit::Event::EndInput => Self::EndInput,
            wit::Event::Done(outcome) => Self::Done(outcome.into()),
            wit::Event::Extra(wit::Extra { kind, json }) => Self::Extra(domain::Extra { kind, json }),
        }
    }
}

impl TryFrom<wit::Description> for domain::Description {
    type Error = domain::DescriptionError;

    fn try_from(told: wit::Description) -> Result<Self, domain::DescriptionError> {
        let has = |feature| told.features.contains(feature);
        Ok(Self {
            id: told.id.try_into()?,
            name: told.name,
            version: told.version,
            programs: told.programs,
            framing: match told.framing {
                wit::Framing::Lines => domain::Framing::Lines,
                wit::Framing::Text => domain::Framing::Text,
            },
            features: domain::Features {
                partial: has(wit::Features::PARTIAL),
                reasoning: has(wit::Features::REASONING),
                tools: has(wit::Features::TOOLS),
                resume: has(wit::Features::RESUME),
                system_prompt: has(wit::Features::SYSTEM_PROMPT),
                output_schema: has(wit::Features::OUTPUT_SCHEMA),
                extra_dirs: has(wit::Features::EXTRA_DIRS),
                model_choice: has(wit::Features::MODEL_CHOICE),
                read_only: has(wit::Features::READ_ONLY),
                many_turns: has(wit::Features::MANY_TURNS),
            },
            models: told
                .models
                .into_iter()
                .map(|model| domain::OfferedModel {
                    id: model.id,
                    name: model.name,
                    context_window: model.context_window,
                })
                .collect(),
            probe: domain::Probe {
                version_args: told.probe.version_args,
                tested_versions: told.probe.tested_versions,
                install_hint: told.probe.install_hint,
                login_hint: told.probe.login_hint,
            },
            home: told.home.map(|home| domain::Home { env: home.env, keep: home.keep }),
        })
    }
}

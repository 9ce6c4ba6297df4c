//! Contract 0.1: generated bindings, and conversions between their types and the domain's.

use agentbay_domain as domain;
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre, ResourceAny};

use super::{Agent, Answer, Pre};
use crate::limits::StoreState;

wasmtime::component::bindgen!({
    path: "../../wit/v0.1",
    world: "cli-agent",
    exports: { default: async },
});

use exports::agentbay::plugin::agent as wit;

/// Checks the types.
pub(super) fn link(component: InstancePre<StoreState>) -> wasmtime::Result<Box<dyn Pre>> {
    Ok(Box::new(CliAgentPre::new(component)?))
}

impl Pre for CliAgentPre<StoreState> {
    fn component(&self) -> &InstancePre<StoreState> {
        self.instance_pre()
    }

    fn agent(&self, store: &mut Store<StoreState>, instance: &Instance) -> wasmtime::Result<Box<dyn Agent>> {
        Ok(Box::new(CliAgent::new(store, instance)?))
    }
}

impl Agent for CliAgent {
    fn describe<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
    ) -> Answer<'a, Result<domain::Description, domain::DescriptionError>> {
        Box::pin(async move { Ok(self.agentbay_plugin_agent().call_describe(store).await?.try_into()) })
    }

    fn prepare<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        turn: &'a domain::Turn,
    ) -> Answer<'a, Result<Result<domain::Plan, domain::PlanError>, domain::Failure>> {
        Box::pin(async move {
            let answer = self.agentbay_plugin_agent().call_prepare(store, &turn.into()).await?;
            Ok(answer.map(domain::Plan::try_from).map_err(domain::Failure::from))
        })
    }

    fn transcript<'a>(&'a self, store: &'a mut Store<StoreState>, turn: &'a domain::Turn) -> Answer<'a, ResourceAny> {
        Box::pin(async move { self.agentbay_plugin_agent().transcript().call_constructor(store, &turn.into()).await })
    }

    fn begin<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        this: ResourceAny,
        turn: &'a domain::Turn,
    ) -> Answer<'a, Vec<domain::Event>> {
        Box::pin(async move {
            let transcript = self.agentbay_plugin_agent().transcript();
            Ok(to_domain(transcript.call_begin(store, this, &turn.into()).await?))
        })
    }

    fn output<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        this: ResourceAny,
        source: domain::StreamName,
        text: &'a str,
    ) -> Answer<'a, Vec<domain::Event>> {
        Box::pin(async move {
            let transcript = self.agentbay_plugin_agent().transcript();
            Ok(to_domain(transcript.call_output(store, this, source.into(), text).await?))
        })
    }

    fn exit<'a>(
        &'a self,
        store: &'a mut Store<StoreState>,
        this: ResourceAny,
        how: domain::ExitStatus,
    ) -> Answer<'a, domain::Outcome> {
        Box::pin(async move {
            let transcript = self.agentbay_plugin_agent().transcript();
            Ok(transcript.call_exit(store, this, how.into()).await?.into())
        })
    }
}

fn to_domain(events: Vec<wit::Event>) -> Vec<domain::Event> {
    events.into_iter().map(domain::Event::from).collect()
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
            wit::Stop::EndTurn => domain::StopReason::EndTurn,
            wit::Stop::MaxTurns => domain::StopReason::MaxTurns,
            wit::Stop::MaxTokens => domain::StopReason::MaxTokens,
            wit::Stop::Refusal => domain::StopReason::Refusal,
        };
        Self::Finished { stop, answer }
    }
}

impl From<wit::Usage> for domain::UsageReport {
    fn from(report: wit::Usage) -> Self {
        Self {
            scope: match report.scope {
                wit::UsageScope::Step => domain::UsageScope::Step,
                wit::UsageScope::Run => domain::UsageScope::Run,
                wit::UsageScope::Thread => domain::UsageScope::Thread,
            },
            usage: domain::Usage {
                input: report.input,
                cached_input: report.cached_input,
                cache_write: report.cache_write,
                output: report.output,
                reasoning: report.reasoning,
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
            wit::Event::Usage(report) => Self::Usage(report.into()),
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

    fn try_from(description: wit::Description) -> Result<Self, domain::DescriptionError> {
        let has = |feature| description.features.contains(feature);
        Ok(Self {
            id: description.id.try_into()?,
            name: description.name,
            version: description.version,
            programs: description.programs,
            framing: match description.framing {
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
            models: description
                .models
                .into_iter()
                .map(|model| domain::OfferedModel {
                    id: model.id,
                    name: model.name,
                    context_window: model.context_window,
                })
                .collect(),
            probe: domain::Probe {
                version_args: description.probe.version_args,
                tested_versions: description.probe.tested_versions,
                install_hint: description.probe.install_hint,
                login_hint: description.probe.login_hint,
            },
            home: description.home.map(|home| domain::Home { env: home.env, keep: home.keep }),
        })
    }
}

//! The settings of a request, which the response object repeats. An agent decides by itself about most of them: those have the
//! default value unless the client set another one, and change nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::raw::{Kind, Raw};

/// The settings.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    model: String,
    instructions: Option<Box<RawValue>>,
    previous_response_id: Option<String>,
    conversation: Option<ConversationId>,
    max_output_tokens: Option<u64>,
    max_tool_calls: Option<u64>,
    metadata: BTreeMap<String, String>,
    parallel_tool_calls: bool,
    temperature: f64,
    top_p: f64,
    presence_penalty: f64,
    frequency_penalty: f64,
    top_logprobs: u64,
    /// Always empty: the agent has its own tools, and never calls those of the client.
    tools: [(); 0],
    tool_choice: &'static str,
    truncation: Cow<'static, str>,
    service_tier: &'static str,
    text: TextSettings,
    reasoning: ReasoningSettings,
    store: bool,
    background: bool,
    user: Option<String>,
    safety_identifier: Option<String>,
    prompt_cache_key: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct ConversationId {
    id: String,
}

#[derive(Debug, Clone, Serialize)]
struct TextSettings {
    format: Format,
    verbosity: Cow<'static, str>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Format {
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
    },
    Given(Box<RawValue>),
}

#[derive(Debug, Clone, Serialize)]
struct ReasoningSettings {
    effort: Option<String>,
    summary: Option<String>,
}

/// What `decode` has read already.
pub(super) struct Decoded<'a> {
    pub(super) model: &'a str,
    pub(super) context: Option<&'a super::Context>,
    pub(super) max_output: Option<u64>,
    pub(super) store: bool,
    pub(super) background: bool,
}

impl Settings {
    /// The settings of a body. What is not understood has its default.
    pub(super) fn of(body: Raw<'_>, decoded: &Decoded<'_>) -> Self {
        let [instructions, metadata, max_tool_calls, parallel] =
            body.fields(["instructions", "metadata", "max_tool_calls", "parallel_tool_calls"]);
        let [temperature, top_p, presence, frequency, top_logprobs] =
            body.fields(["temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs"]);
        let [tool_choice, truncation, text, reasoning] =
            body.fields(["tool_choice", "truncation", "text", "reasoning"]);
        let [user, safety_identifier, prompt_cache_key] =
            body.fields(["user", "safety_identifier", "prompt_cache_key"]).map(|value| value.and_then(Raw::text));
        let number = |value: Option<Raw<'_>>| value.and_then(Raw::number).filter(|number| number.is_finite());
        let (previous_response_id, conversation) = match decoded.context {
            Some(super::Context::Response(id)) => (Some(id.clone()), None),
            Some(super::Context::Conversation(id)) => (None, Some(ConversationId { id: id.clone() })),
            None => (None, None),
        };
        Self {
            model: decoded.model.to_owned(),
            instructions: instructions.and_then(raw),
            previous_response_id,
            conversation,
            max_output_tokens: decoded.max_output,
            max_tool_calls: number(max_tool_calls).map(|calls| calls as u64),
            metadata: metadata.map(metadata_of).unwrap_or_default(),
            parallel_tool_calls: parallel.and_then(Raw::flag).unwrap_or(true),
            temperature: number(temperature).unwrap_or(1.0),
            top_p: number(top_p).unwrap_or(1.0),
            presence_penalty: number(presence).unwrap_or_default(),
            frequency_penalty: number(frequency).unwrap_or_default(),
            top_logprobs: number(top_logprobs).unwrap_or_default() as u64,
            tools: [],
            tool_choice: if tool_choice.and_then(Raw::text).as_deref() == Some("none") { "none" } else { "auto" },
            truncation: word(truncation, &["auto", "disabled"]).unwrap_or(Cow::Borrowed("disabled")),
            service_tier: "default",
            text: TextSettings::of(text),
            reasoning: ReasoningSettings::of(reasoning),
            store: decoded.store,
            background: decoded.background,
            user,
            safety_identifier,
            prompt_cache_key,
        }
    }
}

impl TextSettings {
    fn of(text: Option<Raw<'_>>) -> Self {
        let [format, verbosity] = text.map_or([None; 2], |text| text.fields(["format", "verbosity"]));
        let format = format.filter(|format| format.kind() == Kind::Object).and_then(raw);
        Self {
            format: format.map_or(Format::Text { kind: "text" }, Format::Given),
            verbosity: word(verbosity, &["low", "high"]).unwrap_or(Cow::Borrowed("medium")),
        }
    }
}

impl ReasoningSettings {
    fn of(reasoning: Option<Raw<'_>>) -> Self {
        let [effort, summary] = reasoning.map_or([None; 2], |reasoning| reasoning.fields(["effort", "summary"]));
        Self { effort: effort.and_then(Raw::text), summary: summary.and_then(Raw::text) }
    }
}

fn raw(value: Raw<'_>) -> Option<Box<RawValue>> {
    RawValue::from_string(value.json().to_owned()).ok()
}

/// One of these words.
fn word(value: Option<Raw<'_>>, known: &[&str]) -> Option<Cow<'static, str>> {
    value.and_then(Raw::text).filter(|word| known.contains(&word.as_str())).map(Cow::Owned)
}

/// Typed clients expect texts; another value is shown as its JSON.
pub(super) fn metadata_of(given: Raw<'_>) -> BTreeMap<String, String> {
    let entries = serde_json::from_str::<BTreeMap<String, &RawValue>>(given.json()).unwrap_or_default();
    let text = |value: &RawValue| Raw::from(value).text().unwrap_or_else(|| value.get().to_owned());
    entries.into_iter().map(|(key, value)| (key, text(value))).collect()
}

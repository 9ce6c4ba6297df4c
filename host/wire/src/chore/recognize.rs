//! The chores of clients, by what was recorded of each. What is not certain is not a chore.

use std::borrow::Cow;

use agentbay_domain::{AnswerFormat, Ask, Block, Conversation, Message, Role};
use serde_json::Value;

use super::Chore;
use super::answer::{self, Form};
use crate::mend;
use crate::raw::Raw;

/// What is seen of a request.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Its messages.
    pub conversation: &'a Conversation,
    /// What the answer must be like.
    pub ask: &'a Ask,
    /// Its body.
    pub body: &'a [u8],
    /// The header `x-codex-turn-metadata`, by which Codex names its chores.
    pub codex_metadata: Option<&'a str>,
}

impl std::fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen").finish_non_exhaustive()
    }
}

/// Returns the chore that a request is; `None` for a turn of a user.
pub fn recognize(seen: Seen<'_>) -> Option<Chore> {
    let users: Vec<Cow<'_, str>> = texts(seen.conversation, |role| role == Role::User).collect();
    let last = users.last()?;
    compaction(&seen, last).or_else(|| by_schema(&seen, last)).or_else(|| by_words(&seen, &users))
}

/// Summaries that replace a conversation: of Codex, Claude Code and Gemini CLI. The whole conversation stands before them.
fn compaction(seen: &Seen<'_>, last: &str) -> Option<Chore> {
    let continues = seen.conversation.messages().iter().any(|message| message.role == Role::Assistant);
    let claude = continues
        && last.starts_with("CRITICAL: Respond with TEXT ONLY")
        && instructions(seen).any(|text| text.contains("Claude"));
    let gemini = continues
        && last.contains("<state_snapshot>")
        && instructions(seen).any(|text| text.contains("<state_snapshot>"))
        && !seen.has_tools();
    (seen.codex_says("request_kind", "compaction") || claude || gemini).then_some(answer::COMPACTION)
}

/// Chores whose answer has a schema of its own.
fn by_schema(seen: &Seen<'_>, last: &str) -> Option<Chore> {
    let AnswerFormat::Schema(schema) = &seen.ask.format else { return None };
    let value: Value = serde_json::from_str(&schema.json).ok()?;
    let mut keys: Vec<&str> = value["properties"].as_object()?.keys().map(String::as_str).collect();
    keys.sort_unstable();
    match keys[..] {
        ["complexity_reasoning", "complexity_score"] => Some(answer::routing()),
        ["title"] if seen.codex_says("thread_source", "thread_title") => {
            Some(answer::title(Form::Object, last.trim_end().lines().last().unwrap_or_default()))
        }
        ["title"] if last.starts_with("<session>") && !seen.has_tools() => {
            Some(answer::title(Form::Object, between(last, "<session>", "</session>")))
        }
        // LibreChat.
        ["title"] if schema.name == "extract" && is_alone(seen) => {
            Some(answer::title(Form::Object, after(last, "User:")))
        }
        ["language", "title"] if schema.name == "extract" && is_alone(seen) => {
            Some(answer::title(Form::WithLanguage, after(last, "User:")))
        }
        _ => None,
    }
}

/// Chores that have only words, and no tools.
fn by_words(seen: &Seen<'_>, users: &[Cow<'_, str>]) -> Option<Chore> {
    let last = users.last()?;
    let chore = if is_alone(seen) {
        open_webui(last).or_else(|| librechat(last)).or_else(|| gemini_summary(last))
    } else {
        opencode(seen, users)
    };
    chore.filter(|_| !seen.has_tools())
}

/// Open WebUI: the whole request is one message of a template, whose output is an object with one key.
fn open_webui(text: &str) -> Option<Chore> {
    let marks = text.starts_with("### Task:") && text.contains("<chat_history>");
    let output = ["### Output:", "### **Output Rules**:"].iter().find_map(|head| text.split_once(head));
    let (_, output) = output.filter(|_| marks)?;
    let key = output.split_once('{').map(|(_, rest)| between(rest, "\"", "\""))?;
    answer::of_key(key, after(between(text, "<chat_history>", "</chat_history>"), "USER:"))
}

fn librechat(text: &str) -> Option<Chore> {
    let (asked, talk) = text.split_once("\n\nConversation:\n")?;
    let is_title = asked.contains("5-word-or-less title") && talk.starts_with("User:");
    is_title.then(|| answer::title(Form::Text, after(talk, "User:")))
}

fn gemini_summary(text: &str) -> Option<Chore> {
    let is_summary =
        text.starts_with("Summarize the user's primary intent or goal in this conversation in ONE sentence");
    is_summary.then(|| answer::session_summary(after(text, "\nUser:")))
}

/// opencode: the title generator has instructions of its own, and the conversation follows a fixed message.
fn opencode(seen: &Seen<'_>, users: &[Cow<'_, str>]) -> Option<Chore> {
    let generator = instructions(seen).any(|text| text.starts_with("You are a title generator"));
    let [first, said, ..] = users else { return None };
    let is_title = generator && first.trim() == "Generate a title for this conversation:";
    is_title.then(|| answer::title(Form::Text, said))
}

impl Seen<'_> {
    /// Read only where something else marks a chore, since the body may be long.
    fn has_tools(&self) -> bool {
        let tools = mend::json(self.body)
            .ok()
            .and_then(|json| json.value().field("tools").and_then(Raw::items).map(|tools| tools.len()));
        tools.is_some_and(|tools| tools > 0)
    }

    fn codex_says(&self, key: &str, value: &str) -> bool {
        let metadata = self.codex_metadata.and_then(|json| serde_json::from_str::<Value>(json).ok());
        metadata.is_some_and(|metadata| metadata[key] == value)
    }
}

/// Whether the request is one message of the user and nothing else.
fn is_alone(seen: &Seen<'_>) -> bool {
    matches!(seen.conversation.messages(), [Message { role: Role::User, .. }])
}

fn instructions<'a>(seen: &Seen<'a>) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
    texts(seen.conversation, Role::instructs)
}

/// The texts of messages, one for each. Most have one block, which is not copied.
fn texts<'a>(
    conversation: &'a Conversation,
    of: impl Fn(Role) -> bool + 'a,
) -> impl Iterator<Item = Cow<'a, str>> + 'a {
    conversation.messages().iter().filter(move |message| of(message.role)).map(text)
}

fn text(message: &Message) -> Cow<'_, str> {
    let mut texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let first = Cow::Borrowed(texts.next().unwrap_or_default());
    texts.fold(first, |joined, text| joined + "\n" + text)
}

/// The text between two marks; to the end if the second is missing, empty if the first is.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = after(text, start);
    rest.split_once(end).map_or(rest, |(inner, _)| inner)
}

/// The text after a mark; empty if it is missing.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests;

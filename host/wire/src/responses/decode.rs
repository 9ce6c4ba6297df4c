//! Decodes a request: the model, the input, what stands before it, and the form of the answer.

use agentbay_domain::{Ask, Conversation, Message};

use super::item::Item;
use super::settings::{Decoded, Settings};
use crate::answer_format;
use crate::body;
use crate::conversation;
use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};
use crate::tool_choice;

/// A request.
#[derive(Debug, Clone)]
pub struct ResponsesRequest {
    /// The name of the model.
    pub model: String,
    /// The items to answer. Those that are references have to be replaced by the items that they refer to.
    pub input: Vec<Item>,
    /// The instructions, which hold for this answer only.
    instructions: Vec<Message>,
    /// What stands before the input.
    pub context: Option<Context>,
    /// The requirements of the answer.
    pub ask: Ask,
    /// Whether the response can be read later.
    pub store: bool,
    /// Whether the run continues without a client.
    pub background: bool,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// What the answer repeats.
    pub settings: Settings,
}

/// What stands before the input of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Context {
    /// The input and the output of a response, and what stood before it.
    Response(String),
    /// The items of a conversation.
    Conversation(String),
}

const INPUT: &str = "input";

/// Decodes a request. Unknown keys are ignored.
///
/// # Errors
/// See [`Malformed`].
pub fn decode(body: &[u8]) -> Result<ResponsesRequest, Malformed> {
    let json = body::json(body, "`model` and `input`")?;
    let body = json.value();
    let [model, input, instructions, stream] = body.fields(["model", INPUT, "instructions", "stream"]);
    let [text, max_output, choice, prompt] = body.fields(["text", "max_output_tokens", "tool_choice", "prompt"]);
    let model = body::model(model)?;
    if prompt.is_some() {
        let message = "prompt templates are not kept here: send their text as `instructions` and `input`";
        return Err(Malformed::field("prompt", message));
    }
    tool_choice::require_free(choice)?;
    let ask = Ask {
        format: text
            .and_then(|text| text.field("format"))
            .map_or(Ok(Default::default()), |format| answer_format::read(format, "text"))?,
        stop: Vec::new(),
        max_output: body::max_output(max_output, "max_output_tokens")?,
    };
    let (store, background) = storage(body)?;
    let context = context(body)?;
    let decoded = Decoded { model: &model, context: context.as_ref(), max_output: ask.max_output, store, background };
    let settings = Settings::of(body, &decoded);
    Ok(ResponsesRequest {
        input: items(input)?,
        instructions: conversation::instructions(instructions),
        stream: body::stream(stream)?,
        model,
        context,
        ask,
        store,
        background,
        settings,
    })
}

impl ResponsesRequest {
    /// Replaces the references of the input by the items that `find` returns for their ids.
    ///
    /// # Errors
    /// See [`Malformed`].
    pub fn resolve(&mut self, find: impl Fn(&str) -> Option<Item>) -> Result<(), Malformed> {
        for item in &mut self.input {
            if let Some(id) = item.reference() {
                let missing = || {
                    let message = format!("the item `{id}` is not stored: send the item itself instead of a reference");
                    Malformed::field(INPUT, message)
                };
                *item = find(&id).ok_or_else(missing)?;
            }
        }
        Ok(())
    }

    /// The conversation to answer, with these items before the input.
    ///
    /// # Errors
    /// See [`Malformed`].
    pub fn conversation<'a>(&self, earlier: impl IntoIterator<Item = &'a Item>) -> Result<Conversation, Malformed> {
        let last = self.input.len().saturating_sub(1);
        let earlier = earlier.into_iter().map(|item| item.message(0, false));
        let input = self.input.iter().enumerate().map(|(at, item)| item.message(at, at == last));
        let messages = self.instructions.iter().cloned().map(Ok).chain(earlier).chain(input);
        let messages = messages.collect::<Result<Vec<_>, Malformed>>()?;
        Conversation::try_from(messages).map_err(|error| Malformed::field(INPUT, error.to_string()))
    }
}

fn items(input: Option<Raw<'_>>) -> Result<Vec<Item>, Malformed> {
    let input = input.filter(|input| matches!(input.kind(), Kind::Text | Kind::List | Kind::Object));
    let missing = || Malformed::field(INPUT, "`input` is missing: send a text, or a list of items");
    let items = Item::all_of(input.ok_or_else(missing)?);
    if items.is_empty() {
        return Err(Malformed::field(INPUT, "`input` is empty: send a text, or at least one item"));
    }
    Ok(items)
}

/// Whether the response is stored, and whether its run continues without a client.
fn storage(body: Raw<'_>) -> Result<(bool, bool), Malformed> {
    let [store, background] = body.fields(["store", "background"]).map(|flag| flag.and_then(Raw::flag));
    let (store, background) = (store.unwrap_or(true), background.unwrap_or(false));
    if background && !store {
        let message = "a response in the background has to be stored: leave `store` out, or set it to true";
        return Err(Malformed::field("store", message));
    }
    Ok((store, background))
}

fn context(body: Raw<'_>) -> Result<Option<Context>, Malformed> {
    let [previous, conversation] = body.fields(["previous_response_id", "conversation"]);
    let previous = previous.and_then(Raw::text).filter(|id| !id.is_empty());
    let id = conversation.and_then(|conversation| conversation.text().or_else(|| conversation.field("id")?.text()));
    match (previous, id) {
        (Some(_), Some(_)) => {
            let message = "`conversation` and `previous_response_id` exclude each other: leave one of them out";
            Err(Malformed::field("conversation", message))
        }
        (Some(id), None) => Ok(Some(Context::Response(id))),
        (None, Some(id)) => Ok(Some(Context::Conversation(id))),
        (None, None) => Ok(None),
    }
}

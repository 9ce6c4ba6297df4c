//! An item of a conversation, as its client sent it or as it was in the output: messages, calls, results, reasoning, references.

use std::sync::Arc;

use agentbay_domain::Message;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::conversation;
use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};

/// An item. A clone shares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item(
    /// Valid JSON.
    Arc<str>,
);

impl Item {
    /// The items of some input: a list, one item, or a text.
    pub(crate) fn all_of(input: Raw<'_>) -> Vec<Self> {
        match input.kind() {
            Kind::List => input.items().unwrap_or_default().into_iter().filter_map(Self::given).collect(),
            _ => Self::given(input).into_iter().collect(),
        }
    }

    fn given(raw: Raw<'_>) -> Option<Self> {
        match raw.kind() {
            Kind::Null => None,
            Kind::Text => {
                let content = json!([{"type": "input_text", "text": raw.text()?}]);
                Some(Self(json!({"type": "message", "role": "user", "content": content}).to_string().into()))
            }
            Kind::Bool | Kind::Number | Kind::List | Kind::Object => Some(Self(raw.json().into())),
        }
    }

    /// An item of the output.
    pub fn of_output(item: &super::OutputItem) -> Self {
        Self(serde_json::to_string(item).unwrap_or_else(|_| "null".to_owned()).into())
    }

    /// The bytes that it takes.
    pub fn size(&self) -> u64 {
        self.0.len() as u64
    }

    /// Its id, if it has one.
    pub fn id(&self) -> Option<String> {
        self.with(|raw| raw.field("id").and_then(Raw::text))
    }

    /// The id of the item that it refers to, if it is only a reference.
    pub fn reference(&self) -> Option<String> {
        self.with(|raw| {
            let [kind, role, content, id] = raw.fields(["type", "role", "content", "id"]);
            let is_reference = match kind.and_then(Raw::text) {
                Some(kind) => kind == "item_reference",
                None => role.or(content).is_none(),
            };
            id.filter(|_| is_reference).and_then(Raw::text)
        })
    }

    /// Its message. Only the last item of a request must have a known form.
    pub(super) fn message(&self, at: usize, is_last: bool) -> Result<Message, Malformed> {
        self.with(|raw| conversation::message(raw, at, is_last, "input"))
    }

    /// The item as a list shows it: a message has a type, an id, a status and its content as a list.
    pub fn listed(&self, id: impl FnOnce() -> String) -> Value {
        let Ok(Value::Object(mut item)) = serde_json::from_str(&self.0) else {
            // Something that is not an object, or is nested too deeply to be changed.
            return json!({"type": "message", "id": id(), "role": "user", "status": "completed", "content": []});
        };
        if !item.get("id").is_some_and(Value::is_string) {
            item.insert("id".to_owned(), id().into());
        }
        if !item.get("type").is_some_and(Value::is_string) {
            item.insert("type".to_owned(), "message".into());
        }
        if item["type"] == "message" {
            complete_message(&mut item);
        }
        Value::Object(item)
    }

    fn with<T>(&self, read: impl FnOnce(Raw<'_>) -> T) -> T {
        read(serde_json::from_str::<&RawValue>(&self.0).map_or(Raw::NULL, Raw::from))
    }
}

fn complete_message(item: &mut Map<String, Value>) {
    let role = item.entry("role").or_insert_with(|| "user".into());
    let kind = if *role == "assistant" { "output_text" } else { "input_text" };
    if let Some(Value::String(text)) = item.get("content") {
        let mut part = json!({"type": kind, "text": text});
        if kind == "output_text" {
            part["annotations"] = json!([]);
        }
        item.insert("content".to_owned(), json!([part]));
    }
    item.entry("content").or_insert_with(|| json!([]));
    item.entry("status").or_insert_with(|| "completed".into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(value: &Value) -> Item {
        Item(value.to_string().into())
    }

    #[test]
    fn a_reference_has_an_id_and_no_content() {
        for (value, reference) in [
            (json!({"type": "item_reference", "id": "msg_1"}), Some("msg_1")),
            (json!({"id": "msg_1"}), Some("msg_1")),
            (json!({"id": "msg_1", "role": "assistant", "content": "hi"}), None),
            (json!({"id": "rs_1", "type": "reasoning", "summary": []}), None),
            (json!({"type": "item_reference"}), None),
            (json!("msg_1"), None),
            (json!(7), None),
        ] {
            assert_eq!(item(&value).reference().as_deref(), reference, "{value}");
        }
    }

    #[test]
    fn a_listed_message_has_every_key_that_typed_clients_read() {
        let text = |kind: &str| json!([{"type": kind, "text": "hi"}]);
        let listed = |value: Value| item(&value).listed(|| "msg_new".to_owned());
        assert_eq!(
            listed(json!({"role": "user", "content": "hi"})),
            json!({"type": "message", "id": "msg_new", "role": "user", "status": "completed", "content": text("input_text")})
        );
        let mut content = text("output_text");
        content[0]["annotations"] = json!([]);
        assert_eq!(
            listed(json!({"role": "assistant", "content": "hi", "id": "msg_1", "x": 1})),
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content, "x": 1})
        );
        let call = json!({"type": "function_call", "id": "fc_1", "call_id": "1", "name": "f", "arguments": "{}"});
        assert_eq!(listed(call.clone()), call);
        assert_eq!(listed(json!([1]))["content"], json!([]));
    }
}

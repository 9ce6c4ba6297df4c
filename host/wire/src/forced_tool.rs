//! A tool that the model has to call, in the forms of several APIs.
//!
//! An agent cannot call the tools of a client. But a call that is forced is nothing but JSON that follows the schema of the
//! tool, which is how clients ask for a structured answer.

use agentbay_domain::AnswerSchema;

use crate::answer_format::described;
use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};
use crate::tool_choice::is_free;

/// The fields of a body with the choice and the tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) choice: &'static str,
    pub(crate) tools: &'static str,
}

/// The schema of the call that a client forces; its name is that of the tool. `None` if the agent is free to call none.
pub(crate) fn read(
    choice: Option<Raw<'_>>,
    tools: Option<Raw<'_>>,
    fields: Fields,
) -> Result<Option<AnswerSchema>, Malformed> {
    let Some(choice) = choice.filter(|choice| !is_free(*choice)) else { return Ok(None) };
    let Fields { choice: field, tools: list } = fields;
    let refuse = |message: String| Err(Malformed::field(field, message));
    let tools = tools.and_then(Raw::items).unwrap_or_default();
    let tool = match (forced_name(choice), &tools[..]) {
        (Some(name), tools) => match tools.iter().find(|tool| name_of(**tool).as_ref() == Some(&name)) {
            Some(tool) => *tool,
            None => return refuse(format!("`{field}` names the tool `{name}`, which `{list}` does not have: add it")),
        },
        (None, [tool]) => *tool,
        (None, _) => {
            return refuse(format!(
                "an agent uses its own tools and cannot choose among the client's: leave `{field}` out, or force one tool by its name"
            ));
        }
    };
    let inner = definition(tool);
    let [parameters, input, description] = inner.fields(["parameters", "input_schema", "description"]);
    let is_text = tool.field("type").and_then(Raw::text).is_some_and(|kind| kind == "custom");
    let schema = match parameters.or(input) {
        Some(schema) => described(schema, description),
        None => Some(r#"{"type":"object"}"#.to_owned()),
    };
    match (name_of(tool), schema) {
        (Some(name), Some(json)) if !is_text => Ok(Some(AnswerSchema { name, json })),
        _ => refuse(format!(
            "the tool that `{field}` forces has no JSON Schema for its arguments: force a function that has"
        )),
    }
}

/// The name of the tool that a choice forces; `None` if any may be called.
fn forced_name(choice: Raw<'_>) -> Option<String> {
    if let Some(word) = choice.text() {
        return (!matches!(word.trim().to_ascii_lowercase().as_str(), "required" | "any")).then_some(word);
    }
    let [allowed, tools] = choice.fields(["allowed_tools", "tools"]);
    let tools = allowed.and_then(|allowed| allowed.field("tools")).or(tools).and_then(Raw::items);
    let only = tools.filter(|tools| tools.len() == 1).and_then(|tools| tools.first().copied());
    name_of(only.unwrap_or(choice))
}

fn name_of(tool: Raw<'_>) -> Option<String> {
    definition(tool).field("name").and_then(Raw::text)
}

/// The object with the name of a tool.
fn definition(tool: Raw<'_>) -> Raw<'_> {
    let inner = tool.fields(["function", "custom"]).into_iter().flatten();
    inner.into_iter().find(|inner| inner.kind() == Kind::Object).unwrap_or(tool)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mend;

    fn forced(choice: &Value, tools: &Value) -> Result<Option<(String, String)>, String> {
        let body = json!({"tool_choice": choice, "tools": tools}).to_string();
        let json = mend::json(body.as_bytes()).unwrap();
        let [choice, tools] = json.value().fields(["tool_choice", "tools"]);
        let read = read(choice, tools, Fields { choice: "tool_choice", tools: "tools" });
        read.map(|tool| tool.map(|tool| (tool.name, tool.json))).map_err(|refused| refused.message)
    }

    fn function(name: &str) -> Value {
        json!({"type": "function", "function": {"name": name, "description": "d", "parameters": {"title": name}}})
    }

    #[test]
    fn a_forced_tool_is_read_in_every_form() {
        let call = |name: &str| Some((name.to_owned(), format!(r#"{{"description":"d","title":"{name}"}}"#)));
        let two = json!([function("f"), function("g")]);
        for (choice, tools, expected) in [
            (json!({"type": "function", "function": {"name": "g"}}), &two, call("g")),
            (json!({"type": "function", "name": "g"}), &two, call("g")),
            (json!({"type": "tool", "name": "g"}), &two, call("g")),
            (json!("g"), &two, call("g")),
            (
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "name": "g"}]}}),
                &two,
                call("g"),
            ),
            (json!("required"), &json!([function("f")]), call("f")),
            (json!({"type": "any"}), &json!([function("f")]), call("f")),
            (
                json!({"type": "any"}),
                &json!([{"name": "f", "input_schema": {"title": "f"}, "description": "d"}]),
                call("f"),
            ),
            (json!({"name": "f"}), &json!([{"name": "f"}]), Some(("f".to_owned(), r#"{"type":"object"}"#.to_owned()))),
            (json!("auto"), &two, None),
            (Value::Null, &two, None),
        ] {
            assert_eq!(forced(&choice, tools), Ok(expected), "{choice}");
        }
    }

    #[test]
    fn a_forced_tool_that_is_no_schema_is_refused_with_the_reason() {
        let custom = json!([{"type": "custom", "custom": {"name": "c"}}]);
        for (choice, tools, says) in [
            (json!("required"), json!([function("f"), function("g")]), "cannot choose"),
            (json!("required"), json!([]), "cannot choose"),
            (json!({"type": "function", "function": {"name": "h"}}), json!([function("f")]), "the tool `h`"),
            (json!({"type": "custom", "custom": {"name": "c"}}), custom, "no JSON Schema"),
            (json!("f"), json!([{"name": "f", "parameters": "x"}]), "no JSON Schema"),
        ] {
            let refused = forced(&choice, &tools).unwrap_err();
            assert!(refused.contains(says) && refused.contains("`tool_choice`"), "{refused}");
        }
    }
}

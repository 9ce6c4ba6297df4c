//! The format that a client asks of an answer: a schema is beside its type (Responses, Anthropic), or in an object of its own (Chat
//! Completions).

use agentbay_domain::{AnswerFormat, AnswerSchema};

use crate::malformed::Malformed;
use crate::raw::{Kind, Raw};

/// Reads a format, which is in this field of the body.
pub(crate) fn read(format: Raw<'_>, field: &'static str) -> Result<AnswerFormat, Malformed> {
    let kind = format.text().or_else(|| format.field("type").and_then(Raw::text)).unwrap_or_default();
    match kind.trim() {
        "text" => Ok(AnswerFormat::Text),
        "" if format.field("schema").is_none() => Ok(AnswerFormat::Text),
        // Some servers take a schema here too.
        "json_object" if format.field("schema").is_none() => Ok(AnswerFormat::Json),
        "json_schema" | "json_object" | "" => {
            let inner = format.field("json_schema").unwrap_or(format);
            let [name, description, schema] = inner.fields(["name", "description", "schema"]);
            let Some(json) = schema.and_then(|schema| described(schema, description)) else {
                let message = format!("`{field}` asks for a JSON schema but has none: send it as `schema`, an object");
                return Err(Malformed::field(field, message));
            };
            Ok(AnswerFormat::Schema(AnswerSchema { name: name.and_then(Raw::text).unwrap_or_default(), json }))
        }
        _ => {
            let message = format!("`{field}` has the unknown format `{kind}`: use text, json_object or json_schema");
            Err(Malformed::field(field, message))
        }
    }
}

/// A schema with the description that stands beside it, so that the agent receives both. `None` if it is not an object.
pub(crate) fn described(schema: Raw<'_>, description: Option<Raw<'_>>) -> Option<String> {
    let fields = schema.entries()?;
    let json = schema.json();
    match description.filter(|text| text.kind() == Kind::Text && schema.field("description").is_none()) {
        None => Some(json.to_owned()),
        Some(text) if fields.is_empty() => Some(format!(r#"{{"description":{}}}"#, text.json())),
        Some(text) => Some(format!(r#"{{"description":{},{}"#, text.json(), json.strip_prefix('{')?)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mend;

    fn format(format: &Value) -> Result<AnswerFormat, String> {
        let json = format.to_string();
        read(mend::json(json.as_bytes()).unwrap().value(), "response_format").map_err(|refused| refused.message)
    }

    #[test]
    fn a_format_is_read_in_the_forms_of_clients() {
        let schema =
            |name: &str, json: &str| AnswerFormat::Schema(AnswerSchema { name: name.into(), json: json.into() });
        for (given, expected) in [
            (json!("json_object"), AnswerFormat::Json),
            (json!({"type": "json_object"}), AnswerFormat::Json),
            (json!({"type": "text"}), AnswerFormat::Text),
            (json!({}), AnswerFormat::Text),
            (json!({"type": "json_object", "schema": {"type": "object"}}), schema("", r#"{"type":"object"}"#)),
            (
                json!({"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": {"type": "array"}}}),
                schema("n", r#"{"type":"array"}"#),
            ),
            (json!({"type": "json_schema", "name": "n", "schema": {}}), schema("n", "{}")),
            (
                json!({"type": "json_schema", "json_schema": {"description": "d", "schema": {"type": "array"}}}),
                schema("", r#"{"description":"d","type":"array"}"#),
            ),
            (json!({"type": "json_schema", "description": "d", "schema": {}}), schema("", r#"{"description":"d"}"#)),
            (
                json!({"type": "json_schema", "description": "d", "schema": {"description": "own"}}),
                schema("", r#"{"description":"own"}"#),
            ),
        ] {
            assert_eq!(format(&given), Ok(expected), "{given}");
        }
        for (given, says) in [
            (json!({"type": "xml"}), "the unknown format `xml`"),
            (json!({"type": "json_schema"}), "has none"),
            (json!({"type": "json_schema", "json_schema": {"schema": "{}"}}), "has none"),
        ] {
            let refused = format(&given).unwrap_err();
            assert!(refused.contains(says) && refused.contains("`response_format`"), "{refused}");
        }
    }
}

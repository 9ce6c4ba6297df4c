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
        "json_object" => Ok(AnswerFormat::Json),
        "json_schema" | "" => {
            let inner = format.field("json_schema").unwrap_or(format);
            let [name, schema] = inner.fields(["name", "schema"]);
            let Some(schema) = schema.filter(|schema| schema.kind() == Kind::Object) else {
                let message = format!("`{field}` asks for a JSON schema but has none: send it as `schema`, an object");
                return Err(Malformed::field(field, message));
            };
            let name = name.and_then(Raw::text).unwrap_or_default();
            Ok(AnswerFormat::Schema(AnswerSchema { name, json: schema.json().to_owned() }))
        }
        _ => {
            let message = format!("`{field}` has the unknown format `{kind}`: use text, json_object or json_schema");
            Err(Malformed::field(field, message))
        }
    }
}

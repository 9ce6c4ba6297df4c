//! Schemas that are strict: every object lists all its properties as required, and allows no others. Some providers accept no
//! others for their own structured output.

use serde_json::Value;

/// Returns whether a schema is strict.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => is_strict_object(schema) && fields.values().all(is_strict),
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_strict_object(schema: &Value) -> bool {
    let of_objects = match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    };
    if !of_objects {
        return true;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|required| required.iter().any(|other| other == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_some_and(|properties| properties.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_strict_if_every_object_requires_all_its_properties_and_allows_no_others() {
        let inner = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let of = |inner: &Value, required: &[&str]| {
            json!({"type": "object", "properties": {"a": inner, "type": {"type": "string"}}, "required": required,
                "additionalProperties": false})
        };
        assert!(is_strict(&of(&inner, &["a", "type"])) && is_strict(&json!({"type": "string"})));
        let open = json!({"type": ["object", "null"], "properties": {}});
        for schema in [of(&inner, &["a"]), of(&open, &["a", "type"]), json!({"type": "object"})] {
            assert!(!is_strict(&schema), "{schema}");
        }
    }
}

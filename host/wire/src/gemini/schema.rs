//! The schema of an answer as JSON Schema.
//!
//! `responseSchema` is an OpenAPI schema of Google's own: types in capitals, `nullable`, `propertyOrdering`, counts as text.
//! `responseJsonSchema` is JSON Schema, but Gemini CLI writes types in capitals there as well. The order of keys is kept, since a
//! model writes an answer in the order of its schema.

use crate::raw::{Kind, Raw, are_one_name};

/// The maximum depth of a schema.
const DEEPEST: usize = 100;

/// The language of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Google's OpenAPI schemas.
    OpenApi,
    /// JSON Schema.
    JsonSchema,
}

/// Translates a schema. `None` if it is not an object, or nested too deeply.
pub(super) fn translated(schema: Raw<'_>, dialect: Dialect) -> Option<String> {
    (schema.kind() == Kind::Object).then(|| dialect.schema(schema, 0))?
}

/// The keywords of JSON Schema whose spelling in OpenAPI schemas varies.
const KEYWORDS: [&str; 14] = [
    "anyOf",
    "oneOf",
    "allOf",
    "prefixItems",
    "additionalProperties",
    "maxItems",
    "minItems",
    "maxLength",
    "minLength",
    "maxProperties",
    "minProperties",
    "$ref",
    "$defs",
    "$id",
];

impl Dialect {
    /// A schema, a list of schemas, or a boolean in place of a schema.
    fn schema(self, schema: Raw<'_>, depth: usize) -> Option<String> {
        match schema.kind() {
            _ if depth > DEEPEST => None,
            Kind::Object => self.object(schema, depth),
            Kind::List => {
                let items = schema.items()?.into_iter().map(|item| self.schema(item, depth + 1));
                Some(format!("[{}]", items.collect::<Option<Vec<_>>>()?.join(",")))
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::Text => Some(schema.json().to_owned()),
        }
    }

    fn object(self, schema: Raw<'_>, depth: usize) -> Option<String> {
        let [nullable, order] = schema.fields(["nullable", "propertyOrdering"]);
        let order =
            order.and_then(Raw::items).unwrap_or_default().into_iter().filter_map(Raw::text).collect::<Vec<_>>();
        let mut fields = Vec::new();
        for (key, value) in schema.entries()? {
            let keyword = self.keyword(&key);
            if !self.is_dropped(keyword, value) {
                fields.push((keyword.to_owned(), self.value(keyword, value, &order, depth + 1)?));
            }
        }
        let object = object_of(fields);
        let is_nullable = self == Self::OpenApi && nullable.and_then(Raw::flag) == Some(true);
        Some(if is_nullable { format!(r#"{{"anyOf":[{object},{{"type":"null"}}]}}"#) } else { object })
    }

    fn keyword(self, key: &str) -> &str {
        let is_same = |keyword: &&&str| are_one_name(keyword.trim_start_matches('$'), key.trim_start_matches('$'));
        match self {
            Self::OpenApi => KEYWORDS.iter().find(is_same).copied().unwrap_or(key),
            Self::JsonSchema => key,
        }
    }

    fn is_dropped(self, keyword: &str, value: Raw<'_>) -> bool {
        let is_own =
            self == Self::OpenApi && ["nullable", "propertyOrdering"].iter().any(|own| are_one_name(own, keyword));
        is_own || (keyword == "type" && value.text().is_some_and(|name| name == "TYPE_UNSPECIFIED"))
    }

    /// The value of a keyword.
    fn value(self, keyword: &str, value: Raw<'_>, order: &[String], depth: usize) -> Option<String> {
        match keyword {
            "type" => Some(types(value)),
            "items"
            | "prefixItems"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "not"
            | "anyOf"
            | "oneOf"
            | "allOf"
            | "if"
            | "then"
            | "else" => self.schema(value, depth),
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
                let mut named = value.entries().unwrap_or_default();
                named.sort_by_key(|(name, _)| order.iter().position(|other| other == name).unwrap_or(order.len()));
                let named = named.into_iter().map(|(name, schema)| Some((name, self.schema(schema, depth)?)));
                Some(object_of(named.collect::<Option<_>>()?))
            }
            // Numbers of 64 bits are texts in Google's JSON.
            "maxItems" | "minItems" | "maxLength" | "minLength" | "maxProperties" | "minProperties" => {
                let count = value.text().filter(|text| text.parse::<u64>().is_ok());
                Some(count.unwrap_or_else(|| value.json().to_owned()))
            }
            _ => Some(value.json().to_owned()),
        }
    }
}

/// The name of a type, or several, in small letters.
fn types(value: Raw<'_>) -> String {
    value.json().to_ascii_lowercase()
}

fn object_of(fields: Vec<(String, String)>) -> String {
    let fields = fields.into_iter().map(|(key, value)| format!("{}:{value}", serde_json::Value::from(key)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mend;

    fn translated(schema: &Value, dialect: Dialect) -> Option<Value> {
        let schema = schema.to_string();
        let json = super::translated(mend::json(schema.as_bytes()).unwrap().value(), dialect)?;
        Some(serde_json::from_str(&json).unwrap())
    }

    #[test]
    fn an_openapi_schema_becomes_json_schema() {
        for (given, expected) in [
            (json!({"type": "STRING"}), json!({"type": "string"})),
            (json!({"type": "TYPE_UNSPECIFIED", "title": "T"}), json!({"title": "T"})),
            (
                json!({"type": "string", "max_length": "3", "minLength": 1}),
                json!({"type": "string", "maxLength": 3, "minLength": 1}),
            ),
            (
                json!({"type": "OBJECT", "properties": {
                    "nullable": {"type": "BOOLEAN"}, "type": {"type": "ARRAY", "items": {"type": "INTEGER"}, "min_items": "2"},
                }, "required": ["type"], "propertyOrdering": ["type", "nullable"]}),
                json!({"type": "object", "properties": {
                    "nullable": {"type": "boolean"}, "type": {"type": "array", "items": {"type": "integer"}, "minItems": 2},
                }, "required": ["type"]}),
            ),
            (
                json!({"type": "STRING", "nullable": true, "enum": ["A"]}),
                json!({"anyOf": [{"type": "string", "enum": ["A"]}, {"type": "null"}]}),
            ),
            (
                json!({"any_of": [{"type": "NUMBER"}, {"ref": "#/$defs/x"}], "defs": {"x": {"type": "NULL"}}}),
                json!({"anyOf": [{"type": "number"}, {"$ref": "#/$defs/x"}], "$defs": {"x": {"type": "null"}}}),
            ),
            (json!({"additional_properties": false}), json!({"additionalProperties": false})),
            (
                json!({"default": {"type": "STRING"}, "enum": ["STRING"]}),
                json!({"default": {"type": "STRING"}, "enum": ["STRING"]}),
            ),
        ] {
            assert_eq!(translated(&given, Dialect::OpenApi), Some(expected), "{given}");
        }
    }

    #[test]
    fn json_schema_stays_except_for_types_in_capitals() {
        let schema = json!({
            "type": ["object", "null"], "nullable": true, "propertyOrdering": ["b"],
            "properties": {"a": {"type": "string", "const": "STRING"}, "b": {"any_of": [], "not": {}}}, "$defs": {"x": true},
        });
        assert_eq!(translated(&schema, Dialect::JsonSchema), Some(schema));
        let capitals = json!({"type": "OBJECT", "properties": {"a": {"type": ["STRING", "NULL"]}}});
        let expected = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}});
        assert_eq!(translated(&capitals, Dialect::JsonSchema), Some(expected));
    }

    #[test]
    fn the_order_of_properties_is_that_of_the_client() {
        for (given, expected) in [
            (r#"{"properties":{"b":{},"a":{}},"type":"OBJECT"}"#, r#"{"properties":{"b":{},"a":{}},"type":"object"}"#),
            (
                r#"{"property_ordering":["c","a"],"properties":{"a":{},"b":{},"c":{}}}"#,
                r#"{"properties":{"c":{},"a":{},"b":{}}}"#,
            ),
        ] {
            let raw = mend::json(given.as_bytes()).unwrap();
            assert_eq!(super::translated(raw.value(), Dialect::OpenApi).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_not_an_object_or_nested_too_deeply_is_not_translated() {
        let nested = |depth| (0..depth).fold(json!({"type": "STRING"}), |inner, _| json!({"items": inner}));
        assert!(translated(&nested(DEEPEST), Dialect::OpenApi).is_some());
        for schema in [json!([]), json!("STRING"), json!(true), nested(DEEPEST + 1)] {
            assert_eq!(translated(&schema, Dialect::OpenApi), None);
        }
    }
}

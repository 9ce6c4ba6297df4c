//! Schemas whose check would not end in time: they refer to themselves without going into the value, such as `{"$ref": "#"}`,
//! or apply very many schemas to one value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Keywords whose schemas apply to the same value.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// The keyword that has a schema for each property.
const BY_PROPERTY: &str = "dependentSchemas";

/// The maximum number of references that lead from one to the next within one value. Generators of schemas use a few.
const LONGEST: u32 = 64;

/// The maximum number of schemas that apply to one value.
const MOST: u32 = 10_000;

/// The schemas that apply to one value.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// References from one to the next.
    length: u32,
    schemas: u32,
}

/// Refuses such a schema.
pub(super) fn refuse(schema: &Value) -> Result<(), String> {
    let mut references = Vec::new();
    collect(schema, &mut references);
    let mut extents = Extents { root: schema, known: BTreeMap::new(), path: Vec::new() };
    match references.into_iter().find(|reference| extents.of_reference(reference).is_none()) {
        None => Ok(()),
        Some(reference) => Err(format!("`$ref` {reference:?} leads back to itself, or to too many schemas")),
    }
}

/// Every reference in a schema.
fn collect<'a>(at: &'a Value, references: &mut Vec<&'a str>) {
    match at {
        Value::Object(fields) => {
            references.extend(reference(at));
            fields.values().for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn reference(schema: &Value) -> Option<&str> {
    ["$ref", "$recursiveRef", "$dynamicRef"].iter().find_map(|key| schema.get(key)?.as_str())
}

/// The extents of the references of a schema.
struct Extents<'a> {
    root: &'a Value,
    known: BTreeMap<&'a str, Extent>,
    /// The references that lead here.
    path: Vec<&'a str>,
}

impl<'a> Extents<'a> {
    /// `None` if it has no end.
    fn of_reference(&mut self, to: &'a str) -> Option<Extent> {
        if let Some(known) = self.known.get(to) {
            return Some(*known);
        }
        if self.path.contains(&to) || self.path.len() >= LONGEST as usize {
            return None;
        }
        self.path.push(to);
        // The validator refuses other targets.
        let target = to.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let extent = target.map_or(Some(Extent::default()), |schema| self.of_schema(schema))?;
        self.path.pop();
        let extent = Extent { length: extent.length + 1, ..extent };
        self.known.insert(to, extent);
        Some(extent).filter(|extent| extent.length <= LONGEST)
    }

    fn of_schema(&mut self, schema: &'a Value) -> Option<Extent> {
        let mut extent = match reference(schema) {
            Some(to) => self.of_reference(to)?,
            None => Extent::default(),
        };
        extent.schemas += 1;
        let of_value = SAME_VALUE.iter().filter_map(|key| schema.get(key)).flat_map(listed);
        let by_property = schema.get(BY_PROPERTY).and_then(Value::as_object).into_iter().flat_map(Map::values);
        for inner in of_value.chain(by_property) {
            let Extent { length, schemas } = self.of_schema(inner)?;
            extent.length = extent.length.max(length);
            extent.schemas = extent.schemas.saturating_add(schemas);
        }
        Some(extent).filter(|extent| extent.schemas <= MOST)
    }
}

/// The schemas of a keyword that has one, or a list.
fn listed(schemas: &Value) -> &[Value] {
    schemas.as_array().map_or(std::slice::from_ref(schemas), Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A schema of `length` definitions, each of which refers to the next one `times` times.
    fn chain(length: usize, times: usize) -> Value {
        let to = |at: usize| json!({"$ref": format!("#/$defs/{at}")});
        let mut defs: Map<String, Value> =
            (0..length).map(|at| (at.to_string(), json!({"allOf": vec![to(at + 1); times]}))).collect();
        defs.insert(length.to_string(), json!({"type": "object"}));
        json!({"$defs": defs, "allOf": [to(0)]})
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_within_one_value_is_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
            json!({"properties": {"x": {"dependentSchemas": {"y": {"$ref": "#/properties/x"}}}}}),
            json!({"items": {"if": {"$ref": "#/items"}}}),
        ] {
            assert!(refuse(&schema).is_err(), "{schema}");
        }
        for schema in [
            json!({"properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}),
            json!({"not": {"items": {"$ref": "#"}}}),
        ] {
            assert!(refuse(&schema).is_ok(), "{schema}");
        }
    }

    #[test]
    fn a_schema_of_too_many_references_or_schemas_is_refused() {
        assert_eq!([chain(60, 1), chain(10, 2)].map(|schema| refuse(&schema).is_ok()), [true, true]);
        assert_eq!([chain(2_000, 1), chain(60, 2)].map(|schema| refuse(&schema).is_ok()), [false, false]);
    }
}

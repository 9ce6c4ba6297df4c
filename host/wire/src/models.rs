//! Models in one form that satisfies the clients of both the OpenAI and the Anthropic API, and pages of their list.

use serde::Serialize;

use crate::malformed::Malformed;

/// A list of models.
#[derive(Debug, Serialize)]
pub struct ModelList {
    object: &'static str,
    data: Vec<ModelEntry>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
}

/// One model.
#[derive(Debug, Clone, Serialize)]
pub struct ModelEntry {
    id: String,
    object: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    created: u64,
    created_at: &'static str,
    owned_by: String,
    display_name: String,
    lifecycle: &'static str,
}

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    limit: Option<usize>,
    side: Option<Side>,
}

/// The side of a model on which the part begins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Side {
    After(String),
    Before(String),
}

impl ModelEntry {
    /// A model with its name and its owner. It has no date of creation, for which clients expect a value all the same.
    pub fn new(name: &str, owner: &str) -> Self {
        Self {
            id: name.to_owned(),
            object: "model",
            kind: "model",
            created: 0,
            created_at: "1970-01-01T00:00:00Z",
            owned_by: owner.to_owned(),
            display_name: name.to_owned(),
            lifecycle: "active",
        }
    }
}

impl ModelList {
    /// A page of all models.
    ///
    /// # Errors
    /// The page begins at an unknown model.
    pub fn page(all: &[ModelEntry], page: &Page) -> Result<Self, Malformed> {
        let (candidates, from_end) = match &page.side {
            None => (all, false),
            Some(Side::After(id)) => (&all[position(all, id, "after_id")? + 1..], false),
            Some(Side::Before(id)) => (&all[..position(all, id, "before_id")?], true),
        };
        let count = page.limit.unwrap_or(usize::MAX).min(candidates.len());
        let start = if from_end { candidates.len() - count } else { 0 };
        let data = candidates[start..start + count].to_vec();
        let id = |entry: Option<&ModelEntry>| entry.map(|entry| entry.id.clone());
        let (first_id, last_id) = (id(data.first()), id(data.last()));
        Ok(Self { object: "list", has_more: count < candidates.len(), first_id, last_id, data })
    }
}

fn position(all: &[ModelEntry], id: &str, field: &'static str) -> Result<usize, Malformed> {
    let unknown =
        || Malformed::field(field, format!("`{field}` is not the id of a model: send one of an earlier page"));
    all.iter().position(|entry| entry.id == id).ok_or_else(unknown)
}

impl Page {
    /// Reads the parameters of a query: `limit`, and `after_id` or `before_id`. Others, and empty ones, are ignored.
    ///
    /// # Errors
    /// The limit is not a positive number.
    pub fn parse(query: &str) -> Result<Self, Malformed> {
        let mut page = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()).filter(|(_, value)| !value.is_empty()) {
            match &*name {
                "limit" => page.limit = Some(limit(&value)?),
                "after_id" => page.side = Some(Side::After(value.into_owned())),
                "before_id" => page.side = Some(Side::Before(value.into_owned())),
                _ => {}
            }
        }
        Ok(page)
    }
}

fn limit(value: &str) -> Result<usize, Malformed> {
    let limit = value.trim().parse().ok().filter(|limit| *limit > 0);
    limit.ok_or_else(|| Malformed::field("limit", "`limit` is not a positive number: send one, or leave it out"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The ids of a page of five models, and whether there are more.
    fn page(query: &str) -> Result<Value, String> {
        let all: Vec<ModelEntry> = ["a", "b", "c/d:e", "f", "g"].map(|name| ModelEntry::new(name, "echo")).into();
        let page = Page::parse(query).and_then(|page| ModelList::page(&all, &page)).map_err(|error| error.message)?;
        let list = serde_json::to_value(page).unwrap();
        let ids: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|entry| &entry["id"]).collect();
        assert_eq!(
            (ids.first().copied().unwrap_or(&Value::Null), ids.last().copied().unwrap_or(&Value::Null)),
            (&list["first_id"], &list["last_id"])
        );
        Ok(json!([ids, list["has_more"]]))
    }

    #[test]
    fn a_page_begins_after_or_ends_before_a_model() {
        for (query, expected) in [
            ("", json!([["a", "b", "c/d:e", "f", "g"], false])),
            ("limit=1000&beta=true", json!([["a", "b", "c/d:e", "f", "g"], false])),
            ("limit=2", json!([["a", "b"], true])),
            ("limit=2&after_id=b", json!([["c/d:e", "f"], true])),
            ("after_id=c%2Fd%3Ae&limit=2", json!([["f", "g"], false])),
            ("limit=2&before_id=f", json!([["b", "c/d:e"], true])),
            ("before_id=c/d:e&after_id=", json!([["a", "b"], false])),
            ("after_id=g", json!([[], false])),
        ] {
            assert_eq!(page(query).unwrap(), expected, "{query}");
        }
    }

    #[test]
    fn an_unknown_model_and_a_limit_that_is_not_a_number_are_refused() {
        for (query, says) in [("after_id=x", "after_id"), ("before_id=x", "before_id"), ("limit=0", "`limit`")] {
            assert!(page(query).unwrap_err().contains(says), "{query}");
        }
        assert!(page("limit=many").is_err());
    }
}

//! Conversations, and lists of items.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::item::Item;
use super::settings::metadata_of;
use crate::body;
use crate::malformed::Malformed;

/// A conversation: items that stand before the input of a response that belongs to it.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its items, oldest first.
    pub items: Vec<Item>,
    created_at: u64,
    metadata: BTreeMap<String, String>,
}

/// A conversation without its items.
#[derive(Debug, Serialize)]
pub struct ConversationObject<'a> {
    id: &'a str,
    object: &'static str,
    created_at: u64,
    metadata: &'a BTreeMap<String, String>,
}

/// A page of a list.
#[derive(Debug, PartialEq, Serialize)]
pub struct ItemList {
    object: &'static str,
    data: Vec<Value>,
    first_id: Option<Value>,
    last_id: Option<Value>,
    has_more: bool,
}

/// The confirmation that something is deleted.
#[derive(Debug, Serialize)]
pub struct Deleted<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it was.
    pub object: &'static str,
    /// Always true.
    pub deleted: bool,
}

impl Conversation {
    /// Decodes the body of a request for a new conversation. The time is in seconds since 1970.
    ///
    /// # Errors
    /// See [`Malformed`].
    pub fn decode(body: &[u8], created_at: u64) -> Result<Self, Malformed> {
        if body.is_empty() {
            return Ok(Self { items: Vec::new(), created_at, metadata: BTreeMap::new() });
        }
        let json = body::json(body, "`items` and `metadata`, or without any")?;
        let [items, metadata] = json.value().fields(["items", "metadata"]);
        Ok(Self {
            items: items.map(Item::all_of).unwrap_or_default(),
            created_at,
            metadata: metadata.map(metadata_of).unwrap_or_default(),
        })
    }

    /// The conversation as clients see it.
    pub fn object<'a>(&'a self, id: &'a str) -> ConversationObject<'a> {
        ConversationObject { id, object: "conversation", created_at: self.created_at, metadata: &self.metadata }
    }
}

/// The part of a list that a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    limit: usize,
    is_ascending: bool,
    after: Option<String>,
}

impl Page {
    /// Reads the parameters of a query.
    ///
    /// # Errors
    /// See [`Malformed`].
    pub fn of(query: &str) -> Result<Self, Malformed> {
        const MOST: usize = 100;
        let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let limit = value("limit").map_or(Ok(20), |limit| limit.parse().map_err(|_| limit));
        let limit = limit.ok().filter(|limit| (1..=MOST).contains(limit)).ok_or_else(|| {
            Malformed::field("limit", format!("`limit` is not a number from 1 to {MOST}: send one, or leave it out"))
        })?;
        Ok(Self { limit, is_ascending: value("order") == Some("asc"), after: value("after").map(str::to_owned) })
    }
}

impl ItemList {
    /// A page of items. Those without an id get one from their response or conversation.
    pub fn of(items: &[Item], owner: &str, page: &Page) -> Self {
        let owner = owner.split_once('_').map_or(owner, |(_, id)| id);
        let listed = |(at, item): (usize, &Item)| item.listed(|| format!("msg_{owner}i{at:04x}"));
        let mut all: Vec<Value> = items.iter().enumerate().map(listed).collect();
        if !page.is_ascending {
            all.reverse();
        }
        let after = page.after.as_ref().and_then(|after| all.iter().position(|item| item["id"] == **after));
        let rest = all.split_off(after.map_or(0, |at| at + 1).min(all.len()));
        let has_more = rest.len() > page.limit;
        let data: Vec<Value> = rest.into_iter().take(page.limit).collect();
        let id = |item: Option<&Value>| item.map(|item| item["id"].clone());
        Self { object: "list", first_id: id(data.first()), last_id: id(data.last()), has_more, data }
    }
}

/// Which events of a response a client asks for: `Some` with the number of the first one, if it asks for events.
pub fn resumed(query: &str) -> Result<Option<u64>, Malformed> {
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    if !matches!(value("stream"), Some("true" | "True" | "1")) {
        return Ok(None);
    }
    let Some(after) = value("starting_after") else { return Ok(Some(0)) };
    let message = "`starting_after` is not the number of an event: send the last `sequence_number` that arrived";
    let after: u64 = after.parse().map_err(|_| Malformed::field("starting_after", message))?;
    Ok(Some(after.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items(count: usize) -> Vec<Item> {
        let items: Vec<Value> = (0..count).map(|at| json!({"role": "user", "content": at.to_string()})).collect();
        Conversation::decode(json!({"items": items}).to_string().as_bytes(), 0).unwrap().items
    }

    fn page(count: usize, query: &str) -> (Vec<String>, bool) {
        let list = ItemList::of(&items(count), "resp_r", &Page::of(query).unwrap());
        let texts = list.data.iter().map(|item| item["content"][0]["text"].as_str().unwrap().to_owned());
        assert_eq!((list.first_id, list.last_id), {
            let ids = [list.data.first(), list.data.last()].map(|item| item.map(|item| item["id"].clone()));
            (ids[0].clone(), ids[1].clone())
        });
        (texts.collect(), list.has_more)
    }

    #[test]
    fn a_list_is_paged_in_both_orders() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(page(3, ""), (texts(&["2", "1", "0"]), false));
        assert_eq!(page(3, "order=asc&limit=2"), (texts(&["0", "1"]), true));
        assert_eq!(page(3, "order=asc&limit=2&after=msg_ri0001"), (texts(&["2"]), false));
        assert_eq!(page(3, "after=msg_ri0000"), (vec![], false));
        assert_eq!(page(25, "").0.len(), 20);
        for query in ["limit=0", "limit=101", "limit=x", "limit="] {
            assert_eq!(Page::of(query).unwrap_err().param, Some("limit"), "{query}");
        }
    }

    #[test]
    fn a_stream_is_resumed_behind_an_event() {
        for (query, first) in [
            ("", None),
            ("stream=false&starting_after=1", None),
            ("stream=true", Some(0)),
            ("include=x&stream=true&starting_after=4", Some(5)),
        ] {
            assert_eq!(resumed(query), Ok(first), "{query}");
        }
        assert_eq!(resumed("stream=true&starting_after=-1").unwrap_err().param, Some("starting_after"));
    }
}

//! The stored responses and conversations, in memory only: what a later request continues, and what clients read again.
//!
//! Each belongs to the credential that created it, and is invisible to others. Number and bytes are bounded; those that were
//! used the longest time ago are forgotten first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentbay_domain::StoreLimits;
use agentbay_wire::responses::{Conversation, Item, Response};
use axum::body::Bytes;

use super::log::Log;
use crate::credential::Owner;

/// The store. A clone shares it.
#[derive(Debug, Clone, Default)]
pub struct Store(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<String, Entry>,
    /// The bytes of all entries.
    size: u64,
    /// The number of uses so far.
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    owner: Owner,
    content: Content,
    size: u64,
    /// The number of its last use.
    used: u64,
}

/// What an id stands for.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// A response that has ended.
    Response(Stored),
    /// A response that has ended or not, with its events.
    Background(Log),
    /// A conversation.
    Conversation(Conversation),
}

/// A response that has ended.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    /// Its JSON.
    pub(super) body: Bytes,
    /// What stood before its input, its input, and its output.
    pub(super) items: Vec<Item>,
    /// The number of items before its output.
    pub(super) inputs: usize,
    /// It can be continued: it did not fail.
    pub(super) is_usable: bool,
}

/// What is to be done with a response that ends.
#[derive(Debug, Clone)]
pub(super) struct Keep {
    pub(super) store: Store,
    pub(super) owner: Owner,
    pub(super) limits: StoreLimits,
    /// What stands before the output.
    pub(super) items: Vec<Item>,
    /// The number of items before the input.
    pub(super) earlier: usize,
    /// The conversation that it belongs to.
    pub(super) conversation: Option<String>,
    /// Whether the response itself can be read later.
    pub(super) is_stored: bool,
}

/// The bytes of an entry besides its texts, approximately.
const OVERHEAD: u64 = 512;

impl Store {
    /// The content with an id.
    pub(super) fn get(&self, owner: &Owner, id: &str) -> Option<Content> {
        let mut state = self.lock();
        state.uses += 1;
        let used = state.uses;
        let entry = state.entries.get_mut(id).filter(|entry| entry.owner == *owner)?;
        entry.used = used;
        Some(entry.content.clone())
    }

    /// Inserts content, or replaces it.
    pub(super) fn put(&self, owner: Owner, id: String, content: Content, limits: StoreLimits) {
        let mut state = self.lock();
        state.remove(&id);
        state.uses += 1;
        let (size, used) = (content.size(), state.uses);
        state.size += size;
        state.entries.insert(id, Entry { owner, content, size, used });
        state.shrink(limits);
    }

    /// Removes content.
    pub(super) fn remove(&self, owner: &Owner, id: &str) -> Option<Content> {
        let mut state = self.lock();
        state.entries.get(id).filter(|entry| entry.owner == *owner)?;
        state.remove(id)
    }

    /// The item of a stored response with this id.
    pub(super) fn item(&self, owner: &Owner, id: &str) -> Option<Item> {
        let items = match self.get(owner, &Response::of_item(id)?)? {
            Content::Response(stored) => stored.items,
            Content::Background(log) => log.ended()?.items,
            Content::Conversation(_) => return None,
        };
        items.into_iter().rev().find(|item| item.id().as_deref() == Some(id))
    }

    fn append(&self, owner: &Owner, id: &str, items: &[Item], limits: StoreLimits) {
        let mut state = self.lock();
        state.uses += 1;
        let used = state.uses;
        let Some(entry) = state.entries.get_mut(id).filter(|entry| entry.owner == *owner) else { return };
        let Content::Conversation(conversation) = &mut entry.content else { return };
        conversation.items.extend_from_slice(items);
        let added = size_of(items);
        entry.size += added;
        entry.used = used;
        state.size += added;
        state.shrink(limits);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, id: &str) -> Option<Content> {
        let removed = self.entries.remove(id)?;
        self.size -= removed.size;
        Some(removed.content)
    }

    /// Forgets what does not fit. A response that has not ended stays.
    fn shrink(&mut self, limits: StoreLimits) {
        while self.entries.len() > limits.responses || self.size > limits.bytes {
            let ended = self.entries.iter().filter(|(_, entry)| entry.content.has_ended());
            let Some(id) = ended.min_by_key(|(_, entry)| entry.used).map(|(id, _)| id.clone()) else { return };
            self.remove(&id);
        }
    }
}

impl Content {
    fn has_ended(&self) -> bool {
        match self {
            Self::Response(_) | Self::Conversation(_) => true,
            Self::Background(log) => log.has_ended(),
        }
    }

    /// The bytes that it takes at most: it may share items with others.
    fn size(&self) -> u64 {
        let size = match self {
            Self::Response(stored) => stored.size(),
            Self::Background(log) => log.size(),
            Self::Conversation(conversation) => size_of(&conversation.items),
        };
        OVERHEAD + size
    }
}

impl Stored {
    pub(super) fn size(&self) -> u64 {
        self.body.len() as u64 + size_of(&self.items)
    }
}

/// The bytes of items.
pub(super) fn size_of(items: &[Item]) -> u64 {
    items.iter().map(Item::size).sum()
}

impl Keep {
    /// Returns whether anything is done with a response that ends.
    pub(super) fn is_needed(&self) -> bool {
        self.is_stored || self.conversation.is_some()
    }

    /// A response that has ended, as it is stored.
    pub(super) fn stored(&self, response: &Response) -> Stored {
        let mut items = self.items.clone();
        items.extend(response.output().iter().map(Item::of_output));
        let body = serde_json::to_vec(response).unwrap_or_default().into();
        Stored { body, items, inputs: self.items.len(), is_usable: response.has_succeeded() }
    }

    /// Stores a response that has ended.
    pub(super) fn save(&self, response: &Response) {
        let stored = self.stored(response);
        self.append_to_conversation(&stored);
        if self.is_stored {
            self.store.put(self.owner, response.id.clone(), Content::Response(stored), self.limits);
        }
    }

    /// Adds input and output to the conversation that the response belongs to.
    pub(super) fn append_to_conversation(&self, stored: &Stored) {
        let new = stored.items.get(self.earlier..).unwrap_or_default();
        if let Some(conversation) = self.conversation.as_ref().filter(|_| stored.is_usable) {
            self.store.append(&self.owner, conversation, new, self.limits);
        }
    }
}

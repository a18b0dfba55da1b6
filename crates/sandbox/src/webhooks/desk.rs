//! Occurrences and conversations: what the platform's service desk opens and closes, and the events of it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{store::Store, world::World};

/// What is open at the desk, over all stores.
#[derive(Default)]
pub(super) struct Desk(Mutex<Open>);

#[derive(Default)]
struct Open {
    last: u64,
    /// By identifier: position of the store, and the occurrence.
    occurrences: HashMap<u64, (usize, NewOccurrence)>,
    /// By identifier: position of the store.
    conversations: HashMap<u64, usize>,
}

/// An occurrence that the store can see.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct NewOccurrence {
    /// What it is about.
    pub title: String,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// What set it off.
    pub trigger_key: String,
}

impl Default for NewOccurrence {
    fn default() -> Self {
        Self {
            title: "Atraso na postagem".to_owned(),
            severity: "medium".to_owned(),
            trigger_key: "shipping_delay".to_owned(),
        }
    }
}

const SEVERITIES: [&str; 4] = ["low", "medium", "high", "critical"];

/// How an occurrence ends.
const ENDS: [&str; 3] = ["resolved", "cancelled", "auto_closed"];

/// Who the store itself is among the senders.
const STORE: &str = "store";

impl NewOccurrence {
    fn fields(&self, id: u64, status: &str) -> Value {
        json!({
            "occurrence_id": id,
            "title": self.title,
            "severity": self.severity,
            "status": status,
            "trigger_key": self.trigger_key,
        })
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

impl World {
    /// Opens an occurrence; its identifier, unless the severity is none.
    pub(super) fn open_occurrence(
        self: &Arc<Self>,
        store: &Store,
        at: usize,
        new: NewOccurrence,
    ) -> Option<u64> {
        if !SEVERITIES.contains(&new.severity.as_str()) {
            return None;
        }
        let mut open = self.webhooks.desk.lock();
        let id = open.next();
        let fields = new.fields(id, "open");
        open.occurrences.insert(id, (at, new));
        drop(open);
        self.emit(store, "occurrence.created", fields);
        Some(id)
    }

    /// Ends an occurrence of a store with a status; whether there was one to end that way.
    pub(super) fn end_occurrence(self: &Arc<Self>, store: &Store, at: usize, id: u64, status: &str) -> bool {
        let mut open = self.webhooks.desk.lock();
        let is_theirs = open.occurrences.get(&id).is_some_and(|(owner, _)| *owner == at);
        if !is_theirs || !ENDS.contains(&status) {
            return false;
        }
        let ended = open.occurrences.remove(&id);
        drop(open);
        if let Some((_, occurrence)) = ended {
            self.emit(store, "occurrence.resolved", occurrence.fields(id, status));
        }
        true
    }

    /// Opens a conversation about an order; its identifier.
    pub(super) fn open_conversation(
        self: &Arc<Self>,
        store: &Store,
        at: usize,
        order: &str,
        kind: &str,
    ) -> u64 {
        let mut open = self.webhooks.desk.lock();
        let id = open.next();
        open.conversations.insert(id, at);
        drop(open);
        let fields = json!({"conversation_id": id, "order_number": order, "type": kind});
        self.emit(store, "conversation.opened", fields);
        id
    }

    /// Has somebody write a message; its identifier. One of the store itself is no news to the store.
    pub(super) fn say(
        self: &Arc<Self>,
        store: &Store,
        at: usize,
        conversation: u64,
        (sender_type, body): (&str, &str),
    ) -> Option<u64> {
        let mut open = self.webhooks.desk.lock();
        if open.conversations.get(&conversation) != Some(&at) {
            return None;
        }
        let id = open.next();
        drop(open);
        if sender_type != STORE {
            let fields = json!({
                "conversation_id": conversation,
                "message_id": id,
                "sender_type": sender_type,
                "body": body,
            });
            self.emit(store, "conversation.message", fields);
        }
        Some(id)
    }

    /// Closes a conversation; whether it was open.
    pub(super) fn close_conversation(
        self: &Arc<Self>,
        store: &Store,
        at: usize,
        id: u64,
        reason: &str,
    ) -> bool {
        let mut open = self.webhooks.desk.lock();
        if open.conversations.get(&id) != Some(&at) {
            return false;
        }
        open.conversations.remove(&id);
        drop(open);
        self.emit(store, "conversation.closed", json!({"conversation_id": id, "reason": reason}));
        true
    }
}

//! Support cases: the occurrences and conversations that the platform opens and closes. A change returns its events.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::event::Event;

/// The open support cases of all stores.
#[derive(Default)]
pub(super) struct SupportCases(Mutex<Open>);

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
    /// The subject.
    pub title: String,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// The key of its trigger.
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

/// The statuses of an occurrence that has ended.
const ENDS: [&str; 3] = ["resolved", "cancelled", "auto_closed"];

/// The sender type of the store itself.
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

impl Open {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

/// Stores go by their position.
impl SupportCases {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock()
    }

    /// Opens an occurrence; its identifier, or `None` for an unknown severity.
    pub(super) fn open_occurrence(&self, store: usize, new: NewOccurrence) -> Option<(u64, Event)> {
        if !SEVERITIES.contains(&new.severity.as_str()) {
            return None;
        }
        let mut open = self.lock();
        let id = open.next();
        let fields = new.fields(id, "open");
        open.occurrences.insert(id, (store, new));
        Some((id, Event::new("occurrence.created", fields)))
    }

    /// Ends an occurrence of a store with a status; `None` where there is no such occurrence or status.
    pub(super) fn end_occurrence(&self, store: usize, id: u64, status: &str) -> Option<Event> {
        let mut open = self.lock();
        let is_theirs = open.occurrences.get(&id).is_some_and(|(owner, _)| *owner == store);
        if !is_theirs || !ENDS.contains(&status) {
            return None;
        }
        let (_, occurrence) = open.occurrences.remove(&id)?;
        Some(Event::new("occurrence.resolved", occurrence.fields(id, status)))
    }

    /// Opens a conversation about an order; its identifier.
    pub(super) fn open_conversation(&self, store: usize, order: &str, kind: &str) -> (u64, Event) {
        let mut open = self.lock();
        let id = open.next();
        open.conversations.insert(id, store);
        let fields = json!({"conversation_id": id, "order_number": order, "type": kind});
        (id, Event::new("conversation.opened", fields))
    }

    /// Adds a message to a conversation; its identifier. A message of the store itself has no event.
    pub(super) fn add_message(
        &self,
        store: usize,
        conversation: u64,
        (sender_type, body): (&str, &str),
    ) -> Option<(u64, Option<Event>)> {
        let mut open = self.lock();
        if open.conversations.get(&conversation) != Some(&store) {
            return None;
        }
        let id = open.next();
        let fields = json!({
            "conversation_id": conversation,
            "message_id": id,
            "sender_type": sender_type,
            "body": body,
        });
        Some((id, (sender_type != STORE).then(|| Event::new("conversation.message", fields))))
    }

    /// Closes a conversation; `None` where it is not open.
    pub(super) fn close_conversation(&self, store: usize, id: u64, reason: &str) -> Option<Event> {
        let mut open = self.lock();
        if open.conversations.get(&id) != Some(&store) {
            return None;
        }
        open.conversations.remove(&id);
        Some(Event::new("conversation.closed", json!({"conversation_id": id, "reason": reason})))
    }
}

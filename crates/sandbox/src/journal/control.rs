//! The journal, read behind the API's back.

use super::{Entry, JournalEntry, JournalQuery};
use crate::{
    Control,
    answer::Answer,
    call::{Call, parameter},
    control::endpoint::{ControlEndpoint, control},
    refusal::Refusal,
    text::iso,
    world::World,
};

impl Control {
    /// The last 20,000 requests of the API, oldest first.
    pub fn journal(&self, query: &JournalQuery) -> Vec<JournalEntry> {
        let JournalQuery { since, store, path, limit } = query;
        let world = self.world();
        let Ok(store) = store.as_deref().map(|key| world.position(key).ok_or(())).transpose() else {
            return Vec::new();
        };
        let entries = world.journal.0.lock();
        let matches = |entry: &&Entry| {
            entry.seq > *since
                && store.is_none_or(|store| entry.request.store.get() == Some(&store))
                && path.as_ref().is_none_or(|part| entry.request.path.contains(part.as_str()))
        };
        let found = entries.kept.iter().filter(matches).take(limit.unwrap_or(usize::MAX));
        found.map(|entry| shown(entry, world)).collect()
    }
}

fn shown(entry: &Entry, world: &World) -> JournalEntry {
    let store = entry.request.store.get().and_then(|at| world.stores.get(*at));
    JournalEntry {
        seq: entry.seq,
        at: iso(entry.millis.div_euclid(1000)),
        store: store.map(|store| store.key.clone()),
        method: entry.request.method.to_string(),
        path: entry.request.path.to_string(),
        status: entry.status,
        duration_us: u64::try_from(entry.took.as_micros()).unwrap_or(u64::MAX),
        body: entry.request.body.get().map(ToString::to_string),
    }
}

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[ControlEndpoint::get(
    "journal",
    "the last 20,000 requests of the API; ?since=12&store=loja-1&path=/orders&limit=100",
    read,
)];

fn read(call: &Call) -> Result<Answer, Refusal> {
    let text = |name| parameter(&call.query, name).map(std::borrow::Cow::into_owned);
    let query = JournalQuery {
        since: text("since").and_then(|since| since.parse().ok()).unwrap_or_default(),
        store: text("store"),
        path: text("path"),
        limit: text("limit").and_then(|limit| limit.parse().ok()),
    };
    Ok(Answer::value(&serde_json::json!(control(call).journal(&query))))
}

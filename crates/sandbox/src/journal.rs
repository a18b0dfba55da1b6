//! The journal: what was asked of the API lately, and how it was answered.
//!
//! Every request is entered, so that an entry costs no more than the copy of its path: secrets are taken out of the bodies
//! that there are, which bulk readers do not send.

use std::{
    collections::VecDeque,
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use hyper::{Method, Request, body::Incoming};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Control,
    answer::{Answer, Refusal},
    auth,
    call::{Call, parameter},
    control::levers::{Lever, control},
    webhooks::iso,
    world::World,
};

/// The requests that are remembered.
const KEPT: usize = 20_000;

/// The most that is kept of a body.
const MAX_BODY: usize = 4 << 10;

/// Fields whose values are nobody's business.
const SECRETS: [&str; 3] = ["password", "secret", "token"];

/// What stands in the place of a secret.
const MASKED: &str = "***";

/// What is known of a request while it is answered.
pub(crate) struct Note {
    method: Method,
    path: Box<str>,
    store: OnceLock<usize>,
    body: OnceLock<Box<str>>,
}

impl Note {
    pub(crate) fn of(request: &Request<Incoming>) -> Self {
        let uri = request.uri();
        let path = match uri.path() {
            // Whoever puts a credential into the query of a login has put it there by mistake.
            auth::LOGIN => auth::LOGIN.into(),
            path => without_tokens(uri.path_and_query().map_or(path, |whole| whole.as_str())).into(),
        };
        Self { method: request.method().clone(), path, store: OnceLock::new(), body: OnceLock::new() }
    }

    /// Notes the position of the store that asks.
    pub(crate) fn of_store(&self, store: usize) {
        let _ = self.store.set(store);
    }

    /// Notes the body. The one of a login also tells whose it is.
    pub(crate) fn of_body(&self, world: &World, body: &[u8]) {
        if body.is_empty() {
            return;
        }
        let mut value = serde_json::from_slice::<Value>(body).ok();
        if self.path.starts_with(auth::LOGIN) {
            let username = value.as_ref().and_then(|value| value.get("username")?.as_str());
            if let Some((store, _)) = username.and_then(|name| world.credential_of_username(name)) {
                self.of_store(store);
            }
        }
        let text = match &mut value {
            _ if self.path.starts_with(auth::LOGIN) => login(value).into(),
            Some(value) => {
                mask(value);
                cut(&without_tokens(&value.to_string())).into()
            }
            None => match std::str::from_utf8(body) {
                Ok(text) => cut(&without_tokens(text)).into(),
                Err(_) => format!("<{} bytes>", body.len()).into(),
            },
        };
        let _ = self.body.set(text);
    }
}

/// Of a login only what it may have: every other field could be a misspelt password.
fn login(body: Option<Value>) -> String {
    let mut fields = match body {
        Some(Value::Object(fields)) => fields,
        Some(_) => return "<no object>".to_owned(),
        None => return "<not JSON>".to_owned(),
    };
    for (name, value) in &mut fields {
        if !matches!(name.as_str(), "username" | "webhook") {
            *value = Value::from(MASKED);
        }
    }
    cut(&without_tokens(&Value::Object(fields).to_string())).to_owned()
}

/// Tokens and signing secrets bear their prefix wherever they are written.
fn without_tokens(text: &str) -> String {
    let mut clean = text.to_owned();
    for prefix in ["sk_live_", "whsec_"] {
        if !clean.contains(prefix) {
            continue;
        }
        let mut parts = clean.split(prefix);
        let mut rest = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
            rest = format!("{rest}{prefix}{MASKED}{}", &part[end.unwrap_or(part.len())..]);
        }
        clean = rest;
    }
    clean
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BODY)).unwrap_or_default()
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if SECRETS.contains(&name.trim().to_lowercase().as_str()) {
                    *value = Value::from(MASKED);
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}

struct Entry {
    seq: u64,
    millis: i64,
    status: u16,
    took: Duration,
    note: Note,
}

/// The last requests.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    added: u64,
    kept: VecDeque<Entry>,
}

/// One request of the API and its answer.
#[derive(Clone, Debug, Serialize)]
pub struct JournalEntry {
    /// From 1, without gaps.
    pub seq: u64,
    /// When it was answered, on the sandbox's clock, in ISO 8601.
    pub at: String,
    /// The store's name in [`Control`]; none where the token or the username is nobody's.
    pub store: Option<String>,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The status; 0 for a connection that was closed without an answer.
    pub status: u16,
    /// How long the answer took in real time.
    pub duration_us: u64,
    /// The first 4 KiB of the body, its secrets masked.
    pub body: Option<String>,
}

/// Which entries to read.
#[derive(Clone, Debug, Default)]
pub struct JournalQuery {
    /// Entries after this one only.
    pub since: u64,
    /// Those of this store only.
    pub store: Option<String>,
    /// Those whose path and query contain this only.
    pub path: Option<String>,
    /// The oldest so many of them.
    pub limit: Option<usize>,
}

impl Journal {
    pub(crate) fn add(&self, note: Note, millis: i64, status: u16, took: Duration) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.added += 1;
        let seq = entries.added;
        // The oldest is dropped after the lock is free again.
        let _oldest = (entries.kept.len() == KEPT).then(|| entries.kept.pop_front());
        entries.kept.push_back(Entry { seq, millis, status, took, note });
        drop(entries);
    }
}

impl Control {
    /// What was asked of the API lately (the last 20,000 requests), oldest first.
    pub fn journal(&self, query: &JournalQuery) -> Vec<JournalEntry> {
        let JournalQuery { since, store, path, limit } = query;
        let world = self.world();
        let Ok(store) = store.as_deref().map(|key| world.position(key).ok_or(())).transpose() else {
            return Vec::new();
        };
        let entries = world.journal.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |entry: &&Entry| {
            entry.seq > *since
                && store.is_none_or(|store| entry.note.store.get() == Some(&store))
                && path.as_ref().is_none_or(|part| entry.note.path.contains(part.as_str()))
        };
        let found = entries.kept.iter().filter(matches).take(limit.unwrap_or(usize::MAX));
        found.map(|entry| shown(entry, world)).collect()
    }
}

fn shown(entry: &Entry, world: &World) -> JournalEntry {
    let store = entry.note.store.get().and_then(|at| world.stores.get(*at));
    JournalEntry {
        seq: entry.seq,
        at: iso(entry.millis.div_euclid(1000)),
        store: store.map(|store| store.key.clone()),
        method: entry.note.method.to_string(),
        path: entry.note.path.to_string(),
        status: entry.status,
        duration_us: u64::try_from(entry.took.as_micros()).unwrap_or(u64::MAX),
        body: entry.note.body.get().map(ToString::to_string),
    }
}

/// The levers of this area.
pub(crate) const LEVERS: &[Lever] = &[Lever::get(
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_BODY, cut, login, mask, without_tokens};

    #[test]
    fn a_token_is_masked_wherever_it_stands_and_a_login_keeps_its_username_alone() {
        let check = |text: &str, expected: &str| assert_eq!(without_tokens(text), expected);
        check("/api/products/sk_live_abc-1_X?x=whsec_9&y=1", "/api/products/sk_live_***?x=whsec_***&y=1");
        check("nothing to see", "nothing to see");
        let body =
            json!({"username": "u", "Password ": "p", "password": "q", "webhook": {"url": "https://x"}});
        let kept: Value = serde_json::from_str(&login(Some(body))).unwrap();
        let expected =
            json!({"username": "u", "Password ": "***", "password": "***", "webhook": {"url": "https://x"}});
        assert_eq!(kept, expected);
    }

    #[test]
    fn secrets_are_masked_however_deep_they_lie() {
        let mut value = json!({"username": "u", "password": "p", "a": [{"secret": {"x": 1}}]});
        mask(&mut value);
        assert_eq!(value, json!({"username": "u", "password": "***", "a": [{"secret": "***"}]}));
    }

    #[test]
    fn a_long_text_is_cut_between_its_characters() {
        let text = "ã".repeat(MAX_BODY);
        assert_eq!(cut(&text).len(), MAX_BODY);
        assert_eq!(cut(&format!("x{text}")).len(), MAX_BODY - 1);
        assert_eq!(cut("x"), "x");
    }
}

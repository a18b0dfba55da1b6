//! The journal: the last requests of the API, and their answers.
//!
//! The journal enters every request, so an entry must be cheap: it copies the path, and masks the secrets of the body
//! where there is one. Bulk readers send no bodies.

pub(crate) mod control;

use std::{collections::VecDeque, sync::OnceLock, time::Duration};

use hyper::{Method, Request, body::Incoming};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::auth;

/// How many requests the journal keeps.
const KEPT: usize = 20_000;

/// The most that is kept of a body.
const MAX_BODY: usize = 4 << 10;

/// Fields whose values stay secret.
const SECRETS: [&str; 3] = ["password", "secret", "token"];

/// The text in place of a secret.
const MASKED: &str = "***";

/// The entry of a request that has no answer yet.
pub(crate) struct PendingEntry {
    method: Method,
    path: Box<str>,
    store: OnceLock<usize>,
    body: OnceLock<Box<str>>,
}

impl PendingEntry {
    pub(crate) fn of(request: &Request<Incoming>) -> Self {
        let uri = request.uri();
        let path = match uri.path() {
            // A credential in the query of a login is there by mistake.
            auth::LOGIN => auth::LOGIN.into(),
            path => without_tokens(uri.path_and_query().map_or(path, |whole| whole.as_str())).into(),
        };
        Self { method: request.method().clone(), path, store: OnceLock::new(), body: OnceLock::new() }
    }

    /// Notes the position of the store that asks.
    pub(crate) fn set_store(&self, store: usize) {
        let _ = self.store.set(store);
    }

    /// Notes the body. A login names a user, whose store (its position) `owner` knows.
    pub(crate) fn set_body(&self, owner: impl FnOnce(&str) -> Option<usize>, body: &[u8]) {
        if body.is_empty() {
            return;
        }
        let mut value = serde_json::from_slice::<Value>(body).ok();
        if self.path.starts_with(auth::LOGIN) {
            let username = value.as_ref().and_then(|value| value.get("username")?.as_str());
            if let Some(store) = username.and_then(owner) {
                self.set_store(store);
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

/// The known fields of a login only: every other field could be a misspelt password.
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

/// The text with tokens and signing secrets masked, which their prefixes give away.
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
    request: PendingEntry,
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
    /// The store's name in [`crate::Control`]; none where the token or the username is unknown.
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
    /// Entries of this store only.
    pub store: Option<String>,
    /// Entries whose path and query contain this text only.
    pub path: Option<String>,
    /// At most this number of them, the oldest first.
    pub limit: Option<usize>,
}

impl Journal {
    pub(crate) fn add(&self, request: PendingEntry, millis: i64, status: u16, took: Duration) {
        let mut entries = self.0.lock();
        entries.added += 1;
        let seq = entries.added;
        // The oldest is dropped after the lock is free again.
        let _oldest = (entries.kept.len() == KEPT).then(|| entries.kept.pop_front());
        entries.kept.push_back(Entry { seq, millis, status, took, request });
        drop(entries);
    }
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

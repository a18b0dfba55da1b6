//! Everything on record about one thing: collected once, told by `espelho explain` and by the pages. `words` is its
//! history in words, `support` the same without anything about a person; `reference` and `spelling` read the names that people
//! give it.

mod reference;
mod similar;
mod spelling;
pub(crate) mod support;
mod words;

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    next_step::is_intent,
    push::PushState,
    sync::Resource,
    text,
    text::{Locale, Text},
};
use espelho_store::{
    Error, ErrorRow, Event, Explained, Happened, IntentRow, Missing, Store, Subject, WaitingRow,
};
use serde_json::Value;

pub(crate) use reference::{entity, reference};
pub(crate) use similar::similar;
pub(crate) use spelling::spellings;
pub(crate) use words::Told;

use crate::terminal::shown;

/// The records about one thing in one store.
pub(crate) struct Knowledge {
    pub(crate) store: StoreKey,
    pub(crate) entity: String,
    pub(crate) key: String,
    pub(crate) row: Option<Explained>,
    /// Since when the marketplace reports it as missing.
    pub(crate) missing: Option<Missing>,
    pub(crate) errors: Vec<ErrorRow>,
    pub(crate) changes: Vec<(i64, String, DateTime<Utc>)>,
    /// The ERP's intent for it.
    pub(crate) intent: Option<IntentRow>,
    pub(crate) events: Vec<Event>,
    /// When a test delivery last came, if it is a command that asks for one.
    pub(crate) test_heard_at: Option<DateTime<Utc>>,
    /// The rows about it that wait, each with a reason.
    pub(crate) waiting: Vec<WaitingRow>,
}

/// Finds everything with the key, in every store.
pub(crate) async fn find_all(
    store: &Store,
    keys: &[StoreKey],
    entity: Option<&str>,
    key: &str,
) -> Result<Vec<Knowledge>, Error> {
    let mut known = Vec::new();
    for of in keys {
        let meant = match entity {
            Some(entity) => vec![(entity.to_owned(), key.to_owned())],
            None => match store.history().find(of, key).await? {
                // A delivery may name an order that nothing else knows yet.
                found if found.is_empty() => vec![("order".to_owned(), key.to_owned())],
                found => found,
            },
        };
        for (entity, key) in meant {
            let knowledge = look(store, of, entity, key).await?;
            if knowledge.is_something() {
                known.push(knowledge);
            }
        }
    }
    Ok(known)
}

/// Reads everything about one thing.
pub(crate) async fn look(
    store: &Store,
    of: &StoreKey,
    entity: String,
    key: String,
) -> Result<Knowledge, Error> {
    let product = match entity.as_str() {
        "product" => store.history().product_named(of, &key).await?,
        _ => None,
    };
    let row_key = product.as_ref().map_or_else(|| key.clone(), |(id, _)| id.clone());
    let subject = subject(&entity, &key, product);
    let events = match &subject {
        Some(subject) => store.history().story(of, subject).await?,
        None => Vec::new(),
    };
    let events: Vec<Event> = events.into_iter().map(|event| words::with_way_back(event, of)).collect();
    let changes = store.history().changes_of(of, &entity, &row_key).await?;
    let events = match subject {
        Some(_) => events,
        None => mirrored(&entity, &row_key, &changes),
    };
    let intent = match entity.parse() {
        Ok(intent) => {
            let mut row = store.releases().intent_row(of.as_str(), intent, &key).await?;
            // A version that kept the guard's next step may have ignored it.
            if let Some(row) = row.as_mut().filter(|row| row.state == PushState::Ignored.as_str()) {
                row.hint = Some(words::way_back(intent, &key, of));
            }
            row
        }
        Err(_) => None,
    };
    let command = intent.as_ref().filter(|_| entity == "command").and_then(|row| row.intent.as_deref());
    let test_heard_at = match command.is_some_and(words::is_test) {
        true => store.runs().webhook_watch(of).await?.test_heard_at,
        false => None,
    };
    let missing = match entity.as_str() {
        "order" => store.mirror().missing(of, Resource::Orders, &key).await?,
        _ => None,
    };
    // The state of an intent's row is already an event of its own.
    let errors = store.history().errors_of(of, &entity, &row_key).await?;
    let row = store.history().explain(of, &entity, &row_key).await?;
    let mut waiting = store.intents().waiting_rows(Some(of)).await?;
    waiting.retain(|row| is_about(row, &entity, &key));
    Ok(Knowledge {
        store: of.clone(),
        entity,
        key,
        row,
        missing,
        errors,
        changes,
        intent,
        events,
        test_heard_at,
        waiting,
    })
}

/// Tells whether a waiting row is the thing, or concerns it.
fn is_about(row: &WaitingRow, entity: &str, key: &str) -> bool {
    match entity {
        "order" | "product" => row.subject == key,
        _ => row.entity == entity && row.key == key,
    }
}

fn mirrored(entity: &str, key: &str, changes: &[(i64, String, DateTime<Utc>)]) -> Vec<Event> {
    let event = |(_, op, at): &(i64, String, DateTime<Utc>)| Event {
        at: *at,
        what: Happened::Mirrored { entity: entity.to_owned(), key: key.to_owned(), op: op.clone() },
    };
    changes.iter().map(event).collect()
}

/// Returns the subject of the history; `None` for a thing that only has a row.
fn subject(entity: &str, key: &str, product: Option<(String, String)>) -> Option<Subject> {
    Some(match entity {
        "order" => Subject::Order(key.to_owned()),
        "product" => match product {
            Some((id, sku)) => Subject::Product { sku, id: Some(id) },
            None => Subject::Product { sku: key.to_owned(), id: None },
        },
        "stock" | "price" => {
            let sku = key.rsplit_once('/').map_or(key, |(sku, _)| sku).to_owned();
            Subject::Product { sku, id: None }
        }
        "shipment" => {
            let (order, id) = key.split_once('/')?;
            Subject::Shipment { order: order.to_owned(), id: id.to_owned() }
        }
        "command" => Subject::Command(key.to_owned()),
        _ => return None,
    })
}

impl Knowledge {
    pub(crate) fn is_something(&self) -> bool {
        self.row.is_some()
            || self.intent.is_some()
            || !(self.errors.is_empty() && self.changes.is_empty() && self.events.is_empty())
    }

    /// Returns its history, in order of time.
    pub(crate) fn told(&self) -> Vec<Told> {
        let is_of_an_intent = is_intent(&self.entity);
        let failures: &[ErrorRow] = if is_of_an_intent { &[] } else { &self.errors };
        words::told(self.events.clone(), failures, self.test_heard_at)
    }
}

/// Returns what it is, and its state in the mirror.
pub(crate) fn head(knowledge: &Knowledge, locale: Locale) -> String {
    let name = text!("explain-entity", entity = knowledge.entity.as_str(), key = shown(&knowledge.key));
    let Some(row) = &knowledge.row else {
        let is_mirrored_kind = espelho_store::explainable().contains(&knowledge.entity.as_str());
        return match is_mirrored_kind {
            true => text!("explain-not-mirrored", what = name).message(locale),
            false => name.message(locale),
        };
    };
    let object = serde_json::from_str::<Value>(&row.raw).unwrap_or(Value::Null);
    let status = object["status"].as_str().filter(|_| knowledge.entity == "order");
    in_the_mirror(name, status, row.gone_at, row.mirrored_at).message(locale)
}

/// Returns a mirrored row's name with its status and its state in the mirror.
pub(crate) fn in_the_mirror(
    name: Text,
    status: Option<&str>,
    gone_at: Option<DateTime<Utc>>,
    mirrored_at: DateTime<Utc>,
) -> Text {
    let what = match status {
        Some(status) => {
            text!("explain-with-status", what = name, status = text!("explain-status", status = status))
        }
        None => name,
    };
    match gone_at {
        Some(gone) => text!("explain-gone", what = what, gone = gone),
        None => text!("explain-mirrored-at", what = what, at = mirrored_at),
    }
}

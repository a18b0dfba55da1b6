//! `espelho explain [ENTITY] KEY`: the history of one thing, from everything on record about it.

mod words;

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    sync::Resource,
    text,
    text::{Arg, Locale, Text},
    time::fixed_width,
};
use espelho_store::{
    Error, ErrorRow, Event, Explained, Happened, IntentKind, IntentRow, Missing, Store, Subject, WaitingRow,
};
use espelho_sync_engine::{
    Problem, Trouble,
    plan::missing::{BELIEVED, next_at},
};
use serde_json::{Value, json};

use super::{
    intents::similar,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, ExplainArgs},
    exit, terminal,
};

/// The records about one thing in one store.
struct Knowledge {
    store: StoreKey,
    entity: String,
    key: String,
    row: Option<Explained>,
    /// Since when the marketplace reports it as missing.
    missing: Option<Missing>,
    errors: Vec<ErrorRow>,
    changes: Vec<(i64, String, DateTime<Utc>)>,
    /// The ERP's intent for it.
    intent: Option<IntentRow>,
    events: Vec<Event>,
    /// The rows about it that wait, each with a reason.
    waiting: Vec<WaitingRow>,
}

pub(super) async fn run(cli: &Cli, arguments: &ExplainArgs) -> u8 {
    let ExplainArgs { first, second, store } = arguments;
    let (entity, key) = match second {
        Some(key) => (Some(first.as_str()), key.as_str()),
        None => (None, first.as_str()),
    };
    if let Err(problem) = entity.map_or(Ok(()), check_entity) {
        return say(&problem, cli);
    }
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, store.as_deref()) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let found = find_all(&reading.store, &keys, entity, key).await;
    let alike = match &found {
        Ok(found) if found.is_empty() => alike(&reading.store, &keys, key).await,
        _ => Ok(Vec::new()),
    };
    reading.store.close().await;
    match (found, alike) {
        (Ok(found), Ok(alike)) => show(cli, entity, key, &found, &alike, reading.clock.now()),
        (Err(error), _) | (_, Err(error)) => say(&Problem::from_store(&error), cli),
    }
}

fn show(
    cli: &Cli,
    entity: Option<&str>,
    key: &str,
    found: &[Knowledge],
    alike: &[String],
    now: DateTime<Utc>,
) -> u8 {
    if cli.json {
        let found: Vec<Value> = found.iter().map(|knowledge| as_json(knowledge, cli.locale)).collect();
        println!("{}", json!({ "entity": entity, "key": key, "found": found, "similar": alike }));
    } else if found.is_empty() {
        let text = match alike.is_empty() {
            true => text!("explain-unknown", key = terminal::shown(key)),
            false => text!("explain-unknown-similar", key = terminal::shown(key), similar = alike.join(", ")),
        };
        println!("{}", text.message(cli.locale));
    } else {
        found.iter().for_each(|knowledge| print!("{}", as_text(knowledge, cli.locale, now)));
    }
    if found.is_empty() { exit::FAILED } else { exit::COMPLETE }
}

fn check_entity(entity: &str) -> Result<(), Problem> {
    let mut known = espelho_store::explainable();
    known.extend(IntentKind::ALL.iter().map(|intent| intent.as_str()));
    if known.contains(&entity) {
        return Ok(());
    }
    let alike = known.iter().max_by(|a, b| {
        let likeness = |name: &str| strsim::jaro_winkler(name, entity);
        likeness(a).total_cmp(&likeness(b))
    });
    let (alike, known) = (*alike.unwrap_or(&"order"), known.join(", "));
    let text = text!("explain-unknown-entity", entity = entity, alike = alike, known = known);
    Err(Problem::of(Trouble::Configuration, "unknown_entity", text))
}

/// Finds everything with the key, in every store.
async fn find_all(
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

/// Returns SKUs similar to a key that nothing has.
async fn alike(store: &Store, keys: &[StoreKey], key: &str) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for of in keys {
        all.extend(store.lookups().skus(of).await?);
    }
    Ok(similar(key, all.iter().map(String::as_str)).into_iter().map(str::to_owned).collect())
}

async fn look(store: &Store, of: &StoreKey, entity: String, key: String) -> Result<Knowledge, Error> {
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
    let changes = store.history().changes_of(of, &entity, &row_key).await?;
    let events = match subject {
        Some(_) => events,
        None => mirrored(&entity, &row_key, &changes),
    };
    let intent = match entity.parse() {
        Ok(intent) => store.releases().intent_row(of, intent, &key).await?,
        Err(_) => None,
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
    Ok(Knowledge { store: of.clone(), entity, key, row, missing, errors, changes, intent, events, waiting })
}

/// Whether a waiting row is the thing, or concerns it.
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
    fn is_something(&self) -> bool {
        self.row.is_some()
            || self.intent.is_some()
            || !(self.errors.is_empty() && self.changes.is_empty() && self.events.is_empty())
    }

    fn told(&self) -> Vec<words::Told> {
        let is_of_an_intent = matches!(self.entity.as_str(), "stock" | "price" | "command");
        let failures: &[ErrorRow] = if is_of_an_intent { &[] } else { &self.errors };
        words::told(self.events.clone(), failures)
    }
}

fn as_json(knowledge: &Knowledge, locale: Locale) -> Value {
    let time = |at: &DateTime<Utc>| fixed_width(*at);
    let row = |row: &Explained| {
        let raw = serde_json::from_str::<Value>(&row.raw).unwrap_or(Value::Null);
        let parts: Vec<Value> =
            row.parts.iter().map(|(part, at)| json!({ "part": part, "read_at": time(at) })).collect();
        json!({
            "table": row.table, "mirrored_at": time(&row.mirrored_at), "gone_at": row.gone_at.as_ref().map(time),
            "raw": raw, "sides": row.sides, "parts": parts,
        })
    };
    let change =
        |(seq, op, at): &(i64, String, DateTime<Utc>)| json!({ "seq": seq, "op": op, "at": time(at) });
    json!({
        "store": knowledge.store.as_str(),
        "entity": knowledge.entity,
        "key": knowledge.key,
        "row": knowledge.row.as_ref().map(row),
        "missing": knowledge.missing.as_ref().map(|missing| json!({
            "since": time(&missing.since),
            "confirmations": missing.confirmations,
            "last_at": time(&missing.last_at),
            "next_at": time(&next_at(missing)),
        })),
        "wish": knowledge.intent,
        "errors": knowledge.errors,
        "waiting": knowledge.waiting,
        "changes": knowledge.changes.iter().map(change).collect::<Vec<_>>(),
        "events": knowledge.told().iter().map(|event| event.as_json(locale)).collect::<Vec<_>>(),
    })
}

/// Returns the lines for people. The object itself, with the buyer's data, is for `--json`.
fn as_text(knowledge: &Knowledge, locale: Locale, now: DateTime<Utc>) -> String {
    let mut lines = vec![format!("{}: {}", knowledge.store, head(knowledge, locale))];
    if let Some(missing) = &knowledge.missing {
        let text = text!(
            "explain-missing",
            since = missing.since,
            times = missing.confirmations,
            believed = BELIEVED,
            next = next_at(missing)
        );
        lines.push(format!("  {}", text.message(locale)));
    }
    for row in &knowledge.waiting {
        let age = Arg::Seconds(row.since.map_or(0, |since| (now - since).num_seconds()));
        let (reason, code) = (terminal::shown(&row.reason), row.code.as_str());
        let text = text!("explain-waiting", age = age, reason = reason, code = code);
        lines.push(format!("  {}", text.message(locale)));
    }
    lines.extend(knowledge.told().iter().map(|event| event.line(locale)));
    lines.push(String::new());
    lines.join("\n")
}

/// Returns what it is, and its state in the mirror.
fn head(knowledge: &Knowledge, locale: Locale) -> String {
    let name =
        text!("explain-entity", entity = knowledge.entity.as_str(), key = terminal::shown(&knowledge.key));
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
pub(super) fn in_the_mirror(
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

//! `espelho explain [ENTITY] KEY`: the history of one thing, from everything on record about it ([`crate::knowledge`]).

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey, text,
    text::{Arg, Locale},
    time::fixed_width,
};
use espelho_store::{Error, Explained, IntentKind, Store};
use espelho_sync_engine::{
    Problem, Trouble,
    plan::missing::{BELIEVED, next_at},
};
use serde_json::{Value, json};

use super::{
    reading::{Reading, named, store_of_command},
    say,
};
use crate::{
    cli::{Cli, ExplainArgs},
    exit,
    knowledge::{self, Knowledge, find_all, head, reference, similar},
    terminal,
    traces::trace_id,
};

pub(super) async fn run(cli: &Cli, arguments: &ExplainArgs) -> u8 {
    let ExplainArgs { first, second, store } = arguments;
    let (entity, key) = match second {
        // The name of a table means its rows.
        Some(key) => (Some(knowledge::entity(first).unwrap_or(first)), key.as_str()),
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
    let of_command = match entity {
        Some("command") => store_of_command(&reading.store, key, store.as_deref()).await,
        _ => Ok(None),
    };
    let keys = match of_command {
        Ok(own) => own.map_or(keys, |own| vec![own]),
        Err(problem) => return say(&problem, cli),
    };
    let mut found = find_all(&reading.store, &keys, entity, key).await;
    // A name with a blank may be a SKU; else it is a reference as the pages show it. A level without a location is one too.
    let asked = entity.map_or_else(|| key.to_owned(), |entity| format!("{entity}:{key}"));
    if matches!(&found, Ok(found) if found.is_empty())
        && let Some((entity, key)) = reference(&asked)
    {
        found = find_all(&reading.store, &keys, Some(entity), &key).await;
    }
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

/// Returns SKUs similar to a key that nothing has.
async fn alike(store: &Store, keys: &[StoreKey], key: &str) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for of in keys {
        all.extend(store.lookups().skus(of).await?);
    }
    Ok(similar(key, all.iter().map(String::as_str)).into_iter().map(str::to_owned).collect())
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
        "trace_id": (knowledge.entity == "order").then(|| trace_id(&knowledge.store, &knowledge.key)),
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

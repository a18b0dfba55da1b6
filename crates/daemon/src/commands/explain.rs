//! `espelho explain ENTITY KEY`: what the mirror knows about one thing, and why it is as it is.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Resource, time::fixed_width};
use espelho_store::{Effect, Error, ErrorRow, Explained, Missing, Store, Wanted, WantedRow};
use espelho_sync_engine::{
    Problem, Trouble,
    plan::missing::{BELIEVED, next_at},
};
use serde_json::{Value, json};

use super::{
    errors,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, ExplainArgs},
    exit,
};

/// What is known of it in one store.
struct Knowledge {
    store: StoreKey,
    row: Option<Explained>,
    /// Since when the marketplace denies it.
    missing: Option<Missing>,
    errors: Vec<ErrorRow>,
    changes: Vec<(i64, String, DateTime<Utc>)>,
    deliveries: Vec<(Option<String>, DateTime<Utc>)>,
    /// What the ERP wants of it.
    wish: Option<WantedRow>,
    /// What the marketplace was asked to do to it, the newest first.
    effects: Vec<Effect>,
}

pub(super) async fn run(cli: &Cli, arguments: &ExplainArgs) -> u8 {
    if let Err(problem) = check_entity(&arguments.entity) {
        return say(&problem, cli);
    }
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, arguments.store.as_deref()) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let mut known = Vec::new();
    for store in keys {
        match look(&reading.store, store, arguments).await {
            Ok(knowledge) if knowledge.is_something() => known.push(knowledge),
            Ok(_) => {}
            Err(error) => return say(&Problem::from_store(&error), cli),
        }
    }
    reading.store.close().await;
    let ExplainArgs { entity, key, .. } = arguments;
    match cli.json {
        true => {
            let found: Vec<Value> = known.iter().map(as_json).collect();
            println!("{}", json!({ "entity": entity, "key": key, "found": found }));
        }
        false if known.is_empty() => {
            println!("{entity} {key}: o espelho não o conhece / the mirror does not know it");
        }
        false => known.iter().for_each(|knowledge| print!("{}", as_text(knowledge, entity, key))),
    }
    if known.is_empty() { exit::FAILED } else { exit::COMPLETE }
}

fn check_entity(entity: &str) -> Result<(), Problem> {
    let mut known = Store::explainable();
    known.extend(Wanted::ALL.map(Wanted::as_str));
    if known.contains(&entity) {
        return Ok(());
    }
    let alike = known.iter().max_by(|a, b| {
        let likeness = |name: &str| strsim::jaro_winkler(name, entity);
        likeness(a).total_cmp(&likeness(b))
    });
    let error =
        format!("{entity:?} is nothing that is mirrored; did you mean {:?}?", alike.unwrap_or(&"order"));
    let hint = format!("choose from {}", known.join(", "));
    Err(Problem::worded(Trouble::Configuration, "unknown_entity", &error, &hint))
}

async fn look(store: &Store, key: StoreKey, arguments: &ExplainArgs) -> Result<Knowledge, Error> {
    let ExplainArgs { entity, key: name, .. } = arguments;
    let wanted = Wanted::ALL.into_iter().find(|wanted| wanted.as_str() == entity);
    let effects = match (wanted, name.rsplit_once('/'), name.parse()) {
        (Some(Wanted::Command), _, Ok(id)) => store.effects_by_number(&key, id).await?,
        (Some(Wanted::Price), Some((sku, _)), _) => store.effects_on(&key, &format!("prices/{sku}")).await?,
        (Some(Wanted::Stock), ..) => store.effects_on(&key, &format!("stock/{name}")).await?,
        _ if entity == "order" => store.effects_on(&key, &format!("order/{name}")).await?,
        _ => Vec::new(),
    };
    Ok(Knowledge {
        wish: match wanted {
            Some(wanted) => store.wanted_row(&key, wanted, name).await?,
            None => None,
        },
        effects,
        row: store.explain(&key, entity, name).await?,
        missing: match entity.as_str() {
            "order" => store.missing(&key, Resource::Orders, name).await?,
            _ => None,
        },
        errors: store.errors_of(&key, entity, name).await?,
        changes: store.changes_of(&key, entity, name).await?,
        deliveries: store.deliveries_naming(&key, name).await?,
        store: key,
    })
}

impl Knowledge {
    fn is_something(&self) -> bool {
        self.row.is_some()
            || self.wish.is_some()
            || !self.effects.is_empty()
            || !(self.errors.is_empty() && self.changes.is_empty() && self.deliveries.is_empty())
    }
}

fn as_json(knowledge: &Knowledge) -> Value {
    let time = |at: &DateTime<Utc>| fixed_width(*at);
    let row = knowledge.row.as_ref().map(|row| {
        let parts: Vec<Value> =
            row.parts.iter().map(|(part, at)| json!({ "part": part, "read_at": time(at) })).collect();
        json!({
            "table": row.table,
            "mirrored_at": time(&row.mirrored_at),
            "gone_at": row.gone_at.as_ref().map(time),
            "sides": row.sides,
            "parts": parts,
            "raw": serde_json::from_str::<Value>(&row.raw).unwrap_or(Value::Null),
        })
    });
    let change =
        |(seq, op, at): &(i64, String, DateTime<Utc>)| json!({ "seq": seq, "op": op, "at": time(at) });
    let delivery =
        |(event, at): &(Option<String>, DateTime<Utc>)| json!({ "event": event, "received_at": time(at) });
    json!({
        "store": knowledge.store.as_str(),
        "row": row,
        "missing": knowledge.missing.as_ref().map(|missing| json!({
            "since": time(&missing.since),
            "confirmations": missing.confirmations,
            "last_at": time(&missing.last_at),
            "next_at": time(&next_at(missing)),
        })),
        "wish": knowledge.wish.as_ref().map(|wish| json!({
            "state": wish.state, "wanted": wish.wanted, "error": wish.error, "hint": wish.hint,
            "updated_at": wish.updated_at.as_ref().map(time),
        })),
        "effects": knowledge.effects.iter().map(effect_as_json).collect::<Vec<_>>(),
        "errors": knowledge.errors.iter().map(errors::as_json).collect::<Vec<_>>(),
        "changes": knowledge.changes.iter().map(change).collect::<Vec<_>>(),
        "deliveries": knowledge.deliveries.iter().map(delivery).collect::<Vec<_>>(),
    })
}

/// The lines for people. The object itself, with the buyer's data, is for `--json`.
fn as_text(knowledge: &Knowledge, entity: &str, key: &str) -> String {
    let mut text = format!("{} {entity} {key}\n", knowledge.store);
    // Writing to a String cannot fail.
    match &knowledge.row {
        Some(row) => write_row(&mut text, row),
        None if knowledge.wish.is_none() => text.push_str("  não está no espelho / not in the mirror\n"),
        None => (),
    }
    if let Some(wish) = &knowledge.wish {
        let wanted = wish.wanted.as_deref().unwrap_or_default();
        let _ = writeln!(text, "  pedido pelo ERP / the ERP wants: {wanted}: {}", wish.state);
    }
    if let Some(missing) = &knowledge.missing {
        write_missing(&mut text, missing);
    }
    for row in &knowledge.errors {
        text.push_str(&errors::as_text(row));
    }
    for effect in &knowledge.effects {
        let at = shown(effect.sent_at.unwrap_or(effect.planned_at));
        let note = effect.note.as_deref().unwrap_or_default();
        let _ =
            writeln!(text, "  chamada / call {at}: {} → {} ({note})", effect.request, effect.state.as_str());
    }
    for (seq, op, at) in &knowledge.changes {
        let _ = writeln!(text, "  mudança / change {seq}: {op}, {}", shown(*at));
    }
    for (event, at) in &knowledge.deliveries {
        let event = event.as_deref().unwrap_or("?");
        let _ = writeln!(text, "  webhook à espera / waiting: {event}, {}", shown(*at));
    }
    text
}

fn effect_as_json(effect: &Effect) -> Value {
    json!({
        "id": effect.id, "kind": effect.kind, "request": effect.request, "state": effect.state.as_str(),
        "sent_at": effect.sent_at.map(fixed_width), "code": effect.code, "note": effect.note,
    })
}

fn write_row(text: &mut String, row: &Explained) {
    let _ = writeln!(text, "  {}: espelhado em / mirrored at {}", row.table, shown(row.mirrored_at));
    if let Some(gone) = row.gone_at {
        let _ = writeln!(text, "  fora do marketplace desde / gone since {}", shown(gone));
    }
    for (table, rows) in row.sides.iter().filter(|(_, rows)| **rows > 0) {
        let _ = writeln!(text, "  {table}: {rows}");
    }
    for (part, at) in &row.parts {
        let _ = writeln!(text, "  {part}: lido em / read at {}", shown(*at));
    }
    let object = serde_json::from_str::<Value>(&row.raw).unwrap_or(Value::Null);
    for name in ["status", "payment_status", "sku", "name", "created_at", "updated_at"] {
        if let Some(value) = object.get(name).filter(|value| value.is_string()) {
            let _ = writeln!(text, "  {name}: {}", value.as_str().unwrap_or_default());
        }
    }
}

fn write_missing(text: &mut String, missing: &Missing) {
    let (since, next, times) = (shown(missing.since), shown(next_at(missing)), missing.confirmations);
    let _ = writeln!(
        text,
        "  não encontrado no marketplace desde / not found at the marketplace since {since}: \
         confirmado / confirmed {times} de / of {BELIEVED}, próxima vez / next time {next}"
    );
}

fn shown(at: DateTime<Utc>) -> String {
    at.format("%d/%m/%Y %H:%M:%S UTC").to_string()
}

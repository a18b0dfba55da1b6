//! The routes that change one order: status and notes.

use serde_json::{Map, Value};

use super::{
    engine,
    life::{Author, Entry, EntryKind},
    routes, rules,
};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    query::FieldErrors,
    store::Store,
};

/// POST a status; the updated order comes back.
pub(super) fn status(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let fields = call.fields();
    engine::change(&call.world, store, call.id(0), |order| {
        let target = text(&fields, "status").map_err(Refusal::Invalid)?;
        rules::step_to(store, order, target, fields.get("data")).map_err(Refusal::Invalid)
    })?;
    routes::show_own(call, store)
}

/// PUT the notes, the whole text of them; the updated order comes back.
pub(super) fn notes(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let fields = call.fields();
    if store.orders().get(call.id(0)).is_none() {
        return Err(Refusal::NotFound);
    }
    let notes = match fields.get("notes") {
        Some(Value::Null) => None,
        Some(Value::String(notes)) => Some(notes.as_str()),
        Some(_) => return Err(invalid("notes", "deve ser um texto")),
        None => return Err(invalid("notes", "é obrigatório")),
    };
    set_notes(store, call.id(0), notes, call.now());
    routes::show_own(call, store)
}

/// Replaces the notes of an order; whether there is such an order.
pub(super) fn set_notes(store: &Store, number: &str, notes: Option<&str>, now: i64) -> bool {
    let mut book = store.orders_mut();
    let changed = engine::touch(store, &mut book, number, |order| {
        order.notes = notes.map(Into::into);
        order.touch(now);
        let text =
            if notes.is_some() { "Observação interna alterada" } else { "Observação interna removida" };
        order.life().timeline.push(Entry::of(now, EntryKind::Note, Author::Seller, text));
    });
    changed.is_some()
}

/// A field that has to be there and to be text.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, FieldErrors> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null | Value::String(_)) => {
            Err(FieldErrors::one(name, format!("O campo {name} é obrigatório.")))
        }
        Some(_) => Err(FieldErrors::one(name, format!("O campo {name} deve ser um texto."))),
    }
}

fn invalid(name: &'static str, problem: &str) -> Refusal {
    Refusal::Invalid(FieldErrors::one(name, format!("O campo {name} {problem}.")))
}

//! The price list routes. The document shows neither reading nor deleting.

use serde_json::{Map, Value};

use super::{Mode, PriceList};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    query::FieldErrors,
    route::{Access, Route},
};

const WRITE: Access = Access::Ability("store_products_write");

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::put("/api/seller/price-lists/settings", settings).access(WRITE),
    Route::post("/api/seller/price-lists", create).access(WRITE),
    Route::put("/api/seller/price-lists/{id}", update).access(WRITE),
];

const MAX_NAME: usize = 120;

/// What a column of integers holds.
const MAX_POSITION: u64 = 2_147_483_647;

/// The identifier of the store, which must have the feature.
fn store(call: &Call) -> Result<u64, Refusal> {
    let store = call.store()?;
    if store.features().iter().any(|feature| feature == "sales_force") {
        return Ok(store.id);
    }
    Err(Refusal::Feature("sales_force"))
}

/// PUT the switch.
fn settings(call: &Call) -> Result<Answer, Refusal> {
    let store = store(call)?;
    let mut errors = FieldErrors::new();
    let enabled = boolean(&call.fields(), "price_lists_enabled", true, &mut errors);
    let enabled = errors.or(enabled.unwrap_or_default())?;
    call.world.price_lists.lock().of(store).enabled = enabled;
    Ok(Answer::value(&serde_json::json!({"price_lists_enabled": enabled})))
}

/// POST a list, which is put behind the others.
fn create(call: &Call) -> Result<Answer, Refusal> {
    let (store, now) = (store(call)?, call.now());
    let (fields, mut errors) = (call.fields(), FieldErrors::new());
    let name = name(&fields, true, &mut errors);
    let mode = mode(&fields, true, &mut errors);
    let (name, mode) = errors.or(name.zip(mode))?.ok_or(Refusal::NotFound)?;
    let mut book = call.world.price_lists.lock();
    book.last += 1;
    let id = book.last;
    let lists = &mut book.of(store).lists;
    let position = lists.iter().map(|list| list.position + 1).max().unwrap_or(0);
    let list = PriceList { id, name, mode, position, is_active: true, created_at: now, updated_at: now };
    lists.push(list.clone());
    Ok(Answer::success(false, |json| list.write(json)).with_status(201))
}

/// PUT what changes about a list.
fn update(call: &Call) -> Result<Answer, Refusal> {
    let (store, now) = (store(call)?, call.now());
    let mut book = call.world.price_lists.lock();
    let id = call.id(0);
    let list = book.of(store).lists.iter_mut().find(|list| list.id.to_string() == id);
    let list = list.ok_or(Refusal::NotFound)?;
    let (fields, mut errors) = (call.object()?, FieldErrors::new());
    let name = name(&fields, false, &mut errors);
    let mode = mode(&fields, false, &mut errors);
    let position = position(&fields, &mut errors);
    let is_active = boolean(&fields, "is_active", false, &mut errors);
    errors.or(())?;
    list.name = name.unwrap_or_else(|| std::mem::take(&mut list.name));
    list.mode = mode.unwrap_or(list.mode);
    list.position = position.unwrap_or(list.position);
    list.is_active = is_active.unwrap_or(list.is_active);
    list.updated_at = now;
    Ok(Answer::success(false, |json| list.write(json)))
}

/// A field that is there, or must be.
fn field<'a>(
    fields: &'a Map<String, Value>,
    name: &'static str,
    required: bool,
    errors: &mut FieldErrors,
) -> Option<&'a Value> {
    let value = fields.get(name);
    if required && value.is_none_or(Value::is_null) {
        errors.add(name, format!("O campo {name} é obrigatório."));
        return None;
    }
    value
}

fn name(fields: &Map<String, Value>, required: bool, errors: &mut FieldErrors) -> Option<String> {
    let problem = match field(fields, "name", required, errors)? {
        Value::String(text) if text.trim().is_empty() => "é obrigatório".to_owned(),
        Value::String(text) if text.chars().count() > MAX_NAME => {
            format!("não pode ter mais de {MAX_NAME} caracteres")
        }
        Value::String(text) => return Some(text.clone()),
        _ => "deve ser um texto".to_owned(),
    };
    errors.add("name", format!("O campo name {problem}."));
    None
}

fn mode(fields: &Map<String, Value>, required: bool, errors: &mut FieldErrors) -> Option<Mode> {
    let mode = field(fields, "mode", required, errors)?.as_str().and_then(Mode::parse);
    if mode.is_none() {
        errors.add("mode", "O campo mode deve ser manual ou auto.");
    }
    mode
}

fn position(fields: &Map<String, Value>, errors: &mut FieldErrors) -> Option<u64> {
    let position = field(fields, "position", false, errors)?.as_u64().filter(|at| *at <= MAX_POSITION);
    if position.is_none() {
        let text = format!("O campo position deve ser um número inteiro de 0 a {MAX_POSITION}.");
        errors.add("position", text);
    }
    position
}

fn boolean(
    fields: &Map<String, Value>,
    name: &'static str,
    required: bool,
    errors: &mut FieldErrors,
) -> Option<bool> {
    let value = field(fields, name, required, errors)?.as_bool();
    if value.is_none() {
        errors.add(name, format!("O campo {name} deve ser verdadeiro ou falso."));
    }
    value
}

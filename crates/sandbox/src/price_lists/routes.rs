//! The price list routes. The document shows neither reading nor deleting.

use serde_json::Value;

use super::{Mode, PriceList};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
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

/// The largest position.
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
    let fields = request_body::fields(&call.body);
    let (reader, mut errors) = (Reader::new(&fields), FieldErrors::new());
    let enabled = match reader.require_value("price_lists_enabled", &mut errors) {
        true => reader.boolean("price_lists_enabled", &mut errors),
        false => None,
    };
    let enabled = errors.or(enabled.unwrap_or_default())?;
    call.world.price_lists.lock().of(store).enabled = enabled;
    Ok(Answer::value(&serde_json::json!({"price_lists_enabled": enabled})))
}

/// POST a list, which is put behind the others.
fn create(call: &Call) -> Result<Answer, Refusal> {
    let (store, now) = (store(call)?, call.now());
    let fields = request_body::fields(&call.body);
    let (reader, mut errors) = (Reader::new(&fields), FieldErrors::new());
    let has_name = reader.require_value("name", &mut errors);
    let name = if has_name { name(&reader, &mut errors) } else { None };
    let has_mode = reader.require_value("mode", &mut errors);
    let mode = if has_mode { mode(&reader, &mut errors) } else { None };
    let (name, mode) = errors.or(name.zip(mode))?.ok_or(Refusal::NotFound)?;
    let mut state = call.world.price_lists.lock();
    state.last += 1;
    let id = state.last;
    let lists = &mut state.of(store).lists;
    let position = lists.iter().map(|list| list.position + 1).max().unwrap_or(0);
    let list = PriceList { id, name, mode, position, is_active: true, created_at: now, updated_at: now };
    lists.push(list.clone());
    Ok(Answer::success(false, |json| list.write(json)).with_status(201))
}

/// PUT what changes about a list.
fn update(call: &Call) -> Result<Answer, Refusal> {
    let (store, now) = (store(call)?, call.now());
    let mut state = call.world.price_lists.lock();
    let id = call.id(0);
    let list = state.of(store).lists.iter_mut().find(|list| list.id.to_string() == id);
    let list = list.ok_or(Refusal::NotFound)?;
    let fields = request_body::object_or(&call.body, "O corpo deve ser um objeto JSON.")?;
    let (reader, mut errors) = (Reader::new(&fields), FieldErrors::new());
    let name = name(&reader, &mut errors);
    let mode = mode(&reader, &mut errors);
    let position = position(&reader, &mut errors);
    let is_active = reader.boolean("is_active", &mut errors);
    errors.or(())?;
    list.name = name.unwrap_or_else(|| std::mem::take(&mut list.name));
    list.mode = mode.unwrap_or(list.mode);
    list.position = position.unwrap_or(list.position);
    list.is_active = is_active.unwrap_or(list.is_active);
    list.updated_at = now;
    Ok(Answer::success(false, |json| list.write(json)))
}

fn name(reader: &Reader<'_>, errors: &mut FieldErrors) -> Option<String> {
    if let Some(Value::String(text)) = reader.value("name")
        && text.trim().is_empty()
    {
        reader.note("name", "é obrigatório", errors);
        return None;
    }
    reader.any_text("name", MAX_NAME, errors).map(str::to_owned)
}

fn mode(reader: &Reader<'_>, errors: &mut FieldErrors) -> Option<Mode> {
    let mode = reader.value("mode")?.as_str().and_then(Mode::parse);
    if mode.is_none() {
        reader.note("mode", "deve ser manual ou auto", errors);
    }
    mode
}

fn position(reader: &Reader<'_>, errors: &mut FieldErrors) -> Option<u64> {
    let position = reader.value("position")?.as_u64().filter(|at| *at <= MAX_POSITION);
    if position.is_none() {
        let problem = format!("deve ser um número inteiro de 0 a {MAX_POSITION}");
        reader.note("position", &problem, errors);
    }
    position
}

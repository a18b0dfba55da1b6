//! The routes that change one order: status and notes.

use serde_json::Value;

use super::{rules, service, show};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
};

/// POST a status; the updated order comes back.
pub(super) fn status(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let fields = request_body::fields(&call.body);
    service::change(&call.world, store, call.id(0), |order| {
        let mut errors = FieldErrors::new();
        let target = Reader::new(&fields).required_text("status", &mut errors);
        let target = errors.or(target.unwrap_or_default())?;
        rules::step_to(&mut store.shipments(), order, target, fields.get("data")).map_err(Refusal::Invalid)
    })?;
    show::show_own(call, store)
}

/// PUT the notes, the whole text of them; the updated order comes back.
pub(super) fn notes(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let fields = request_body::fields(&call.body);
    if store.orders().get(call.id(0)).is_none() {
        return Err(Refusal::NotFound);
    }
    let (reader, mut errors) = (Reader::new(&fields), FieldErrors::new());
    let notes = match reader.value("notes") {
        Some(Value::String(notes)) => Some(notes.as_str()),
        Some(Value::Null) => None,
        Some(_) => {
            reader.note("notes", "deve ser um texto", &mut errors);
            None
        }
        None => {
            reader.require(&["notes"], &mut errors);
            None
        }
    };
    errors.or(())?;
    service::set_notes(store, call.id(0), notes, call.now());
    show::show_own(call, store)
}

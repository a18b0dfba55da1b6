//! GET one order.

use super::{detail, shown::shown_orders, visibility};
use crate::{answer::Answer, call::Call, refusal::Refusal, store::Store};

/// GET one order.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    show_own(call, visibility::readable(call)?)
}

/// The order of a call, which is one of this store.
pub(super) fn show_own(call: &Call, store: &Store) -> Result<Answer, Refusal> {
    let options = call.options();
    let orders = shown_orders(store);
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
    let catalogue = store.catalogue();
    Ok(Answer::success(options.numbers_as_strings, |json| match &order.raw {
        Some(raw) => json.raw(&raw.detail),
        None => detail::write(json, order, store, &catalogue),
    }))
}

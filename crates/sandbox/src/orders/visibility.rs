//! Visibility: a token reads the orders of its store and, with the ability for it, those of the sub-stores.

use crate::{call::Call, refusal::Refusal, store::Store};

/// The ability of a parent store to read orders of its sub-stores ("Authentication" of the document).
const ABILITY: &str = "store_orders_substores";

/// The store whose order a call reads; an order that is not visible is not found.
pub(crate) fn readable(call: &Call) -> Result<&Store, Refusal> {
    let own = call.store()?;
    let has = |store: &Store| store.orders().get(call.id(0)).is_some();
    if has(own) {
        return Ok(own);
    }
    if !call.may(ABILITY) {
        return Err(Refusal::NotFound);
    }
    let mut children = call.world.stores.iter().filter(|store| store.parent() == Some(own.id));
    children.find(|store| has(store)).ok_or(Refusal::NotFound)
}

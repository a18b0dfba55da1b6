//! Whose orders a token reads: its store's, and those of the sub-stores where it has the ability for it.

use crate::{answer::Refusal, call::Call, store::Store};

/// What lets a parent store read orders of its sub-stores ("Authentication" of the document).
const ABILITY: &str = "store_orders_substores";

/// The store whose order a call reads; an order out of reach is as good as none.
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

//! Refuses more stores than PostgreSQL's lock table can take: where it is full, the ERP's sessions fail too.

use espelho_model::{text, text::Text};
use espelho_store::{Error, Store};
use espelho_sync_engine::{Problem, Trouble, plan::lock_table::missing_locks};

/// Refuses to work on so many stores where the lock table is too small.
pub(crate) async fn require(store: &Store, stores: usize) -> Result<(), Problem> {
    match shortage(store, stores).await? {
        None => Ok(()),
        Some(text) => Err(Problem::of(Trouble::Configuration, "lock_table", text)),
    }
}

/// Returns what the lock table lacks for so many stores, if it is too small. Services of other machines hold some of
/// them, in the same table.
pub(crate) async fn shortage(store: &Store, stores: usize) -> Result<Option<Text>, Error> {
    let Some(table) = store.leases().lock_table().await? else { return Ok(None) };
    let stores = u64::try_from(stores).unwrap_or(u64::MAX);
    Ok(missing_locks(table, stores).map(|needed| {
        let (found, needed) = (table.locks_per_transaction.to_string(), needed.to_string());
        text!("run-lock-table", stores = stores, found = found, needed = needed)
    }))
}

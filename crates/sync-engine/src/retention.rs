//! Deletes old records: handled deliveries, settled effects, acknowledged rows of the change feed.

use espelho_store::{Error, Prunable, Store};

use crate::plan::retention::Cutoffs;

/// Old records, by table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldRecords {
    /// `webhook_inbox`.
    pub deliveries: Prunable,
    /// `effects`.
    pub effects: Prunable,
    /// `changes`.
    pub changes: Prunable,
}

/// The numbers of deleted rows, by table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// `webhook_inbox`.
    pub deliveries: u64,
    /// `effects`.
    pub effects: u64,
    /// `changes`.
    pub changes: u64,
}

/// Counts the records that [`delete_old`] would delete.
///
/// # Errors
/// When the database does not answer.
pub async fn count_old(store: &Store, cutoffs: &Cutoffs) -> Result<OldRecords, Error> {
    let changes = match cutoffs.changes {
        Some(before) => store.changes().prunable_changes(before).await?,
        None => Prunable::default(),
    };
    Ok(OldRecords {
        deliveries: store.inbox().prunable_deliveries(cutoffs.deliveries).await?,
        effects: store.journal().prunable_effects(cutoffs.effects).await?,
        changes,
    })
}

/// Deletes old records. A table that cannot be pruned does not keep the others.
///
/// # Errors
/// When the database does not answer; what was deleted until then stays deleted.
pub async fn delete_old(store: &Store, cutoffs: &Cutoffs) -> Result<Deleted, Error> {
    let deliveries = store.inbox().prune_inbox(cutoffs.deliveries).await;
    let effects = store.journal().prune_effects(cutoffs.effects).await;
    let changes = match cutoffs.changes {
        Some(before) => store.changes().prune_changes(before).await,
        None => Ok(0),
    };
    Ok(Deleted { deliveries: deliveries?, effects: effects?, changes: changes? })
}

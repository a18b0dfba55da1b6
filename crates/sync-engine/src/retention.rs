//! Deletes old records, and blanks old objects and texts: what `plan::retention` finds old enough.

use espelho_model::StoreKey;
use espelho_store::{Error, Prunable, Store};

use crate::plan::retention::{Cutoffs, Retention};

/// Returns the service's cutoffs at this moment.
///
/// # Errors
/// When the database does not answer.
pub async fn cutoffs_of_service(
    store: &Store,
    retention: &Retention,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<Cutoffs, Error> {
    let has_consumers = retention.changes.is_some() && !store.changes().consumers().await?.is_empty();
    Ok(Cutoffs::of_service(retention, has_consumers, now))
}

/// Old records, by table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldRecords {
    /// `webhook_inbox`.
    pub deliveries: Prunable,
    /// `effects`.
    pub effects: Prunable,
    /// `changes`.
    pub changes: Prunable,
    /// `sync_runs`.
    pub runs: Prunable,
    /// `commands`.
    pub commands: Prunable,
    /// `conversation_messages`, `conversations` and `occurrences`, whose texts and objects are blanked.
    pub messages: Prunable,
    /// `orders` whose objects are blanked.
    pub raw: Prunable,
}

/// The numbers of rows that were deleted or blanked, by table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// `webhook_inbox`.
    pub deliveries: u64,
    /// `effects`.
    pub effects: u64,
    /// `changes`.
    pub changes: u64,
    /// `sync_runs`.
    pub runs: u64,
    /// `commands`.
    pub commands: u64,
    /// `conversation_messages`, `conversations` and `occurrences`.
    pub messages: u64,
    /// `orders`.
    pub raw: u64,
}

/// Counts the records that [`delete_old`] and [`blank_old`] would delete and blank.
///
/// # Errors
/// When the database does not answer.
pub async fn count_old(store: &Store, stores: &[StoreKey], cutoffs: &Cutoffs) -> Result<OldRecords, Error> {
    let mut old = OldRecords {
        deliveries: store.inbox().prunable_deliveries(cutoffs.deliveries).await?,
        effects: store.journal().prunable_effects(cutoffs.effects).await?,
        ..OldRecords::default()
    };
    if let Some(before) = cutoffs.changes {
        old.changes = store.changes().prunable_changes(before).await?;
    }
    if let Some(before) = cutoffs.runs {
        old.runs = store.runs().prunable_runs(before).await?;
    }
    if let Some(before) = cutoffs.commands {
        old.commands = store.commands().prunable_commands(before).await?;
    }
    for key in stores {
        if let Some(before) = cutoffs.messages {
            old.messages += store.mirror().old_messages(key, before).await?;
        }
        if let Some(before) = cutoffs.raw {
            old.raw += store.mirror().old_objects(key, before).await?;
        }
    }
    Ok(old)
}

/// Deletes old records of all stores. A table that cannot be pruned does not keep the others.
///
/// # Errors
/// When the database does not answer; what was deleted until then stays deleted.
pub async fn delete_old(store: &Store, cutoffs: &Cutoffs) -> Result<Deleted, Error> {
    let deliveries = store.inbox().prune_inbox(cutoffs.deliveries).await;
    let malformed = store.mirror().prune_malformed_deliveries(cutoffs.deliveries).await;
    let effects = store.journal().prune_effects(cutoffs.effects).await;
    let changes = match cutoffs.changes {
        Some(before) => store.changes().prune_changes(before).await,
        None => Ok(0),
    };
    let runs = match cutoffs.runs {
        Some(before) => store.runs().prune_runs(before).await,
        None => Ok(0),
    };
    let commands = match cutoffs.commands {
        Some(before) => store.commands().prune_commands(before).await,
        None => Ok(0),
    };
    malformed?;
    Ok(Deleted {
        deliveries: deliveries?,
        effects: effects?,
        changes: changes?,
        runs: runs?,
        commands: commands?,
        ..Deleted::default()
    })
}

/// Blanks a store's old messages, and the objects of its orders that are long finished; returns how many of each. The
/// rows stay, with the fingerprints of what was received, so that no later reading writes them again.
///
/// # Errors
/// When the database does not answer; what was blanked until then stays blank.
pub async fn blank_old(store: &Store, key: &StoreKey, cutoffs: &Cutoffs) -> Result<(u64, u64), Error> {
    let messages = match cutoffs.messages {
        Some(before) => store.mirror().blank_messages(key, before).await?,
        None => 0,
    };
    let raw = match cutoffs.raw {
        Some(before) => store.mirror().blank_objects(key, before).await?,
        None => 0,
    };
    Ok((messages, raw))
}

//! Has kept deliveries handled again: the command and the page do it in the same way. The service finds them by itself.

use espelho_model::StoreKey;
use espelho_store::{DeliveryRow, DeliverySelection, Error, Store};

/// Deliveries that are named one by one; the table has all of them.
const LISTED: usize = 1_000;

/// The result of a replay.
#[derive(Default)]
pub(crate) struct Replay {
    /// The number of deliveries that match.
    pub(crate) matching: u64,
    /// The number of those that wait already.
    pub(crate) waiting: u64,
    /// The number of those that were opened again.
    pub(crate) replayed: u64,
    /// The first of them.
    pub(crate) first: Vec<DeliveryRow>,
}

/// Opens the selected deliveries of these stores again; a dry run only counts them.
pub(crate) async fn replay(
    store: &Store,
    stores: &[StoreKey],
    selection: &DeliverySelection,
    is_dry_run: bool,
) -> Result<Replay, Error> {
    let (inbox, mut done) = (store.inbox(), Replay::default());
    for store in stores {
        let mut after = 0;
        loop {
            let found = inbox.deliveries(store, selection, after).await?;
            let Some(last) = found.last() else { break };
            after = last.id;
            let handled: Vec<i64> =
                found.iter().filter(|row| row.handled_at.is_some()).map(|row| row.id).collect();
            done.matching += found.len() as u64;
            done.waiting += (found.len() - handled.len()) as u64;
            if !is_dry_run {
                done.replayed += inbox.replay(store, handled).await?;
            }
            done.first.extend(found);
            done.first.truncate(LISTED);
        }
    }
    Ok(done)
}

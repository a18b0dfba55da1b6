//! Sweeps all orders that may still change, and those that the mirror has as open and the marketplace no longer lists
//! as open: they have changed.

use std::collections::HashSet;

use espelho_model::sync::Resource;
use espelho_store::Subresource;

use super::{changed_rows::ChangedRows, order_listing::OrderListing};
use crate::{
    Error, StoreContext,
    live::{refresh_queue::RefreshQueue, signals::Signals},
    plan::refresh_request::{Entity, RefreshRequest},
    plan::{
        last_page::is_last_page,
        open_orders::{closed_orders, open_statuses},
    },
};

/// Pages of the listing: more than any store has, so that an endless listing ends here.
const MOST_PAGES: u64 = 1_000;
/// Open orders of the mirror that are looked up at once.
const LOOKED_UP_AT_ONCE: u32 = 1_000;
/// Orders no longer listed as open that are read again in one sweep.
const CLOSED_AT_ONCE: usize = 200;

/// Queues open orders that changed; returns how many requests the listing took.
pub(super) async fn sweep_open_orders(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    signals: &Signals,
    changed: &ChangedRows<'_>,
) -> Result<u64, Error> {
    if !signals.is_mirrored() {
        return Ok(0);
    }
    let mut orders = OrderListing::new(context, "created_at", &open_statuses());
    let mut seen = HashSet::new();
    for page in 1..=MOST_PAGES {
        let listing = orders.page(page).await?;
        let (rows, before) = (listing.rows.len(), seen.len());
        seen.extend(listing.rows.iter().map(|row| row.key.clone()));
        changed.queue(Resource::Orders, listing.rows).await?;
        if is_last_page(page, rows, &listing.meta) {
            queue_closed_orders(context, queue, &seen).await?;
            break;
        }
        if seen.len() == before || context.stop.is_cancelled() {
            break;
        }
    }
    Ok(orders.requests())
}

async fn queue_closed_orders(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    listed: &HashSet<String>,
) -> Result<(), Error> {
    let (mut closed, mut after) = (Vec::new(), String::new());
    while closed.len() < CLOSED_AT_ONCE {
        let orders = context.store.staleness().open_orders(&context.key, &after, LOOKED_UP_AT_ONCE).await?;
        let is_end = orders.len() < LOOKED_UP_AT_ONCE as usize;
        if let Some(last) = orders.last() {
            last.number.as_str().clone_into(&mut after);
        }
        closed.extend(closed_orders(orders, listed));
        if is_end {
            break;
        }
    }
    closed.truncate(CLOSED_AT_ONCE);
    let request = || RefreshRequest::found([Subresource::Order]);
    queue.push_swept(closed.into_iter().map(|number| (Entity::Order(number), request())));
    Ok(())
}

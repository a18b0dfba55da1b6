//! Sweeps sub-resources of orders that the mirror lacks, or has from before the order changed.

use std::collections::BTreeSet;

use espelho_model::OrderNumber;
use espelho_store::{Error as StoreError, Subresource};

use crate::{
    Error, StoreContext,
    live::refresh_queue::RefreshQueue,
    plan::refresh_request::{Entity, RefreshRequest},
    plan::schedule::Intervals,
    plan::{load::SHIPPED_AT_ONCE, subresource_shares::Shares},
};

/// Sub-resources queued in one sweep.
const AT_ONCE: u32 = 100;
/// The sub-resources to sweep; shipments come before tracking, which is written onto them.
const SUBRESOURCES: [Subresource; 5] = [
    Subresource::Shipments,
    Subresource::Tracking,
    Subresource::Events,
    Subresource::Invoices,
    Subresource::Financial,
];

/// Queues sub-resources of orders: first of orders that have changed, then those that were never read.
pub(super) async fn sweep_subresources(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    intervals: &Intervals,
) -> Result<(), Error> {
    if queue.is_crowded() {
        return Ok(());
    }
    let (store, key) = (&context.store, &context.key);
    let mut shares = Shares::of(AT_ONCE, SUBRESOURCES.len());
    for subresource in SUBRESOURCES {
        let orders =
            store.staleness().orders_with_stale_subresource(key, subresource, "", shares.left()).await;
        shares.take(queue_orders(queue, orders, [subresource])?);
    }
    for subresource in SUBRESOURCES {
        let orders = store.staleness().orders_missing_subresource(key, subresource, "", shares.even()).await;
        shares.take(queue_orders(queue, orders, [subresource])?);
    }
    sweep_aged_shipments(context, queue, intervals).await
}

/// Queues the shipments of open orders, the least recently read first: they move, and their labels are printed, without
/// a change of the order, and the delivery that reports it may be lost.
async fn sweep_aged_shipments(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    intervals: &Intervals,
) -> Result<(), Error> {
    let now = context.clock.now();
    let before = now - intervals.subresources.period(now);
    let staleness = context.store.staleness();
    let orders = staleness
        .open_orders_by_subresource_age(&context.key, Subresource::Shipments, before, SHIPPED_AT_ONCE)
        .await;
    queue_orders(queue, orders, [Subresource::Shipments, Subresource::Tracking]).map(drop)
}

/// Queues sub-resources of some orders; returns of how many.
fn queue_orders(
    queue: &RefreshQueue<'_>,
    orders: Result<Vec<OrderNumber>, StoreError>,
    subresources: impl Into<BTreeSet<Subresource>>,
) -> Result<usize, Error> {
    let orders = orders?;
    let (count, request) = (orders.len(), RefreshRequest::swept(subresources));
    queue.push_swept(orders.into_iter().map(|number| (Entity::Order(number), request.clone())));
    Ok(count)
}

//! Sweeps products of changed orders: a sale reserves stock, and no event reports it.

use crate::{
    live::{refresh_queue::RefreshQueue, signals::Signals, sold_products::SoldProducts},
    plan::load::SOLD_AT_ONCE,
    plan::refresh_request::{Entity, RefreshRequest},
};

/// Queues products of changed orders.
pub(super) fn sweep_sold_products(queue: &RefreshQueue<'_>, signals: &Signals, sold: &SoldProducts<'_>) {
    if !signals.is_mirrored() || queue.is_crowded() {
        return;
    }
    let sold = sold.take(SOLD_AT_ONCE);
    queue.push_swept(sold.into_iter().map(|id| (Entity::Product(id), RefreshRequest::default())));
}

//! Sweeps orders by their age: their listing does not show everything that can change, and no other sweep lists a
//! closed order. Orders that the marketplace denies are checked again with them.

use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::{Rescheduling, Subresource};

use crate::{
    Error, StoreContext,
    live::{refresh_queue::RefreshQueue, signals::Signals},
    plan::refresh_request::{Entity, RefreshRequest},
    plan::{
        aged_orders::{retry, schedule},
        load::AGED_AT_ONCE,
        missing::EVERY,
    },
};

/// Orders scheduled at once: more than a minute's budget reads.
const SCHEDULED_AT_ONCE: u32 = 1_000;
/// Missing orders checked at once.
const MISSING_AT_ONCE: u32 = 50;

/// Queues orders with all their sub-resources, by age.
pub(super) async fn sweep_aged_orders(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    signals: &Signals,
) -> Result<(), Error> {
    sweep_missing_orders(context, queue).await?;
    let (staleness, key) = (context.store.staleness(), &context.key);
    let unscheduled = staleness.unscheduled_orders(key, SCHEDULED_AT_ONCE).await?;
    keep(context, unscheduled.into_iter().map(schedule).collect()).await?;
    if !signals.is_mirrored() || queue.is_crowded() {
        return Ok(());
    }
    let aged = staleness.due_orders(key, AGED_AT_ONCE).await?;
    let now = context.clock.now();
    keep(context, aged.iter().map(|order| retry(order, now)).collect()).await?;
    let request = || RefreshRequest::swept(Subresource::ALL);
    queue.push_swept(aged.into_iter().map(|order| (Entity::Order(order.number), request())));
    Ok(())
}

async fn keep(context: &StoreContext, orders: Vec<Rescheduling>) -> Result<(), Error> {
    if orders.is_empty() {
        return Ok(());
    }
    // A page beside this one locks the same rows in another order.
    let _writing = context.writing.lock().await;
    let mut tx = context.store.begin(&context.lease).await?;
    tx.staleness().schedule_orders(orders).await?;
    tx.commit().await?;
    Ok(())
}

/// Queues the missing orders whose next denial would count.
async fn sweep_missing_orders(context: &StoreContext, queue: &RefreshQueue<'_>) -> Result<(), Error> {
    let until = context.clock.now() - EVERY;
    let mirror = context.store.mirror();
    let due = mirror.missing_until(&context.key, Resource::Orders, until, MISSING_AT_ONCE).await;
    let due = due?;
    let request = || RefreshRequest::swept([Subresource::Order]);
    queue.push_swept(due.into_iter().map(|key| (Entity::Order(OrderNumber::new(key)), request())));
    Ok(())
}

//! Sweeps orders by their age: their listing does not show everything that can change, and no other sweep lists a
//! closed order. Orders that the marketplace denies are checked again with them.

use chrono::TimeDelta;
use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::{Paces, Subresource};

use crate::{
    Error, StoreContext,
    live::{refresh_queue::RefreshQueue, signals::Signals},
    plan::refresh_request::{Entity, RefreshRequest},
    plan::{load::AGED_AT_ONCE, missing::EVERY},
};

/// Open orders, and those changed in the last week, are read again each day, those of a month each week, the rest each
/// month.
const PACES: Paces = Paces {
    young: (TimeDelta::days(7), TimeDelta::days(1)),
    middle: (TimeDelta::days(30), TimeDelta::days(7)),
    old: TimeDelta::days(30),
};
/// Missing orders checked at once.
const MISSING_AT_ONCE: u32 = 50;

/// Queues orders with all their sub-resources, by age.
pub(super) async fn sweep_aged_orders(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    signals: &Signals,
) -> Result<(), Error> {
    sweep_missing_orders(context, queue).await?;
    if !signals.is_mirrored() || queue.is_crowded() {
        return Ok(());
    }
    let aged = context.store.staleness().aged_orders(&context.key, &PACES, AGED_AT_ONCE).await;
    let aged = aged?;
    let request = || RefreshRequest::swept(Subresource::ALL);
    queue.push_swept(aged.into_iter().map(|number| (Entity::Order(number), request())));
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

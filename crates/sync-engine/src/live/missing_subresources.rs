//! Sweeps sub-resources of orders that the mirror lacks, or has from before the order changed.

use std::collections::BTreeSet;

use espelho_model::OrderNumber;
use espelho_store::{Error as StoreError, Subresource};

use super::{
    Live,
    refresh_request::{Entity, RefreshRequest},
};
use crate::{Problem, plan::load::SHIPPED_AT_ONCE};

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

impl Live<'_> {
    /// Queues sub-resources of orders: first of orders that have changed, then those that were never read.
    pub(super) async fn sweep_subresources(&self) -> Result<(), Problem> {
        if self.is_crowded() {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let mut left = AT_ONCE;
        for subresource in SUBRESOURCES {
            let orders = store.staleness().orders_with_stale_subresource(key, subresource, "", left).await;
            left = self.queue_subresource(subresource, orders, left)?;
        }
        for subresource in SUBRESOURCES {
            // Evenly, so that one sub-resource of a hundred thousand orders does not keep the others waiting.
            let share = left.min(AT_ONCE / SUBRESOURCES.len() as u32);
            let orders = store.staleness().orders_missing_subresource(key, subresource, "", share).await;
            left -= share - self.queue_subresource(subresource, orders, share)?;
        }
        self.sweep_aged_shipments().await
    }

    /// Queues the shipments of open orders, the least recently read first: they move, and their labels are printed,
    /// without a change of the order, and the delivery that reports it may be lost.
    async fn sweep_aged_shipments(&self) -> Result<(), Problem> {
        let now = self.context.clock.now();
        let before = now - self.options.intervals.subresources.period(now);
        let (store, key) = (&self.context.store, &self.context.key);
        let orders = store
            .staleness()
            .open_orders_by_subresource_age(key, Subresource::Shipments, before, SHIPPED_AT_ONCE)
            .await;
        let orders = orders.map_err(|e| Problem::from_store(&e))?;
        let request = || RefreshRequest {
            subresources: BTreeSet::from([Subresource::Shipments, Subresource::Tracking]),
            ..RefreshRequest::default()
        };
        self.push_swept(orders.into_iter().map(|number| (Entity::Order(number), request())));
        Ok(())
    }

    /// Queues a sub-resource of some orders; returns what is left of `most`.
    fn queue_subresource(
        &self,
        subresource: Subresource,
        orders: Result<Vec<OrderNumber>, StoreError>,
        most: u32,
    ) -> Result<u32, Problem> {
        let orders = orders.map_err(|e| Problem::from_store(&e))?;
        let queued = u32::try_from(orders.len()).unwrap_or(most);
        let request =
            || RefreshRequest { subresources: BTreeSet::from([subresource]), ..RefreshRequest::default() };
        self.push_swept(orders.into_iter().map(|number| (Entity::Order(number), request())));
        Ok(most.saturating_sub(queued))
    }
}

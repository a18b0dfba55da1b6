//! Sides of orders that the mirror lacks, or has from before the order changed.

use std::collections::BTreeSet;

use espelho_model::OrderNumber;
use espelho_store::{Error as StoreError, Part};

use super::{
    Live,
    want::{Entity, Want},
};
use crate::{Problem, plan::load::SHIPPED_AT_ONCE};

/// Sides that are queued in one look.
const AT_ONCE: u32 = 100;
/// The sides that are swept for; shipments before their way, which is written onto them.
const SIDES: [Part; 5] = [Part::Shipments, Part::Tracking, Part::Events, Part::Invoices, Part::Financial];

impl Live<'_> {
    /// Queues sides of orders: of those that have changed first, then those that were never read.
    pub(super) async fn look_at_parts(&self) -> Result<(), Problem> {
        if self.is_crowded() {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let mut left = AT_ONCE;
        for part in SIDES {
            let orders = store.orders_with_old_part(key, part, "", left).await;
            left = self.queue_part(part, orders, left)?;
        }
        for part in SIDES {
            // Evenly, so that one side of a hundred thousand orders does not keep the others waiting.
            let share = left.min(AT_ONCE / SIDES.len() as u32);
            let orders = store.orders_without_part(key, part, "", share).await;
            left -= share - self.queue_part(part, orders, share)?;
        }
        self.look_at_aged_shipments().await
    }

    /// Queues the shipments of open orders, those that were not read for longest: they move, and their labels are printed,
    /// without a change of the order, and a delivery that told of it may be lost.
    async fn look_at_aged_shipments(&self) -> Result<(), Problem> {
        let now = self.context.clock.now();
        let before = now - self.options.intervals.parts.period(now);
        let (store, key) = (&self.context.store, &self.context.key);
        let orders = store.open_orders_by_part_age(key, Part::Shipments, before, SHIPPED_AT_ONCE).await;
        let orders = orders.map_err(|e| Problem::from_store(&e))?;
        let want = || Want { parts: BTreeSet::from([Part::Shipments, Part::Tracking]), ..Want::default() };
        self.push_swept(orders.into_iter().map(|number| (Entity::Order(number), want())));
        Ok(())
    }

    /// Queues a side of some orders; what is left of `most`.
    fn queue_part(
        &self,
        part: Part,
        orders: Result<Vec<OrderNumber>, StoreError>,
        most: u32,
    ) -> Result<u32, Problem> {
        let orders = orders.map_err(|e| Problem::from_store(&e))?;
        let queued = u32::try_from(orders.len()).unwrap_or(most);
        let want = || Want { parts: BTreeSet::from([part]), ..Want::default() };
        self.push_swept(orders.into_iter().map(|number| (Entity::Order(number), want())));
        Ok(most.saturating_sub(queued))
    }
}

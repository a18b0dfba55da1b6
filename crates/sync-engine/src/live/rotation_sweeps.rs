//! Rotation sweeps: orders by age, and products that were sold.

use chrono::TimeDelta;
use espelho_store::{Paces, Subresource};

use super::{
    Live,
    refresh_request::{Entity, RefreshRequest},
};
use crate::{
    Problem,
    plan::load::{AGED_AT_ONCE, SOLD_AT_ONCE},
};

/// Open orders, and those changed in the last week, are read again each day, those of a month each week, the rest each
/// month.
const PACES: Paces = Paces {
    young: (TimeDelta::days(7), TimeDelta::days(1)),
    middle: (TimeDelta::days(30), TimeDelta::days(7)),
    old: TimeDelta::days(30),
};

impl Live<'_> {
    /// Reads orders with all their sub-resources again, by age: their listing does not show everything that can change,
    /// and no other sweep lists a closed order.
    pub(super) async fn sweep_aged_orders(&self) -> Result<(), Problem> {
        self.sweep_missing_orders().await?;
        if !self.known().mirrored || self.is_crowded() {
            return Ok(());
        }
        let aged = self.context.store.staleness().aged_orders(&self.context.key, &PACES, AGED_AT_ONCE).await;
        let aged = aged.map_err(|e| Problem::from_store(&e))?;
        let request =
            || RefreshRequest { subresources: Subresource::ALL.into(), ..RefreshRequest::default() };
        self.push_swept(aged.into_iter().map(|number| (Entity::Order(number), request())));
        Ok(())
    }

    /// Reads products of changed orders: a sale reserves stock, and no event reports it.
    pub(super) async fn sweep_sold_products(&self) -> Result<(), Problem> {
        if !self.known().mirrored || self.is_crowded() {
            return Ok(());
        }
        let sold = self.take_sold(SOLD_AT_ONCE);
        self.push_swept(sold.into_iter().map(|id| (Entity::Product(id), RefreshRequest::default())));
        Ok(())
    }
}

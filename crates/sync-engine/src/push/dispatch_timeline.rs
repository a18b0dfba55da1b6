//! Reads what left a shelf at dispatch around an effect of ours; `plan::push::dispatches` places each dispatch.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use espelho_api_client::resources::orders::OrderQuery;
use espelho_model::{OrderNumber, Sku};
use espelho_store::Effect;
use rust_decimal::Decimal;

use super::{Pusher, cause::Cause};
use crate::plan::{
    push::dispatches::{BLUR, Placed, ReadingWindow, add, dispatched, dispatches, own_dispatch, place},
    stock_balance::Sold,
};

/// Orders that are read as evidence, at most.
const MOST_ORDERS: usize = 60;
/// Orders on a page of the listing.
const PAGE: u32 = 100;

impl Pusher<'_> {
    /// Whether a transition of ours is under way that takes some of a SKU off the shelf.
    pub(super) async fn is_dispatching(&self, sku: &Sku) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.journal().open_effects(key).await?.iter().filter(|effect| may_dispatch(effect)) {
            if self.is_of_order(effect, sku).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same, of orders that are known to have the SKU.
    pub(super) async fn is_dispatching_known(&self, sku: &Sku) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.journal().open_effects(key).await?.iter().filter(|effect| may_dispatch(effect)) {
            let number = effect.key.strip_prefix("order/").unwrap_or_default();
            if store.lookups().skus_of_order(key, number).await?.iter().any(|own| own == sku.as_str()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a transition of ours that takes some of a SKU off the shelf was begun after another effect.
    pub(super) async fn has_dispatched_since(&self, sku: &Sku, mark: i64) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in
            store.journal().effects_after(key, mark).await?.iter().filter(|effect| may_dispatch(effect))
        {
            if self.is_of_order(effect, sku).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an effect is about an order that has a SKU, as far as anybody can tell.
    async fn is_of_order(&self, effect: &Effect, sku: &Sku) -> Result<bool, Cause> {
        let number = effect.key.strip_prefix("order/").unwrap_or_default();
        let skus = self.context.store.lookups().skus_of_order(&self.context.key, number).await?;
        Ok(skus.is_empty() || skus.iter().any(|own| own == sku.as_str()))
    }

    /// What of a SKU left the shelf since an effect was written down; `None` where too many orders may have to do with it.
    pub(super) async fn sold_since(&self, sku: &Sku, window: ReadingWindow) -> Result<Option<Sold>, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        // The listing first: what the mirror hears of meanwhile is then in one of the two at least.
        let Some(unknown) = self.unknown_orders(window.from).await? else { return Ok(None) };
        let known = store.lookups().orders_with_sku(key, sku, window.from - BLUR).await?;
        let orders: BTreeSet<OrderNumber> = unknown.into_iter().chain(known).collect();
        if orders.len() > MOST_ORDERS {
            return Ok(None);
        }
        let mut sold = Sold::default();
        for number in orders {
            let Some((quantity, placed)) = self.dispatch_of(&number, sku, window).await? else { continue };
            add(&mut sold, quantity, placed);
        }
        Ok(Some(sold))
    }

    /// Orders that were placed since about then and that the mirror has not heard of; `None` where there are more than a page.
    async fn unknown_orders(&self, from: DateTime<Utc>) -> Result<Option<Vec<OrderNumber>>, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        // Whatever day it is over there.
        let day: NaiveDate = (from - TimeDelta::days(1)).date_naive();
        let query = OrderQuery {
            date_from: Some(day),
            sort: Some("-created_at".to_owned()),
            limit: Some(PAGE),
            page: 1,
            page_parameter: self.context.page_parameter.clone(),
            ..OrderQuery::default()
        };
        let page = self.client.list_orders(&query).await?;
        let mut unknown = Vec::new();
        for row in &page.rows {
            if store.lookups().skus_of_order(key, &row.key).await?.is_empty() {
                unknown.push(OrderNumber::new(row.key.clone()));
            }
        }
        let last_is_unknown =
            page.rows.last().is_some_and(|row| unknown.iter().any(|number| number.as_str() == row.key));
        let is_cut = last_is_unknown && page.rows.len() >= PAGE as usize;
        Ok((!is_cut).then_some(unknown))
    }

    /// How much of a SKU an order took off the shelf, and where that lies.
    async fn dispatch_of(
        &self,
        number: &OrderNumber,
        sku: &Sku,
        window: ReadingWindow,
    ) -> Result<Option<(Decimal, Placed)>, Cause> {
        let order = self.client.order(number).await?.value;
        let quantity = dispatched(&order, sku);
        if quantity.is_zero() {
            return Ok(None);
        }
        let effects =
            self.context.store.journal().effects_on(&self.context.key, &format!("order/{number}")).await?;
        let own = own_dispatch(&effects);
        let events = match own.is_some_and(|own| own.answer.is_some()) {
            true => Vec::new(),
            false => self.client.order_events(number).await?.value,
        };
        Ok(Some((quantity, place(own, &order, &events, window))))
    }
}

/// True for an effect that takes an order's goods off the shelf, as far as anybody can tell.
fn may_dispatch(effect: &Effect) -> bool {
    dispatches(effect).unwrap_or(true)
}

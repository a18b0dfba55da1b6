//! Reads which goods were dispatched around one of our effects; `plan::push::dispatches` decides when each was.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use espelho_api_client::{Client, resources::orders::OrderQuery};
use espelho_model::{OrderNumber, ProductId, Sku};
use espelho_store::Effect;
use rust_decimal::Decimal;

use crate::{
    Error, StoreContext,
    plan::{
        push::{
            dispatches::{BLUR, ReadingWindow, Timing, add, dispatched, dispatches, own_dispatch, timing_of},
            evidence::may_have_happened,
            own_writes::is_recent,
        },
        stock_balance::{Dispatched, Explanation},
    },
    push::refused::refused,
};

/// The most orders that are read as evidence.
const MOST_ORDERS: usize = 60;
/// Orders on a page of the listing.
const PAGE: u32 = 100;

/// Finds our own dispatches in the journal, and all dispatches on the marketplace.
pub(crate) struct DispatchTimeline<'c> {
    context: &'c StoreContext,
    client: Client,
}

impl<'c> DispatchTimeline<'c> {
    /// Creates the lookup. `client` reads orders and their timelines.
    pub(super) fn new(context: &'c StoreContext, client: Client) -> Self {
        Self { context, client }
    }

    /// The latest effects that may have dispatched goods, newest last: the order and when.
    pub(super) async fn latest(&self, effects: i64) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let after = store.journal().end(key).await? - effects;
        let latest = store.journal().effects_after(key, after).await?;
        let order =
            |effect: &Effect| Some((effect.key.strip_prefix("order/")?.to_owned(), effect.planned_at));
        Ok(latest.iter().filter(|effect| may_dispatch(effect)).filter_map(order).collect())
    }

    /// Says whether one of our transitions that dispatches a SKU is under way.
    pub(super) async fn is_dispatching(&self, sku: &Sku) -> Result<bool, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.journal().open_effects(key).await?.iter().filter(|effect| may_dispatch(effect)) {
            if self.is_of_order(effect, sku).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same, only for orders that are known to contain the SKU.
    pub(super) async fn is_dispatching_known(&self, sku: &Sku) -> Result<bool, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.journal().open_effects(key).await?.iter().filter(|effect| may_dispatch(effect)) {
            let number = effect.key.strip_prefix("order/").unwrap_or_default();
            if store.lookups().skus_of_order(key, number).await?.iter().any(|own| own == sku.as_str()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Says whether a transition of ours that dispatches a SKU began after this end of the journal.
    pub(super) async fn has_dispatched_since(&self, sku: &Sku, journal_end: i64) -> Result<bool, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store
            .journal()
            .effects_after(key, journal_end)
            .await?
            .iter()
            .filter(|effect| may_dispatch(effect))
        {
            if self.is_of_order(effect, sku).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns how much an effect added to the stock of a SKU, less than nothing, if it is a dispatch of ours of the last two
    /// minutes that may have taken some: the inner `None` where it is not known how much.
    pub(super) async fn recently_added(
        &self,
        effect: &Effect,
        sku: &Sku,
        now: DateTime<Utc>,
    ) -> Result<Option<Option<Decimal>>, Error> {
        let is_it = may_dispatch(effect) && may_have_happened(effect) && is_recent(effect, now);
        if !is_it || !self.is_of_order(effect, sku).await? {
            return Ok(None);
        }
        let Some(command) = effect.command_id else { return Ok(Some(None)) };
        let (lookups, key) = (self.context.store.lookups(), &self.context.key);
        let taken = lookups.dispatched_by(key, command, sku).await?;
        // The mirror may not know yet that it did.
        Ok(Some((!taken.is_zero()).then_some(-taken)))
    }

    /// Says whether an effect belongs to an order with a SKU. An order whose SKUs are unknown counts.
    async fn is_of_order(&self, effect: &Effect, sku: &Sku) -> Result<bool, Error> {
        let number = effect.key.strip_prefix("order/").unwrap_or_default();
        let skus = self.context.store.lookups().skus_of_order(&self.context.key, number).await?;
        Ok(skus.is_empty() || skus.iter().any(|own| own == sku.as_str()))
    }

    /// Returns how much of a SKU was dispatched since the window began; `None` when too many orders may be involved. It is
    /// incomplete where the marketplace lists an order and denies it.
    pub(super) async fn sold_since(
        &self,
        sku: &Sku,
        window: ReadingWindow,
    ) -> Result<Option<Dispatched>, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        // Read the listing first: an order that the mirror learns of meanwhile is then in at least one of the two.
        let Some(unknown) = self.unknown_orders(window.from).await? else { return Ok(None) };
        let known = store.lookups().orders_with_sku(key, sku, window.from - BLUR).await?;
        let orders: BTreeSet<OrderNumber> = unknown.into_iter().chain(known).collect();
        if orders.len() > MOST_ORDERS {
            return Ok(None);
        }
        let product = store.lookups().product_by_sku(key, sku.as_str()).await?;
        let mut sold = Dispatched::default();
        for number in orders {
            let of = (sku, product.as_ref());
            match self.dispatch_of(&number, of, window).await {
                Ok(Some((quantity, timing))) => add(&mut sold, quantity, timing),
                Ok(None) => (),
                // A parent store lists the orders of its substores and may be denied them, day after day.
                Err(Error::Api(error)) => {
                    refused(error)?;
                    sold.is_incomplete = true;
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok(Some(sold))
    }

    /// Returns the reason why a level is lower than it was set: dispatches since the window, or none. The journal tells which
    /// dispatches of ours were before it; all other goods that left around it may have left after it.
    pub(super) async fn explains(
        &self,
        sku: &Sku,
        window: ReadingWindow,
        lower: Decimal,
    ) -> Result<Explanation, Error> {
        if lower <= Decimal::ZERO {
            return Ok(Explanation::NotSold);
        }
        let sold = self.sold_since(sku, window).await?;
        Ok(sold.map_or(Explanation::Unknown, |sold| sold.all_possible().explains(lower)))
    }

    /// Returns the orders placed since about `from` that the mirror does not know; `None` when they fill more than a
    /// page.
    async fn unknown_orders(&self, from: DateTime<Utc>) -> Result<Option<Vec<OrderNumber>>, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        // One day earlier, whatever day it is at the marketplace.
        let day: NaiveDate = (from - TimeDelta::days(1)).date_naive();
        let query = OrderQuery {
            date_from: Some(day),
            sort: Some("-created_at".to_owned()),
            limit: Some(PAGE),
            page: 1,
            page_parameter: self.context.page_parameter.clone(),
            ..OrderQuery::default()
        };
        let page = self.client.orders().list(&query).await?;
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

    /// Returns how much of a SKU an order dispatched, and when that was relative to the window.
    async fn dispatch_of(
        &self,
        number: &OrderNumber,
        (sku, product): (&Sku, Option<&ProductId>),
        window: ReadingWindow,
    ) -> Result<Option<(Decimal, Timing)>, Error> {
        let order = self.client.orders().get(number).await?.value;
        let quantity = dispatched(&order, sku, product);
        if quantity.is_zero() {
            return Ok(None);
        }
        let effects =
            self.context.store.journal().effects_on(&self.context.key, &format!("order/{number}")).await?;
        let own = own_dispatch(&effects);
        let events = match own.is_some_and(|own| own.answer.is_some()) {
            true => Vec::new(),
            false => self.client.orders().events(number).await?.value,
        };
        Ok(Some((quantity, timing_of(own, &order, &events, window))))
    }
}

/// Says whether an effect dispatches an order's goods; true when that is unknown.
fn may_dispatch(effect: &Effect) -> bool {
    dispatches(effect).unwrap_or(true)
}

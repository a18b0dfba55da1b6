//! What left a shelf at dispatch around an effect of ours: by the journal where we dispatched it, else by the order's timeline.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use espelho_api_client::resources::orders::OrderQuery;
use espelho_model::{OrderNumber, Sku};
use espelho_store::{Effect, EffectState};
use rust_decimal::Decimal;
use serde_json::Value;

use super::{Pusher, verdict::Cause};
use crate::plan::stock_balance::Sold;

/// Times of the marketplace have whole seconds, and its clock and ours differ.
const BLUR: TimeDelta = TimeDelta::seconds(2);
/// Orders that are read as evidence, at most.
const MOST_ORDERS: usize = 60;
/// Orders on a page of the listing.
const PAGE: u32 = 100;

/// An effect on stock, and what is known of its place among others.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadingWindow {
    /// Its number in the journal: what is numbered higher was begun after it was read what was there before it.
    pub(super) effect: i64,
    /// The last effect before that was read, none of those up to it being under way then; 0 where nobody looked.
    pub(super) mark: i64,
    /// When that reading began.
    pub(super) from: DateTime<Utc>,
    /// When it was over.
    pub(super) until: DateTime<Utc>,
}

/// Whether a dispatch lies between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    Before,
    Between,
    Perhaps,
}

impl Pusher<'_> {
    /// Whether a transition of ours is under way that takes some of a SKU off the shelf.
    pub(super) async fn is_dispatching(&self, sku: &Sku) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.open_effects(key).await?.iter().filter(|effect| dispatches(effect)) {
            if self.is_of_order(effect, sku).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same, of orders that are known to have the SKU.
    pub(super) async fn is_sending_off(&self, sku: &Sku) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.open_effects(key).await?.iter().filter(|effect| dispatches(effect)) {
            let number = effect.key.strip_prefix("order/").unwrap_or_default();
            if store.skus_of_order(key, number).await?.iter().any(|own| own == sku.as_str()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a transition of ours that takes some of a SKU off the shelf was begun after another effect.
    pub(super) async fn has_dispatched_since(&self, sku: &Sku, mark: i64) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        for effect in store.effects_after(key, mark).await?.iter().filter(|effect| dispatches(effect)) {
            if self.is_of_order(effect, sku).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an effect is about an order that has a SKU, as far as anybody can tell.
    async fn is_of_order(&self, effect: &Effect, sku: &Sku) -> Result<bool, Cause> {
        let number = effect.key.strip_prefix("order/").unwrap_or_default();
        let skus = self.context.store.skus_of_order(&self.context.key, number).await?;
        Ok(skus.is_empty() || skus.iter().any(|own| own == sku.as_str()))
    }

    /// What of a SKU left the shelf since an effect was written down; `None` where too many orders may have to do with it.
    pub(super) async fn sold_since(&self, sku: &Sku, around: ReadingWindow) -> Result<Option<Sold>, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        // The listing first: what the mirror hears of meanwhile is then in one of the two at least.
        let Some(unknown) = self.unknown_orders(around.from).await? else { return Ok(None) };
        let known = store.orders_with_sku(key, sku, around.from - BLUR).await?;
        let orders: BTreeSet<OrderNumber> = unknown.into_iter().chain(known).collect();
        if orders.len() > MOST_ORDERS {
            return Ok(None);
        }
        let mut sold = Sold::default();
        for number in orders {
            let Some((quantity, placed)) = self.dispatch_of(&number, sku, around).await? else { continue };
            match placed {
                Placed::Before => (),
                Placed::Between => sold.certain.push(quantity),
                Placed::Perhaps => sold.perhaps.push(quantity),
            }
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
            if store.skus_of_order(key, &row.key).await?.is_empty() {
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
        around: ReadingWindow,
    ) -> Result<Option<(Decimal, Placed)>, Cause> {
        let order = self.client.order(number).await?.value;
        let is_ours = |item: &&espelho_model::order::OrderItem| {
            item.sku.as_deref() == Some(sku.as_str()) && item.stock_status.as_deref() == Some("committed")
        };
        let quantity: Decimal = order.items.iter().filter(is_ours).filter_map(|item| item.quantity).sum();
        if quantity.is_zero() {
            return Ok(None);
        }
        let effects = self.context.store.effects_on(&self.context.key, &format!("order/{number}")).await?;
        let first = effects.iter().rev().find(|effect| {
            dispatches(effect) && matches!(effect.state, EffectState::Confirmed | EffectState::Sent)
        });
        let events = match first {
            Some(first) if first.answer.is_some() => {
                return Ok(Some((quantity, by_journal(first.id, around))));
            }
            _ => self.client.order_events(number).await?.value,
        };
        let leaves = |status: Option<&str>| matches!(status, Some("shipped" | "picked_up" | "delivered"));
        let at = events
            .iter()
            .filter(|event| leaves(event.new_status.as_deref()))
            .filter_map(|event| event.created_at)
            .min();
        let by_clock = match (at, order.updated_at) {
            (Some(at), _) => by_clock(at, around),
            // Whatever happened to it happened before that.
            (None, Some(at)) if by_clock(at, around) == Placed::Before => Placed::Before,
            (None, _) => Placed::Perhaps,
        };
        // That it is dispatched proves that it was, not that we did it.
        Ok(Some((quantity, first.and_then(|first| by_attempt(first, around)).unwrap_or(by_clock))))
    }
}

/// Whether an effect takes an order's goods off the shelf.
fn dispatches(effect: &Effect) -> bool {
    let evidence: Option<Value> = effect
        .evidence
        .as_deref()
        .filter(|_| effect.kind == "order.status")
        .and_then(|text| serde_json::from_str(text).ok());
    evidence.is_some_and(|evidence| matches!(evidence["target"].as_str(), Some("shipped" | "picked_up")))
}

fn by_journal(dispatch: i64, ReadingWindow { effect, mark, .. }: ReadingWindow) -> Placed {
    match dispatch {
        before if before <= mark => Placed::Before,
        after if after > effect => Placed::Between,
        _ => Placed::Perhaps,
    }
}

/// Where a dispatch lies of which only an attempt of ours is known: it was not there when the attempt was planned, and it was there
/// when it was settled.
fn by_attempt(attempt: &Effect, ReadingWindow { effect, mark, .. }: ReadingWindow) -> Option<Placed> {
    if attempt.id <= mark && attempt.state == EffectState::Confirmed {
        return Some(Placed::Before);
    }
    let evidence: Value = serde_json::from_str(attempt.evidence.as_deref()?).ok()?;
    (evidence["mark"].as_i64()? >= effect).then_some(Placed::Between)
}

fn by_clock(at: DateTime<Utc>, ReadingWindow { from, until, .. }: ReadingWindow) -> Placed {
    match at {
        before if before <= from - BLUR => Placed::Before,
        after if after >= until + BLUR => Placed::Between,
        _ => Placed::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Placed::{Before, Between, Perhaps},
        *,
    };

    fn around() -> ReadingWindow {
        let from = DateTime::<Utc>::UNIX_EPOCH;
        ReadingWindow { effect: 10, mark: 7, from, until: from + TimeDelta::seconds(15) }
    }

    fn attempt(id: i64, state: EffectState, mark: i64) -> Effect {
        Effect {
            id,
            key: "order/1".to_owned(),
            kind: "order.status".to_owned(),
            command_id: Some(1),
            fingerprint: None,
            request: String::new(),
            evidence: Some(serde_json::json!({"target": "shipped", "mark": mark}).to_string()),
            state,
            planned_at: DateTime::UNIX_EPOCH,
            sent_at: None,
            code: None,
            note: None,
            answer: None,
        }
    }

    #[test]
    fn a_dispatch_that_was_answered_is_placed_by_the_journal_and_another_by_the_clock() {
        let placed = [7, 8, 11].map(|dispatch| by_journal(dispatch, around()));
        assert_eq!(placed, [Before, Perhaps, Between]);
        let placed = [-2, -1, 5, 16, 17]
            .map(|seconds| by_clock(around().from + TimeDelta::seconds(seconds), around()));
        assert_eq!(
            placed,
            [Before, Perhaps, Perhaps, Perhaps, Between],
            "the reading lasted fifteen seconds"
        );
    }

    // withstands: F001
    #[test]
    fn of_an_attempt_whose_answer_was_lost_only_what_was_seen_around_it_counts() {
        let placed = |id, state, mark| by_attempt(&attempt(id, state, mark), around());
        assert_eq!(placed(7, EffectState::Confirmed, 5), Some(Before), "settled before the reading");
        assert_eq!(placed(11, EffectState::Confirmed, 10), Some(Between), "not there after the reading");
        assert_eq!(placed(11, EffectState::Confirmed, 6), None, "somebody else may have been before us");
        assert_eq!(placed(7, EffectState::Sent, 5), None);
    }
}

//! Movements of stock (`stock.adjust`): a delta that happens once. What was read before is written down with it; where its answer
//! is lost, the ledger equation tells whether it happened ([`crate::plan::ledger`]).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::resources::products::stock::Movement;
use espelho_model::{
    LocationId, ProductId, Sku,
    product::StockLevel,
    text,
    text::{Arg, Text},
};
use espelho_store::{Effect, EffectState};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::CommandContext,
    dispatch_timeline::ReadingWindow,
    evidence::{OVER_AFTER, RECHECK_INTERVAL},
    journal::{Acted, Evidence},
    products::number,
    stock::{DISPATCHES, invalid},
    verdict::{Cause, Message, Verdict},
};
use crate::plan::stock_balance::{Moved, Readings, Sold, moved};

/// The data of a movement.
const EXAMPLE: &str = "{\"location_id\": 1, \"delta\": -2}";
/// How often a stock that changes while it is read is read again.
const READINGS: usize = 5;
/// Until then what is unclear may become clear: the mirror hears of orders that it did not know.
const CLEARS_WITHIN: TimeDelta = TimeDelta::seconds(60);
/// The same where it was called off for one: it has cost a reading.
const CALLED_OFF: Duration = Duration::from_secs(1);

impl Pusher<'_> {
    /// `stock.adjust`.
    pub(super) async fn adjust_stock(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        if cx.confirmed("stock.adjust").is_some() {
            return Ok(Verdict::Done(None));
        }
        let location = match &cx.data["location_id"] {
            Value::String(text) if !text.is_empty() => LocationId::new(text.clone()),
            Value::Number(number) => LocationId::new(number.to_string()),
            _ => {
                return Ok(Verdict::Failed(invalid(text!(
                    "value-missing",
                    field = "data.location_id",
                    example = EXAMPLE
                ))));
            }
        };
        let Some(delta) = number(&cx.data["delta"]) else {
            return Ok(Verdict::Failed(invalid(text!(
                "value-missing",
                field = "data.delta",
                example = EXAMPLE
            ))));
        };
        let movement = match Movement::by(delta) {
            Ok(movement) => movement,
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        let sku = Sku::new(cx.command.key.clone());
        let Some(product) = self.product_of(sku.as_str()).await? else {
            return self.unknown_sku(sku.as_str()).await;
        };
        // What we dispatch ourselves is placed by the journal, before this reading or after it: it must not be under way meanwhile.
        let mark = self.context.store.last_effect(&self.context.key).await?;
        if self.is_dispatching(&sku).await? || self.is_moving(&sku, &location).await? {
            return Ok(Verdict::RetryAfter(DISPATCHES));
        }
        // What leaves the shelf from here on counts: it may be before the reading, or after it.
        let from = self.context.clock.now();
        let detail = self.read_product(&product).await?;
        let until = self.context.clock.now();
        if unit_has_no_half(detail.product.base_unit.as_deref(), delta) {
            return Ok(Verdict::Failed(invalid(text!("value-no-half-unit"))));
        }
        let Some(level) = detail.product.stock.iter().find(|level| level.location_id == location) else {
            return Ok(Verdict::Failed(invalid(text!("value-no-stock-there", location = location.as_str()))));
        };
        let before = level.quantity.unwrap_or_default();
        if before + delta < Decimal::ZERO {
            return Ok(Verdict::Failed(too_little(before, delta)));
        }
        let request = movement.request(&product, &location);
        let evidence = json!({
            "product": product.as_str(), "sku": sku.as_str(), "location": location.as_str(),
            "delta": delta.to_string(), "before": before.to_string(), "mark": mark, "from": from.to_rfc3339(),
            "until": until.to_rfc3339(), "total": total_of(&detail.product.stock).to_string(),
            "places": detail.product.stock.len(),
        });
        let id = self.plan(cx.effect("stock.adjust", &request, &evidence)).await?;
        // What was dispatched between the mark and this may be before the reading or after it.
        let dispatched = self.has_dispatched_since(&sku, mark).await;
        if !matches!(dispatched, Ok(false)) {
            self.call_off(id).await?;
            return dispatched.map(|_| Verdict::RetryAfter(CALLED_OFF));
        }
        match self.send(id, &cx.intent(), &self.client, &request).await? {
            Acted::Applied(_) => {
                self.refresh_product(&product).await?;
                Ok(Verdict::Done(None))
            }
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Whether anything else of ours is under way that changes a SKU's stock, wherever, or may still land where it is moved: nobody
    /// could tell it from the movement.
    async fn is_moving(&self, sku: &Sku, location: &LocationId) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        let of_sku = format!("stock/{sku}/");
        if store.open_effects(key).await?.iter().any(|effect| effect.key.starts_with(&of_sku)) {
            return Ok(true);
        }
        let now = self.context.clock.now();
        let may_land = |effect: &Effect| {
            let was_lost = effect.state == EffectState::Refuted && effect.code.is_none();
            was_lost && effect.sent_at.is_some_and(|at| now - at < OVER_AFTER)
        };
        Ok(store.effects_on(key, &format!("{of_sku}{location}")).await?.iter().any(may_land))
    }

    /// Whether a movement happened whose answer was lost.
    pub(super) async fn evidence_of_movement(&self, effect: &Effect) -> Result<Evidence, Cause> {
        let known: Value =
            effect.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let text = |name: &str| known[name].as_str().unwrap_or_default().to_owned();
        let time = |name: &str| text(name).parse::<DateTime<Utc>>().unwrap_or(effect.planned_at);
        let decimal = |name: &str| text(name).parse::<Decimal>().ok();
        let (Some(delta), Some(before), Some(sent_at)) =
            (decimal("delta"), decimal("before"), effect.sent_at)
        else {
            return Ok(Evidence::Unprovable(unprovable(text!("push-movement-doubtful"))));
        };
        // Who does not know the orders yet cannot tell what was sold.
        if !self.context.store.has_complete_run(&self.context.key).await? {
            return Ok(Evidence::NotYet(Duration::from_secs(5)));
        }
        let (product, location) = (ProductId::new(text("product")), LocationId::new(text("location")));
        let sku = Sku::new(text("sku"));
        let around = ReadingWindow {
            effect: effect.id,
            mark: known["mark"].as_i64().unwrap_or_default(),
            from: time("from"),
            until: time("until"),
        };
        let age = self.context.clock.now() - sent_at;
        let Some(([after, total], sold)) = self.settled_reading(&product, &sku, &location, around).await?
        else {
            return Ok(match age < CLEARS_WITHIN {
                true => Evidence::NotYet(RECHECK_INTERVAL),
                false => Evidence::Unprovable(unprovable(text!("push-movement-doubtful"))),
            });
        };
        let certain: Decimal = sold.certain.iter().sum();
        // Nobody tells from which place a sale was taken: where there are several, they are taken together, unless something else of
        // ours moved in another.
        let around = match (known["places"].as_u64().is_none_or(|places| places <= 1), decimal("total")) {
            (true, _) => Readings { before, after, sold },
            (false, Some(before)) if !self.has_moved_elsewhere(&sku, effect, around.mark).await? => {
                Readings { before, after: total, sold }
            }
            (false, _) => Readings { before, after, sold: sold.all_perhaps() },
        };
        let Readings { before, after, .. } = around;
        Ok(match moved(delta, &around) {
            Moved::Yes => Evidence::Happened { answer: None, how: "the quantity has moved by it" },
            Moved::No => Evidence::DidNot { how: "the quantity has not moved" },
            Moved::Unclear if age < CLEARS_WITHIN => Evidence::NotYet(RECHECK_INTERVAL),
            Moved::Unclear => Evidence::Unprovable(unprovable(text!(
                "push-movement-unclear",
                before = Arg::Quantity(before),
                after = Arg::Quantity(after),
                sold = Arg::Quantity(certain),
                delta = Arg::Quantity(delta)
            ))),
        })
    }

    /// Whether anything else of ours changed a SKU's stock since a movement of it was read for.
    async fn has_moved_elsewhere(&self, sku: &Sku, movement: &Effect, mark: i64) -> Result<bool, Cause> {
        let effects = self.context.store.effects_after(&self.context.key, mark).await?;
        let of_sku = format!("stock/{sku}/");
        Ok(effects.iter().any(|effect| effect.id != movement.id && effect.key.starts_with(&of_sku)))
    }

    /// Reads the quantity there and in all places, and what was sold, the quantity being the same before and after: what is sold only lowers it.
    async fn settled_reading(
        &self,
        product: &ProductId,
        sku: &Sku,
        location: &LocationId,
        around: ReadingWindow,
    ) -> Result<Option<([Decimal; 2], Sold)>, Cause> {
        let quantity = async || -> Result<Option<[Decimal; 2]>, Cause> {
            let stock = self.client.product_stock(product, sku).await?.value;
            let level = stock.levels.iter().find(|level| level.location_id == *location);
            Ok(level.and_then(|level| level.quantity).map(|quantity| [quantity, total_of(&stock.levels)]))
        };
        let mut before = quantity().await?;
        for _ in 0..READINGS {
            let Some(sold) = self.sold_since(sku, around).await? else { return Ok(None) };
            let after = quantity().await?;
            match after {
                Some(after) if Some(after) == before => return Ok(Some((after, sold))),
                after => before = after,
            }
        }
        Ok(None)
    }
}

/// What lies in all places together.
fn total_of(levels: &[StockLevel]) -> Decimal {
    levels.iter().filter_map(|level| level.quantity).sum()
}

fn unit_has_no_half(unit: Option<&str>, delta: Decimal) -> bool {
    matches!(unit, Some("un" | "pc" | "cx" | "pct")) && !delta.fract().is_zero()
}

fn too_little(before: Decimal, delta: Decimal) -> Message {
    let (before, less) = (Arg::Quantity(before), Arg::Quantity(-delta));
    Message::new("too_little_stock", text!("push-too-little-stock", before = before, less = less))
}

fn unprovable(text: Text) -> Message {
    Message::new("unprovable", text)
}

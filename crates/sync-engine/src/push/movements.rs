//! Movements of stock (`stock.adjust`): reads what is there, writes the movement down, sends it once.
//! `plan::push::stock_movement` tells whether one happened whose answer was lost.

use std::time::Duration;

use espelho_api_client::resources::products::stock::Movement;
use espelho_model::{LocationId, ProductId, Sku, product::StockLevel, text};
use espelho_store::Effect;
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    journal::Acted,
    stock::DISPATCHES,
};
use crate::plan::{
    push::{
        Verdict,
        dispatches::ReadingWindow,
        invalid,
        product::number,
        stock_movement::{MovementEvidence, check, may_still_land},
    },
    stock_balance::Sold,
};

/// The data of a movement.
const EXAMPLE: &str = "{\"location_id\": 1, \"delta\": -2}";
/// How often a stock that changes while it is read is read again.
const READINGS: usize = 5;
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
        let mark = self.context.store.journal().last_effect(&self.context.key).await?;
        if self.is_dispatching(&sku).await? || self.is_moving(&sku, &location).await? {
            return Ok(Verdict::RetryAfter(DISPATCHES));
        }
        // What leaves the shelf from here on counts: it may be before the reading, or after it.
        let from = self.context.clock.now();
        let detail = self.read_product(&product).await?;
        let until = self.context.clock.now();
        let Some(level) = detail.product.stock.iter().find(|level| level.location_id == location) else {
            return Ok(Verdict::Failed(invalid(text!("value-no-stock-there", location = location.as_str()))));
        };
        let before = level.quantity.unwrap_or_default();
        if let Err(message) = check(detail.product.base_unit.as_deref(), before, delta) {
            return Ok(Verdict::Failed(message));
        }
        let request = movement.request(&product, &location);
        let stock = &detail.product.stock;
        let evidence = MovementEvidence {
            product: product.as_str().to_owned(),
            sku: sku.as_str().to_owned(),
            location: location.as_str().to_owned(),
            delta,
            before,
            mark: Some(mark),
            from: Some(from),
            until: Some(until),
            total: Some(total_of(stock)),
            places: u64::try_from(stock.len()).ok(),
        };
        let id = self.plan(cx.effect(&request, &evidence)).await?;
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
            Acted::Refused(error) => refused(error),
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Whether anything else of ours is under way that changes a SKU's stock, wherever, or may still land where it is moved: nobody
    /// could tell it from the movement.
    async fn is_moving(&self, sku: &Sku, location: &LocationId) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        let of_sku = format!("stock/{sku}/");
        if store.journal().open_effects(key).await?.iter().any(|effect| effect.key.starts_with(&of_sku)) {
            return Ok(true);
        }
        let now = self.context.clock.now();
        Ok(store
            .journal()
            .effects_on(key, &format!("{of_sku}{location}"))
            .await?
            .iter()
            .any(|effect| may_still_land(effect, now)))
    }

    /// Whether anything else of ours changed a SKU's stock since a movement of it was read for.
    pub(super) async fn has_moved_elsewhere(
        &self,
        sku: &Sku,
        movement: &Effect,
        mark: i64,
    ) -> Result<bool, Cause> {
        let effects = self.context.store.journal().effects_after(&self.context.key, mark).await?;
        let of_sku = format!("stock/{sku}/");
        Ok(effects.iter().any(|effect| effect.id != movement.id && effect.key.starts_with(&of_sku)))
    }

    /// Reads the quantity there and in all places, and what was sold, the quantity being the same before and after: what is sold only lowers it.
    pub(super) async fn read_standing_still(
        &self,
        evidence: &MovementEvidence,
        window: ReadingWindow,
    ) -> Result<Option<([Decimal; 2], Sold)>, Cause> {
        let (product, sku) = (ProductId::new(&evidence.product), Sku::new(&evidence.sku));
        let quantity = async || -> Result<Option<[Decimal; 2]>, Cause> {
            let stock = self.client.product_stock(&product, &sku).await?.value;
            let level = stock.levels.iter().find(|level| level.location_id.as_str() == evidence.location);
            Ok(level.and_then(|level| level.quantity).map(|quantity| [quantity, total_of(&stock.levels)]))
        };
        let mut before = quantity().await?;
        for _ in 0..READINGS {
            let Some(sold) = self.sold_since(&sku, window).await? else { return Ok(None) };
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

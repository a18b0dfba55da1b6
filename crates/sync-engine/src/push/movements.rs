//! Stock movements (`stock.adjust`): reads the current stock, records the movement, sends it once.
//! `plan::push::stock_movement` decides whether a movement with a lost answer happened.

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
    journal::ExecutionResult,
    stock::DISPATCH_RECHECK_INTERVAL,
};
use crate::plan::{
    push::{
        Verdict,
        dispatches::ReadingWindow,
        invalid,
        product::number,
        stock_movement::{MovementEvidence, check, may_still_land},
    },
    stock_balance::Dispatched,
};

/// An example of a movement's data.
const EXAMPLE: &str = "{\"location_id\": 1, \"delta\": -2}";
/// How often a stock that changes while it is read is read again.
const READINGS: usize = 5;
/// The wait after a dispatch made us call a movement off: that attempt has cost a reading.
const CANCELLED_RETRY: Duration = Duration::from_secs(1);

impl Pusher<'_> {
    /// Executes `stock.adjust`.
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
        // The journal places our own dispatches before this reading or after it, so none may be under way meanwhile.
        let mark = self.context.store.journal().last_effect(&self.context.key).await?;
        if self.is_dispatching(&sku).await? || self.has_open_movement(&sku, &location).await? {
            return Ok(Verdict::RetryAfter(DISPATCH_RECHECK_INTERVAL));
        }
        // Dispatches from here on count: they may be before the reading, or after it.
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
        // A dispatch between the mark and this point may be before the reading or after it.
        let dispatched = self.has_dispatched_since(&sku, mark).await;
        if !matches!(dispatched, Ok(false)) {
            self.cancel(id).await?;
            return dispatched.map(|_| Verdict::RetryAfter(CANCELLED_RETRY));
        }
        match self.send(id, &cx.intent(), &self.client, &request).await? {
            ExecutionResult::Applied(_) => {
                self.refresh_product(&product).await?;
                Ok(Verdict::Done(None))
            }
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Says whether another effect of ours that changes the SKU's stock is under way at any location, or may still land
    /// at this one: nothing could tell it from the movement.
    async fn has_open_movement(&self, sku: &Sku, location: &LocationId) -> Result<bool, Cause> {
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

    /// Says whether another effect of ours changed a SKU's stock after `mark`, which precedes the reading of the
    /// movement.
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

    /// Reads the quantity at the location and in total, and the dispatches. The quantities are the same before and
    /// after the dispatches are read: dispatches only lower them.
    pub(super) async fn read_stable_stock(
        &self,
        evidence: &MovementEvidence,
        window: ReadingWindow,
    ) -> Result<Option<([Decimal; 2], Dispatched)>, Cause> {
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

/// Returns the quantity at all locations together.
fn total_of(levels: &[StockLevel]) -> Decimal {
    levels.iter().filter_map(|level| level.quantity).sum()
}

//! Verifies levels that were sent, and some that were not, because the mirror showed them: reads their products.
//! `plan::push::sent_level` and `plan::push::unsent_level` decide.

use std::{collections::BTreeMap, time::Duration};

use espelho_model::{ProductId, Sku, time::past};
use espelho_store::{DatabaseTrouble, Effect, StockIntent};
use rust_decimal::Decimal;

use super::StockPusher;
use crate::{
    Error,
    plan::push::{
        Verdict,
        dispatches::ReadingWindow,
        jobs::{dispatches_goods, key_of_level},
        level_history::{LastSet, last_set, of_product, sent_to},
        sent_level::{
            Comparison, Difference, ShownLevel, after_comparing, compare, shown_by, verdict_without_quantity,
        },
        stock_level::{reserved_of, target, unknown_location},
        unsent_level::Expected,
    },
    plan::stock_balance::Dispatched,
    push::refused::refused,
};

impl StockPusher<'_> {
    /// Verifies levels of one product that are in `sending`, and answers their rows. A level that went to another product
    /// of its SKU is verified there.
    pub(in crate::push) async fn verify(
        &self,
        product: &ProductId,
        levels: &[StockIntent],
    ) -> Result<Duration, Error> {
        let mut sent: BTreeMap<ProductId, Vec<(&StockIntent, Vec<Effect>)>> = BTreeMap::new();
        for level in levels {
            let effects =
                self.context.store.journal().effects_on(&self.context.key, &key_of_level(level)).await?;
            match self.shown_by(product, level, &effects).await? {
                Some(product) => {
                    let effects = of_product(effects, &product);
                    sent.entry(product).or_default().push((level, effects));
                }
                None => self.tools.answers.level(level, &Verdict::Requeue).await?,
            }
        }
        let mut retry_after = Duration::ZERO;
        for (product, levels) in sent {
            retry_after = retry_after.max(self.verify_at(&product, levels).await?);
        }
        Ok(retry_after)
    }

    /// Returns the product whose level shows what came of a sent level, which `product` has the SKU of.
    async fn shown_by(
        &self,
        product: &ProductId,
        level: &StockIntent,
        effects: &[Effect],
    ) -> Result<Option<ProductId>, Error> {
        let sent_to = sent_to(effects, level.revision);
        if sent_to.as_ref() == Some(product) {
            return Ok(sent_to);
        }
        let now = self.context.store.intents().current_level(&self.context.key, level).await?;
        let of_sku: Vec<ProductId> = now.into_iter().filter_map(|row| row.product).collect();
        Ok(shown_by(sent_to, &of_sku))
    }

    /// Reads a product, verifies the levels that were sent to it, and answers their rows.
    async fn verify_at(
        &self,
        product: &ProductId,
        levels: Vec<(&StockIntent, Vec<Effect>)>,
    ) -> Result<Duration, Error> {
        let detail = match self.tools.products.read(product).await {
            Ok(detail) => detail,
            Err(Error::Api(error)) => {
                let verdict = refused(error)?;
                for (level, _) in levels {
                    self.tools.answers.level(level, &verdict).await?;
                }
                return Ok(Duration::ZERO);
            }
            Err(cause) => return Err(cause),
        };
        let mut retry_after = Duration::ZERO;
        for (level, effects) in levels {
            let now = detail.product.stock.iter().find(|now| now.location_id == level.location);
            let verdict = match (now, now.and_then(|now| now.quantity), level.quantity) {
                (Some(now), Some(quantity), Some(desired)) => {
                    self.state().unquantified.end(&key_of_level(level));
                    let reserved = reserved_of(now).unwrap_or_default();
                    self.verify_level(level, desired, ShownLevel { quantity, reserved }, &effects).await?
                }
                (_, None, Some(desired)) => self.verdict_without_quantity(level, desired, &effects),
                _ => Verdict::Failed(unknown_location(level.location.as_str())),
            };
            self.tools.answers.level(level, &verdict).await?;
            retry_after = retry_after.max(verdict.retry_after().unwrap_or_default());
        }
        Ok(retry_after)
    }

    async fn verify_level(
        &self,
        level: &StockIntent,
        desired: Decimal,
        shown: ShownLevel,
        effects: &[Effect],
    ) -> Result<Verdict, Error> {
        match self.set_for(level, effects) {
            Some(set) => self.verify_sent(level, desired, shown, &set).await,
            None => self.verify_unsent(level, desired, shown.quantity, effects).await,
        }
    }

    /// Returns the last level that was set for a row; `None` where nothing was sent for it.
    fn set_for(&self, level: &StockIntent, effects: &[Effect]) -> Option<LastSet> {
        last_set(effects, self.context.clock.now()).filter(|set| set.is_for(level.revision))
    }

    /// Verifies a level that was sent.
    async fn verify_sent(
        &self,
        level: &StockIntent,
        desired: Decimal,
        shown: ShownLevel,
        set: &LastSet,
    ) -> Result<Verdict, Error> {
        let lower = match compare(self.options.basis, desired, shown, set) {
            Comparison::Answer(verdict) => return Ok(self.undoubted(level, verdict)),
            Comparison::Differs(lower) => lower,
        };
        let explanation = self.tools.dispatches.explains(&level.sku, set.window(), lower).await?;
        let target = target(self.options.basis, desired, Some(shown.reserved));
        let is_overwritten = self.is_overwritten(level, target, shown.quantity, set).await?;
        let difference = Difference::of(explanation, is_overwritten);
        let verdict = after_comparing(shown, set, difference, self.doubted_for(level));
        Ok(match difference == Difference::Sold || !matches!(verdict, Verdict::RetryAfter(_)) {
            true => self.undoubted(level, verdict),
            false => verdict,
        })
    }

    /// Says whether a lost set of ours has overwritten the last one, and setting that again puts nothing on sale that is gone.
    pub(super) async fn is_overwritten(
        &self,
        level: &StockIntent,
        target: Decimal,
        quantity: Decimal,
        set: &LastSet,
    ) -> Result<bool, Error> {
        if !set.is_overwritten(quantity, target) || target.is_zero() {
            return Ok(set.is_overwritten(quantity, target));
        }
        let sold = self.tools.dispatches.sold_since(&level.sku, set.window()).await?;
        let is_nothing = sold.as_ref().is_some_and(Dispatched::is_nothing);
        Ok(is_nothing && !self.is_to_be_dispatched(&level.sku).await?)
    }

    /// Verifies a level that was not sent, because the mirror showed it.
    async fn verify_unsent(
        &self,
        level: &StockIntent,
        desired: Decimal,
        quantity: Decimal,
        effects: &[Effect],
    ) -> Result<Verdict, Error> {
        let (expected, now) = (Expected::of(level, desired, effects), self.context.clock.now());
        let lower = match expected.compare(self.options.basis, quantity, effects, now) {
            Comparison::Answer(verdict) => return Ok(self.undoubted(level, verdict)),
            Comparison::Differs(lower) => lower,
        };
        let sold = match lower > Decimal::ZERO {
            true => self.sold_since_written(level).await?,
            // No sale makes a level higher.
            false => None,
        };
        let verdict = expected.after_comparing(quantity, lower, sold.as_ref(), self.doubted_for(level));
        Ok(match verdict {
            Verdict::RetryAfter(_) => verdict,
            verdict => self.undoubted(level, verdict),
        })
    }

    /// Returns what may have left since a row was written as not sent; `None` where that is not known.
    async fn sold_since_written(&self, level: &StockIntent) -> Result<Option<Dispatched>, Error> {
        let Some(at) = past(level.updated_at, self.context.clock.now()) else { return Ok(None) };
        // No effect marks the time: goods that we dispatched count as possibly left after the row was written, whenever
        // they left.
        let window = ReadingWindow::at(0, 0, at);
        let sold = self.tools.dispatches.sold_since(&level.sku, window).await?.map(Dispatched::all_possible);
        let is_nothing = sold.as_ref().is_some_and(Dispatched::is_nothing);
        // A dispatch that the ERP has asked for since takes its goods off. A row that begins anew looks as if it had been
        // written with that command, and those goods would be put on sale again.
        Ok(match is_nothing && self.is_to_be_dispatched(&level.sku).await? {
            true => None,
            false => sold,
        })
    }

    /// Says whether an open command dispatches goods of a SKU; true where the ERP has the commands locked.
    async fn is_to_be_dispatched(&self, sku: &Sku) -> Result<bool, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        match store.commands().statuses_of_sku(key, sku).await {
            Err(error) if error.trouble() == DatabaseTrouble::Busy => Ok(true),
            statuses => Ok(statuses?.iter().any(dispatches_goods)),
        }
    }

    /// Returns for how long a level has differed without an explanation.
    fn doubted_for(&self, level: &StockIntent) -> Duration {
        let now = self.context.clock.monotonic();
        self.state().doubts.doubted_for(key_of_level(level), level.revision, now)
    }

    /// Returns a verdict that leaves no difference without an explanation.
    fn undoubted(&self, level: &StockIntent, verdict: Verdict) -> Verdict {
        self.state().doubts.end(&key_of_level(level));
        verdict
    }

    /// Returns the verdict for a level that the marketplace shows without a quantity. It took a level that was sent: where
    /// it shows none there, nothing tells that the location is unknown.
    fn verdict_without_quantity(&self, level: &StockIntent, desired: Decimal, effects: &[Effect]) -> Verdict {
        if self.set_for(level, effects).is_none()
            && let Some(verdict) = Expected::of(level, desired, effects).without_quantity()
        {
            return self.undoubted(level, verdict);
        }
        let (key, now) = (key_of_level(level), self.context.clock.monotonic());
        let mut state = self.state();
        let doubted_for = state.unquantified.doubted_for(key.clone(), level.revision, now);
        let verdict = verdict_without_quantity(doubted_for);
        if matches!(verdict, Verdict::Failed(_)) {
            state.unquantified.end(&key);
        }
        verdict
    }
}

//! Levels of stock (`erp_stock`): absolute sets, which may be repeated, and a look at what they came to.

use std::{collections::HashSet, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{
    limit::Lane,
    resources::products::stock::{Movement, Quantity},
};
use espelho_model::{
    ProductId,
    product::StockLevel,
    push::{CommandKind, PushState},
    text,
    text::{Arg, Text},
};
use espelho_store::{Effect, EffectState, Error as StoreError, IntentKind, NewEffect, StockIntent};
use rust_decimal::Decimal;
use serde_json::json;

use super::{
    Basis, Pusher,
    commands::backoff_or_give_up,
    evidence::OVER_AFTER,
    is_decided,
    job::key_of_level,
    journal::{Acted, Intent},
    verdict::{Cause, Message, Verdict},
};

/// Units of which there is no half (API document, "Product": `base_unit`).
const WHOLE_UNITS: [&str; 4] = ["un", "pc", "cx", "pct"];
/// Decimals of a quantity, at most: a gram of a tonne.
const MOST_DECIMALS: u32 = 6;
/// The window in which levels that go to zero are counted together.
const AN_HOUR: TimeDelta = TimeDelta::hours(1);
/// How often rows are looked at again that failed because nobody knew their SKU.
const REOPEN: Duration = Duration::from_secs(15);
/// How often rows whose SKU may still come.
const UNKNOWN_SKU_RECHECK_INTERVAL: Duration = Duration::from_secs(5);
/// What was read so long after something was planned was read after it happened: a slot, an answer and a reading take less.
const SHOWS_FOR_CERTAIN: TimeDelta = TimeDelta::minutes(5);
/// When a level is looked at again that waits for a dispatch of ours.
pub(super) const DISPATCHES: Duration = Duration::from_millis(250);
/// How long a level that is not as it was set may still be explained by a sale that the mirror has not heard of.
const EXPLAINED_WITHIN: Duration = Duration::from_secs(30);

/// A level that we set.
struct LevelSet {
    effect: Effect,
    /// What was set.
    target: Decimal,
    /// What movements of ours have added since.
    moved: Decimal,
    /// For so long something else that we set before it, and that did not show, may still land after it.
    may_be_overruled_for: Option<Duration>,
}

impl Pusher<'_> {
    pub(super) async fn recheck_unknown_skus(&self) -> Result<(), Cause> {
        let now = self.context.clock.monotonic();
        if self.state().reopened.is_some_and(|at| now < at + REOPEN) {
            return Ok(());
        }
        self.state().reopened = Some(now);
        let unreadable = self.context.store.fail_unreadable(&self.context.lease, self.context.locale).await?;
        if unreadable > 0 {
            tracing::warn!(store = %self.context.key, rows = unreadable, "rows of the ERP cannot be read");
        }
        match self.context.store.reopen_unknown_skus(&self.context.lease).await {
            Err(error @ StoreError::LeaseLost { .. }) => Err(error.into()),
            // The ERP holds one of them, and others must not wait for that.
            Err(error) => {
                tracing::info!(store = %self.context.key, %error, "rows with SKUs that were unknown are looked at later");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Answers levels that must not be sent without a person's word, and gives the others back. What is `taken` counts and is not
    /// answered: it is under way, and by now its release may have been spent on that.
    pub(super) async fn guarded(
        &self,
        levels: Vec<StockIntent>,
        taken: &HashSet<String>,
    ) -> Result<Vec<StockIntent>, Cause> {
        // What went to zero a moment ago counts too: an ERP may write row by row.
        let lately = self.emptied_lately();
        let zeroes = levels.iter().filter(|level| empties(level)).count() + lately;
        if zeroes <= self.options.guards.zero_max_rows || zeroes == lately {
            return Ok(levels);
        }
        let above = self.context.store.stocked_levels(&self.context.key).await? + lately;
        if !self.options.guards.holds_zeroes(zeroes, above) {
            return Ok(levels);
        }
        let released = self.context.store.releases(&self.context.key, IntentKind::Stock).await?;
        let (mut passed, mut is_locked) = (Vec::new(), false);
        for level in levels {
            let is_released = || released.get(&key_in_table(&level)) == Some(&level.written);
            match empties(&level) && !taken.contains(&key_of_level(&level)) && !is_released() {
                // One row that the ERP has locked is waited for, and no more of them: the others are held by the next reading.
                true if is_locked => (),
                true => is_locked = !self.hold_level(&level, many_to_zero(zeroes, above)).await?,
                false => passed.push(level),
            }
        }
        Ok(passed)
    }

    /// Holds a level; whether its row could be answered. Where the ERP has it locked it is held later, and not sent before.
    async fn hold_level(&self, level: &StockIntent, message: Message) -> Result<bool, Cause> {
        match self.answer_level(level, &Verdict::Held(message)).await {
            Err(Cause::Store(error)) if !matches!(error, StoreError::LeaseLost { .. }) => {
                tracing::info!(store = %self.context.key, level = key_in_table(level), %error, "a level is held later");
                Ok(false)
            }
            held => held.map(|()| true),
        }
    }

    /// Takes over from the journal what the guards have to know of the hour before this service began.
    pub(super) async fn remember(&self) -> Result<(), Cause> {
        if self.state().remembers {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let since = self.context.clock.now() - AN_HOUR;
        let sets = store.effects_since(key, "stock.set", since).await?;
        let listings = store.effects_since(key, "listing.create", since).await?;
        let mut state = self.state();
        let is_zero = |effect: &&Effect| number_in(effect, "target").is_some_and(|target| target.is_zero());
        state.emptied = sets.iter().filter(is_zero).map(|set| (set.key.clone(), set.planned_at)).collect();
        state.listings = listings.iter().map(|listing| listing.planned_at).collect();
        state.remembers = true;
        Ok(())
    }

    /// How many levels went to zero within the hour.
    fn emptied_lately(&self) -> usize {
        let since = self.context.clock.now() - AN_HOUR;
        let mut state = self.state();
        state.emptied.retain(|_, at| *at > since);
        state.emptied.len()
    }

    /// Sends a level, where it differs from what the marketplace has.
    pub(super) async fn push_level(&self, level: &StockIntent) -> Result<Duration, Cause> {
        // It may have waited in the queue: what is wanted by now is for the next reading, whose guards have seen it.
        if !self.context.store.is_current(&self.context.key, level).await? {
            return Ok(Duration::ZERO);
        }
        let verdict = self.level(level).await?;
        self.answer_level(level, &verdict).await?;
        Ok(verdict.retry_after().unwrap_or_default())
    }

    async fn level(&self, level: &StockIntent) -> Result<Verdict, Cause> {
        let desired = match check(level) {
            Ok(desired) => desired,
            Err(message) => return Ok(Verdict::Failed(message)),
        };
        let Some(product) = &level.product else { return self.unknown_sku(level.sku.as_str()).await };
        if level.mirrored.is_none() {
            let locations = self.context.store.location_ids(&self.context.key).await?;
            if !locations.is_empty() && !locations.contains(&level.location) {
                return Ok(Verdict::Failed(unknown_location(level.location.as_str())));
            }
        }
        // A level that goes to zero sells nothing that is not there, whatever was sold meanwhile: it is not read first.
        let is_urgent = self.options.basis == Basis::Physical && desired.is_zero();
        let effects = self.context.store.effects_on(&self.context.key, &key_of_level(level)).await?;
        let is_believed = self.mirror_has_it(product, level, desired, &effects).await?;
        let (there, target) = if is_urgent || is_believed {
            (level.mirrored, desired)
        } else {
            if self.is_sending_off(&level.sku).await? {
                return Ok(Verdict::RetryAfter(DISPATCHES));
            }
            let now = match self.read_level(product, level).await? {
                Ok(now) => now,
                Err(verdict) => return Ok(verdict),
            };
            // What is reserved is the platform's, and changes with every sale: what counts is what it is now.
            let reserved = match self.options.basis {
                Basis::Physical => Decimal::ZERO,
                Basis::Available => now.as_ref().and_then(|now| now.reserved_quantity).unwrap_or_default(),
            };
            (now.and_then(|now| now.quantity), desired + reserved)
        };
        let now = self.context.clock.now();
        if there == Some(target) {
            // Something else that did not show may still land.
            let late = effects.iter().filter_map(|effect| may_land_for(effect, target, now)).max();
            return Ok(late.map_or(Verdict::Done(None), Verdict::RetryAfter));
        }
        if let Some(verdict) = backoff_or_give_up(effects.iter().filter(|effect| is_for(effect, level)), now)
        {
            return Ok(verdict);
        }
        // It was sent, and the row could not be answered: what was sold since must not be put on sale again.
        let was_sent = |set: &LevelSet| set.target == target && is_for(&set.effect, level);
        if last_set_of(effects, now).as_ref().is_some_and(was_sent) {
            return Ok(Verdict::Sent);
        }
        let verdict = self.set_level(product, level, target).await?;
        if target.is_zero() && matches!(verdict, Verdict::Sent | Verdict::RetryAfter(_)) {
            let now = self.context.clock.now();
            self.state().emptied.insert(key_of_level(level), now);
        }
        Ok(verdict)
    }

    /// Whether the mirror shows a level as it is wanted, and is to be believed: it must have been read well after the last thing that
    /// we did to the level, unless that was to set it so. A reading may have begun long before it was written down.
    async fn mirror_has_it(
        &self,
        product: &ProductId,
        level: &StockIntent,
        desired: Decimal,
        effects: &[Effect],
    ) -> Result<bool, Cause> {
        if self.options.basis == Basis::Available || level.mirrored != Some(desired) {
            return Ok(false);
        }
        let Some(last) = effects.iter().find(|effect| may_have_happened(effect)) else { return Ok(true) };
        let planned_at = last.planned_at;
        let set = last_set_of(effects.to_vec(), self.context.clock.now());
        if set.is_some_and(|set| set.target + set.moved == desired) {
            return Ok(true);
        }
        let read_at = self.context.store.product_read_at(&self.context.key, product).await?;
        Ok(read_at.is_some_and(|read_at| read_at - planned_at > SHOWS_FOR_CERTAIN))
    }

    /// The last level that we set, if it may be there.
    async fn last_set(&self, level: &StockIntent) -> Result<Option<LevelSet>, Cause> {
        let effects = self.context.store.effects_on(&self.context.key, &key_of_level(level)).await?;
        Ok(last_set_of(effects, self.context.clock.now()))
    }

    /// Reads a level; the verdict where the marketplace does not show the product.
    async fn read_level(
        &self,
        product: &ProductId,
        level: &StockIntent,
    ) -> Result<Result<Option<StockLevel>, Verdict>, Cause> {
        match self.read_product(product).await {
            Ok(detail) => {
                let mut levels = detail.product.stock.into_iter();
                Ok(Ok(levels.find(|now| now.location_id == level.location)))
            }
            Err(Cause::Api(error)) => super::refused(error).map(Err),
            Err(cause) => Err(cause),
        }
    }

    async fn set_level(
        &self,
        product: &ProductId,
        level: &StockIntent,
        target: Decimal,
    ) -> Result<Verdict, Cause> {
        let quantity = match Quantity::new(target) {
            Ok(quantity) => quantity,
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        let request = Movement::Set(quantity).request(product, &level.location);
        let effect = NewEffect {
            key: key_of_level(level),
            kind: "stock.set",
            command: None,
            request: request.in_full(),
            evidence: Some(
                json!({"product": product.as_str(), "location": level.location.as_str(),
                "sku": level.sku.as_str(), "target": target.to_string(), "wish": level.revision})
                .to_string(),
            ),
        };
        // Every second that it is not told somebody may buy what is not there: sweeps, which have a third of the minute beside other
        // pushes, have a sixth beside this.
        self.state().doubted.remove(&key_of_level(level));
        let lane = if level.quantity == Some(Decimal::ZERO) { Lane::Interactive } else { Lane::Push };
        let id = self.plan(effect).await?;
        match self.send(id, &Intent::Level(level), &self.client.in_lane(lane), &request).await? {
            Acted::Applied(_) => Ok(Verdict::Sent),
            Acted::Refused(error) => super::refused(error),
            // Set twice is set once: the look at what it came to decides whether it is set again.
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Looks at levels of one product that were sent, and says what they came to.
    pub(super) async fn verify_levels(
        &self,
        product: &ProductId,
        levels: &[StockIntent],
    ) -> Result<Duration, Cause> {
        let detail = match self.read_product(product).await {
            Ok(detail) => detail,
            Err(Cause::Api(error)) => {
                let verdict = super::refused(error)?;
                for level in levels {
                    self.answer_level(level, &verdict).await?;
                }
                return Ok(Duration::ZERO);
            }
            Err(cause) => return Err(cause),
        };
        let mut retry_after = Duration::ZERO;
        for level in levels {
            let now = detail.product.stock.iter().find(|now| now.location_id == level.location);
            let verdict = match (now, level.quantity) {
                (Some(now), Some(desired)) => {
                    let (quantity, reserved) =
                        (now.quantity.unwrap_or_default(), now.reserved_quantity.unwrap_or_default());
                    self.came_to(level, desired, quantity, reserved).await?
                }
                _ => Verdict::Failed(unknown_location(level.location.as_str())),
            };
            self.answer_level(level, &verdict).await?;
            retry_after = retry_after.max(verdict.retry_after().unwrap_or_default());
        }
        Ok(retry_after)
    }

    async fn came_to(
        &self,
        level: &StockIntent,
        desired: Decimal,
        quantity: Decimal,
        reserved: Decimal,
    ) -> Result<Verdict, Cause> {
        // What was set counts, not what it would be now: what is sold meanwhile must not be put on sale again.
        let Some(set) = self.last_set(level).await? else {
            return Ok(match quantity == desired {
                true => Verdict::Done(None),
                false => Verdict::Failed(conflict(desired, quantity)),
            });
        };
        let target = set.target + set.moved;
        // Goods that were reserved when it was set have left since: what was to cover them would be sold once more.
        let is_covered = set.moved.is_zero() && desired + reserved != set.target;
        if self.options.basis == Basis::Available && is_covered && quantity - reserved > desired {
            return Ok(Verdict::Requeue);
        }
        if quantity == target || self.dispatches_explain(&level.sku, &set.effect, target - quantity).await? {
            self.state().doubted.remove(&key_of_level(level));
            return Ok(match (set.may_be_overruled_for, reserved > quantity) {
                (Some(wait), _) => Verdict::RetryAfter(wait),
                (None, true) => Verdict::DoneBut(oversold(quantity, reserved)),
                (None, false) => Verdict::Done(None),
            });
        }
        let now = self.context.clock.monotonic();
        let first = *self.state().doubted.entry(key_of_level(level)).or_insert(now);
        if now.saturating_sub(first) < EXPLAINED_WITHIN {
            return Ok(Verdict::RetryAfter(Duration::from_secs(5)));
        }
        self.state().doubted.remove(&key_of_level(level));
        Ok(Verdict::Failed(conflict(target, quantity)))
    }

    pub(super) async fn answer_level(&self, level: &StockIntent, verdict: &Verdict) -> Result<(), Cause> {
        let key = key_in_table(level);
        let Some(outcome) = verdict.outcome(&self.row(IntentKind::Stock, &key), self.context.locale) else {
            return Ok(());
        };
        let is_same = level.state == Some(outcome.state) && level.code == outcome.code;
        if is_same {
            return Ok(());
        }
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        let is_answered = tx.answer_stock(level, &outcome, self.options.basis.as_str()).await?;
        if is_answered && is_decided(&outcome) {
            tx.spend_release(IntentKind::Stock, &key).await?;
        }
        Ok(tx.commit().await?)
    }

    /// A SKU that the mirror does not know: it may come with the first reconciliation or with a product that is being created.
    pub(super) async fn unknown_sku(&self, sku: &str) -> Result<Verdict, Cause> {
        let message = Message::new("unknown_sku", text!("push-unknown-sku", sku = sku));
        let (store, key) = (&self.context.store, &self.context.key);
        let is_mirrored = store.has_complete_run(key).await?;
        let is_coming = store.is_commanded(key, CommandKind::ProductCreate.as_str(), sku).await?;
        match is_mirrored && !is_coming {
            true => Ok(Verdict::Failed(message)),
            false => Ok(Verdict::Waiting(message, UNKNOWN_SKU_RECHECK_INTERVAL)),
        }
    }
}

/// Whether a level would go to zero; also one of which nobody knows yet what the marketplace has. What is not sold there empties nothing.
pub(super) fn empties(level: &StockIntent) -> bool {
    level.product.is_some()
        && matches!(level.state, Some(PushState::New | PushState::Waiting))
        && level.quantity == Some(Decimal::ZERO)
        && level.mirrored != Some(Decimal::ZERO)
}

fn may_have_happened(effect: &Effect) -> bool {
    !matches!(effect.state, EffectState::Refuted | EffectState::Planned)
}

fn number_in(effect: &Effect, name: &str) -> Option<Decimal> {
    let known: serde_json::Value = serde_json::from_str(effect.evidence.as_deref()?).ok()?;
    known[name].as_str()?.parse().ok()
}

/// Whether an effect was asked for by the very wish that stands in the row.
fn is_for(effect: &Effect, level: &StockIntent) -> bool {
    let known: Option<serde_json::Value> =
        effect.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok());
    known.is_some_and(|known| known["wish"].as_i64() == Some(level.revision))
}

/// The last level that was set by effects of its key, the newest first.
fn last_set_of(effects: Vec<Effect>, now: DateTime<Utc>) -> Option<LevelSet> {
    let at = effects.iter().position(|effect| effect.kind == "stock.set" && may_have_happened(effect))?;
    let target = number_in(&effects[at], "target")?;
    let later = effects[..at].iter().filter(|effect| effect.kind == "stock.adjust");
    let moved = later
        .filter(|effect| effect.state == EffectState::Confirmed)
        .filter_map(|effect| number_in(effect, "delta"))
        .sum();
    let left = |effect: &Effect| may_land_for(effect, target, now);
    let may_be_overruled_for = effects[at + 1..].iter().filter_map(left).max();
    let effect = effects.into_iter().nth(at)?;
    Some(LevelSet { effect, target, moved, may_be_overruled_for })
}

/// For how long a set of something else, that did not show when it was looked for, may still land: a marketplace may be late.
fn may_land_for(effect: &Effect, target: Decimal, now: DateTime<Utc>) -> Option<Duration> {
    let is_other = effect.kind == "stock.set"
        && effect.state == EffectState::Refuted
        && effect.code.is_none()
        && number_in(effect, "target").is_some_and(|other| other != target);
    let over = effect.sent_at.filter(|_| is_other)? + OVER_AFTER;
    (over - now).to_std().ok().filter(|left| !left.is_zero())
}

/// The key of a level in `v_errors`, releases and on the command line.
pub(super) fn key_in_table(level: &StockIntent) -> String {
    format!("{}/{}", level.sku, level.location)
}

pub(super) fn check(level: &StockIntent) -> Result<Decimal, Message> {
    let written = || text!("value-not-number-but", field = "quantity", value = &level.written);
    let quantity = level.quantity.ok_or_else(|| invalid(written()))?;
    let value = || Arg::Word(quantity.to_string());
    if quantity < Decimal::ZERO {
        let rule = text!("value-rule-zero-or-more");
        return Err(invalid(text!("value-rule", field = "quantity", value = value(), rule = rule)));
    }
    if quantity.normalize().scale() > MOST_DECIMALS {
        let text = text!("value-decimals", field = "quantity", value = value(), most = MOST_DECIMALS);
        return Err(invalid(text));
    }
    let whole = level.base_unit.as_deref().is_some_and(|unit| WHOLE_UNITS.contains(&unit));
    if whole && !quantity.fract().is_zero() {
        let unit = level.base_unit.as_deref().unwrap_or_default();
        return Err(invalid(text!("value-no-half", field = "quantity", value = value(), unit = unit)));
    }
    Ok(quantity)
}

pub(super) fn invalid(why: Text) -> Message {
    Message::new("invalid_data", text!("push-invalid", why = why))
}

pub(super) fn many_to_zero(zeroes: usize, above: usize) -> Message {
    Message::new("many_to_zero", text!("push-many-to-zero", zeroes = zeroes, above = above))
}

fn unknown_location(location: &str) -> Message {
    Message::new("unknown_location", text!("push-unknown-location", location = location))
}

fn oversold(quantity: Decimal, reserved: Decimal) -> Message {
    let (reserved, quantity) = (Arg::Quantity(reserved), Arg::Quantity(quantity));
    Message::new("oversold", text!("push-oversold", reserved = reserved, quantity = quantity))
}

fn conflict(desired: Decimal, quantity: Decimal) -> Message {
    let (desired, quantity) = (Arg::Quantity(desired), Arg::Quantity(quantity));
    Message::new("stock_conflict", text!("push-stock-conflict", wanted = desired, quantity = quantity))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(kind: &str, evidence: &serde_json::Value, state: EffectState) -> Effect {
        Effect {
            id: 1,
            key: "stock/a/1".to_owned(),
            kind: kind.to_owned(),
            command_id: None,
            fingerprint: None,
            request: String::new(),
            evidence: Some(evidence.to_string()),
            state,
            planned_at: DateTime::UNIX_EPOCH,
            sent_at: Some(DateTime::UNIX_EPOCH),
            code: None,
            note: None,
            answer: None,
        }
    }

    #[test]
    fn what_we_moved_after_a_level_was_set_is_no_conflict_and_what_may_land_late_is_waited_for() {
        let set = |target: i64, state| effect("stock.set", &json!({"target": target.to_string()}), state);
        let moved =
            |delta: i64| effect("stock.adjust", &json!({"delta": delta.to_string()}), EffectState::Confirmed);
        let now = DateTime::<Utc>::UNIX_EPOCH + TimeDelta::seconds(10);
        let (confirmed, refuted) = (EffectState::Confirmed, EffectState::Refuted);
        let last = last_set_of(vec![moved(-2), set(10, confirmed), moved(7)], now).unwrap();
        assert_eq!((last.target + last.moved, last.may_be_overruled_for), (Decimal::from(8), None));
        let last = last_set_of(vec![set(0, confirmed), set(5, refuted)], now).unwrap();
        assert_eq!(last.may_be_overruled_for, Some(Duration::from_secs(30)));
        let last = last_set_of(vec![set(5, confirmed), set(5, refuted)], now).unwrap();
        assert_eq!(last.may_be_overruled_for, None, "it would be the same");
        let later = now + TimeDelta::seconds(30);
        let last = last_set_of(vec![set(0, confirmed), set(5, refuted)], later).unwrap();
        assert_eq!(last.may_be_overruled_for, None);
        assert!(last_set_of(vec![set(5, refuted)], now).is_none());
    }
}

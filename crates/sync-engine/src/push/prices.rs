//! Prices (`erp_prices`, `price.delete_tier`): reads the current tiers, plans the steps, records each step in the
//! journal, and reads the result. A lost step is not sent again: the next attempt plans from the tiers of that time.

use std::{collections::HashMap, time::Duration};

use espelho_api_client::{
    ApiRequest, Invalid,
    resources::products::{
        ProductDetail,
        measures::{Measures, Package as ApiPackage},
        prices::{
            AutomaticPricing, Discount, Price, Tier as ApiTier, WholesaleQuantity, WholesaleTier,
            delete_request,
        },
    },
};
use espelho_model::{
    ProductId, Sku,
    product::PriceTier,
    push::PushState,
    text,
    text::{Arg, Text},
};
use espelho_store::{Effect, IntentKind, NewEffect, PriceIntent, TierIntent};
use rust_decimal::Decimal;

use super::{
    PushOptions, Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    is_final,
    journal::{ExecutionResult, Intent},
};
use crate::plan::{
    guards::PriceHeld,
    push::{
        Message, Verdict,
        evidence::{Evidence as _, write},
        invalid,
        price_step::{StepEvidence, is_desired, is_reverted_repeatedly, wish_of},
    },
    tiers::{Forbidden, Mode, Package, Step, Tier, holds, plan},
};

impl Pusher<'_> {
    /// Applies a product's prices, and answers its rows.
    pub(super) async fn push_prices(&self, desired: &PriceIntent) -> Result<Duration, Cause> {
        let rows = self.context.store.intents().tier_intents(&self.context.key, &desired.sku).await?;
        let open: Vec<TierIntent> = rows.iter().filter(|row| is_asked(row)).cloned().collect();
        let verdicts = self.prices(desired, &rows, &open).await?;
        self.answer_tiers(&desired.sku, &open, verdicts).await
    }

    /// Writes the same verdict to each open row of a product.
    pub(super) async fn answer_prices(&self, desired: &PriceIntent, verdict: &Verdict) -> Result<(), Cause> {
        let rows = self.context.store.intents().tier_intents(&self.context.key, &desired.sku).await?;
        let open: Vec<TierIntent> = rows.into_iter().filter(TierIntent::is_open).collect();
        let verdicts = vec![verdict.clone(); open.len()];
        self.answer_tiers(&desired.sku, &open, verdicts).await.map(drop)
    }

    /// Answers rows. Returns the wait until the next attempt.
    async fn answer_tiers(
        &self,
        sku: &Sku,
        rows: &[TierIntent],
        verdicts: Vec<Verdict>,
    ) -> Result<Duration, Cause> {
        let mut retry_after = Duration::ZERO;
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        for (row, verdict) in rows.iter().zip(verdicts) {
            retry_after = retry_after.max(verdict.retry_after().unwrap_or_default());
            let key = key_in_table(sku, row);
            let Some(outcome) = verdict.outcome(&self.row(IntentKind::Price, &key), self.context.locale)
            else {
                continue;
            };
            // Do not repeat the answer that a row already has: it would look like a new request.
            if row.state == Some(outcome.state) && row.code == outcome.code {
                continue;
            }
            if tx.intents().answer_price(sku, row, &outcome).await? && is_final(&outcome) {
                tx.intents().spend_release(IntentKind::Price, &key).await?;
            }
        }
        tx.commit().await?;
        Ok(retry_after)
    }

    /// Returns the verdict for each open row.
    async fn prices(
        &self,
        desired: &PriceIntent,
        rows: &[TierIntent],
        open: &[TierIntent],
    ) -> Result<Vec<Verdict>, Cause> {
        let all = |verdict: Verdict| Ok(vec![verdict; open.len()]);
        let Some(product) = &desired.product else {
            return all(self.unknown_sku(desired.sku.as_str()).await?);
        };
        if rows.iter().any(|row| tier_of(row).is_err()) {
            let own = |row: &TierIntent| match tier_of(row) {
                Err(problem) => Verdict::Failed(invalid(problem)),
                Ok(_) => Verdict::Waiting(waits_for_other(), Duration::from_secs(60)),
            };
            return Ok(open.iter().map(own).collect());
        }
        let detail = match self.read_product(product).await {
            Ok(detail) => detail,
            Err(Cause::Api(error)) => return all(refused(error)?),
            Err(cause) => return Err(cause),
        };
        let (mode, current) = (mode_of(&detail), current_tiers(&detail));
        let released = self.context.store.releases().releases(&self.context.key, IntentKind::Price).await?;
        let held: Vec<Option<Message>> =
            open.iter().map(|row| self.holds_row(&desired.sku, row, &current, &released)).collect();
        let is_held = |row: &TierIntent| row.state == Some(PushState::Held);
        if held.iter().any(Option::is_some) || rows.iter().any(is_held) {
            let verdict = |message: Option<Message>| match message {
                Some(message) => Verdict::Held(message),
                None => Verdict::Waiting(waits_for_held(), Duration::from_secs(60)),
            };
            return Ok(held.into_iter().map(verdict).collect());
        }
        let asked: Vec<Tier> =
            rows.iter().filter(|row| is_desired(row)).filter_map(|row| tier_of(row).ok()).collect();
        let named: Vec<i64> = rows.iter().map(|row| row.min_quantity).collect();
        let tiers = merge_tiers(&asked, &current, &named, self.options.remove_missing_tiers);
        let is_for = |effect: &Effect| wish_of(effect) == Some(desired.revision);
        if let Some(verdict) = self.backoff_for(&key_of(product, &detail), is_for).await? {
            return all(verdict);
        }
        if !open.iter().any(|row| is_released(&desired.sku, row, &released)) {
            let steps = plan(mode, &current, &tiers).unwrap_or_default();
            if self.is_reverted(product, &detail, &steps).await? {
                return all(Verdict::Held(written_back()));
            }
        }
        let intent = Intent::Prices(&desired.sku, rows, desired.revision);
        all(self.apply_tiers(product, &detail, &tiers, None, &intent).await?)
    }

    /// Says whether a step was sent so often within the hour that somebody seems to revert it each time: two systems
    /// that correct each other would never stop.
    async fn is_reverted(
        &self,
        product: &ProductId,
        detail: &ProductDetail,
        steps: &[Step],
    ) -> Result<bool, Cause> {
        if steps.is_empty() {
            return Ok(false);
        }
        let effects =
            self.context.store.journal().effects_on(&self.context.key, &key_of(product, detail)).await?;
        let requests = steps.iter().filter_map(|step| request_of(*step, product, detail).ok());
        let requests: Vec<String> = requests.map(|request| request.in_full()).collect();
        Ok(is_reverted_repeatedly(&requests, &effects, self.context.clock.now()))
    }

    /// Plans the steps from the current tiers to the desired ones, and executes them.
    async fn apply_tiers(
        &self,
        product: &ProductId,
        detail: &ProductDetail,
        desired: &[Tier],
        command: Option<(i64, String)>,
        intent: &Intent<'_>,
    ) -> Result<Verdict, Cause> {
        let steps = match plan(mode_of(detail), &current_tiers(detail), desired) {
            Ok(steps) => steps,
            Err(forbidden) => {
                return Ok(Verdict::Failed(against_rules(forbidden)));
            }
        };
        if steps.is_empty() {
            return Ok(Verdict::Done(None));
        }
        for step in steps {
            let request = match request_of(step, product, detail) {
                Ok(request) => request,
                Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
            };
            let effect = NewEffect {
                key: key_of(product, detail),
                kind: StepEvidence::KIND,
                command: command.clone(),
                request: request.in_full(),
                evidence: Some(write(&StepEvidence::of(step, product.as_str(), revision_of(intent)))),
            };
            match self.execute_once(effect, intent, &request).await? {
                ExecutionResult::Applied(_) => (),
                ExecutionResult::Refused(error) => {
                    // An earlier step that was lost and settled as not happened may have happened since.
                    let now = self.read_product(product).await?;
                    return match holds(mode_of(&now), &current_tiers(&now), desired) {
                        true => Ok(Verdict::Done(None)),
                        false => refused(error),
                    };
                }
                ExecutionResult::Unknown => return Ok(Verdict::RetryAfter(Duration::ZERO)),
            }
        }
        let after = self.read_product(product).await?;
        let tiers = current_tiers(&after);
        if tiers.iter().any(|tier| tier.price.is_some_and(|price| price.is_zero())) {
            return Ok(Verdict::Failed(is_zero()));
        }
        Ok(match holds(mode_of(&after), &tiers, desired) {
            true => Verdict::Done(None),
            // Every step was executed; another attempt would execute them again.
            false => Verdict::DoneBut(not_as_sent()),
        })
    }

    fn holds_row(
        &self,
        sku: &Sku,
        row: &TierIntent,
        current: &[Tier],
        released: &HashMap<String, String>,
    ) -> Option<Message> {
        let (held, price) = held_by_price_guard(self.options, sku, row, current)?;
        let may_pass = held != PriceHeld::Zero && is_released(sku, row, released);
        (!may_pass).then(|| held_message(&held, price))
    }

    /// Executes `price.delete_tier`.
    pub(super) async fn delete_tier(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let quantity =
            cx.data["min_quantity"].as_u64().or_else(|| cx.data["min_quantity"].as_str()?.parse().ok());
        let Some(quantity) = quantity.and_then(|q| u32::try_from(q).ok()) else {
            return Ok(Verdict::Failed(invalid(text!(
                "value-missing",
                field = "data.min_quantity",
                example = "{\"min_quantity\": 10}"
            ))));
        };
        let Some(product) = self.product_of(&cx.command.key).await? else {
            return self.unknown_sku(&cx.command.key).await;
        };
        let detail = self.read_product(&product).await?;
        let desired: Vec<Tier> =
            current_tiers(&detail).into_iter().filter(|tier| tier.min_quantity != quantity).collect();
        let verdict =
            self.apply_tiers(&product, &detail, &desired, Some(cx.identity()), &cx.intent()).await?;
        if verdict == Verdict::Done(None) {
            self.context
                .store
                .intents()
                .supersede_tier(&self.context.lease, &cx.command.key, i64::from(quantity))
                .await?;
        }
        Ok(verdict)
    }
}

/// Returns why the guards hold a row, and the price that results from it.
pub(super) fn held_by_price_guard(
    options: &PushOptions,
    sku: &Sku,
    row: &TierIntent,
    current: &[Tier],
) -> Option<(PriceHeld, Decimal)> {
    let base = current.iter().find(|tier| tier.min_quantity == 1).and_then(|tier| tier.price);
    // A value that is no discount is refused by its rule, and not offered for release.
    let cut = |percent: Decimal| {
        let is_one = percent >= Decimal::ZERO && percent < Decimal::ONE_HUNDRED;
        base.filter(|_| is_one).map(|base| base * (Decimal::ONE_HUNDRED - percent) / Decimal::ONE_HUNDRED)
    };
    let price = row.price().or_else(|| row.discount().and_then(cut))?;
    // The current unit price for this quantity, from the tier that applies to it.
    let applies = |tier: &&Tier| i64::from(tier.min_quantity) <= row.min_quantity;
    let before = current.iter().filter(applies).max_by_key(|tier| tier.min_quantity);
    let mut guards = options.guards.clone();
    if let Some(floor) = options.floors.get(sku.as_str()) {
        guards.price_floor = *floor;
    }
    Some((guards.holds_price(before.and_then(|tier| tier.price), price)?, price))
}

/// Returns all desired tiers: those that the ERP asks for, and the current ones that stay. A tier that the ERP has
/// `named` and does not ask for now (a row that is held or ignored) stays as it is.
pub(super) fn merge_tiers(
    asked: &[Tier],
    current: &[Tier],
    named: &[i64],
    removes_missing: bool,
) -> Vec<Tier> {
    let mut tiers = asked.to_vec();
    let is_asked = |tier: &Tier| asked.iter().any(|own| own.min_quantity == tier.min_quantity);
    // The base tier can never go; the others go only where the ERP's list is the whole list.
    let stays = |tier: &&Tier| {
        let is_named = named.contains(&i64::from(tier.min_quantity));
        !is_asked(tier) && (tier.min_quantity == 1 || !removes_missing || is_named)
    };
    tiers.extend(current.iter().filter(stays).copied());
    tiers.sort_by_key(|tier| tier.min_quantity);
    tiers
}

/// Says whether a row is answered: a failed row may have failed because of another row that was corrected.
pub(super) fn is_asked(row: &TierIntent) -> bool {
    row.is_open() || row.state == Some(PushState::Failed)
}

/// Returns the key of a step: the steps of one product run one after the other.
fn key_of(product: &ProductId, detail: &ProductDetail) -> String {
    format!("prices/{}", detail.product.sku.as_ref().map_or(product.as_str(), Sku::as_str))
}

/// Says whether a person released a row's value from the guards.
fn is_released(sku: &Sku, row: &TierIntent, released: &HashMap<String, String>) -> bool {
    released.get(&key_in_table(sku, row)) == Some(&row.value())
}

/// The key of a tier in `v_errors`, in releases and on the command line.
fn key_in_table(sku: &Sku, row: &TierIntent) -> String {
    format!("{sku}/{}", row.min_quantity)
}

/// Returns the pricing mode of a product.
pub fn mode_of(detail: &ProductDetail) -> Mode {
    match detail.product.price_type.as_deref() {
        Some("wholesale") if detail.product.auto_wholesale_pricing == Some(true) => Mode::Auto,
        Some("wholesale") => Mode::Manual,
        _ => Mode::Default,
    }
}

/// Returns a product's current tiers, for the planner.
pub fn current_tiers(detail: &ProductDetail) -> Vec<Tier> {
    detail.product.prices.iter().filter_map(current_tier).collect()
}

pub(super) fn current_tier(tier: &PriceTier) -> Option<Tier> {
    let package = match (tier.package_weight, tier.package_height, tier.package_width, tier.package_length) {
        (Some(weight), Some(height), Some(width), Some(length)) => {
            Some(Package { weight, height, width, length })
        }
        _ => None,
    };
    Some(Tier {
        min_quantity: u32::try_from(tier.min_quantity).ok()?,
        price: tier.value,
        discount_percent: tier.discount_percent,
        package,
    })
}

/// Returns the tier that a row asks for, or what is wrong with it.
pub(super) fn tier_of(row: &TierIntent) -> Result<Tier, Text> {
    if row.is_garbled() {
        return Err(text!("value-tier-garbled", tier = row.min_quantity));
    }
    let min_quantity = u32::try_from(row.min_quantity).ok().filter(|quantity| *quantity > 0);
    let min_quantity = min_quantity.ok_or_else(|| {
        let rule = text!("value-rule-one-or-more");
        text!("value-rule", field = "min_quantity", value = row.min_quantity.to_string(), rule = rule)
    })?;
    let package = match row.package {
        [None, None, None, None] => None,
        [Some(weight), Some(height), Some(width), Some(length)] => {
            Some(Package { weight, height, width, length })
        }
        _ => return Err(text!("value-tier-package", tier = min_quantity)),
    };
    if row.price().is_some_and(|price| price < Decimal::ZERO) {
        return Err(text!("value-tier-negative", tier = min_quantity));
    }
    Ok(Tier { min_quantity, price: row.price(), discount_percent: row.discount(), package })
}

/// Returns the request of a planned step.
///
/// # Errors
/// When the request would be invalid: a discount for a product that does not derive its prices, a number with too many
/// decimals.
pub fn request_of(step: Step, product: &ProductId, detail: &ProductDetail) -> Result<ApiRequest, Invalid> {
    Ok(match step {
        Step::Post(tier) => api_tier(tier, detail)?.create_request(product),
        Step::Put(tier) => api_tier(tier, detail)?.update_request(product),
        Step::Delete(quantity) => delete_request(product, WholesaleQuantity::new(quantity)?),
    })
}

fn api_tier(tier: Tier, detail: &ProductDetail) -> Result<ApiTier, Invalid> {
    if tier.min_quantity == 1 {
        return Ok(ApiTier::Base(Price::new(tier.price.unwrap_or_default())?));
    }
    let min_quantity = WholesaleQuantity::new(tier.min_quantity)?;
    let package = tier.package.map(api_package).transpose()?;
    match tier.price {
        Some(price) => {
            Ok(ApiTier::Manual(WholesaleTier { min_quantity, pricing: Price::new(price)?, package }))
        }
        None => {
            let pricing = Discount::new(tier.discount_percent.unwrap_or_default())?;
            Ok(ApiTier::Automatic(
                AutomaticPricing::of(detail)?,
                WholesaleTier { min_quantity, pricing, package },
            ))
        }
    }
}

fn api_package(Package { weight, height, width, length }: Package) -> Result<ApiPackage, Invalid> {
    ApiPackage::new(Measures { height, width, length, weight })
}

/// Returns the revision of the rows that ask for a step.
fn revision_of(intent: &Intent<'_>) -> Option<i64> {
    if let Intent::Prices(.., revision) = intent { Some(*revision) } else { None }
}

fn against_rules(forbidden: Forbidden) -> Message {
    let text = text!("push-price-rule", rule = forbidden.rule(), problem = forbidden.text());
    Message::new("price_rule", text)
}

fn is_zero() -> Message {
    Message::new("price_zero", text!("push-price-shown-zero"))
}

fn not_as_sent() -> Message {
    Message::new("not_as_sent", text!("push-price-not-as-sent"))
}

fn written_back() -> Message {
    Message::new("written_back", text!("push-price-written-back"))
}

fn waits_for_other() -> Message {
    Message::new("tier_invalid", text!("push-tier-invalid"))
}

fn waits_for_held() -> Message {
    Message::new("tier_held", text!("push-tier-held"))
}

pub(super) fn held_message(held: &PriceHeld, price: Decimal) -> Message {
    let price = Arg::Money(price);
    match held {
        PriceHeld::Zero => Message::new("price_zero", text!("push-price-zero")),
        PriceHeld::BelowFloor(floor) => {
            let floor = Arg::Money(*floor);
            Message::new("price_floor", text!("push-price-floor", price = price, floor = floor))
        }
        PriceHeld::Jumps(percent) => {
            let percent = Arg::Quantity(*percent);
            Message::new("price_jump", text!("push-price-jump", price = price, percent = percent))
        }
    }
}

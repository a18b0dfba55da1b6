//! Stock movements (`stock.adjust`): reads the current stock, records the movement, sends it once.
//! `plan::push::stock_movement` decides whether a movement with a lost answer happened.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_api_client::{
    ApiRequest,
    resources::products::stock::Movement,
    webhook::{Delivery, EventName},
};
use espelho_model::{LocationId, ProductId, Sku, product::StockLevel, text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use rust_decimal::Decimal;
use serde_json::Value;

use super::super::{
    command_context::CommandContext,
    fields::FieldType,
    handler::{CommandHandler, SettleResult, Unsettled},
    journal::ExecutionResult,
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    plan::{
        push::{
            Message, Verdict,
            dispatches::ReadingWindow,
            evidence::{EvidenceKind, read},
            invalid,
            late_effects::may_still_land,
            level_history::of_product,
            movement_evidence::MovementEvidence,
            own_writes::{LAG_RECHECK_INTERVAL, is_behind, recently_added},
            product::number,
            reported_changes::{OwnChange, ReportedChange, reported_changes},
            stock_level::{many_to_zero, missing_quantity},
            stock_movement::{self, After, Asked, Judgement, check, empties, quantity_of, total_of},
        },
        stock_balance::Dispatched,
    },
};

/// The effects before a movement among which those of its SKU are looked for: deliveries may report them late.
const LATEST_EFFECTS: i64 = 200;
/// Deliveries that are read at once.
const DELIVERIES: i64 = 1_000;
/// How often a stock that changes while it is read is read again.
const READINGS: usize = 5;
/// The wait of a movement for one of our dispatches.
const DISPATCH_RECHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The wait after a dispatch made us call a movement off: that attempt has cost a reading.
const CANCELLED_RETRY: Duration = Duration::from_secs(1);
/// The wait of a movement for a quantity that the marketplace does not show.
const MISSING_QUANTITY_RECHECK_INTERVAL: Duration = Duration::from_secs(60);

/// `stock.adjust`.
pub(super) struct StockAdjust;

impl CommandHandler for StockAdjust {
    fn subject_key(&self, command: &Command) -> String {
        let data: Value = serde_json::from_str(&command.data).unwrap_or_default();
        let location =
            data["location_id"].as_str().map_or_else(|| data["location_id"].to_string(), str::to_owned);
        // Without the blanks of a padded column, as the product is looked up: one level has one key.
        format!("stock/{}/{location}", command.key.trim())
    }

    fn changes_product(&self) -> bool {
        true
    }

    fn has_keys_in_data(&self) -> bool {
        true
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("location_id", FieldType::Other), ("delta", FieldType::Other)])
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<MovementEvidence>())
    }

    fn cost(&self) -> u32 {
        3
    }

    fn planned_request(&self, _: &Command, data: &Value, product: Option<&ProductId>) -> Option<ApiRequest> {
        let location = match &data["location_id"] {
            Value::Number(number) => number.to_string(),
            other => other.as_str()?.to_owned(),
        };
        let movement = Movement::by(number(&data["delta"])?).ok()?;
        Some(movement.request(product?, &LocationId::new(location)))
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }

    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, SettleResult> {
        Box::pin(settle(services, effect))
    }
}

/// Executes `stock.adjust`.
async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    if cx.confirmed("stock.adjust").is_some() {
        return Ok(Verdict::Done(None));
    }
    let Asked { location, delta } = match Asked::read(&cx.data) {
        Ok(asked) => asked,
        Err(message) => return Ok(Verdict::Failed(message)),
    };
    let movement = match Movement::by(delta) {
        Ok(movement) => movement,
        Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
    };
    let sku = Sku::new(cx.command.key.trim());
    let Some(product) = services.products.by_sku(sku.as_str()).await? else {
        return services.products.unknown_sku_of_command(sku.as_str()).await;
    };
    // The journal places our own dispatches before this reading or after it, so none may be under way meanwhile.
    let journal_end = services.context.store.journal().end(&services.context.key).await?;
    if services.dispatches.is_dispatching(&sku).await? || has_open_movement(services, &sku, &location).await?
    {
        return Ok(Verdict::RetryAfter(DISPATCH_RECHECK_INTERVAL));
    }
    let after_delivery = services.context.store.inbox().last_delivery().await?;
    // Dispatches from here on count: they may be before the reading, or after it.
    let from = services.context.clock.now();
    let detail = services.products.read(&product).await?;
    let until = services.context.clock.now();
    let level = detail.product.stock.iter().find(|level| level.location_id == location);
    if level.is_none() && !is_location(services, &location).await? {
        return Ok(Verdict::Failed(invalid(text!("value-no-stock-there", location = location.as_str()))));
    }
    // Without it nothing could prove later that the movement happened.
    let Some(before) = quantity_of(level) else {
        return Ok(Verdict::Waiting(
            missing_quantity(&product, &location, "quantity"),
            MISSING_QUANTITY_RECHECK_INTERVAL,
        ));
    };
    // From such a reading a movement before this one would look like this one.
    if is_reading_behind(services, &sku, &product, (&location, before), &detail.product.stock).await? {
        let message = Message::new("reading_behind", text!("push-reading-behind"));
        return Ok(Verdict::Waiting(message, LAG_RECHECK_INTERVAL));
    }
    if let Err(message) = check(detail.product.base_unit.as_deref(), before, delta) {
        return Ok(Verdict::Failed(message));
    }
    let emptied_at = match empties(before, delta) {
        true => match count_zero(services, cx).await? {
            Ok(at) => Some(at),
            Err(held) => return Ok(Verdict::Held(held)),
        },
        false => None,
    };
    let forget_zero = || {
        if let Some(at) = emptied_at {
            services.guards.forget_zero(&cx.subject, at);
        }
    };
    let request = movement.request(&product, &location);
    let stock = &detail.product.stock;
    let evidence = MovementEvidence {
        product: product.as_str().to_owned(),
        sku: sku.as_str().to_owned(),
        location: location.as_str().to_owned(),
        delta,
        before,
        journal_end: Some(journal_end),
        from: Some(from),
        until: Some(until),
        total: total_of(stock),
        locations: u64::try_from(stock.len()).ok(),
        after_delivery: Some(after_delivery),
    };
    let id = services.journal.plan(cx.effect(&request, &evidence)).await?;
    // A dispatch between that end of the journal and this point may be before the reading or after it.
    let dispatched = services.dispatches.has_dispatched_since(&sku, journal_end).await;
    if !matches!(dispatched, Ok(false)) {
        services.journal.cancel(id).await?;
        forget_zero();
        return dispatched.map(|_| Verdict::RetryAfter(CANCELLED_RETRY));
    }
    match services.journal.send(id, &cx.intent(), &services.client, &request).await? {
        ExecutionResult::Applied(_) => {
            services.products.refresh(&product).await?;
            Ok(Verdict::Done(None))
        }
        ExecutionResult::Refused(error) => {
            forget_zero();
            refused(error)
        }
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

/// Counts a level that a movement takes to zero; returns the time at which it counts. The inner `Err` has the words for
/// its row where too many went there within the hour; then it does not count. It is counted before it is sent, because
/// other workers may be sending movements too.
async fn count_zero(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
) -> Result<Result<DateTime<Utc>, Message>, Error> {
    let at = services.guards.note_zero(cx.subject.clone());
    let (guards, zeroes) = (&services.options.guards, services.guards.recent_zeroes());
    if cx.is_released || zeroes <= guards.zero_max_rows {
        return Ok(Ok(at));
    }
    let context = services.context;
    // The others of this hour were above zero.
    let above = context.store.lookups().stocked_levels(&context.key).await? + zeroes.saturating_sub(1);
    if !guards.holds_zeroes(zeroes, above) {
        return Ok(Ok(at));
    }
    services.guards.forget_zero(&cx.subject, at);
    Ok(Err(many_to_zero(zeroes, above)))
}

/// Says whether the store has a location: a product that has no stock there yet has none of it.
async fn is_location(services: &Services<'_>, location: &LocationId) -> Result<bool, Error> {
    let known = services.context.store.mirror().location_names(&services.context.key).await?;
    Ok(known.contains_key(location))
}

/// Says whether a reading of a SKU's stock may be from before our changes of it at any location. `here` is the movement's
/// own location, of which the product may have no level yet.
async fn is_reading_behind(
    services: &Services<'_>,
    sku: &Sku,
    product: &ProductId,
    here: (&LocationId, Decimal),
    stock: &[StockLevel],
) -> Result<bool, Error> {
    let (journal, key) = (services.context.store.journal(), &services.context.key);
    let now = services.context.clock.now();
    let elsewhere = stock.iter().filter(|level| level.location_id != *here.0);
    let elsewhere = elsewhere.filter_map(|level| Some((&level.location_id, level.quantity?)));
    for (location, quantity) in std::iter::once(here).chain(elsewhere) {
        let own = journal.effects_on(key, &format!("stock/{sku}/{location}")).await?;
        if is_behind(quantity, &of_product(own, product), now) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns how much changes of ours added to a SKU's stock in the two minutes before a movement, the newest first: at the
/// movement's location, and in all of them.
async fn changed_before(
    services: &Services<'_>,
    sku: &Sku,
    movement: &Effect,
) -> Result<(Vec<Option<Decimal>>, Vec<Option<Decimal>>), Error> {
    let (journal, key) = (services.context.store.journal(), &services.context.key);
    let now = services.context.clock.now();
    let of_sku = format!("stock/{sku}/");
    let (mut here, mut anywhere) = (Vec::new(), Vec::new());
    let effects = journal.effects_after(key, movement.id - LATEST_EFFECTS).await?;
    for effect in effects.iter().rev().filter(|effect| effect.id < movement.id) {
        let (added, is_here) = match effect.key.starts_with(&of_sku) {
            true => (recently_added(effect, now), effect.key == movement.key),
            // The API does not tell from which location a dispatch took it.
            false => (services.dispatches.recently_added(effect, sku, now).await?, true),
        };
        let Some(added) = added else { continue };
        anywhere.push(added);
        if is_here {
            here.push(added);
        }
    }
    Ok((here, anywhere))
}

/// Says whether another effect of ours that changes the SKU's stock is under way at any location, or may still land
/// at this one: nothing could tell it from the movement.
async fn has_open_movement(services: &Services<'_>, sku: &Sku, location: &LocationId) -> Result<bool, Error> {
    let (store, key) = (&services.context.store, &services.context.key);
    let of_sku = format!("stock/{sku}/");
    if store.journal().open_effects(key).await?.iter().any(|effect| effect.key.starts_with(&of_sku)) {
        return Ok(true);
    }
    let now = services.context.clock.now();
    Ok(store
        .journal()
        .effects_on(key, &format!("{of_sku}{location}"))
        .await?
        .iter()
        .any(|effect| may_still_land(effect, now)))
}

/// Says whether another effect of ours changed a SKU's stock after `journal_end`, which precedes the reading of the
/// movement.
async fn has_moved_elsewhere(
    services: &Services<'_>,
    sku: &Sku,
    movement: &Effect,
    journal_end: i64,
) -> Result<bool, Error> {
    let effects = services.context.store.journal().effects_after(&services.context.key, journal_end).await?;
    let of_sku = format!("stock/{sku}/");
    Ok(effects.iter().any(|effect| effect.id != movement.id && effect.key.starts_with(&of_sku)))
}

/// The quantity at the location, and the total where all locations have a quantity.
type Quantities = (Decimal, Option<Decimal>);

/// Reads the quantity at the location and in total, and the dispatches. The quantities are the same before and
/// after the dispatches are read: dispatches only lower them. Without a quantity at the location there is no
/// reading.
async fn read_stable_stock(
    services: &Services<'_>,
    evidence: &MovementEvidence,
    window: ReadingWindow,
) -> Result<Option<(Quantities, Dispatched)>, Error> {
    let (product, sku) = (ProductId::new(&evidence.product), Sku::new(&evidence.sku));
    let quantity = async || -> Result<Option<Quantities>, Error> {
        let stock = services.client.products().stock(&product, Some(&sku)).await?.value;
        let level = stock.levels.iter().find(|level| level.location_id.as_str() == evidence.location);
        Ok(quantity_of(level).map(|quantity| (quantity, total_of(&stock.levels))))
    };
    let mut before = quantity().await?;
    for _ in 0..READINGS {
        let sold = services.dispatches.sold_since(&sku, window).await?;
        let Some(sold) = sold.filter(|sold| !sold.is_incomplete) else { return Ok(None) };
        let after = quantity().await?;
        match after {
            Some(after) if Some(after) == before => return Ok(Some((after, sold))),
            after => before = after,
        }
    }
    Ok(None)
}

/// Reads the changes of the SKU that deliveries reported since the reading before a movement, without those of our effects
/// before it.
async fn reported_since(
    services: &Services<'_>,
    movement: &Effect,
    evidence: &MovementEvidence,
) -> Result<Vec<ReportedChange>, Error> {
    let Some(mut after) = evidence.after_delivery else { return Ok(Vec::new()) };
    let (journal, of_sku) = (services.context.store.journal(), format!("stock/{}/", evidence.sku));
    let before = journal.effects_after(&services.context.key, movement.id - LATEST_EFFECTS).await?;
    let is_earlier = |effect: &&Effect| effect.id < movement.id && effect.key.starts_with(&of_sku);
    let earlier: Vec<OwnChange> = before.iter().filter(is_earlier).filter_map(OwnChange::of).collect();
    let (inbox, key) = (services.context.store.inbox(), &services.context.key);
    let naive = services.client.naive_offset();
    let event = EventName::ProductStockUpdated;
    let mut of_product = Vec::new();
    loop {
        let page = inbox.deliveries_of(key, event.as_str(), after, DELIVERIES).await?;
        let parsed = page.iter().filter_map(|kept| Delivery::parse(&kept.body, naive).ok());
        of_product.extend(parsed.filter(|own| own.product_sku_id() == Some(evidence.product.as_str())));
        match page.last() {
            Some(last) if page.len() == DELIVERIES as usize => after = last.id,
            _ => return Ok(reported_changes(&of_product, &evidence.product, &earlier, evidence.from)),
        }
    }
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: MovementEvidence = read(effect)?;
    effect.sent_at.ok_or(Unsettled::Unreadable)?;
    if !services.context.store.runs().has_walked_orders(&services.context.key).await? {
        return Ok(stock_movement::waits_for_orders());
    }
    let age = services.journal.age_of(effect);
    let window = evidence.window(effect);
    let sku = Sku::new(&evidence.sku);
    let after = match read_stable_stock(services, &evidence, window).await? {
        None => None,
        Some(((at_location, total), sold)) => {
            let has_moved_elsewhere = has_moved_elsewhere(services, &sku, effect, window.journal_end).await?;
            let has_moved = services.journal.note_reading(effect.id, at_location != evidence.before);
            // After the reading: deliveries may report by now what it shows.
            let reported = reported_since(services, effect, &evidence).await?;
            let (changed_before, changed_before_anywhere) = changed_before(services, &sku, effect).await?;
            Some(After {
                at_location,
                total,
                sold,
                has_moved_elsewhere,
                reported,
                has_moved,
                changed_before,
                changed_before_anywhere,
            })
        }
    };
    let judgement = stock_movement::judge(&evidence, after);
    let is_unclear = matches!(judgement, Judgement::Unclear(_));
    let unclear_for = services.journal.unclear_for(effect, is_unclear);
    Ok(stock_movement::settle(judgement, age, unclear_for))
}

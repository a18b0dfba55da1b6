//! Levels of stock (`erp_stock`, effect `stock.set`): decides whether the marketplace is read, and which quantity is set. A
//! level is absolute, so that one may be set twice. `sent_level` verifies it.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::Error as ApiError;
use espelho_model::{
    LocationId, ProductId, money::unreadable, product::StockLevel, push::PushState, text, text::Arg,
    time::is_future,
};
use espelho_store::{Effect, OpenCommand, StockIntent};
use rust_decimal::Decimal;

use super::{
    Message, Verdict,
    attempts::backoff_or_give_up,
    evidence::may_have_happened,
    invalid,
    jobs::{DISPATCH_GRACE, dispatches_goods},
    level_evidence::LevelEvidence,
    level_history::{LastSet, last_evidence, last_set, may_be_overwritten_for, revision_of},
    own_writes::is_behind,
    units::has_half_unit,
};

/// Decimals of a quantity, at most: a gram of a tonne.
const MAX_DECIMALS: u32 = 6;
/// A reading certainly shows an effect that was planned this long before it: a slot, an answer and a reading take less.
const VISIBLE_AFTER: TimeDelta = TimeDelta::minutes(5);
/// A mirrored level is taken for the marketplace's up to this age where deliveries tell of changes …
const MAX_AGE_WITH_WEBHOOK: TimeDelta = TimeDelta::days(1);
/// … up to this age where nothing does: a person in the portal may have changed the level since, and a large catalogue
/// is read again after hours …
const MAX_AGE: TimeDelta = TimeDelta::hours(1);
/// … and a zero only up to this age: what is not there must not be on sale.
const MAX_AGE_OF_ZERO: TimeDelta = TimeDelta::seconds(30);

/// What `erp_stock.quantity` means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// What lies on the shelf: the marketplace's `quantity`.
    #[default]
    Physical,
    /// What may still be sold: `quantity` less what the platform has reserved.
    Available,
}

impl Basis {
    /// The word in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Available => "available",
        }
    }
}

/// The freshness of a mirrored level: a fresh one stands for the marketplace's, so that nothing is read before the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The mirror is as good as a reading.
    Fresh,
    /// The marketplace must be read.
    Stale,
    /// Fresh, if the product was read after this time.
    FreshIfReadAfter(DateTime<Utc>),
}

/// The next step for a level.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// This quantity is set.
    Set(Decimal),
}

/// Validates a row by itself. Returns its quantity, in the product's `base_unit`.
///
/// # Errors
/// The message for the row where the quantity is no number, negative, too precise, or not whole where its unit must be.
pub fn validate(level: &StockIntent) -> Result<Decimal, Message> {
    let quantity = level.quantity.ok_or_else(|| invalid(unreadable("quantity", &level.written)))?;
    let value = || Arg::Word(quantity.to_string());
    if quantity < Decimal::ZERO {
        let rule = text!("value-rule-zero-or-more");
        return Err(invalid(text!("value-rule", field = "quantity", value = value(), rule = rule)));
    }
    if quantity.normalize().scale() > MAX_DECIMALS {
        let text = text!("value-decimals", field = "quantity", value = value(), most = MAX_DECIMALS);
        return Err(invalid(text));
    }
    if has_half_unit(level.base_unit.as_deref(), quantity) {
        let unit = level.base_unit.as_deref().unwrap_or_default();
        return Err(invalid(text!("value-no-half", field = "quantity", value = value(), unit = unit)));
    }
    Ok(quantity)
}

/// True for a row that takes a level to zero, also where the mirror does not know the level. A SKU that the
/// marketplace does not have empties nothing.
pub fn empties(level: &StockIntent) -> bool {
    level.product.is_some()
        && matches!(level.state, Some(PushState::New | PushState::Waiting))
        && level.quantity == Some(Decimal::ZERO)
        && level.mirrored != Some(Decimal::ZERO)
}

/// Tells whether the mirror shows the quantity that the row asks for. An available quantity changes with every sale, and is
/// always read.
pub fn mirror_shows(basis: Basis, level: &StockIntent, desired: Decimal) -> bool {
    basis == Basis::Physical && level.mirrored == Some(desired)
}

/// Returns how old a mirrored level may be that stands for the marketplace's. `are_changes_reported` says that deliveries
/// report changed stock, and none was missed.
pub fn max_age(desired: Decimal, are_changes_reported: bool) -> TimeDelta {
    match are_changes_reported {
        true => MAX_AGE_WITH_WEBHOOK,
        false if desired.is_zero() => MAX_AGE_OF_ZERO,
        false => MAX_AGE,
    }
}

/// Tells whether a zero is set only after its guards have counted it: the mirror showed a zero, and the marketplace does
/// not.
pub fn must_be_guarded(desired: Decimal, mirrored: Option<Decimal>, current: Option<Decimal>) -> bool {
    desired.is_zero() && mirrored == Some(desired) && current.is_some_and(|current| current > desired)
}

/// Decides whether the mirror stands for the marketplace: it shows the quantity that the row asks for, and within `max_age` it
/// was read after our last effect on the level, or that effect has set it so ([`max_age`]). `effects` are those of the level,
/// the newest first.
pub fn freshness(
    basis: Basis,
    level: &StockIntent,
    desired: Decimal,
    effects: &[Effect],
    max_age: TimeDelta,
    now: DateTime<Utc>,
) -> Freshness {
    if !mirror_shows(basis, level, desired) {
        return Freshness::Stale;
    }
    let oldest = now - max_age;
    let Some(last) = effects.iter().find(|effect| may_have_happened(effect)) else {
        return Freshness::FreshIfReadAfter(oldest);
    };
    match last_set(effects, now) {
        Some(set) if set.is_ahead => Freshness::Stale,
        Some(set)
            if set.expected() == desired && last.planned_at > oldest && !is_future(last.planned_at, now) =>
        {
            Freshness::Fresh
        }
        Some(set) if set.expected() == desired => Freshness::FreshIfReadAfter(oldest),
        _ => Freshness::FreshIfReadAfter(oldest.max(shown_from(last.planned_at))),
    }
}

/// The open commands whose goods the level no longer counts, although the marketplace still does. An ERP that ships goods
/// writes the level that is left and the status; the status may wait for its invoice for hours, and the level must not: it
/// may be of goods that were sold elsewhere. The marketplace takes the goods off once more when the dispatch comes, so
/// they are added again after it: see [`is_to_set_again`]. Until then less is on sale than there is, never more.
///
/// A level counts as written with a command or after it from [`DISPATCH_GRACE`] before the command. One that was answered
/// before does not say when the ERP wrote it; one that is set again is ahead of what it was ahead of. On the basis of
/// available stock nothing is taken off twice: the reservation for the order is part of what is set.
pub fn ahead_of(basis: Basis, level: &StockIntent, effects: &[Effect], statuses: &[OpenCommand]) -> Vec<i64> {
    let Some(written) = level.updated_at else { return Vec::new() };
    if basis == Basis::Available || level.state != Some(PushState::New) {
        return Vec::new();
    }
    let earlier = last_evidence(effects).filter(|set| set.is_ahead_with(level.quantity));
    let is_later = |command: &&OpenCommand| match &earlier {
        Some(set) => set.ahead_of.contains(&command.id),
        None => command.created_at.is_some_and(|given| written >= given - DISPATCH_GRACE),
    };
    statuses
        .iter()
        .filter(|command| dispatches_goods(command))
        .filter(is_later)
        .map(|command| command.id)
        .collect()
}

/// Says whether a level that was set ahead of a dispatch is to be set again now that the command is done: nothing was set
/// or moved since, and the ERP still asks for it. `effects` are those of the level, the newest first.
pub fn is_to_set_again(wanted: Option<Decimal>, effects: &[Effect], command: i64) -> bool {
    last_evidence(effects).is_some_and(|set| set.ahead_of.contains(&command) && set.is_ahead_with(wanted))
}

/// The commands that a level went ahead of, as an earlier revision of its row: what those that are done have dispatched is
/// to be added again.
pub fn went_ahead_of(level: &StockIntent, effects: &[Effect]) -> Vec<i64> {
    let is_earlier =
        |set: &LevelEvidence| set.revision != Some(level.revision) && set.is_ahead_with(level.quantity);
    last_evidence(effects).filter(is_earlier).map(|set| set.ahead_of).unwrap_or_default()
}

/// The quantity to set after a dispatch: what it took off is added to what is there, up to what the row asks for. What
/// others did meanwhile, a dispatch by the platform or a person in the portal, is not overwritten: it shows in `v_drift`.
fn after_dispatch(desired: Decimal, current: Decimal, dispatched: Decimal) -> Decimal {
    desired.min(current + dispatched).max(Decimal::ZERO)
}

/// A level beside the dispatches of its goods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatches {
    /// The open commands that it goes ahead of: see [`ahead_of`].
    pub ahead_of: Vec<i64>,
    /// The quantity that commands have dispatched which it went ahead of: see [`went_ahead_of`].
    pub dispatched: Decimal,
}

impl Dispatches {
    /// Says whether the level is set again after a dispatch.
    fn is_after_dispatch(&self) -> bool {
        !self.dispatched.is_zero()
    }

    /// Says whether the level is set even where the marketplace has it, so that the journal has its evidence.
    pub fn needs_evidence(&self) -> bool {
        self.is_after_dispatch() || !self.ahead_of.is_empty()
    }
}

/// Says whether a level is set without a reading: one that goes to zero cannot oversell, whatever was sold meanwhile.
/// Where the mirror shows zero already, it may be of long ago, and a reading says whether there is anything to set.
pub fn is_urgent(basis: Basis, desired: Decimal, mirrored: Option<Decimal>, dispatches: &Dispatches) -> bool {
    basis == Basis::Physical
        && desired.is_zero()
        && mirrored != Some(desired)
        && !dispatches.is_after_dispatch()
}

/// Returns the quantity to set after a reading. After a dispatch it is decided once for each revision of the row: the goods
/// that were added then are not added again.
pub fn target_after_reading(
    basis: Basis,
    level: &StockIntent,
    desired: Decimal,
    reading: LevelReading,
    dispatches: &Dispatches,
    last: Option<&LastSet>,
) -> Decimal {
    match (last.filter(|set| set.revision == Some(level.revision)), reading.quantity) {
        (Some(set), _) if dispatches.is_after_dispatch() => set.target,
        (None, Some(current)) if dispatches.is_after_dispatch() => {
            after_dispatch(desired, current, dispatches.dispatched)
        }
        _ => target(basis, desired, reading.reserved),
    }
}

/// A level as a reading of its product shows it. The default is a product without the level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelReading {
    /// The physical quantity.
    pub quantity: Option<Decimal>,
    /// The part of it that the platform has reserved.
    pub reserved: Option<Decimal>,
}

impl LevelReading {
    /// Takes the quantities of a level that was read.
    pub fn of(level: &StockLevel) -> Self {
        Self { quantity: level.quantity, reserved: reserved_of(level) }
    }
}

/// Returns the reserved quantity of a level, read or derived; `None` if it is unknown (API document, "Product":
/// `available_quantity` is `quantity - reserved_quantity`).
pub fn reserved_of(level: &StockLevel) -> Option<Decimal> {
    level.reserved_quantity.or_else(|| Some(level.quantity? - level.available_quantity?))
}

/// The time from which a reading shows an effect that was planned or seen at `at`.
pub fn shown_from(at: DateTime<Utc>) -> DateTime<Utc> {
    at + VISIBLE_AFTER
}

/// The quantity to set, for what the row asks for.
pub fn target(basis: Basis, desired: Decimal, reserved: Option<Decimal>) -> Decimal {
    match basis {
        Basis::Physical => desired,
        // What is reserved is the platform's, and changes with every sale.
        Basis::Available => desired + reserved.unwrap_or_default(),
    }
}

/// Decides the next step for a level: `current` is the marketplace's quantity, as far as it is known, `effects` are those of
/// the level, the newest first. With `needs_evidence` it is set even where the marketplace has it ([`Dispatches`]).
pub fn decide(
    level: &StockIntent,
    current: Option<Decimal>,
    target: Decimal,
    effects: &[Effect],
    needs_evidence: bool,
    now: DateTime<Utc>,
) -> Action {
    let is_set = || last_set(effects, now).is_some_and(|set| set.revision == Some(level.revision));
    // A reading from before our last change proves nothing, and setting what is there changes nothing.
    if current == Some(target) && !is_behind(target, effects, now) && (!needs_evidence || is_set()) {
        // Another quantity that did not show may still land.
        let left = may_be_overwritten_for(effects, target, now);
        return Action::Answer(left.map_or(Verdict::Done(None), Verdict::RetryAfter));
    }
    let is_own = |effect: &&Effect| revision_of(effect) == Some(level.revision);
    if let Some(verdict) = backoff_or_give_up(effects.iter().filter(is_own), now) {
        return Action::Answer(verdict);
    }
    // It was sent, and the row could not be answered: what was sold since must not be put on sale again.
    match last_set(effects, now) {
        Some(set) if set.target == target && set.revision == Some(level.revision) => {
            Action::Answer(Verdict::Sent)
        }
        _ => Action::Set(target),
    }
}

/// The words for a level that the marketplace shows without a quantity that decides.
pub fn missing_quantity(product: &ProductId, location: &LocationId, field: &str) -> Message {
    Message::of(&ApiError::Unexpected {
        request: format!("GET /api/products/{product}"),
        read: true,
        problem: format!("stock at location {location}: {field} null"),
    })
}

/// The words for levels that are held because too many go to zero at once.
pub fn many_to_zero(zeroes: usize, above: usize) -> Message {
    Message::new("many_to_zero", text!("push-too-many-to-zero", zeroes = zeroes, above = above))
}

/// The words for a location that the marketplace does not have.
pub fn unknown_location(location: &str) -> Message {
    Message::new("unknown_location", text!("push-unknown-location", location = location))
}

#[cfg(test)]
mod tests;

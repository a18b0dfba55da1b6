//! Levels of stock (`erp_stock`, effect `stock.set`): absolute, so that one may be set twice; and the check of what a
//! level came to.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::Error as ApiError;
use espelho_model::{
    LocationId, ProductId,
    money::unreadable,
    product::StockLevel,
    push::PushState,
    text,
    text::{Arg, Text},
    time::is_future,
};
use espelho_store::{Effect, EffectState, OpenCommand, StockIntent};
use rust_decimal::Decimal;

use super::{
    Message, Verdict,
    attempts::{OVER_AFTER, backoff_or_give_up},
    doubtful,
    evidence::{Evidence as _, may_have_happened, read},
    invalid,
    jobs::{DISPATCH_GRACE, dispatches_goods},
    level_evidence::LevelEvidence,
    movement_evidence::MovementEvidence,
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
/// For so long a sale that the mirror has not heard of may still explain a level that is not as it was set.
pub(super) const EXPLAINED_WITHIN: Duration = Duration::from_secs(30);
/// The time between two checks of such a level.
pub(super) const RECHECK_INTERVAL: Duration = Duration::from_secs(5);

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

/// What the marketplace shows of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The physical quantity.
    pub quantity: Decimal,
    /// What the platform has reserved of it.
    pub reserved: Decimal,
}

/// The last level that we set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelSet {
    /// The number of the effect.
    pub effect: i64,
    /// The number of the last effect before the level was read; 0 where that is not known.
    pub mark: i64,
    /// When it was planned.
    pub planned_at: DateTime<Utc>,
    /// What was set.
    pub target: Decimal,
    /// The sum of our movements (`stock.adjust`) since; negative where they took something off.
    pub moved: Decimal,
    /// The revision of the row in `erp_stock` that asked for it; `None` in older records.
    pub revision: Option<i64>,
    /// True if it went ahead of a dispatch: see [`ahead_of`].
    pub is_ahead: bool,
    /// For so long another quantity, set before it and not seen, may still land after it.
    pub may_be_overruled_for: Option<Duration>,
}

impl LevelSet {
    /// Says whether it was set for this revision of the row, as far as known.
    pub fn is_for(&self, revision: i64) -> bool {
        self.revision.is_none_or(|set_for| set_for == revision)
    }
}

/// The trust in a mirrored level as the marketplace's, so that nothing is read before the decision. A row of
/// the ERP is done only by fresh proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The mirror is as good as a reading.
    Yes,
    /// The marketplace must be read.
    No,
    /// Yes, if the product was read after this time.
    IfReadAfter(DateTime<Utc>),
}

/// The next step for a level.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// This quantity is set.
    Set(Decimal),
}

/// The result of comparing a level with a reading.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// The level is lower than it should be by so much (negative: higher). What was dispatched since decides.
    Compare(Decimal),
}

/// Validates a row by itself. Returns its quantity, in the product's `base_unit`.
///
/// # Errors
/// The message for the row where the quantity is no number, negative, too precise, or not whole where its unit must be.
pub fn check(level: &StockIntent) -> Result<Decimal, Message> {
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

/// Tells whether the mirror shows what is asked for. What is available changes with every sale, and is always read.
pub fn shows(basis: Basis, level: &StockIntent, desired: Decimal) -> bool {
    basis == Basis::Physical && level.mirrored == Some(desired)
}

/// Returns how old a reading may be that answers for the marketplace. `is_told` says that deliveries tell of changed
/// stock, and none was missed.
pub fn trusted_for(desired: Decimal, is_told: bool) -> TimeDelta {
    match is_told {
        true => MAX_AGE_WITH_WEBHOOK,
        false if desired.is_zero() => MAX_AGE_OF_ZERO,
        false => MAX_AGE,
    }
}

/// Tells whether a zero is set only after its guards have counted it: the mirror showed a zero, and the marketplace does
/// not.
pub fn must_be_guarded(desired: Decimal, mirrored: Option<Decimal>, there: Option<Decimal>) -> bool {
    desired.is_zero() && mirrored == Some(desired) && there.is_some_and(|there| there > desired)
}

/// Says whether the mirror may answer for the marketplace: it shows what is asked for, and it was read of late and after our
/// last effect on the level, or that effect has set it so of late ([`trusted_for`]). `effects` are those of the level,
/// the newest first.
pub fn trust(
    basis: Basis,
    level: &StockIntent,
    desired: Decimal,
    effects: &[Effect],
    trusted_for: TimeDelta,
    now: DateTime<Utc>,
) -> Trust {
    if !shows(basis, level, desired) {
        return Trust::No;
    }
    let oldest = now - trusted_for;
    let Some(last) = effects.iter().find(|effect| may_have_happened(effect)) else {
        return Trust::IfReadAfter(oldest);
    };
    match last_set(effects, now) {
        Some(set) if set.is_ahead => Trust::No,
        Some(set)
            if set.target + set.moved == desired
                && last.planned_at > oldest
                && !is_future(last.planned_at, now) =>
        {
            Trust::Yes
        }
        Some(set) if set.target + set.moved == desired => Trust::IfReadAfter(oldest),
        _ => Trust::IfReadAfter(oldest.max(shown_from(last.planned_at))),
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
fn after_dispatch(desired: Decimal, there: Decimal, dispatched: Decimal) -> Decimal {
    desired.min(there + dispatched).max(Decimal::ZERO)
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
    fn is_again(&self) -> bool {
        !self.dispatched.is_zero()
    }

    /// Says whether the level is set even where it is there, so that the journal has its evidence.
    pub fn is_on_record(&self) -> bool {
        self.is_again() || !self.ahead_of.is_empty()
    }
}

/// Says whether a level is set without a reading: one that goes to zero cannot oversell, whatever was sold meanwhile.
/// Where the mirror shows zero already, it may be of long ago, and a reading says whether there is anything to set.
pub fn is_urgent(basis: Basis, desired: Decimal, mirrored: Option<Decimal>, dispatches: &Dispatches) -> bool {
    basis == Basis::Physical && desired.is_zero() && mirrored != Some(desired) && !dispatches.is_again()
}

/// The quantity to set after a reading, where the marketplace shows `there` and `reserved`. After a dispatch it is decided
/// once for each revision of the row: what was added then is not added again.
pub fn target_of_reading(
    basis: Basis,
    level: &StockIntent,
    desired: Decimal,
    (there, reserved): (Option<Decimal>, Option<Decimal>),
    dispatches: &Dispatches,
    last: Option<&LevelSet>,
) -> Decimal {
    match (last.filter(|set| set.revision == Some(level.revision)), there) {
        (Some(set), _) if dispatches.is_again() => set.target,
        (None, Some(there)) if dispatches.is_again() => after_dispatch(desired, there, dispatches.dispatched),
        _ => target(basis, desired, reserved),
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

/// The evidence of the last effect, where that set the level.
fn last_evidence(effects: &[Effect]) -> Option<LevelEvidence> {
    read(effects.iter().find(|effect| may_have_happened(effect))?).ok()
}

/// The product that the last request which set a level for this revision of its row went to; `None` where the journal has
/// none.
pub fn sent_to(effects: &[Effect], revision: i64) -> Option<ProductId> {
    let is_set = |effect: &&Effect| effect.kind == LevelEvidence::KIND && may_have_happened(effect);
    let evidence = read::<LevelEvidence>(effects.iter().find(is_set)?).ok()?;
    let is_for = evidence.revision.is_none_or(|set_for| set_for == revision);
    is_for.then(|| ProductId::new(evidence.product))
}

/// The product whose level shows what came of a level that was sent: the one that the request went to, and no other that
/// came to have its SKU since. `of_sku` are the products that have it now. `None` where nothing shows it: the product has
/// another SKU by now, or the journal does not name it and two products share the SKU; then the row begins anew.
pub fn shown_by(sent_to: Option<ProductId>, of_sku: &[ProductId]) -> Option<ProductId> {
    match (sent_to, of_sku) {
        (Some(sent_to), of_sku) => of_sku.contains(&sent_to).then_some(sent_to),
        (None, [only]) => Some(only.clone()),
        (None, _) => None,
    }
}

/// The effects on a product's level, of those on the level of its SKU: another product may have had the SKU before, and
/// what was set there says nothing of this one. Effects that name no product count.
pub fn of_product(effects: Vec<Effect>, product: &ProductId) -> Vec<Effect> {
    let named = |effect: &Effect| match effect.kind.as_str() {
        MovementEvidence::KIND => read::<MovementEvidence>(effect).ok().map(|evidence| evidence.product),
        _ => read::<LevelEvidence>(effect).ok().map(|evidence| evidence.product),
    };
    let is_its = |effect: &Effect| named(effect).is_none_or(|named| named == product.as_str());
    effects.into_iter().filter(is_its).collect()
}

/// The quantity to set, for what the row asks for.
pub fn target(basis: Basis, desired: Decimal, reserved: Option<Decimal>) -> Decimal {
    match basis {
        Basis::Physical => desired,
        // What is reserved is the platform's, and changes with every sale.
        Basis::Available => desired + reserved.unwrap_or_default(),
    }
}

/// The next step for a level: `there` is what the marketplace has, as far as it is known, `effects` are those of the
/// level, the newest first. With `is_on_record` it is set even where it is there, so that the journal has its evidence.
pub fn decide(
    level: &StockIntent,
    there: Option<Decimal>,
    target: Decimal,
    effects: &[Effect],
    is_on_record: bool,
    now: DateTime<Utc>,
) -> Action {
    let is_set = || last_set(effects, now).is_some_and(|set| set.revision == Some(level.revision));
    // A reading from before our last change proves nothing, and setting what is there changes nothing.
    if there == Some(target) && !is_behind(target, effects, now) && (!is_on_record || is_set()) {
        // Another quantity that did not show may still land.
        let late = effects.iter().filter_map(|effect| may_land_for(effect, target, now)).max();
        return Action::Answer(late.map_or(Verdict::Done(None), Verdict::RetryAfter));
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

/// Checks a level that was sent against what the marketplace shows. What was set counts, not what it would be by now:
/// what is sold meanwhile must not be put on sale again.
pub fn check_sent(basis: Basis, desired: Decimal, shown: Shown, set: &LevelSet) -> Check {
    let Shown { quantity, reserved } = shown;
    // Goods that were reserved when it was set have left since: what was to cover them would be sold once more.
    let was_for_others = set.moved.is_zero() && desired + reserved != set.target;
    if basis == Basis::Available && was_for_others && quantity - reserved > desired {
        return Check::Answer(Verdict::Requeue);
    }
    match set.target + set.moved - quantity {
        lower if lower.is_zero() => Check::Answer(as_set(shown, set)),
        lower => Check::Compare(lower),
    }
}

/// What becomes of a level that is not as it was set: `is_explained` says that dispatches explain the difference,
/// `doubted_for` how long ago it was first seen.
pub fn after_comparing(shown: Shown, set: &LevelSet, is_explained: bool, doubted_for: Duration) -> Verdict {
    match is_explained {
        true => as_set(shown, set),
        false if doubted_for < EXPLAINED_WITHIN => Verdict::RetryAfter(RECHECK_INTERVAL),
        false => Verdict::Failed(conflict(set.target + set.moved, shown.quantity)),
    }
}

/// Returns the verdict for a sent level that the marketplace shows without a quantity, which is evidence neither
/// for nor against it. `doubted_for` says how long ago it was first seen so.
pub fn verdict_of_unknown(doubted_for: Duration) -> Verdict {
    match doubted_for < EXPLAINED_WITHIN {
        true => Verdict::RetryAfter(RECHECK_INTERVAL),
        false => Verdict::Failed(doubtful("unprovable")),
    }
}

fn as_set(Shown { quantity, reserved }: Shown, set: &LevelSet) -> Verdict {
    match (set.may_be_overruled_for, reserved > quantity) {
        (Some(wait), _) => Verdict::RetryAfter(wait),
        (None, true) => Verdict::DoneBut(oversold(quantity, reserved)),
        (None, false) => Verdict::Done(None),
    }
}

/// The last level that effects on it have set, the newest first.
pub fn last_set(effects: &[Effect], now: DateTime<Utc>) -> Option<LevelSet> {
    let is_set = |effect: &Effect| effect.kind == LevelEvidence::KIND && may_have_happened(effect);
    let (later, rest) = effects.split_at(effects.iter().position(is_set)?);
    let (set, earlier) = rest.split_first()?;
    let evidence = read::<LevelEvidence>(set).ok()?;
    let target = evidence.target;
    let moved = later
        .iter()
        .filter(|effect| effect.state == EffectState::Confirmed)
        .filter_map(|effect| Some(read::<MovementEvidence>(effect).ok()?.delta))
        .sum();
    let left = |effect: &Effect| may_land_for(effect, target, now);
    let may_be_overruled_for = earlier.iter().filter_map(left).max();
    let (revision, is_ahead) = (evidence.revision, !evidence.ahead_of.is_empty());
    let (effect, mark) = (set.id, evidence.mark.unwrap_or_default());
    Some(LevelSet {
        effect,
        mark,
        planned_at: set.planned_at,
        target,
        moved,
        revision,
        is_ahead,
        may_be_overruled_for,
    })
}

/// How long another quantity, set and not seen when it was looked for, may still land.
fn may_land_for(effect: &Effect, target: Decimal, now: DateTime<Utc>) -> Option<Duration> {
    let was_lost = effect.state == EffectState::Refuted && effect.code.is_none();
    let is_other = effect.kind == LevelEvidence::KIND
        && was_lost
        && read::<LevelEvidence>(effect).is_ok_and(|evidence| evidence.target != target);
    let over = effect.sent_at.filter(|_| is_other)? + OVER_AFTER;
    (over - now).to_std().ok().filter(|left| !left.is_zero())
}

fn revision_of(effect: &Effect) -> Option<i64> {
    read::<LevelEvidence>(effect).ok()?.revision
}

/// The words for a level of which the marketplace does not tell a quantity that decides.
pub fn untold(product: &ProductId, location: &LocationId, field: &str) -> Message {
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

fn oversold(quantity: Decimal, reserved: Decimal) -> Message {
    let (reserved, quantity) = (Arg::Quantity(reserved), Arg::Quantity(quantity));
    let text: Text = text!("push-oversold", reserved = reserved, quantity = quantity);
    Message::new("oversold", text)
}

fn conflict(desired: Decimal, quantity: Decimal) -> Message {
    let (wanted, quantity) = (Arg::Quantity(desired), Arg::Quantity(quantity));
    Message::new("stock_conflict", text!("push-stock-conflict", wanted = wanted, quantity = quantity))
}

#[cfg(test)]
mod tests;

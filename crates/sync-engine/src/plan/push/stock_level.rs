//! Levels of stock (`erp_stock`, effect `stock.set`): absolute, so that one may be set twice; and the check of what a
//! level came to.

use std::{cmp::Ordering, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    push::PushState,
    text,
    text::{Arg, Text},
};
use espelho_store::{Effect, EffectState, StockIntent};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{
    Message, Settlement, Verdict,
    attempts::{OVER_AFTER, backoff_or_give_up},
    evidence::{Evidence, read},
    invalid,
    stock_movement::MovementEvidence,
    units::has_half_unit,
};

/// Decimals of a quantity, at most: a gram of a tonne.
const MAX_DECIMALS: u32 = 6;
/// A reading shows what happened this long before it: a slot, an answer and a reading take less.
const SHOWS_AFTER: TimeDelta = TimeDelta::minutes(5);
/// For so long a sale that the mirror has not heard of may still explain a level that is not as it was set.
const EXPLAINED_WITHIN: Duration = Duration::from_secs(30);
/// The time between two checks of such a level.
const RECHECK_INTERVAL: Duration = Duration::from_secs(5);

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

/// What the journal keeps with a level that is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields bear the API document's names")]
pub struct LevelEvidence {
    pub product: String,
    pub location: String,
    pub sku: String,
    /// The quantity that is set.
    pub target: Decimal,
    /// The revision of the row in `erp_stock`.
    pub wish: Option<i64>,
}

impl Evidence for LevelEvidence {
    const KIND: &'static str = "stock.set";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str = r#"{"product":"P","location":"1","sku":"A","target":"7","wish":3}"#;
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
    /// When it was planned.
    pub planned_at: DateTime<Utc>,
    /// What was set.
    pub target: Decimal,
    /// What movements of ours have added since.
    pub moved: Decimal,
    /// The revision of the row that asked for it.
    pub wish: Option<i64>,
    /// For so long another quantity, set before it and not seen, may still land after it.
    pub may_be_overruled_for: Option<Duration>,
}

/// Whether the mirror may answer for the marketplace.
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

/// The check of a level that was sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// The level is lower than it was set by so much (negative: higher). What was dispatched since decides.
    Compare(Decimal),
}

/// Checks a row by itself; its quantity.
///
/// # Errors
/// The words for the row where the quantity is none that the marketplace could have.
pub fn check(level: &StockIntent) -> Result<Decimal, Message> {
    let written = || text!("value-not-number-but", field = "quantity", value = &level.written);
    let quantity = level.quantity.ok_or_else(|| invalid(written()))?;
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

/// Says whether the mirror may answer for the marketplace: it shows what is asked for, and it was read after our last
/// effect on the level, or that effect set it so. `effects` are those of the level, the newest first.
pub fn trust(
    basis: Basis,
    level: &StockIntent,
    desired: Decimal,
    effects: &[Effect],
    now: DateTime<Utc>,
) -> Trust {
    if basis == Basis::Available || level.mirrored != Some(desired) {
        return Trust::No;
    }
    let Some(last) = effects.iter().find(|effect| may_have_happened(effect)) else { return Trust::Yes };
    match last_set(effects, now) {
        Some(set) if set.target + set.moved == desired => Trust::Yes,
        _ => Trust::IfReadAfter(last.planned_at + SHOWS_AFTER),
    }
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
/// level, the newest first.
pub fn decide(
    level: &StockIntent,
    there: Option<Decimal>,
    target: Decimal,
    effects: &[Effect],
    now: DateTime<Utc>,
) -> Action {
    if there == Some(target) {
        // Another quantity that did not show may still land.
        let late = effects.iter().filter_map(|effect| may_land_for(effect, target, now)).max();
        return Action::Answer(late.map_or(Verdict::Done(None), Verdict::RetryAfter));
    }
    let is_own = |effect: &&Effect| wish_of(effect) == Some(level.revision);
    if let Some(verdict) = backoff_or_give_up(effects.iter().filter(is_own), now) {
        return Action::Answer(verdict);
    }
    // It was sent, and the row could not be answered: what was sold since must not be put on sale again.
    match last_set(effects, now) {
        Some(set) if set.target == target && set.wish == Some(level.revision) => {
            Action::Answer(Verdict::Sent)
        }
        _ => Action::Set(target),
    }
}

/// Checks a level that was sent against what the marketplace shows. What was set counts, not what it would be by now:
/// what is sold meanwhile must not be put on sale again.
pub fn check_sent(basis: Basis, desired: Decimal, shown: Shown, set: Option<&LevelSet>) -> Check {
    let Shown { quantity, reserved } = shown;
    let Some(set) = set else {
        return Check::Answer(match quantity == desired {
            true => Verdict::Done(None),
            false => Verdict::Failed(conflict(desired, quantity)),
        });
    };
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

fn as_set(Shown { quantity, reserved }: Shown, set: &LevelSet) -> Verdict {
    match (set.may_be_overruled_for, reserved > quantity) {
        (Some(wait), _) => Verdict::RetryAfter(wait),
        (None, true) => Verdict::DoneBut(oversold(quantity, reserved)),
        (None, false) => Verdict::Done(None),
    }
}

/// What became of a set whose answer was lost. A level that is lower by what was sold since was set: setting it again
/// would bring back what is gone. `is_explained` says that dispatches explain the difference.
pub fn settle(evidence: &LevelEvidence, quantity: Decimal, is_explained: bool) -> Settlement {
    match quantity.cmp(&evidence.target) {
        Ordering::Equal => Settlement::Happened { answer: None, how: "the product shows it" },
        Ordering::Less if is_explained => {
            Settlement::Happened { answer: None, how: "the product shows it, less what was sold" }
        }
        _ => Settlement::DidNotHappen { how: "the product does not show it" },
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
    Some(LevelSet { planned_at: set.planned_at, target, moved, wish: evidence.wish, may_be_overruled_for })
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

fn may_have_happened(effect: &Effect) -> bool {
    !matches!(effect.state, EffectState::Refuted | EffectState::Planned)
}

fn wish_of(effect: &Effect) -> Option<i64> {
    read::<LevelEvidence>(effect).ok()?.wish
}

/// The words for levels that are held because too many go to zero at once.
pub fn many_to_zero(zeroes: usize, above: usize) -> Message {
    Message::new("many_to_zero", text!("push-many-to-zero", zeroes = zeroes, above = above))
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
mod tests {
    use espelho_model::{LocationId, ProductId, Sku};
    use proptest::prelude::*;
    use serde_json::json;

    use super::{
        super::tests::{at, effect},
        *,
    };

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    fn level(desired: i64, mirrored: Option<i64>) -> StockIntent {
        StockIntent {
            sku: Sku::new("A"),
            location: LocationId::new("1"),
            written: desired.to_string(),
            quantity: Some(whole(desired)),
            state: Some(PushState::New),
            updated_at: None,
            product: Some(ProductId::new("P")),
            base_unit: Some("un".to_owned()),
            mirrored: mirrored.map(whole),
            reserved: None,
            available: None,
            code: None,
            revision: 3,
        }
    }

    fn set_for(wish: i64, target: i64, state: EffectState) -> Effect {
        let evidence =
            json!({"product": "P", "location": "1", "sku": "A", "target": target.to_string(), "wish": wish});
        effect("stock.set", Some(&evidence.to_string()), state)
    }

    fn set(target: i64, state: EffectState) -> Effect {
        set_for(3, target, state)
    }

    fn moved(delta: i64, state: EffectState) -> Effect {
        let evidence =
            json!({"product": "P", "sku": "A", "location": "1", "delta": delta.to_string(), "before": "9"});
        effect("stock.adjust", Some(&evidence.to_string()), state)
    }

    const CONFIRMED: EffectState = EffectState::Confirmed;
    const REFUTED: EffectState = EffectState::Refuted;

    #[test]
    fn a_quantity_is_a_number_of_at_most_six_decimals_that_is_not_negative_and_whole_where_the_unit_is() {
        let checked = |written: &str, unit: Option<&str>| {
            let quantity = written.parse().ok();
            check(&StockIntent { quantity, base_unit: unit.map(str::to_owned), ..level(0, None) })
        };
        let rows = [
            ("0", Some("un"), true),
            ("7", Some("un"), true),
            ("7.0", Some("cx"), true),
            ("1.5", Some("un"), false),
            ("1.5", Some("pc"), false),
            ("1.5", Some("cx"), false),
            ("1.5", Some("pct"), false),
            ("1.5", Some("kg"), true),
            ("1.5", None, true),
            ("0.000001", Some("kg"), true),
            ("0.0000010", Some("kg"), true),
            ("0.0000001", Some("kg"), false),
            ("-1", Some("un"), false),
            ("-0.5", Some("kg"), false),
            ("seven", None, false),
        ];
        for (written, unit, is_fit) in rows {
            let checked = checked(written, unit);
            assert_eq!(checked.is_ok(), is_fit, "{written} {unit:?}");
            if let Err(message) = checked {
                assert_eq!(message.code, "invalid_data", "{written} {unit:?}");
            }
        }
    }

    #[test]
    fn only_a_new_zero_of_a_known_product_that_is_not_zero_yet_empties_a_level() {
        assert!(empties(&level(0, Some(5))));
        assert!(empties(&level(0, None)));
        assert!(empties(&StockIntent { state: Some(PushState::Waiting), ..level(0, Some(5)) }));
        assert!(!empties(&level(0, Some(0))));
        assert!(!empties(&level(1, Some(5))));
        assert!(!empties(&StockIntent { product: None, ..level(0, None) }));
        for state in
            [PushState::Sending, PushState::Done, PushState::Held, PushState::Failed, PushState::Ignored]
        {
            assert!(!empties(&StockIntent { state: Some(state), ..level(0, Some(5)) }), "{state:?}");
        }
    }

    #[test]
    fn the_mirror_is_trusted_where_nothing_of_ours_lies_after_its_reading() {
        let trusts = |basis, desired, effects: &[Effect]| {
            trust(basis, &level(7, Some(7)), whole(desired), effects, at(60))
        };
        assert_eq!(trusts(Basis::Physical, 7, &[]), Trust::Yes);
        assert_eq!(trusts(Basis::Physical, 8, &[]), Trust::No, "the mirror shows something else");
        assert_eq!(trusts(Basis::Available, 7, &[]), Trust::No, "what is reserved changes with every sale");
        assert_eq!(trusts(Basis::Physical, 7, &[set(7, CONFIRMED)]), Trust::Yes, "we set it so");
        assert_eq!(trusts(Basis::Physical, 7, &[moved(2, CONFIRMED), set(5, CONFIRMED)]), Trust::Yes);
        let after = Trust::IfReadAfter(at(300));
        assert_eq!(trusts(Basis::Physical, 7, &[set(9, CONFIRMED)]), after);
        assert_eq!(trusts(Basis::Physical, 7, &[set(9, EffectState::Sent)]), after);
        assert_eq!(trusts(Basis::Physical, 7, &[set(9, EffectState::Doubtful)]), after);
        assert_eq!(trusts(Basis::Physical, 7, &[moved(2, CONFIRMED)]), after);
        assert_eq!(trusts(Basis::Physical, 7, &[set(9, REFUTED)]), Trust::Yes, "it did not happen");
        let garbled = effect("stock.set", Some("{}"), CONFIRMED);
        assert_eq!(trusts(Basis::Physical, 7, &[garbled]), after, "nobody knows what was set");
    }

    #[test]
    fn what_is_reserved_is_added_where_the_erp_writes_what_is_available() {
        assert_eq!(target(Basis::Physical, whole(7), Some(whole(2))), whole(7));
        assert_eq!(target(Basis::Available, whole(7), Some(whole(2))), whole(9));
        assert_eq!(target(Basis::Available, whole(7), None), whole(7));
    }

    #[test]
    fn a_level_is_set_only_where_it_differs_and_not_twice_for_one_row() {
        let decided = |there: Option<i64>, effects: &[Effect]| {
            decide(&level(7, None), there.map(whole), whole(7), effects, at(10))
        };
        let (set_it, done) = (Action::Set(whole(7)), Action::Answer(Verdict::Done(None)));
        assert_eq!(decided(Some(7), &[]), done);
        assert_eq!(decided(Some(5), &[]), set_it);
        assert_eq!(decided(None, &[]), set_it, "the mirror does not know the level");
        assert_eq!(
            decided(Some(5), &[set(7, CONFIRMED)]),
            Action::Answer(Verdict::Sent),
            "sold since, not answered yet"
        );
        assert_eq!(decided(Some(5), &[set_for(2, 7, CONFIRMED)]), set_it, "the same quantity, written again");
        assert_eq!(decided(Some(5), &[set(9, CONFIRMED)]), set_it, "what was reserved has changed");
        let seconds = |n| Action::Answer(Verdict::RetryAfter(Duration::from_secs(n)));
        let lately = Effect { planned_at: at(9), ..set(7, REFUTED) };
        assert_eq!(decided(Some(5), &[lately]), seconds(1), "the pause after an attempt that failed");
        assert_eq!(decided(Some(5), &[set(7, REFUTED)]), set_it, "the pause is over");
        assert_eq!(
            decided(Some(5), &[Effect { planned_at: at(9), ..set_for(2, 7, REFUTED) }]),
            set_it,
            "of another row"
        );
        assert_eq!(decided(Some(7), &[set(5, REFUTED)]), seconds(30), "another quantity may still land");
        assert_eq!(decided(Some(7), &[set(7, REFUTED)]), done);
        let many: Vec<Effect> = (0..16).map(|_| set(7, REFUTED)).collect();
        let Action::Answer(Verdict::Failed(message)) = decided(Some(5), &many) else {
            panic!("not given up")
        };
        assert_eq!(message.code, "gave_up");
    }

    fn checked(basis: Basis, desired: i64, quantity: i64, reserved: i64, effects: &[Effect]) -> Check {
        let shown = Shown { quantity: whole(quantity), reserved: whole(reserved) };
        check_sent(basis, whole(desired), shown, last_set(effects, at(60)).as_ref())
    }

    #[test]
    fn a_level_that_is_as_it_was_set_is_done() {
        let done = Check::Answer(Verdict::Done(None));
        assert_eq!(checked(Basis::Physical, 7, 7, 0, &[set(7, CONFIRMED)]), done);
        assert_eq!(checked(Basis::Physical, 7, 7, 7, &[set(7, CONFIRMED)]), done, "all of it is reserved");
        assert_eq!(checked(Basis::Physical, 7, 5, 0, &[moved(-2, CONFIRMED), set(7, CONFIRMED)]), done);
        assert_eq!(checked(Basis::Physical, 7, 7, 0, &[]), done, "nobody knows who set it");
        let Check::Answer(Verdict::DoneBut(message)) =
            checked(Basis::Physical, 7, 7, 8, &[set(7, CONFIRMED)])
        else {
            panic!("more is reserved than is there")
        };
        assert_eq!(message.code, "oversold");
        let Check::Answer(Verdict::Failed(message)) = checked(Basis::Physical, 7, 6, 0, &[]) else {
            panic!("conflict")
        };
        assert_eq!(message.code, "stock_conflict");
    }

    #[test]
    fn a_level_that_differs_is_compared_with_what_was_dispatched() {
        assert_eq!(checked(Basis::Physical, 7, 5, 0, &[set(7, CONFIRMED)]), Check::Compare(whole(2)));
        assert_eq!(checked(Basis::Physical, 7, 9, 0, &[set(7, CONFIRMED)]), Check::Compare(whole(-2)));
        let shown = Shown { quantity: whole(5), reserved: whole(0) };
        let last = last_set(&[set(7, CONFIRMED)], at(60)).unwrap();
        let after =
            |is_explained, seconds| after_comparing(shown, &last, is_explained, Duration::from_secs(seconds));
        assert_eq!(after(true, 0), Verdict::Done(None));
        assert_eq!(after(false, 0), Verdict::RetryAfter(RECHECK_INTERVAL));
        assert_eq!(after(false, 29), Verdict::RetryAfter(RECHECK_INTERVAL));
        assert_eq!(after(false, 30), Verdict::Failed(conflict(whole(7), whole(5))));
        let last = last_set(&[moved(-1, CONFIRMED), set(7, CONFIRMED)], at(60)).unwrap();
        let given_up = after_comparing(shown, &last, false, EXPLAINED_WITHIN);
        assert_eq!(given_up, Verdict::Failed(conflict(whole(6), whole(5))), "we took one ourselves");
    }

    // withstands: F001
    #[test]
    fn what_was_set_to_cover_reserved_goods_that_have_left_is_set_again() {
        let covered = [set(9, CONFIRMED)];
        assert_eq!(checked(Basis::Available, 7, 9, 2, &covered), Check::Answer(Verdict::Done(None)));
        assert_eq!(
            checked(Basis::Available, 7, 9, 0, &covered),
            Check::Answer(Verdict::Requeue),
            "9 would be on sale"
        );
        assert_eq!(
            checked(Basis::Available, 7, 7, 0, &covered),
            Check::Compare(whole(2)),
            "the goods have left"
        );
        assert_eq!(
            checked(Basis::Available, 7, 9, 4, &covered),
            Check::Answer(Verdict::Done(None)),
            "5 are on sale"
        );
        assert_eq!(checked(Basis::Physical, 9, 9, 0, &covered), Check::Answer(Verdict::Done(None)));
        assert_eq!(
            checked(Basis::Available, 7, 10, 2, &covered),
            Check::Compare(whole(-1)),
            "what is reserved has not changed; somebody added one"
        );
        assert_eq!(
            checked(Basis::Available, 7, 9, 0, &[moved(-1, CONFIRMED), set(9, CONFIRMED)]),
            Check::Compare(whole(-1)),
            "we moved stock ourselves since"
        );
    }

    #[test]
    fn what_we_moved_after_a_level_was_set_is_no_conflict_and_what_may_land_late_is_waited_for() {
        let last =
            last_set(&[moved(-2, CONFIRMED), set(10, CONFIRMED), moved(7, CONFIRMED)], at(10)).unwrap();
        assert_eq!((last.target + last.moved, last.may_be_overruled_for), (whole(8), None));
        let last = last_set(&[moved(-2, REFUTED), set(10, CONFIRMED)], at(10)).unwrap();
        assert_eq!(last.moved, Decimal::ZERO);
        let last = last_set(&[set(0, CONFIRMED), set(5, REFUTED)], at(10)).unwrap();
        assert_eq!(last.may_be_overruled_for, Some(Duration::from_secs(30)));
        let last = last_set(&[set(5, CONFIRMED), set(5, REFUTED)], at(10)).unwrap();
        assert_eq!(last.may_be_overruled_for, None, "it would be the same");
        let refused = Effect { code: Some("VALIDATION_ERROR".to_owned()), ..set(5, REFUTED) };
        let last = last_set(&[set(0, CONFIRMED), refused], at(10)).unwrap();
        assert_eq!(last.may_be_overruled_for, None, "it was refused");
        let last = last_set(&[set(0, CONFIRMED), set(5, REFUTED)], at(40)).unwrap();
        assert_eq!(last.may_be_overruled_for, None, "it is over");
        assert_eq!(last_set(&[set(5, REFUTED)], at(10)), None);
        assert_eq!(last_set(&[set(5, EffectState::Planned)], at(10)), None);
        assert_eq!(last_set(&[set(5, EffectState::Doubtful)], at(10)).map(|set| set.target), Some(whole(5)));
    }

    proptest! {
        // withstands: F001
        #[test]
        fn a_lost_set_is_never_taken_for_undone_where_the_product_shows_it_or_sales_explain_the_rest(
            target in 0i64..1_000, sold in 0i64..1_000,
        ) {
            prop_assume!(sold <= target);
            let evidence = LevelEvidence {
                product: "P".into(), location: "1".into(), sku: "A".into(), target: whole(target), wish: None,
            };
            let settled = settle(&evidence, whole(target - sold), sold > 0);
            let happened = matches!(settled, Settlement::Happened { .. });
            prop_assert!(happened, "{:?}", settled);
        }

        #[test]
        fn a_level_that_is_higher_or_lower_without_a_sale_was_not_set(target in 0i64..1_000, there in 0i64..1_000, explained: bool) {
            prop_assume!(target != there && !(explained && there < target));
            let evidence = LevelEvidence {
                product: "P".into(), location: "1".into(), sku: "A".into(), target: whole(target), wish: None,
            };
            let settled = settle(&evidence, whole(there), explained);
            let did_not = matches!(settled, Settlement::DidNotHappen { .. });
            prop_assert!(did_not, "{:?}", settled);
        }
    }

    #[test]
    fn a_lost_set_is_settled_by_what_the_product_shows() {
        let evidence = LevelEvidence {
            product: "P".into(),
            location: "1".into(),
            sku: "A".into(),
            target: whole(5),
            wish: None,
        };
        for (there, is_explained, happened) in [
            (5, false, true),
            (5, true, true),
            (4, true, true),
            (4, false, false),
            (6, true, false),
            (6, false, false),
        ] {
            let settled = settle(&evidence, whole(there), is_explained);
            assert_eq!(matches!(settled, Settlement::Happened { .. }), happened, "{there} {is_explained}");
        }
    }

    #[test]
    fn a_basis_is_the_word_of_the_configuration() {
        assert_eq!((Basis::Physical.as_str(), Basis::Available.as_str()), ("physical", "available"));
    }
}

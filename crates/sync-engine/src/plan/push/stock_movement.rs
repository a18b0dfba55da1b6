//! Movements of stock (effect `stock.adjust`): a delta that happens once. The journal keeps what was read before; where
//! the answer is lost, the balance of readings and dispatches tells whether it happened
//! ([`stock_balance`](crate::plan::stock_balance)).

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    LocationId,
    product::StockLevel,
    text,
    text::{Arg, Text},
};
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    Message, Settlement,
    attempts::OVER_AFTER,
    invalid,
    movement_evidence::MovementEvidence,
    own_writes::{LAG_RECHECK_INTERVAL, READINGS_LAG, is_from_before},
    product::number_of,
    reported_changes::{ReportedChange, are_ours, at_location},
    units::has_half_unit,
};
use crate::plan::stock_balance::{Dispatched, Moved, Readings, moved};

/// An example of a movement's data.
const EXAMPLE: &str = "{\"location_id\": 1, \"delta\": -2}";
/// An outcome that has been unclear for less may become clear: the mirror hears of orders that it did not know.
const CLEARS_WITHIN: TimeDelta = TimeDelta::seconds(60);
/// A movement that happened shows in every reading after this time: the marketplace is given ten seconds to do it, and
/// readings are behind by [`READINGS_LAG`] at most. One that does not show by then did not happen, and is sent again.
const SHOWS_WITHIN: TimeDelta = TimeDelta::seconds(10 + READINGS_LAG.num_seconds());
/// The time between two readings of what is unclear.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The time between two questions whether all orders were read.
const ORDERS_RECHECK_INTERVAL: Duration = Duration::from_secs(5);

/// What is read after a movement whose answer was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// The quantity at the location.
    pub at_location: Decimal,
    /// The quantity in all locations; absent where one of them has an unknown quantity.
    pub total: Option<Decimal>,
    /// What was dispatched around the movement.
    pub sold: Dispatched,
    /// True where another effect of ours changed the SKU in another location meanwhile.
    pub has_moved_elsewhere: bool,
    /// The changes of the SKU that deliveries reported since the reading before it, at all locations.
    pub reported: Vec<ReportedChange>,
    /// True if a reading after it has shown another quantity than the one before it.
    pub has_moved: bool,
    /// The quantities that changes of ours added at the location in the two minutes before, the newest first; `None` is
    /// unknown.
    pub changed_before: Vec<Option<Decimal>>,
    /// The same for all locations.
    pub changed_before_anywhere: Vec<Option<Decimal>>,
}

/// The quantity of a level, as far as it is known: a level that a product does not have is zero, one without a
/// quantity is unknown.
pub fn quantity_of(level: Option<&StockLevel>) -> Option<Decimal> {
    level.map_or(Some(Decimal::ZERO), |level| level.quantity)
}

/// The quantity in all locations together; `None` where one of them is unknown.
pub fn total_of(levels: &[StockLevel]) -> Option<Decimal> {
    levels.iter().map(|level| level.quantity).sum()
}

/// The movement that a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The location whose stock is moved.
    pub location: LocationId,
    /// The movement; negative where it takes something off.
    pub delta: Decimal,
}

impl Asked {
    /// Reads a command's data.
    ///
    /// # Errors
    /// The words for the row where they name no location or no movement.
    pub fn read(data: &Value) -> Result<Self, Message> {
        let missing = |field: &str| invalid(text!("value-missing", field = field, example = EXAMPLE));
        let location = match &data["location_id"] {
            Value::String(text) if !text.is_empty() => LocationId::new(text.clone()),
            Value::Number(number) => LocationId::new(number.to_string()),
            _ => return Err(missing("data.location_id")),
        };
        let delta = match &data["delta"] {
            Value::Null => return Err(missing("data.delta")),
            written => number_of("data.delta", written).map_err(invalid)?,
        };
        Ok(Self { location, delta })
    }
}

/// Checks a movement against what is there.
///
/// # Errors
/// The words for the row where the marketplace would refuse it.
pub fn check(unit: Option<&str>, before: Decimal, delta: Decimal) -> Result<(), Message> {
    if has_half_unit(unit, delta) {
        return Err(invalid(text!("value-no-half-unit")));
    }
    if before + delta < Decimal::ZERO {
        let (before, less) = (Arg::Quantity(before), Arg::Quantity(-delta));
        return Err(Message::new(
            "too_little_stock",
            text!("push-too-little-stock", before = before, less = less),
        ));
    }
    Ok(())
}

/// True for a movement that takes a level to zero.
pub fn empties(before: Decimal, delta: Decimal) -> bool {
    before > Decimal::ZERO && before + delta <= Decimal::ZERO
}

/// A movement whose answer was lost waits for all orders: without them the sold quantity is unknown. Its row stays
/// `sending`, because one that waits may be changed, and the changed one would be sent beside it.
pub fn waits_for_orders() -> Settlement {
    Settlement::NotYet(ORDERS_RECHECK_INTERVAL)
}

/// The evidence that a reading gives of a movement whose answer was lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// It happened.
    Happened,
    /// It does not show.
    DoesNotShow,
    /// The reading may be from before other changes of ours, and then from before the movement too.
    MayBeBehind,
    /// It proves neither, for these reasons.
    Unclear(Text),
}

/// Judges a movement whose answer was lost. `after` is absent where the quantity did not stand still while it was read, or
/// too many orders may have to do with it.
///
/// The quantity alone proves nothing where others moved it: somebody may have set back what the movement did, or done what
/// it did not do. So it counts only where every reported change is ours or a dispatch, and only where the quantity
/// was not seen to leave and come back.
pub fn judge(evidence: &MovementEvidence, after: Option<After>) -> Judgement {
    let Some(after) = after else { return Judgement::Unclear(text!("push-movement-doubtful")) };
    let certain: Decimal = after.sold.certain.iter().sum();
    let (all_reported, has_moved) = (after.reported.clone(), after.has_moved);
    let (of_place, of_all) = (after.changed_before.clone(), after.changed_before_anywhere.clone());
    let (readings, is_total) = readings(evidence, after);
    if is_from_before(readings.after, readings.before, if is_total { &of_all } else { &of_place }) {
        return Judgement::MayBeBehind;
    }
    let reported = if is_total { all_reported } else { at_location(&all_reported, &evidence.location) };
    let is_ours = |happened| are_ours(&reported, evidence.delta, &readings.sold, happened);
    let is_back = has_moved && readings.after == readings.before;
    match moved(evidence.delta, &readings) {
        Moved::Yes if is_ours(true) => Judgement::Happened,
        Moved::No if is_ours(false) && !is_back => Judgement::DoesNotShow,
        Moved::Yes | Moved::No => Judgement::Unclear(text!(
            "push-movement-others",
            before = Arg::Quantity(readings.before),
            after = Arg::Quantity(readings.after),
            delta = Arg::Quantity(evidence.delta)
        )),
        Moved::Unclear => Judgement::Unclear(text!(
            "push-movement-unclear",
            before = Arg::Quantity(readings.before),
            after = Arg::Quantity(readings.after),
            sold = Arg::Quantity(certain),
            delta = Arg::Quantity(evidence.delta)
        )),
    }
}

/// Settles a movement whose answer was lost, `age` after it was sent. `unclear_for` is how long ago the first of
/// the last readings was unclear.
pub fn settle(judgement: Judgement, age: TimeDelta, unclear_for: TimeDelta) -> Settlement {
    // A service that is started again and again does not begin to wait anew.
    let unclear_for = unclear_for.max(age - SHOWS_WITHIN);
    match judgement {
        Judgement::Happened => Settlement::Happened { answer: None, how: "the quantity has moved by it" },
        Judgement::DoesNotShow if age >= SHOWS_WITHIN => {
            Settlement::DidNotHappen { how: "the quantity has not moved" }
        }
        Judgement::DoesNotShow if age < OVER_AFTER => Settlement::NotYet(RECHECK_INTERVAL),
        Judgement::DoesNotShow | Judgement::MayBeBehind => Settlement::NotYet(LAG_RECHECK_INTERVAL),
        Judgement::Unclear(_) if unclear_for < CLEARS_WITHIN => Settlement::NotYet(RECHECK_INTERVAL),
        Judgement::Unclear(text) => Settlement::Unprovable(unprovable(text)),
    }
}

/// Nobody tells from which location a sale was taken: where there are several, they are taken together, unless another
/// effect of ours moved stock in another. Returns the readings, and whether they are of all locations.
fn readings(evidence: &MovementEvidence, after: After) -> (Readings, bool) {
    let After { at_location, total, sold, has_moved_elsewhere, .. } = after;
    let before = evidence.before;
    match (evidence.locations.is_none_or(|locations| locations <= 1), evidence.total.zip(total)) {
        (true, _) => (Readings { before, after: at_location, sold }, false),
        (false, Some((before, after))) if !has_moved_elsewhere => (Readings { before, after, sold }, true),
        (false, _) => (Readings { before, after: at_location, sold: sold.all_possible() }, false),
    }
}

/// The words for a movement that nothing proves.
pub fn unprovable(text: Text) -> Message {
    Message::new("unprovable", text)
}

#[cfg(test)]
mod tests {
    use espelho_model::{RawJson, Sku, text::Locale};
    use espelho_store::{Effect, EffectState};
    use proptest::prelude::*;
    use serde_json::json;

    use super::{
        super::tests::{at, effect},
        *,
    };

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    fn evidence(delta: i64, before: i64, locations: u64, total: i64) -> MovementEvidence {
        MovementEvidence {
            product: "P".into(),
            sku: "A".into(),
            location: "1".into(),
            delta: whole(delta),
            before: whole(before),
            journal_end: Some(4),
            from: Some(at(1)),
            until: Some(at(2)),
            total: Some(whole(total)),
            locations: Some(locations),
            after_delivery: None,
        }
    }

    fn after(at_location: i64, total: i64, certain: &[i64]) -> After {
        let sold =
            Dispatched { certain: certain.iter().copied().map(whole).collect(), ..Dispatched::default() };
        After {
            at_location: whole(at_location),
            total: Some(whole(total)),
            sold,
            has_moved_elsewhere: false,
            reported: Vec::new(),
            has_moved: false,
            changed_before: Vec::new(),
            changed_before_anywhere: Vec::new(),
        }
    }

    fn reported(changes: &[(&str, i64)]) -> Vec<ReportedChange> {
        let change = |(location, step): &(&str, i64)| ReportedChange {
            location: Some((*location).to_owned()),
            step: Some(whole(*step)),
        };
        changes.iter().map(change).collect()
    }

    const OLD: TimeDelta = SHOWS_WITHIN;

    /// Settles a movement whose readings were all like this one.
    fn settle(evidence: &MovementEvidence, after: Option<After>, age: TimeDelta) -> Settlement {
        super::settle(judge(evidence, after), age, age)
    }

    const YOUNG: TimeDelta = TimeDelta::milliseconds(59_999);

    fn word(settled: &Settlement) -> &'static str {
        match settled {
            Settlement::Happened { .. } => "happened",
            Settlement::DidNotHappen { .. } => "did not",
            Settlement::NotYet(_) => "not yet",
            Settlement::Unprovable(message) if message.code == "unprovable" => "doubtful",
            Settlement::Unprovable(_) => "another code",
        }
    }

    #[test]
    fn a_movement_that_waits_for_all_orders_stays_under_way() {
        assert_eq!(
            waits_for_orders().verdict(),
            Some(super::super::Verdict::Unsettled(ORDERS_RECHECK_INTERVAL))
        );
    }

    // withstands: F001
    #[test]
    fn a_lost_movement_is_told_by_the_quantity_and_what_was_dispatched() {
        let rows = [
            // delta, before, after, sold, young, old
            (-2, 9, 7, vec![], "happened", "happened"),
            (-2, 9, 9, vec![], "not yet", "did not"),
            (-2, 9, 4, vec![3], "happened", "happened"),
            (-2, 9, 6, vec![3], "not yet", "did not"),
            (-2, 9, 8, vec![], "not yet", "doubtful"),
            (5, 0, 5, vec![], "happened", "happened"),
            (5, 0, 0, vec![], "not yet", "did not"),
            (5, 1, 9, vec![], "not yet", "doubtful"),
        ];
        for (delta, before, there, sold, young, old) in rows {
            let settled =
                |age| settle(&evidence(delta, before, 1, before), Some(after(there, there, &sold)), age);
            assert_eq!(word(&settled(YOUNG)), young, "{delta} {before} {there} {sold:?}");
            assert_eq!(word(&settled(OLD)), old, "{delta} {before} {there} {sold:?}");
        }
    }

    // withstands: F001
    #[test]
    fn a_movement_that_does_not_show_is_sent_again_when_no_reading_can_be_behind_it() {
        let settled = |there, age| settle(&evidence(5, 100, 1, 100), Some(after(there, there, &[])), age);
        for (there, seconds, expected) in [
            (100, 40, "not yet"),
            (100, 129, "not yet"),
            (100, 130, "did not"),
            (105, 129, "happened"),
            (103, 59, "not yet"),
            (103, 60, "doubtful"),
        ] {
            assert_eq!(word(&settled(there, TimeDelta::seconds(seconds))), expected, "{there} {seconds}");
        }
        // An unclear reading of late is read again, however long ago the movement was sent.
        let unclear = || judge(&evidence(5, 100, 1, 100), Some(after(103, 103, &[])));
        let settled = super::settle(unclear(), OLD, TimeDelta::seconds(59));
        assert_eq!(word(&settled), "not yet");
    }

    // withstands: F001
    #[test]
    fn a_reading_that_may_be_from_before_other_changes_of_ours_proves_nothing() {
        let (ten, taken) = (vec![Some(whole(10))], vec![Some(whole(-1))]);
        let here = |there: i64, changes: &Vec<Option<Decimal>>| After {
            changed_before: changes.clone(),
            changed_before_anywhere: changes.clone(),
            ..after(there, there, &[])
        };
        for (delta, before, there, changes, expected) in [
            (-10, 50, 40, &ten, "not yet"),
            (-5, 50, 45, &ten, "happened"),
            (1, 9, 10, &taken, "not yet"),
            (1, 9, 10, &Vec::new(), "happened"),
            (10, 50, 50, &ten, "did not"),
        ] {
            let settled = settle(&evidence(delta, before, 1, before), Some(here(there, changes)), OLD);
            assert_eq!(word(&settled), expected, "{delta} {before} {there}");
        }
        // Ten more in the other location, which the reading does not show, and ten less here, which was lost.
        let elsewhere = After { changed_before_anywhere: ten, ..after(20, 40, &[]) };
        assert_eq!(word(&settle(&evidence(-10, 20, 2, 50), Some(elsewhere), OLD)), "not yet");
    }

    // withstands: F001
    #[test]
    fn an_end_state_proves_nothing_where_deliveries_report_that_others_moved_the_quantity() {
        type Reported<'t> = &'t [(&'t str, i64)];
        let rows: [(Reported<'_>, i64, i64, i64, &str); 9] = [
            // reported, delta, before, after, settled
            (&[], 9, 100, 100, "did not"),
            (&[("1", 9), ("1", -9)], 9, 100, 100, "doubtful"),
            (&[("1", -9)], 9, 100, 100, "doubtful"),
            (&[("1", 9)], 9, 100, 100, "doubtful"),
            (&[("2", 9), ("2", -9)], 9, 100, 100, "did not"),
            (&[], 9, 100, 109, "happened"),
            (&[("1", 9)], 9, 100, 109, "happened"),
            (&[("1", 4), ("1", 5)], 9, 100, 109, "doubtful"),
            (&[("1", 9), ("1", -9), ("1", 9)], 9, 100, 109, "doubtful"),
        ];
        for (changes, delta, before, there, expected) in rows {
            let after = After { reported: reported(changes), ..after(there, there, &[]) };
            let evidence = evidence(delta, before, 1, before);
            let settled = settle(&evidence, Some(after), OLD);
            assert_eq!(word(&settled), expected, "{changes:?} {delta} {before} {there}");
        }
        // With the totals of several locations, a change at another one counts too.
        let two = evidence(9, 100, 2, 150);
        let elsewhere = After { reported: reported(&[("2", -9)]), ..after(109, 150, &[]) };
        assert_eq!(word(&settle(&two, Some(elsewhere), OLD)), "doubtful", "moved here, and taken off there");
    }

    #[test]
    fn a_quantity_that_was_seen_to_leave_and_came_back_is_no_proof_that_it_never_moved() {
        let back = |has_moved, there| After { has_moved, ..after(there, there, &[]) };
        let settled = |after, age| settle(&evidence(9, 100, 1, 100), Some(after), age);
        assert_eq!(word(&settled(back(false, 100), OLD)), "did not");
        assert_eq!(word(&settled(back(true, 100), YOUNG)), "not yet");
        assert_eq!(word(&settled(back(true, 100), OLD)), "doubtful");
        assert_eq!(word(&settled(back(true, 109), OLD)), "happened");
    }

    #[test]
    fn a_quantity_that_does_not_stand_still_is_read_again_for_a_minute_and_then_doubtful() {
        assert_eq!(word(&settle(&evidence(-2, 9, 1, 9), None, YOUNG)), "not yet");
        assert_eq!(word(&settle(&evidence(-2, 9, 1, 9), None, OLD)), "doubtful");
    }

    #[test]
    fn several_locations_are_taken_together_unless_we_moved_stock_in_another() {
        // The sale of 3 was taken from the other location: 9 there and 20 in all before, 7 and 15 after.
        let two = evidence(-2, 9, 2, 20);
        assert_eq!(word(&settle(&two, Some(after(7, 15, &[3])), OLD)), "happened");
        assert_eq!(word(&settle(&two, Some(after(9, 17, &[3])), OLD)), "did not");
        let elsewhere = |at_location| After { has_moved_elsewhere: true, ..after(at_location, 99, &[3]) };
        assert_eq!(word(&settle(&two, Some(elsewhere(7)), OLD)), "happened", "by the location alone");
        assert_eq!(word(&settle(&two, Some(elsewhere(9)), OLD)), "did not");
        let unknown = |at_location| After { total: None, ..after(at_location, 0, &[3]) };
        assert_eq!(word(&settle(&two, Some(unknown(7)), OLD)), "happened", "another location is unknown");
        assert_eq!(word(&settle(&two, Some(unknown(9)), OLD)), "did not");
        let without = MovementEvidence { total: None, ..two.clone() };
        assert_eq!(word(&settle(&without, Some(after(9, 2, &[3])), OLD)), "did not", "it was unknown before");
        let ambiguous = evidence(-3, 9, 2, 20);
        assert_eq!(
            word(&settle(&ambiguous, Some(elsewhere(6)), OLD)),
            "doubtful",
            "moved, or sold from here"
        );
        let old_row = MovementEvidence { locations: None, total: None, ..evidence(-2, 9, 2, 20) };
        assert_eq!(word(&settle(&old_row, Some(after(7, 99, &[])), OLD)), "happened");
    }

    #[test]
    fn a_level_without_a_quantity_is_unknown_and_one_that_is_not_there_is_zero() {
        let level = |quantity: Option<i64>| StockLevel {
            sku: Sku::new("A"),
            location_id: LocationId::new("1"),
            quantity: quantity.map(whole),
            reserved_quantity: None,
            available_quantity: None,
            raw: RawJson::new("{}"),
        };
        assert_eq!(quantity_of(None), Some(Decimal::ZERO));
        assert_eq!(quantity_of(Some(&level(Some(7)))), Some(whole(7)));
        assert_eq!(quantity_of(Some(&level(None))), None);
        let rows: [(&[Option<i64>], Option<i64>); 4] =
            [(&[], Some(0)), (&[Some(3), Some(4)], Some(7)), (&[Some(3), None], None), (&[None], None)];
        for (quantities, expected) in rows {
            let levels: Vec<StockLevel> = quantities.iter().copied().map(level).collect();
            assert_eq!(total_of(&levels), expected.map(whole), "{quantities:?}");
        }
    }

    proptest! {
        // withstands: F001
        #[test]
        fn a_movement_in_several_locations_is_never_settled_wrongly(
            here in 20i64..500, there in 20i64..500, delta in (-20i64..=20).prop_filter("moves", |d| *d != 0),
            from_here in 0i64..10, from_there in 0i64..10, happened: bool,
        ) {
            let done = if happened { delta } else { 0 };
            let before = evidence(delta, here, 2, here + there);
            let sold = from_here + from_there;
            let now = after(here - from_here + done, here + there - sold + done, &[sold]);
            let settled = settle(&before, Some(now), OLD);
            prop_assert_eq!(word(&settled), if happened { "happened" } else { "did not" });
        }
    }

    #[test]
    fn a_movement_below_zero_or_of_half_a_piece_is_refused_beforehand() {
        let code = |unit, before, delta: &str| {
            check(unit, whole(before), delta.parse().unwrap()).err().map(|m| m.code)
        };
        assert_eq!(code(Some("un"), 2, "-2"), None);
        assert_eq!(code(Some("un"), 2, "-3"), Some("too_little_stock".to_owned()));
        let refused = check(Some("un"), whole(2), whole(-3)).unwrap_err();
        let (before, less) = (Arg::Quantity(whole(2)), Arg::Quantity(whole(3)));
        let words = text!("push-too-little-stock", before = before, less = less);
        assert_eq!(refused, Message::new("too_little_stock", words), "the quantity without its sign");
        assert_eq!(code(Some("un"), 2, "0.5"), Some("invalid_data".to_owned()));
        assert_eq!(code(Some("kg"), 2, "-0.5"), None);
        assert_eq!(code(None, 2, "0.5"), None);
    }

    #[test]
    fn a_movement_empties_a_level_where_nothing_is_left_of_it() {
        for (before, delta, expected) in
            [(2, -2, true), (2, -3, true), (2, -1, false), (2, 2, false), (0, -1, false), (0, 1, false)]
        {
            assert_eq!(empties(whole(before), whole(delta)), expected, "{before} {delta}");
        }
        assert!(empties("0.5".parse().unwrap(), "-0.5".parse().unwrap()));
    }

    #[test]
    fn a_movement_names_its_location_and_its_quantity() {
        let asked = |location: &str, delta: &str| {
            let (location, delta) = (LocationId::new(location), delta.parse().unwrap());
            Ok(Asked { location, delta })
        };
        let missing = |field: &str| Err(invalid(text!("value-missing", field = field, example = EXAMPLE)));
        for (data, expected) in [
            (json!({"location_id": 1, "delta": -2}), asked("1", "-2")),
            (json!({"location_id": "A", "delta": "0.5"}), asked("A", "0.5")),
            (json!({"location_id": "", "delta": 1}), missing("data.location_id")),
            (json!({"delta": 1}), missing("data.location_id")),
            (json!({"location_id": 1}), missing("data.delta")),
        ] {
            let read = Asked::read(&data);
            let words = |message: &Message| message.text.message(Locale::default());
            assert_eq!(read.as_ref().map_err(words), expected.as_ref().map_err(words), "{data}");
        }
        assert!(Asked::read(&json!({"location_id": 1, "delta": "two"})).is_err());
    }

    #[test]
    fn the_oldest_rows_place_their_reading_where_they_were_planned() {
        let planned = Effect { id: 9, planned_at: at(5), ..effect("stock.adjust", None, EffectState::Sent) };
        let bare = MovementEvidence { journal_end: None, from: None, until: None, ..evidence(1, 1, 1, 1) };
        let window = bare.window(&planned);
        assert_eq!((window.effect, window.journal_end, window.from, window.until), (9, 0, at(5), at(5)));
        let window = evidence(1, 1, 1, 1).window(&planned);
        assert_eq!((window.journal_end, window.from, window.until), (4, at(1), at(2)));
    }
}

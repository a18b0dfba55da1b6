//! Changes of a SKU's stock that deliveries report around a movement. The quantities in a delivery are never taken as
//! state; but they show that something moved, and by how much, which an end state alone does not.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use espelho_api_client::webhook::Delivery;
use espelho_store::Effect;
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    evidence::{may_have_happened, read},
    level_evidence::LevelEvidence,
    movement_evidence::MovementEvidence,
    product::number,
};
use crate::plan::stock_balance::Dispatched;

/// One change that a delivery reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedChange {
    /// The location, where the delivery names one.
    pub location: Option<String>,
    /// The new quantity less the old one, where the delivery has both.
    pub step: Option<Decimal>,
}

/// A change of the SKU's stock by an effect of ours before a movement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnChange {
    location: String,
    /// The quantity that it left.
    left: Decimal,
    /// By how much it moved; a level is absolute.
    step: Option<Decimal>,
}

impl OwnChange {
    /// Returns what a level or a movement of ours changed, if it may have happened.
    pub fn of(effect: &Effect) -> Option<Self> {
        if !may_have_happened(effect) {
            return None;
        }
        if let Ok(MovementEvidence { location, before, delta, .. }) = read(effect) {
            return Some(Self { location, left: before + delta, step: Some(delta) });
        }
        let LevelEvidence { location, target, .. } = read(effect).ok()?;
        Some(Self { location, left: target, step: None })
    }

    /// Says whether a delivery may tell of it. A sale between the reading and a movement changes both quantities, and not
    /// the step.
    fn may_be(&self, location: Option<&str>, old: Option<Decimal>, new: Option<Decimal>) -> bool {
        let step = new.zip(old).map(|(new, old)| new - old);
        location == Some(self.location.as_str())
            && (new == Some(self.left) || (step.is_some() && step == self.step))
    }
}

/// Returns the changes of a product's stock among deliveries of `product.stock_updated`. A delivery that arrives again is
/// the same change: its quantities, its location and its time are the same. One of an effect of ours before the movement
/// (`earlier`), built before the reading at `from`, is only late.
pub fn reported_changes<'d>(
    deliveries: impl IntoIterator<Item = &'d Delivery>,
    product: &str,
    earlier: &[OwnChange],
    from: Option<DateTime<Utc>>,
) -> Vec<ReportedChange> {
    let mut seen = HashSet::new();
    let mut changes = Vec::new();
    for delivery in deliveries.into_iter().filter(|own| own.product_sku_id() == Some(product)) {
        let data: Value = serde_json::from_str(delivery.data.as_str()).unwrap_or_default();
        let (old, new) = (number(&data["old_quantity"]), number(&data["new_quantity"]));
        let location = match &data["location_id"] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let is_late = |own: &OwnChange| own.may_be(location.as_deref(), old, new);
        // Without its time, the same step again may be a new one.
        let is_from_before = delivery.timestamp.zip(from).is_some_and(|(built, from)| built < from);
        if is_from_before && earlier.iter().any(is_late) {
            continue;
        }
        if seen.insert((location.clone(), old, new, delivery.timestamp)) {
            changes.push(ReportedChange { location, step: new.zip(old).map(|(new, old)| new - old) });
        }
    }
    changes
}

/// Keeps the changes at one location, and those that name none.
pub fn at_location(changes: &[ReportedChange], location: &str) -> Vec<ReportedChange> {
    let is_there = |change: &&ReportedChange| change.location.as_deref().is_none_or(|own| own == location);
    changes.iter().filter(is_there).cloned().collect()
}

/// Says whether nobody else moved stock, as far as deliveries report: every change is a dispatch, or the movement itself where
/// that `happened`. A change without quantities may be the movement, and is no dispatch.
pub fn are_ours(changes: &[ReportedChange], delta: Decimal, sold: &Dispatched, happened: bool) -> bool {
    let steps: Vec<Option<Decimal>> =
        changes.iter().map(|change| change.step).filter(|step| *step != Some(Decimal::ZERO)).collect();
    if are_dispatches(&steps, sold) {
        return true;
    }
    let may_be_own = |at: &usize| steps[*at].is_none_or(|step| step == delta);
    let are_others_dispatches = |own: usize| {
        let mut others = steps.clone();
        others.remove(own);
        are_dispatches(&others, sold)
    };
    happened && (0..steps.len()).filter(may_be_own).any(are_others_dispatches)
}

/// Says whether changes took off together what some of the dispatches did. One may be reported line by line.
fn are_dispatches(steps: &[Option<Decimal>], sold: &Dispatched) -> bool {
    let taken = |step: &Option<Decimal>| step.filter(|step| *step < Decimal::ZERO).map(|step| -step);
    let total: Option<Decimal> = steps.iter().map(taken).sum();
    total.is_some_and(|total| sold.clone().all_possible().may_be(total))
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use espelho_store::EffectState;
    use serde_json::json;

    use super::{
        super::{evidence::Evidence as _, tests::effect},
        *,
    };

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    fn delivery(data: &Value, second: u32) -> Delivery {
        let body = json!({
            "event": "product.stock_updated", "data": data, "timestamp": format!("2026-11-20T12:00:{second:02}Z"),
            "webhook_id": "w",
        });
        Delivery::parse(body.to_string().as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap()
    }

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_change_is_reported_with_its_location_and_by_how_much_and_once() {
        let reported = |old: Value, new: Value, location: Value, second| {
            let data = json!({"store_id": 1, "product_sku_id": "P", "old_quantity": old, "new_quantity": new,
                "location_id": location});
            delivery(&data, second)
        };
        let deliveries = [
            reported(json!(100), json!(109), json!(1), 1),
            reported(json!(100), json!(109), json!(1), 1),
            reported(json!(100), json!(109), json!(1), 2),
            reported(json!("9.50"), json!("9"), json!("2"), 3),
            reported(Value::Null, json!(9), Value::Null, 4),
            delivery(
                &json!({"product_sku_id": "Q", "old_quantity": 1, "new_quantity": 2, "location_id": 1}),
                5,
            ),
            delivery(&json!([]), 6),
        ];
        let change = |location: Option<&str>, step: Option<Decimal>| ReportedChange {
            location: location.map(str::to_owned),
            step,
        };
        let changes = reported_changes(&deliveries, "P", &[], None);
        assert_eq!(
            changes,
            [
                change(Some("1"), Some(whole(9))),
                change(Some("1"), Some(whole(9))),
                change(Some("2"), Some(Decimal::new(-5, 1))),
                change(None, None),
            ],
            "the first arrived twice, and the third is another change"
        );
        assert_eq!(at_location(&changes, "2"), changes[2..]);
        let own = |left: i64, step: Option<i64>, location: &str| OwnChange {
            location: location.into(),
            left: whole(left),
            step: step.map(whole),
        };
        let since = |own, from| reported_changes(&deliveries, "P", &[own], from);
        let with = |own| since(own, Some(time("2026-11-20T12:00:30Z")));
        for (own, expected, why) in [
            (own(109, Some(9), "1"), &changes[2..], "an earlier movement that is reported late is no news"),
            (own(112, Some(9), "1"), &changes[2..], "a sale came between its reading and the movement"),
            (own(109, None, "1"), &changes[2..], "a level that is reported late is no news"),
            (own(108, Some(8), "1"), &changes[..], "somebody else moved it by another step"),
            (own(108, None, "1"), &changes[..], "somebody else set another level"),
            (own(109, Some(9), "2"), &changes[..], "ours was at another location"),
        ] {
            assert_eq!(with(own), expected, "{why}");
        }
        let from = Some(time("2026-11-20T12:00:01Z"));
        let movement = || own(109, Some(9), "1");
        assert_eq!(since(movement(), from), changes, "the same step after the reading is another change");
        assert_eq!(since(movement(), None), changes);
    }

    #[test]
    fn our_levels_and_movements_are_our_changes_unless_they_did_not_happen() {
        let with = |kind: &str, evidence: &str, state| OwnChange::of(&effect(kind, Some(evidence), state));
        let (level, movement) = (LevelEvidence::EARLIER_ROW, MovementEvidence::EARLIER_ROW);
        let own = |left: i64, step: Option<i64>| {
            Some(OwnChange { location: "1".into(), left: whole(left), step: step.map(whole) })
        };
        for (state, has_happened) in [
            (EffectState::Confirmed, true),
            (EffectState::Doubtful, true),
            (EffectState::Refuted, false),
            (EffectState::Planned, false),
        ] {
            let expected = |own: Option<OwnChange>| own.filter(|_| has_happened);
            assert_eq!(with("stock.set", level, state), expected(own(7, None)), "{state:?}");
            assert_eq!(with("stock.adjust", movement, state), expected(own(7, Some(-2))), "{state:?}");
        }
        assert_eq!(with("order.status", level, EffectState::Confirmed), None);
    }

    /// The reported steps, the movement, what was sold, and whether this is ours alone if it did not happen, and if it did.
    type Case<'c> = (&'c [Option<i64>], i64, &'c [i64], bool, bool);

    #[test]
    fn only_dispatches_and_the_movement_itself_are_not_somebody_elses() {
        let rows: [Case<'_>; 19] = [
            (&[], 9, &[], true, true),
            (&[Some(9)], 9, &[], false, true),
            (&[Some(9), Some(-9)], 9, &[], false, false),
            (&[Some(-9)], 9, &[], false, false),
            (&[Some(5)], 9, &[], false, false),
            (&[Some(9), Some(9)], 9, &[], false, false),
            (&[Some(0)], 9, &[], true, true),
            (&[None], 9, &[], false, true),
            (&[None, None], 9, &[], false, false),
            (&[Some(-3)], 9, &[3], true, true),
            (&[Some(-3), Some(9)], 9, &[3], false, true),
            (&[Some(-3), Some(-3)], 9, &[3], false, false),
            (&[Some(-1), Some(-2)], 9, &[3], true, true),
            (&[Some(-3)], 9, &[3, 4], true, true),
            (&[Some(-1)], 9, &[3], false, false),
            (&[Some(-2)], -2, &[], false, true),
            (&[Some(-2), Some(-2)], -2, &[2], false, true),
            (&[Some(-2)], -2, &[2], true, true),
            (&[Some(-2), None], -2, &[2], false, true),
        ];
        for (steps, delta, sold, without, with) in rows {
            let change = |step: &Option<i64>| ReportedChange { location: None, step: step.map(whole) };
            let changes: Vec<ReportedChange> = steps.iter().map(change).collect();
            let sold =
                Dispatched { certain: sold.iter().copied().map(whole).collect(), ..Dispatched::default() };
            let are_ours = |happened| are_ours(&changes, whole(delta), &sold, happened);
            assert_eq!((are_ours(false), are_ours(true)), (without, with), "{steps:?} {delta} {sold:?}");
        }
    }
}

//! Our own changes beside readings that may be older than they are. The marketplace answers readings from replicas that may
//! be two minutes behind, so a value from before our last change proves nothing: neither that the change did not happen,
//! nor that what is asked for now is there already.

use std::{collections::BTreeSet, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::{Effect, EffectState};
use rust_decimal::Decimal;

use super::{
    evidence::{may_have_happened, read},
    level_evidence::LevelEvidence,
    movement_evidence::MovementEvidence,
    price_step::{StepEvidence, StepWord},
};
use crate::plan::tiers::{Mode, Tier};

/// A reading may be so far behind what was done before it.
pub const READINGS_LAG: TimeDelta = TimeDelta::seconds(120);
/// The time between two readings that may be behind.
pub const LAG_RECHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Says whether a quantity may be that of a level before our changes of the last two minutes. `effects` are those on the
/// level, the newest first.
pub fn is_behind(quantity: Decimal, effects: &[Effect], now: DateTime<Utc>) -> bool {
    let is_recent = |effect: &&Effect| is_recent(effect, now);
    let mut recent = effects.iter().filter(|effect| may_have_happened(effect)).take_while(is_recent);
    let Some(last) = recent.next() else { return false };
    if quantity_after(last).is_none_or(|left| left == quantity) {
        return false;
    }
    let is_its = |known: Option<Decimal>| known == Some(quantity);
    is_its(quantity_before(last))
        || recent.any(|effect| is_its(quantity_before(effect)) || is_its(quantity_after(effect)))
}

/// Says whether a quantity, at one location or in all of them, may be that from before changes of ours. `left` is the
/// quantity with all of them; `changes` are how much they added, the newest first, `None` where that is not known.
pub fn is_from_before(quantity: Decimal, left: Decimal, changes: &[Option<Decimal>]) -> bool {
    let mut earlier = left;
    let is_it = |change: &Option<Decimal>| match change {
        Some(added) => {
            earlier -= *added;
            earlier == quantity
        }
        None => true,
    };
    quantity != left && changes.iter().any(is_it)
}

/// Returns how much an effect added to a level, if it happened in the last two minutes: the inner `None` where that is not
/// known.
pub fn recently_added(effect: &Effect, now: DateTime<Utc>) -> Option<Option<Decimal>> {
    if !(may_have_happened(effect) && is_recent(effect, now)) {
        return None;
    }
    Some(quantity_after(effect).zip(quantity_before(effect)).map(|(after, before)| after - before))
}

/// Returns the tiers to plan a product's prices from: those of a reading; but where a tier that is `asked` for is as
/// `desired`, and our last change of it, in the last two minutes, made it another, the other one. So what is asked for is
/// sent, which changes nothing where the reading was right. A tier that nobody asks for stays as it is, whatever the
/// reading shows of it. `effects` are those on the product's prices, the newest first.
pub fn tiers_to_plan_from(
    mode: Mode,
    current: &[Tier],
    (desired, asked): (&[Tier], &[u32]),
    effects: &[Effect],
    now: DateTime<Utc>,
) -> Vec<Tier> {
    let (mut tiers, mut known) = (current.to_vec(), BTreeSet::new());
    for effect in effects.iter().filter(|effect| may_have_happened(effect)) {
        let Ok(step) = read::<StepEvidence>(effect) else { continue };
        let is_last = known.insert(step.min_quantity) && asked.contains(&step.min_quantity);
        if is_last && is_certain(effect, now) && is_met(mode, current, desired, step.min_quantity) {
            take(&mut tiers, &step);
        }
    }
    tiers
}

/// Says whether our last change of a step's tier, in the last two minutes, made it another than the step did, so that a
/// reading which shows the step may be from before both. `earlier` are the effects before the step, the newest first.
pub fn may_show_an_earlier_step(step: &StepEvidence, earlier: &[Effect], now: DateTime<Utc>) -> bool {
    let of_tier = |effect: &Effect| {
        read::<StepEvidence>(effect).ok().filter(|other| other.min_quantity == step.min_quantity)
    };
    let happened = earlier.iter().filter(|effect| may_have_happened(effect));
    let last = happened.filter_map(|effect| Some((effect, of_tier(effect)?))).next();
    let value = |step: &StepEvidence| (step.step, step.price, step.discount);
    last.is_some_and(|(effect, other)| is_certain(effect, now) && value(&other) != value(step))
}

/// Says whether a tier is as desired, or is not there and is not to be.
fn is_met(mode: Mode, current: &[Tier], desired: &[Tier], min_quantity: u32) -> bool {
    let of = |tiers: &[Tier]| tiers.iter().any(|tier| tier.min_quantity == min_quantity);
    match desired.iter().find(|tier| tier.min_quantity == min_quantity) {
        Some(tier) => tier.is_met(mode, current),
        None => !of(current),
    }
}

/// Makes of tiers what a step made of them.
fn take(tiers: &mut Vec<Tier>, step: &StepEvidence) {
    let there = tiers.iter_mut().find(|tier| tier.min_quantity == step.min_quantity);
    match (step.step, there) {
        (StepWord::Delete, _) => tiers.retain(|tier| tier.min_quantity != step.min_quantity),
        (StepWord::Put, Some(tier)) => (tier.price, tier.discount_percent) = (step.price, step.discount),
        (StepWord::Put, None) => {
            let (min_quantity, price, discount_percent) = (step.min_quantity, step.price, step.discount);
            // The reading does not show its measures either; rules ask for some.
            let package = tiers.iter().find_map(|tier| tier.package);
            tiers.push(Tier { min_quantity, price, discount_percent, package });
        }
    }
}

fn is_certain(effect: &Effect, now: DateTime<Utc>) -> bool {
    effect.state == EffectState::Confirmed && is_recent(effect, now)
}

/// Says whether an effect was sent in the last two minutes. A clock that was set back makes nothing young again for long.
pub fn is_recent(effect: &Effect, now: DateTime<Utc>) -> bool {
    (now - effect.sent_at.unwrap_or(effect.planned_at)).abs() < READINGS_LAG
}

/// The quantity of a level before an effect, where the journal has it.
fn quantity_before(effect: &Effect) -> Option<Decimal> {
    match read::<MovementEvidence>(effect) {
        Ok(movement) => Some(movement.before),
        Err(_) => read::<LevelEvidence>(effect).ok()?.before,
    }
}

/// The quantity of a level that an effect left, where it is certain.
fn quantity_after(effect: &Effect) -> Option<Decimal> {
    if effect.state != EffectState::Confirmed {
        return None;
    }
    match read::<MovementEvidence>(effect) {
        Ok(movement) => Some(movement.before + movement.delta),
        Err(_) => Some(read::<LevelEvidence>(effect).ok()?.target),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::tests::{at, effect},
        *,
    };
    use crate::plan::tiers::{Package, Step, plan};

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    /// A movement that was sent so many seconds after the epoch.
    fn moved(before: i64, delta: i64, sent: i64, state: EffectState) -> Effect {
        let evidence = json!({"product": "P", "sku": "A", "location": "1", "delta": delta.to_string(),
            "before": before.to_string(), "mark": null, "from": null, "until": null, "total": null, "places": 1});
        Effect { sent_at: Some(at(sent)), ..effect("stock.adjust", Some(&evidence.to_string()), state) }
    }

    fn set(there: Option<i64>, target: i64, sent: i64) -> Effect {
        let there = there.map(|there| there.to_string());
        let evidence = json!({"product": "P", "location": "1", "sku": "A", "target": target.to_string(),
            "wish": 1, "there": there});
        let confirmed = EffectState::Confirmed;
        Effect { sent_at: Some(at(sent)), ..effect("stock.set", Some(&evidence.to_string()), confirmed) }
    }

    #[test]
    fn a_quantity_from_before_our_changes_of_the_last_two_minutes_may_be_behind() {
        const DONE: EffectState = EffectState::Confirmed;
        let rows: [(&[Effect], i64, bool, &str); 18] = [
            (&[], 170, false, "nothing of ours"),
            (&[moved(170, 5, 0, DONE)], 170, true, "the movement does not show"),
            (&[moved(170, 5, 0, DONE)], 175, false, "it shows"),
            (&[moved(170, 5, 0, DONE)], 173, false, "it shows, and a sale"),
            (&[moved(175, 5, 1, DONE), moved(170, 5, 0, DONE)], 170, true, "neither shows"),
            (&[moved(175, 5, 1, DONE), moved(170, 5, 0, DONE)], 175, true, "the first shows"),
            (&[moved(175, -5, 1, DONE), moved(170, 5, 0, DONE)], 170, false, "it is back there"),
            (&[moved(175, -5, 1, DONE), moved(170, 5, 0, DONE)], 175, true, "it is not back there yet"),
            (&[moved(170, 5, -111, DONE)], 170, false, "two minutes ago"),
            (&[moved(175, 5, 1, DONE), moved(170, 5, -111, DONE)], 170, false, "two minutes ago, too"),
            (&[moved(170, 5, 0, EffectState::Refuted)], 170, false, "it did not happen"),
            (&[moved(170, 5, 0, EffectState::Doubtful)], 170, false, "nobody knows"),
            (&[set(Some(50), 62, 0)], 50, true, "the level does not show"),
            (&[set(Some(50), 62, 0)], 62, false, "it shows"),
            (&[set(None, 62, 0)], 50, false, "nobody knows what was there"),
            (
                &[set(Some(62), 62, 1), set(Some(62), 50, 0)],
                50,
                true,
                "the second was set from before the first",
            ),
            (&[set(Some(62), 62, 1), set(None, 50, 0)], 62, false, "it shows, whatever was there"),
            (&[set(Some(50), 62, 30)], 50, true, "the clock was set back a little"),
        ];
        for (effects, quantity, expected, why) in rows {
            assert_eq!(is_behind(whole(quantity), effects, at(10)), expected, "{why}");
        }
    }

    fn tier(min_quantity: u32, price: i64) -> Tier {
        let one = Decimal::ONE;
        let package = Some(Package { weight: one, height: one, width: one, length: one });
        Tier { min_quantity, price: Some(whole(price)), discount_percent: None, package }
    }

    fn step(word: &str, min_quantity: u32, price: Option<i64>, sent: i64) -> Effect {
        let price = price.map(|price| price.to_string());
        let evidence = json!({"product": "P", "step": word, "min_quantity": min_quantity, "price": price,
            "discount": null, "wish": 1});
        let confirmed = EffectState::Confirmed;
        Effect { sent_at: Some(at(sent)), ..effect("price.step", Some(&evidence.to_string()), confirmed) }
    }

    #[test]
    fn a_price_that_shows_as_asked_is_sent_where_our_last_change_made_it_another() {
        let manual = |effects: &[Effect], current: &[Tier], desired: &[Tier]| {
            let from = tiers_to_plan_from(Mode::Manual, current, (desired, &[1, 10]), effects, at(10));
            plan(Mode::Manual, &from, desired).unwrap()
        };
        let put = |price| step("put", 1, Some(price), 0);
        let steps = |effects: &[Effect]| manual(effects, &[tier(1, 75)], &[tier(1, 75)]).len();
        for (effects, expected, why) in [
            (vec![], 0, "nothing of ours"),
            (vec![put(80)], 1, "we made it 80 just now"),
            (vec![put(75), put(80)], 0, "and 75 since"),
            (vec![put(80), put(75)], 1, "80 was the last"),
            (vec![step("put", 1, Some(80), -111)], 0, "two minutes ago"),
            (vec![step("put", 10, Some(70), 0)], 1, "we made a tier that does not show"),
            (vec![Effect { state: EffectState::Refuted, ..put(80) }], 0, "it was lost"),
        ] {
            assert_eq!(steps(&effects), expected, "{why}");
        }
        let of_two = [tier(1, 75), tier(10, 70)];
        let deleted = manual(&[step("delete", 10, None, 0)], &of_two, &of_two);
        assert!(matches!(deleted[..], [Step::Post(Tier { min_quantity: 10, .. })]), "{deleted:?}");
        // A tier that no row asks for stays as the reading shows it.
        for effects in [[step("put", 1, Some(80), 0)], [step("delete", 1, None, 0)]] {
            let from = tiers_to_plan_from(Mode::Manual, &of_two, (&of_two[..1], &[10]), &effects, at(10));
            assert_eq!(from, of_two);
        }
        // The steps are those from the reading if the reading is not as asked.
        let other = manual(&[put(80)], &[tier(1, 70)], &[tier(1, 75)]);
        assert_eq!(other, manual(&[], &[tier(1, 70)], &[tier(1, 75)]));
    }

    #[test]
    fn a_quantity_may_be_that_before_the_last_changes_of_ours_and_not_one_between() {
        let added = |changes: &[i64]| changes.iter().map(|by| Some(whole(*by))).collect::<Vec<_>>();
        for (quantity, left, changes, expected, why) in [
            (50, 50, vec![10], false, "all show"),
            (40, 50, vec![10], true, "none shows"),
            (30, 50, vec![10, 10], true, "neither shows"),
            (45, 50, vec![10], false, "something else"),
            (10, 9, vec![-1], true, "a dispatch does not show"),
            (8, 9, vec![-1], false, "something else was taken"),
            (45, 50, vec![], false, "nothing of ours"),
        ] {
            let is_it = is_from_before(whole(quantity), whole(left), &added(&changes));
            assert_eq!(is_it, expected, "{why}");
        }
        assert!(is_from_before(whole(45), whole(50), &[None]), "nobody knows how much it was");
        assert!(!is_from_before(whole(50), whole(50), &[None]), "all show");
    }

    #[test]
    fn a_lost_step_is_not_proved_by_what_was_there_before_the_one_before_it() {
        let lost = |price| StepEvidence::of(Step::Put(tier(1, price)), "P", Some(2));
        for (earlier, expected, why) in [
            (vec![], false, "nothing of ours"),
            (vec![step("put", 1, Some(80), 0)], true, "75 may be from before 80"),
            (vec![step("put", 1, Some(75), 0)], false, "it was 75 already"),
            (vec![step("put", 1, Some(80), -111)], false, "two minutes ago"),
            (vec![step("put", 10, Some(80), 0)], false, "another tier"),
        ] {
            assert_eq!(may_show_an_earlier_step(&lost(75), &earlier, at(10)), expected, "{why}");
        }
    }
}

//! Decides whether some deliveries are lost while others arrive: from orders whose change a sweep found and no delivery
//! reported.
//!
//! `silence` proves that none arrives, and one that does ends its suspicion. Here a lost delivery counts although others
//! arrive, so few of them must prove nothing: an order counts only for a change that certainly had an event for a webhook
//! of this store, that happened while deliveries could come in, that no effect of ours caused, and whose delivery is not
//! merely late.

use std::collections::{BTreeSet, HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{OrderNumber, time::is_future};

/// Orders that changed within this time are compared.
const WINDOW: TimeDelta = TimeDelta::minutes(15);
/// A delivery that comes so long after a sweep is late, not lost. For as long after a start or an outage deliveries of
/// changes from before it may be missing.
const LATE_DELIVERY: TimeDelta = TimeDelta::seconds(60);
/// A change that a sweep finds so late proves nothing about now.
const MAX_AGE: TimeDelta = TimeDelta::hours(1);
/// The alarm ends when no further order was found for this long.
const ENDS_AFTER: TimeDelta = TimeDelta::minutes(10);
/// Fewer orders prove nothing.
const MIN_ORDERS: u64 = 5;
/// Nor does a smaller share: at least every tenth of the orders that changed.
const MIN_SHARE: u64 = 10;
/// An event and the change that it reports have the same time but for this: times have whole seconds.
const SAME_TIME: TimeDelta = TimeDelta::seconds(5);
/// Shorter outages than this lose no delivery.
const SHORT_OUTAGE: TimeDelta = TimeDelta::seconds(15);
/// Changes of an order that have an event each, by what reports them.
const REPORTED: [&str; 2] = ["order.created", "order.status_changed"];

/// The evidence that some deliveries are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostDeliveries {
    /// Since when.
    pub since: DateTime<Utc>,
    /// Orders of the last 15 minutes whose change a sweep found and no delivery reported.
    pub unreported: u64,
    /// All orders that deliveries or sweeps found changed in that time.
    pub all: u64,
}

/// The changes of a store's orders in the last minutes, and what reported them.
#[derive(Clone, Debug, Default)]
pub struct UnreportedChanges {
    /// Changes before this time may have been reported while nobody could hear it.
    counts_from: DateTime<Utc>,
    /// Orders whose newest change a sweep found and no delivery has reported.
    found: HashMap<OrderNumber, Found>,
    /// Changes that deliveries reported or effects of ours made, in the order in which they became known.
    reports: VecDeque<Report>,
    /// Since when the alarm stands.
    raised_since: Option<DateTime<Utc>>,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    at: DateTime<Utc>,
    changed_at: DateTime<Utc>,
}

#[derive(Clone, Debug)]
struct Report {
    order: OrderNumber,
    /// When it became known.
    at: DateTime<Utc>,
    /// It explains changes of the order up to this time.
    until: DateTime<Utc>,
    is_delivery: bool,
}

/// Tells whether an event reports a change of an order by which lost deliveries are counted.
pub fn counts(event: &str) -> bool {
    REPORTED.contains(&event)
}

impl UnreportedChanges {
    /// Starts to count: nobody knows what was reported before.
    pub fn starting(now: DateTime<Utc>) -> Self {
        Self { counts_from: now + LATE_DELIVERY, ..Self::default() }
    }

    /// Records the end of an outage: deliveries of that time may be lost, and its changes are found now.
    pub fn note_outage(&mut self, began: DateTime<Utc>, now: DateTime<Utc>) {
        if now - began >= SHORT_OUTAGE {
            *self = Self::starting(now);
        }
    }

    /// Records that a delivery about an order arrived, with the time of its event. It takes back what a sweep found, unless
    /// it reports a later change.
    pub fn heard(&mut self, order: &OrderNumber, event_at: DateTime<Utc>, now: DateTime<Utc>) {
        let until = event_at + SAME_TIME;
        let reports = |found: &Found| found.changed_at <= until && event_at <= found.at + LATE_DELIVERY;
        if self.found.get(order).is_some_and(reports) {
            self.found.remove(order);
        }
        self.note(Report { order: order.clone(), at: now, until, is_delivery: true });
    }

    /// Records that an effect of ours changed an order: it needs no delivery.
    pub fn caused(&mut self, order: &OrderNumber, now: DateTime<Utc>) {
        let until = now + LATE_DELIVERY;
        if self.found.get(order).is_some_and(|found| found.changed_at <= until) {
            self.found.remove(order);
        }
        self.note(Report { order: order.clone(), at: now, until, is_delivery: false });
    }

    /// Records that a sweep found an order changed, with the time of the change as the marketplace reports it.
    pub fn found(&mut self, order: &OrderNumber, changed_at: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        let Some(changed_at) = changed_at else { return };
        let is_reported =
            self.reports.iter().any(|report| report.order == *order && report.until >= changed_at);
        if !is_reported && changed_at >= self.counts_from && now - changed_at <= MAX_AGE {
            self.found.insert(order.clone(), Found { at: now, changed_at });
        }
    }

    /// Tells whether time alone may change the judgement.
    pub fn is_pending(&self) -> bool {
        !self.found.is_empty()
    }

    /// Decides whether some deliveries are lost.
    pub fn judge(&mut self, now: DateTime<Utc>) -> Option<LostDeliveries> {
        self.forget(now);
        let unreported: Vec<(&OrderNumber, DateTime<Utc>)> = self
            .found
            .iter()
            .filter(|(_, found)| now - found.at >= LATE_DELIVERY)
            .map(|(order, found)| (order, found.at))
            .collect();
        let heard = self.reports.iter().filter(|report| report.is_delivery).map(|report| &report.order);
        let all: BTreeSet<&OrderNumber> = unreported.iter().map(|(order, _)| *order).chain(heard).collect();
        let (count, all) = (unreported.len() as u64, all.len() as u64);
        let oldest = unreported.iter().map(|(_, at)| *at).min();
        let goes_on = unreported.iter().any(|(_, at)| now - *at < ENDS_AFTER);
        let is_many = count >= MIN_ORDERS && count * MIN_SHARE >= all;
        let stands = goes_on && (is_many || self.raised_since.is_some());
        self.raised_since = self.raised_since.or(oldest).filter(|_| stands);
        self.raised_since.map(|since| LostDeliveries { since, unreported: count, all })
    }

    fn note(&mut self, report: Report) {
        self.forget(report.at);
        self.reports.push_back(report);
    }

    /// Forgets what is too old, and what a clock that was ahead has recorded.
    fn forget(&mut self, now: DateTime<Utc>) {
        let is_kept = |at: DateTime<Utc>| now - at < WINDOW && !is_future(at, now);
        while self.reports.front().is_some_and(|report| !is_kept(report.at)) {
            self.reports.pop_front();
        }
        self.found.retain(|_, found| is_kept(found.at));
        self.counts_from = self.counts_from.min(now + LATE_DELIVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work on the store started at second 0.
    const STARTED: i64 = 0;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
    }

    /// One event of an order, by its number, at a second.
    #[derive(Clone, Copy)]
    enum Step {
        /// A delivery arrives whose event happened at the other second.
        Heard(u32, i64, i64),
        /// A sweep finds a change of the other second.
        Found(u32, i64, i64),
        /// A sweep finds a change without a time.
        FoundTimeless(u32, i64),
        /// An effect of ours changes it.
        Caused(u32, i64),
        /// An outage ends that began at the other second.
        Outage(i64, i64),
    }
    use Step::{Caused, Found, FoundTimeless, Heard, Outage};

    fn after(steps: &[Step]) -> UnreportedChanges {
        let order = |number: u32| OrderNumber::new(number.to_string());
        let mut changes = UnreportedChanges::starting(at(STARTED));
        for step in steps {
            match *step {
                Heard(number, second, event) => changes.heard(&order(number), at(event), at(second)),
                Found(number, second, changed) => {
                    changes.found(&order(number), Some(at(changed)), at(second));
                }
                FoundTimeless(number, second) => changes.found(&order(number), None, at(second)),
                Caused(number, second) => changes.caused(&order(number), at(second)),
                Outage(second, began) => changes.note_outage(at(began), at(second)),
            }
        }
        changes
    }

    /// Returns how many of how many orders count as unreported at a second, if that is an alarm.
    fn judged(steps: &[Step], second: i64) -> Option<(u64, u64)> {
        after(steps).judge(at(second)).map(|lost| (lost.unreported, lost.all))
    }

    /// The same change of so many orders: the first has this number.
    fn each(first: u32, count: u32, step: impl Fn(u32) -> Step) -> Vec<Step> {
        (first..first + count).map(step).collect()
    }

    fn found(count: u32) -> Vec<Step> {
        each(0, count, |number| Found(number, 1_000, 990))
    }

    // withstands: F050
    #[test]
    fn five_orders_and_a_tenth_of_all_that_no_delivery_reported_are_an_alarm() {
        let heard = |count| each(100, count, |number| Heard(number, 1_000, 990));
        for (found, heard, second, expected, why) in [
            (found(5), heard(5), 1_060, Some((5, 10)), "half of them are lost"),
            (found(5), heard(5), 1_059, None, "they may be late"),
            (found(4), heard(0), 1_060, None, "they are few"),
            (found(5), heard(0), 1_060, Some((5, 5)), "none arrives"),
            (found(5), heard(45), 1_060, Some((5, 50)), "it is a tenth"),
            (found(5), heard(46), 1_060, None, "it is less than a tenth"),
        ] {
            assert_eq!(judged(&[found, heard].concat(), second), expected, "{why}");
        }
    }

    #[test]
    fn what_says_nothing_about_deliveries_is_no_alarm() {
        for (steps, why) in [
            (each(0, 9, |number| Found(number, 70, 59)), "it changed before the start, or with it"),
            (each(0, 9, |number| Found(number, 9_000, 5_399)), "an old order was imported"),
            (each(0, 9, |number| FoundTimeless(number, 1_000)), "nobody knows when it changed"),
            (
                each(0, 9, |number| Found(number, 1_010, 990))
                    .into_iter()
                    .chain([Outage(1_020, 900)])
                    .collect(),
                "it was found before the end of the outage",
            ),
            (
                [Outage(1_000, 900)]
                    .into_iter()
                    .chain(each(0, 9, |number| Found(number, 1_090, 1_059)))
                    .collect(),
                "it changed with the end of the outage",
            ),
        ] {
            for second in [140, 1_070, 1_160, 9_060] {
                assert_eq!(judged(&steps, second), None, "{why}: {second}");
            }
        }
        let short = [Outage(1_000, 986)].into_iter().chain(each(0, 9, |number| Found(number, 1_010, 1_001)));
        assert!(judged(&short.collect::<Vec<_>>(), 1_080).is_some(), "a short outage loses nothing");
    }

    #[test]
    fn a_change_that_a_delivery_or_an_effect_of_ours_explains_does_not_count() {
        for (more, counts, why) in [
            (vec![], true, "nothing explains it"),
            (each(0, 5, |number| Heard(number, 1_300, 990)), false, "its delivery came at a retry"),
            (each(0, 5, |number| Heard(number, 1_055, 1_055)), false, "it was built as late as it came"),
            (each(0, 5, |number| Heard(number, 1_300, 1_061)), true, "it reports a later change"),
            (each(0, 5, |number| Heard(number, 1_300, 984)), true, "it reports an earlier change"),
            (each(0, 5, |number| Heard(number, 1_300, 985)), false, "times have whole seconds"),
            (each(0, 5, |number| Caused(number, 1_030)), false, "an effect of ours was settled later"),
            (each(90, 5, |number| Heard(number, 1_300, 990)), true, "it is about other orders"),
        ] {
            assert_eq!(judged(&[found(5), more].concat(), 1_400).is_some(), counts, "after it: {why}");
        }
        for (before, counts, why) in [
            (
                each(0, 5, |number| Heard(number, 991, 990)),
                false,
                "the copy that was read then lagged behind",
            ),
            (each(0, 5, |number| Heard(number, 981, 980)), true, "it reported an earlier change"),
            (each(0, 5, |number| Caused(number, 930)), false, "an effect of ours caused it"),
            (each(0, 5, |number| Caused(number, 929)), true, "the effect was long before"),
        ] {
            assert_eq!(judged(&[before, found(5)].concat(), 1_400).is_some(), counts, "before it: {why}");
        }
    }

    #[test]
    fn effects_of_ours_are_no_changes_that_deliveries_told() {
        let own = each(200, 80, |number| Caused(number, 1_000));
        assert_eq!(judged(&[own, found(5)].concat(), 1_060), Some((5, 5)));
    }

    #[test]
    fn the_alarm_ends_ten_minutes_after_the_last_order_or_when_late_deliveries_explain_all() {
        let mut changes = after(&found(5));
        for (second, expected) in [
            (1_060, Some((5, 5))),
            (1_300, Some((5, 5))),
            (1_360, Some((6, 6))),
            (1_899, Some((6, 6))),
            (1_900, None),
            (1_901, None),
        ] {
            if second == 1_300 {
                changes.found(&OrderNumber::new("9"), Some(at(1_290)), at(1_300));
            }
            let lost = changes.judge(at(second));
            assert_eq!(lost.map(|lost| (lost.unreported, lost.all)), expected, "{second}");
            assert!(lost.is_none_or(|lost| lost.since == at(1_000)), "it stands since the first of them");
        }
        let mut late = after(&found(5));
        assert!(late.judge(at(1_060)).is_some());
        (0..5).for_each(|number| late.heard(&OrderNumber::new(number.to_string()), at(990), at(1_300)));
        assert_eq!(late.judge(at(1_301)), None);
        assert!(!late.is_pending());
    }

    #[test]
    fn the_alarm_stands_while_single_deliveries_are_lost_and_needs_five_again_after_its_end() {
        let mut changes = after(&found(5));
        assert!(changes.judge(at(1_060)).is_some());
        changes.found(&OrderNumber::new("90"), Some(at(1_550)), at(1_560));
        assert_eq!(
            changes.judge(at(1_950)).map(|lost| lost.unreported),
            Some(1),
            "the others left the window"
        );
        assert!(changes.judge(at(2_160)).is_none());
        changes.found(&OrderNumber::new("91"), Some(at(2_200)), at(2_210));
        assert!(changes.judge(at(2_300)).is_none(), "two prove nothing");
    }

    // withstands: F087
    #[test]
    fn what_a_clock_that_was_ahead_has_recorded_is_forgotten() {
        let mut changes = after(&each(0, 9, |number| Found(number, 9_000, 8_990)));
        assert_eq!(changes.judge(at(1_000)), None);
        assert!(!changes.is_pending());
        let mut ahead = UnreportedChanges::starting(at(90_000));
        assert_eq!(ahead.judge(at(900)), None);
        (0..5)
            .for_each(|number| ahead.found(&OrderNumber::new(number.to_string()), Some(at(990)), at(1_000)));
        assert!(ahead.judge(at(1_060)).is_some(), "it counts from the correction on");
    }

    #[test]
    fn only_events_that_every_change_of_their_kind_has_are_counted() {
        for (event, expected) in [
            ("order.created", true),
            ("order.status_changed", true),
            ("order.invoiced", false),
            ("shipment.status_changed", false),
            ("product.stock_updated", false),
            ("product.price_updated", false),
        ] {
            assert_eq!(counts(event), expected, "{event}");
        }
    }
}

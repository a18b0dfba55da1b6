//! Decides when a label is polled again, and when a failed file is retried. Pure: time is passed in.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{ContentHash, LabelId, OrderNumber};
use espelho_store::{LabelsInTheMaking, ReadyLabel};

/// The document recommends two seconds for a single label that a user waits for; nobody waits for these.
const MIN_POLL_INTERVAL: TimeDelta = TimeDelta::seconds(5);
const MAX_POLL_INTERVAL: TimeDelta = TimeDelta::hours(1);
/// A label in progress for this long is no longer polled; other reads of its order still update it.
const GIVEN_UP_AFTER: TimeDelta = TimeDelta::days(2);

/// First and longest pause after transient faults, and after permanent ones.
const PASSING: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(15 * 60));
const STAYING: (Duration, Duration) = (Duration::from_secs(10 * 60), Duration::from_secs(24 * 3600));
/// A transient fault is shown after this many failures.
const SHOWN_AT: u32 = 3;

/// Whether labels in progress are due for a poll: soon after they start, less and less often as they take longer.
fn is_due(now: DateTime<Utc>, making: &LabelsInTheMaking) -> bool {
    let age = now - making.changed_at;
    let pause = (age / 4).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL);
    age < GIVEN_UP_AFTER && now - making.read_at >= pause
}

/// Returns the orders whose labels are polled now: those that are due, the least recently read first, at most `most` of
/// them.
pub(crate) fn due(now: DateTime<Utc>, making: &[LabelsInTheMaking], most: usize) -> Vec<OrderNumber> {
    let due = making.iter().filter(|making| is_due(now, making)).take(most);
    due.map(|making| making.order.clone()).collect()
}

/// Labels whose files could not be fetched, and when they are retried.
#[derive(Debug, Default)]
pub(crate) struct Failing {
    labels: HashMap<LabelId, Attempts>,
    /// When any file is retried, after a fault that concerns all of them.
    all: Option<Attempts>,
}

#[derive(Clone, Copy, Debug)]
struct Attempts {
    version: ContentHash,
    count: u32,
    due: Duration,
}

impl Failing {
    /// Whether a label may be tried now.
    pub(crate) fn may_try(&self, now: Duration, label: &ReadyLabel) -> bool {
        let own = self.labels.get(&label.id).filter(|attempts| attempts.version == label.version);
        own.is_none_or(|attempts| attempts.due <= now)
    }

    /// Whether any label may be tried now.
    pub(crate) fn may_try_any(&self, now: Duration) -> bool {
        self.all.is_none_or(|attempts| attempts.due <= now)
    }

    /// Records a failure; returns whether to show it.
    pub(crate) fn failed(&mut self, now: Duration, label: &ReadyLabel, fault: &super::Fault) -> bool {
        let passes = fault.passes();
        let count = self.labels.get(&label.id).filter(|attempts| attempts.version == label.version);
        let count = count.map_or(0, |attempts| attempts.count) + 1;
        let due = now + pause(count, passes);
        let attempts = Attempts { version: label.version, count, due };
        self.labels.insert(label.id.clone(), attempts);
        if fault.concerns_all() {
            let count = self.all.map_or(0, |all| all.count) + 1;
            self.all = Some(Attempts { count, due: now + pause(count, passes), ..attempts });
        }
        fault.is_plain() || count >= SHOWN_AT
    }

    /// Records a fetched file, which proves that not all files fail.
    pub(crate) fn went_well(&mut self, label: &LabelId) {
        self.labels.remove(label);
        self.all = None;
    }

    /// Forgets the labels that `still` rejects: they are no longer to be fetched.
    pub(crate) fn keep_only(&mut self, still: impl Fn(&LabelId) -> bool) {
        self.labels.retain(|label, _| still(label));
    }

    /// Whether no label is failing.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

fn pause(count: u32, passes: bool) -> Duration {
    let (first, longest) = if passes { PASSING } else { STAYING };
    first.saturating_mul(2_u32.saturating_pow(count.saturating_sub(1).min(20))).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Fault;

    fn looks(days: i64) -> Vec<i64> {
        let start: DateTime<Utc> = "2026-11-27T07:00:00Z".parse().unwrap();
        let mut making =
            LabelsInTheMaking { order: OrderNumber::new("1"), changed_at: start, read_at: start };
        let mut looks = Vec::new();
        for second in 0..days * 86_400 {
            let now = start + TimeDelta::seconds(second);
            if is_due(now, &making) {
                making.read_at = now;
                looks.push(second);
            }
        }
        looks
    }

    #[test]
    fn a_label_is_looked_at_soon_then_ever_more_rarely_and_given_up_after_two_days() {
        let looks = looks(3);
        assert_eq!(looks[..4], [5, 10, 15, 20]);
        assert!(looks.iter().filter(|second| **second <= 120).count() <= 15, "{looks:?}");
        assert!(looks.iter().filter(|second| **second <= 3_600).count() <= 30, "{looks:?}");
        assert!(looks.windows(2).all(|pair| pair[1] - pair[0] <= 3_600), "{looks:?}");
        assert!(looks.last().is_some_and(|last| (170_000..172_800).contains(last)), "{looks:?}");
    }

    /// Five hundred labels of a morning, all ready twenty seconds after they were started, polled as the worker does.
    // withstands: F064
    #[test]
    fn five_hundred_labels_that_become_ready_at_once_cost_sixty_looks_a_minute_and_hardly_more_than_one_each()
    {
        let start: DateTime<Utc> = "2026-11-27T07:00:00Z".parse().unwrap();
        let of = |n: usize| LabelsInTheMaking {
            order: OrderNumber::new(format!("{n:03}")),
            changed_at: start,
            read_at: start,
        };
        let mut making: Vec<LabelsInTheMaking> = (0..500).map(of).collect();
        let mut looks = Vec::new();
        for tick in 1.. {
            let now = start + TimeDelta::seconds(5 * tick);
            // As the database orders them.
            making.sort_by(|a, b| (a.read_at, a.order.as_str()).cmp(&(b.read_at, b.order.as_str())));
            for number in due(now, &making[..making.len().min(200)], 5) {
                looks.push(5 * tick);
                let at = making.iter().position(|making| making.order == number).unwrap();
                if now - start >= TimeDelta::seconds(20) {
                    making.remove(at);
                } else {
                    making[at].read_at = now;
                }
            }
            if making.is_empty() {
                break;
            }
        }
        assert!((500..=520).contains(&looks.len()), "{}", looks.len());
        let in_a_minute = |from: i64| looks.iter().filter(|at| (from..from + 60).contains(*at)).count();
        assert!((0..*looks.last().unwrap()).all(|from| in_a_minute(from) <= 60));
        assert!(*looks.last().unwrap() <= 9 * 60, "{:?}", looks.last());
    }

    fn label(version: i64) -> ReadyLabel {
        ReadyLabel {
            id: LabelId::new("L1"),
            shipment: None,
            order: OrderNumber::new("1"),
            format: None,
            version: ContentHash::from_i64(version),
        }
    }

    fn full() -> Fault {
        Fault::Disk(std::io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn what_fails_is_tried_again_after_growing_pauses_and_a_label_that_changed_at_once() {
        let mut failing = Failing::default();
        let mut now = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..10 {
            failing.failed(now, &label(1), &full());
            assert!(failing.may_try(now, &label(2)));
            let began = now;
            while !failing.may_try(now, &label(1)) {
                now += Duration::from_secs(1);
            }
            pauses.push((now - began).as_secs());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
        failing.failed(now, &label(1), &Fault::NoShipment);
        assert!(!failing.may_try(now + Duration::from_secs(3_600), &label(1)), "what stays is tried rarely");
    }

    #[test]
    fn a_full_disk_stops_everything_until_one_file_goes_well() {
        let mut failing = Failing::default();
        assert!(failing.failed(Duration::ZERO, &label(1), &full()), "it is shown at once");
        assert!(!failing.may_try_any(Duration::from_secs(4)) && failing.may_try_any(Duration::from_secs(5)));
        failing.went_well(&LabelId::new("L1"));
        assert!(failing.may_try_any(Duration::ZERO) && failing.is_empty());
    }
}

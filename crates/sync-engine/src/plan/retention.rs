//! Decides how old records must be for their deletion.

use chrono::{DateTime, TimeDelta, Utc};

use super::label_files::void_until;

/// A handled delivery is kept so long, for inspection, replays and restored backups.
const DELIVERIES_KEPT: TimeDelta = TimeDelta::days(7);
/// Certainly settled effects stay so long in the journal, which identifies images that were uploaded before.
const EFFECTS_KEPT: TimeDelta = TimeDelta::days(90);

/// Until when records must have ended for their deletion. Open and unsettled records stay, however old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoffs {
    /// When a delivery was handled.
    pub deliveries: DateTime<Utc>,
    /// When an effect was settled.
    pub effects: DateTime<Utc>,
    /// When a row of the change feed was written; `None`: the feed is kept.
    pub changes: Option<DateTime<Utc>>,
    /// When a label's file became void; `None`: the files are kept.
    pub label_files: Option<DateTime<Utc>>,
}

impl Cutoffs {
    /// Returns the cutoffs of the service, which keeps the change feed.
    pub fn of_service(keep_days: Option<u32>, now: DateTime<Utc>) -> Self {
        Self {
            deliveries: now - DELIVERIES_KEPT,
            effects: now - EFFECTS_KEPT,
            changes: None,
            label_files: void_until(keep_days, now),
        }
    }

    /// Returns the cutoffs of an operator who names an age. It lengthens the service's limits and never shortens them,
    /// because the service relies on them. The change feed has no limit of its own: its rows of that age go, unless it
    /// has no consumer, because then nothing says which rows were read.
    pub fn of_operator(
        keep_days: Option<u32>,
        older_than: TimeDelta,
        has_consumers: bool,
        now: DateTime<Utc>,
    ) -> Self {
        let (service, named) = (Self::of_service(keep_days, now), now - older_than);
        Self {
            deliveries: service.deliveries.min(named),
            effects: service.effects.min(named),
            changes: has_consumers.then_some(named),
            label_files: service.label_files.map(|limit| limit.min(named)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_keeps_records_longer_than_the_service_and_never_shorter() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let ago = |days: i64| now - TimeDelta::days(days);
        let service = Cutoffs::of_service(Some(30), now);
        let expected = |deliveries, effects, changes: Option<i64>, label_files: Option<i64>| Cutoffs {
            deliveries: ago(deliveries),
            effects: ago(effects),
            changes: changes.map(ago),
            label_files: label_files.map(ago),
        };
        assert_eq!(service, expected(7, 90, None, Some(30)));
        assert_eq!(Cutoffs::of_service(None, now).label_files, None);
        for (keep_days, days, has_consumers, cutoffs) in [
            (Some(30), 1, true, expected(7, 90, Some(1), Some(30))),
            (Some(30), 45, true, expected(45, 90, Some(45), Some(45))),
            (Some(30), 100, false, expected(100, 100, None, Some(100))),
            (None, 100, true, expected(100, 100, Some(100), None)),
        ] {
            let named = Cutoffs::of_operator(keep_days, TimeDelta::days(days), has_consumers, now);
            assert_eq!(named, cutoffs, "{keep_days:?} {days} {has_consumers}");
        }
    }
}

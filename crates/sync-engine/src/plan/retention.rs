//! Decides how old records must be for their deletion.

use chrono::{DateTime, TimeDelta, Utc};

/// For how many days records are kept after they ended; `None`: for ever. Open and unsettled records always stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Deliveries, after they were handled: for inspection, replays and restored backups.
    pub deliveries: u32,
    /// Effects, after they were certainly settled: they identify images that were uploaded before.
    pub effects: u32,
    /// Rows of the change feed, once every consumer has acknowledged them.
    pub changes: Option<u32>,
    /// Runs, except those that later work relies on.
    pub runs: Option<u32>,
    /// Commands about orders that are over.
    pub commands: Option<u32>,
    /// Texts and objects of conversations, messages and occurrences.
    pub messages: Option<u32>,
    /// The objects (`raw`) of finished orders, and of what is below them.
    pub raw: Option<u32>,
    /// Files of labels, after they became void.
    pub label_files: Option<u32>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            deliveries: 7,
            effects: 90,
            changes: None,
            runs: None,
            commands: None,
            messages: None,
            raw: None,
            label_files: None,
        }
    }
}

/// The least that each limit may be. An image is found among the uploads of 30 days, `webhook replay` and a restored
/// backup need the deliveries of a day, a feed must outlive a long weekend, and the rest is looked at by people.
const LEAST: Retention = Retention {
    deliveries: 1,
    effects: 31,
    changes: Some(7),
    runs: Some(7),
    commands: Some(7),
    messages: Some(7),
    raw: Some(30),
    label_files: None,
};

/// A limit below its least value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// The key of `[retention]`.
    pub key: &'static str,
    /// Its value in days.
    pub days: u32,
    /// The least value.
    pub least: u32,
}

impl Retention {
    /// Returns the first limit that is too short to be safe.
    pub fn mistake(&self) -> Option<TooShort> {
        let limits = [
            ("inbox_days", Some(self.deliveries), Some(LEAST.deliveries)),
            ("effects_days", Some(self.effects), Some(LEAST.effects)),
            ("changes_days", self.changes, LEAST.changes),
            ("runs_days", self.runs, LEAST.runs),
            ("commands_days", self.commands, LEAST.commands),
            ("messages_days", self.messages, LEAST.messages),
            ("raw_days", self.raw, LEAST.raw),
        ];
        let mut short = limits.into_iter().filter_map(|(key, days, least)| {
            let (days, least) = (days?, least?);
            (days < least).then_some(TooShort { key, days, least })
        });
        short.next()
    }
}

/// Returns the time so many days ago; no earlier one than databases know.
pub fn days_before(days: u32, now: DateTime<Utc>) -> DateTime<Utc> {
    now.checked_sub_signed(TimeDelta::days(days.into())).unwrap_or_default().max(DateTime::UNIX_EPOCH)
}

/// Until when records must have ended for their deletion. Open and unsettled records stay, however old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoffs {
    /// When a delivery was handled.
    pub deliveries: DateTime<Utc>,
    /// When an effect was settled.
    pub effects: DateTime<Utc>,
    /// When a row of the change feed was written; `None`: the feed is kept.
    pub changes: Option<DateTime<Utc>>,
    /// When a run ended; `None`: runs are kept.
    pub runs: Option<DateTime<Utc>>,
    /// When a command about an order was over; `None`: commands are kept.
    pub commands: Option<DateTime<Utc>>,
    /// When a message was written; `None`: messages are kept.
    pub messages: Option<DateTime<Utc>>,
    /// When a finished order last changed; `None`: objects are kept.
    pub raw: Option<DateTime<Utc>>,
    /// When a label's file became void; `None`: the files are kept.
    pub label_files: Option<DateTime<Utc>>,
}

impl Cutoffs {
    /// Returns the cutoffs of the service. A feed without a consumer is kept, because nothing says what was read.
    pub fn of_service(retention: &Retention, has_consumers: bool, now: DateTime<Utc>) -> Self {
        let ago = |days: u32| days_before(days, now);
        Self {
            deliveries: ago(retention.deliveries),
            effects: ago(retention.effects),
            changes: retention.changes.filter(|_| has_consumers).map(ago),
            runs: retention.runs.map(ago),
            commands: retention.commands.map(ago),
            messages: retention.messages.map(ago),
            raw: retention.raw.map(ago),
            label_files: retention.label_files.map(ago),
        }
    }

    /// Returns the cutoffs of an operator who names an age. It lengthens the service's limits and never shortens them,
    /// because the service relies on them. Where the change feed has no limit of its own, its rows of that age go,
    /// unless it has no consumer.
    pub fn of_operator(
        retention: &Retention,
        older_than: TimeDelta,
        has_consumers: bool,
        now: DateTime<Utc>,
    ) -> Self {
        let (service, named) = (Self::of_service(retention, has_consumers, now), now - older_than);
        let longer = |limit: Option<DateTime<Utc>>| limit.map(|limit| limit.min(named));
        Self {
            deliveries: service.deliveries.min(named),
            effects: service.effects.min(named),
            changes: has_consumers.then(|| service.changes.map_or(named, |limit| limit.min(named))),
            runs: longer(service.runs),
            commands: longer(service.commands),
            messages: longer(service.messages),
            raw: longer(service.raw),
            label_files: longer(service.label_files),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Retention = Retention {
        deliveries: 7,
        effects: 90,
        changes: Some(20),
        runs: Some(400),
        commands: Some(60),
        messages: Some(50),
        raw: Some(70),
        label_files: Some(30),
    };

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000, 0).unwrap()
    }

    /// The age of each cutoff in days.
    fn days(cutoffs: Cutoffs) -> [Option<i64>; 8] {
        let Cutoffs { deliveries, effects, changes, runs, commands, messages, raw, label_files } = cutoffs;
        [Some(deliveries), Some(effects), changes, runs, commands, messages, raw, label_files]
            .map(|cutoff| cutoff.map(|cutoff| (now() - cutoff).num_days()))
    }

    #[test]
    fn by_default_the_service_deletes_handled_deliveries_and_settled_effects_alone() {
        let service = Cutoffs::of_service(&Retention::default(), true, now());
        assert_eq!(days(service), [Some(7), Some(90), None, None, None, None, None, None]);
    }

    #[test]
    fn an_operator_keeps_records_longer_than_the_service_and_never_shorter() {
        let some = |days: [i64; 8]| days.map(Some);
        assert_eq!(days(Cutoffs::of_service(&ALL, true, now())), some([7, 90, 20, 400, 60, 50, 70, 30]));
        let unread = Cutoffs::of_service(&ALL, false, now());
        assert_eq!(unread.changes, None, "nothing says what was read");
        let none = Retention::default();
        for (retention, named, has_consumers, expected) in [
            (&ALL, 1, true, some([7, 90, 20, 400, 60, 50, 70, 30])),
            (&ALL, 65, true, some([65, 90, 65, 400, 65, 65, 70, 65])),
            (&ALL, 500, true, some([500; 8])),
            (&none, 1, true, [Some(7), Some(90), Some(1), None, None, None, None, None]),
            (&none, 100, false, [Some(100), Some(100), None, None, None, None, None, None]),
        ] {
            let named_days = TimeDelta::days(named);
            let cutoffs = Cutoffs::of_operator(retention, named_days, has_consumers, now());
            assert_eq!(days(cutoffs), expected, "{named} {has_consumers}");
        }
    }

    #[test]
    fn a_limit_of_ages_is_a_time_that_databases_know() {
        for (days, expected) in
            [(0, now()), (1, now() - TimeDelta::days(1)), (u32::MAX, DateTime::UNIX_EPOCH)]
        {
            assert_eq!(days_before(days, now()), expected, "{days}");
        }
    }

    #[test]
    fn what_is_too_short_to_be_safe_is_refused_by_name() {
        assert_eq!(Retention::default().mistake(), None);
        assert_eq!(ALL.mistake(), None);
        let default = Retention::default();
        for (retention, key, days, least) in [
            (Retention { deliveries: 0, ..default }, "inbox_days", 0, 1),
            (Retention { effects: 30, ..default }, "effects_days", 30, 31),
            (Retention { changes: Some(6), ..default }, "changes_days", 6, 7),
            (Retention { runs: Some(0), ..default }, "runs_days", 0, 7),
            (Retention { commands: Some(1), ..default }, "commands_days", 1, 7),
            (Retention { messages: Some(0), ..default }, "messages_days", 0, 7),
            (Retention { raw: Some(29), ..default }, "raw_days", 29, 30),
        ] {
            assert_eq!(retention.mistake(), Some(TooShort { key, days, least }));
        }
    }
}

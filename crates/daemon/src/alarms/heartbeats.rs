//! The last hour of each store, minute by minute: what the keeper found while it observed. Kept in memory; after a start
//! the database tells of the minutes before.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::StoreKey;
use espelho_store::{EndedRun, SweepRecord};
use espelho_sync_engine::plan::alarms::{Code, Observations, Severity, StoreObservation, Verdict};
use parking_lot::Mutex;

/// The minutes that are kept.
pub(crate) const MINUTES: usize = 60;
/// For this long an answer of the marketplace proves that the next call would be answered.
const PROVES: TimeDelta = TimeDelta::minutes(3);

/// The state of a store in one minute, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beat {
    /// The marketplace has answered, and no alarm concerns the store.
    Proved,
    /// Nothing was wrong, and nothing was proved.
    Unproved,
    /// An alarm needs attention.
    Warned,
    /// Something did not work.
    Failed,
}

/// The beats of the last hour, the oldest first; `None` for a minute that nobody observed.
pub(crate) type Hour = [Option<Beat>; MINUTES];

/// The end of work on a store, of which the database tells. It proves neither the minutes before nor that no alarm stood.
pub(super) struct PastWork {
    store: StoreKey,
    ended: DateTime<Utc>,
    beat: Beat,
}

impl PastWork {
    /// Returns what a run tells; one that was killed tells nothing.
    pub(super) fn of_run(store: &StoreKey, run: &EndedRun) -> Option<Self> {
        let beat = match run.state.as_str() {
            "complete" => Beat::Unproved,
            "partial" => Beat::Warned,
            "failed" => Beat::Failed,
            _ => return None,
        };
        Some(Self { store: store.clone(), ended: run.finished_at, beat })
    }

    /// Returns what the last success of a sweep tells.
    pub(super) fn of_sweep(store: &StoreKey, sweep: &SweepRecord) -> Option<Self> {
        Some(Self { store: store.clone(), ended: sweep.succeeded_at?, beat: Beat::Unproved })
    }

    /// Tells whether it lies in the hour before a time. What a clock that was ahead has recorded is unknown.
    pub(super) fn is_of_hour_before(&self, at: DateTime<Utc>) -> bool {
        self.ended <= at && at - self.ended < TimeDelta::hours(1)
    }
}

/// The beats of all stores.
#[derive(Default)]
pub(crate) struct Heartbeats(Mutex<BTreeMap<StoreKey, VecDeque<(i64, Beat)>>>);

impl Heartbeats {
    /// Notes an observation: a minute is as bad as the worst of it.
    pub(super) fn note(&self, seen: &Observations, verdict: &Verdict) {
        let (minute, worst) = (minute_of(seen.at), WorstAlarms::of(verdict));
        let known: HashSet<&StoreKey> = seen.stores.iter().map(|store| &store.key).collect();
        let mut stores = self.0.lock();
        stores.retain(|key, _| known.contains(key));
        for store in &seen.stores {
            let beat = beat_of(store, worst.concerning(&store.key), seen.at);
            let beats = stores.entry(store.key.clone()).or_default();
            match beats.back_mut() {
                Some((last, worst)) if *last >= minute => *worst = beat.max(*worst),
                _ => beats.push_back((minute, beat)),
            }
            while beats.len() > MINUTES {
                beats.pop_front();
            }
        }
    }

    /// Fills the minutes that this process has not observed with what the database tells; the others stay unknown.
    pub(super) fn recall(&self, work: &[PastWork]) {
        let mut recalled = BTreeMap::<&StoreKey, BTreeMap<i64, Beat>>::new();
        for past in work {
            let minutes = recalled.entry(&past.store).or_default();
            let worst = minutes.entry(minute_of(past.ended)).or_insert(past.beat);
            *worst = past.beat.max(*worst);
        }
        let mut stores = self.0.lock();
        for (store, mut minutes) in recalled {
            let beats = stores.entry(store.clone()).or_default();
            minutes.extend(beats.iter().copied());
            *beats = minutes.into_iter().collect();
            while beats.len() > MINUTES {
                beats.pop_front();
            }
        }
    }

    /// Returns the last hour of each store.
    pub(crate) fn hours(&self, now: DateTime<Utc>) -> BTreeMap<String, Hour> {
        let first = minute_of(now) - MINUTES as i64 + 1;
        let hour = |beats: &VecDeque<(i64, Beat)>| {
            let mut hour = [None; MINUTES];
            for (minute, beat) in beats {
                let place = usize::try_from(minute - first).ok().and_then(|at| hour.get_mut(at));
                place.into_iter().for_each(|place| *place = Some(*beat));
            }
            hour
        };
        self.0.lock().iter().map(|(key, beats)| (key.to_string(), hour(beats))).collect()
    }
}

fn minute_of(at: DateTime<Utc>) -> i64 {
    at.timestamp().div_euclid(60)
}

/// The severity of the worst alarm about all stores, and about each.
struct WorstAlarms<'v> {
    of_all: Option<Severity>,
    of_each: HashMap<&'v StoreKey, Severity>,
}

impl<'v> WorstAlarms<'v> {
    fn of(verdict: &'v Verdict) -> Self {
        let (mut of_all, mut of_each) = (None, HashMap::new());
        for alarm in &verdict.alarms {
            match &alarm.store {
                Some(store) => {
                    let worst = of_each.entry(store).or_insert(alarm.severity);
                    *worst = alarm.severity.max(*worst);
                }
                // The rows of a store that no configuration has are no configured store's.
                None if alarm.code == Code::UnknownStore => (),
                None => of_all = of_all.max(Some(alarm.severity)),
            }
        }
        Self { of_all, of_each }
    }

    fn concerning(&self, store: &StoreKey) -> Option<Severity> {
        self.of_all.max(self.of_each.get(store).copied())
    }
}

fn beat_of(store: &StoreObservation, worst: Option<Severity>, at: DateTime<Utc>) -> Beat {
    match worst {
        Some(Severity::Failing) => Beat::Failed,
        Some(Severity::Warning) => Beat::Warned,
        None if store.answered_at.is_some_and(|answered| at - answered <= PROVES) => Beat::Proved,
        None => Beat::Unproved,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use espelho_model::text;
    use espelho_sync_engine::plan::alarms::{Alarm, Owner, ServiceObservation, State};

    use super::*;

    fn key() -> StoreKey {
        StoreKey::new("loja").unwrap()
    }

    pub(in crate::alarms) fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_020 + second, 0).unwrap()
    }

    pub(in crate::alarms) fn seen(second: i64, answered: Option<i64>) -> Observations {
        let store = StoreObservation {
            key: key(),
            base_url: String::new(),
            owner: Owner::Here(at(0)),
            answered_at: answered.map(at),
            contact: None,
            failing_routes: None,
            unreadable: Vec::new(),
            credential: None,
            held_up_at: None,
            is_password_unproved: false,
            unreadable_password: None,
            missing_scopes: Vec::new(),
            refused_writes: None,
            ahead_seconds: None,
            webhook: None,
            token_expires_at: None,
            rows: Vec::new(),
            inbox: None,
            unseen: None,
            sweeps: Vec::new(),
            behind: Vec::new(),
            differing: Vec::new(),
            complete_at: None,
            run_problem: None,
            deadlines: Vec::new(),
            fiscal: None,
            pauses: Vec::new(),
        };
        Observations {
            schema_defects: [].into(),
            at: at(second),
            service: ServiceObservation::Running,
            written_at: None,
            database: None,
            free_bytes: None,
            database_file: None,
            refused_configuration: None,
            backups: Vec::new(),
            stores: vec![store],
            strangers: None,
            channels: Vec::new(),
        }
    }

    fn verdict(alarm: Option<(Severity, Option<StoreKey>)>) -> Verdict {
        let of = |(severity, store)| Alarm {
            code: Code::Failed,
            severity,
            store,
            cause: String::new(),
            count: 1,
            since: None,
            detail: String::new(),
            row: None,
            text: text!("status-ok"),
        };
        Verdict { state: State::Ok, alarms: alarm.map(of).into_iter().collect(), unproved: Vec::new() }
    }

    /// Returns the beat of a store that was answered at that second, or never, with these alarms.
    fn beat(answered: Option<i64>, verdict: &Verdict) -> Beat {
        let store = &seen(0, answered).stores[0];
        beat_of(store, WorstAlarms::of(verdict).concerning(&store.key), at(0))
    }

    #[test]
    fn a_beat_is_proved_only_by_a_fresh_answer_and_failed_by_an_alarm_that_concerns_the_store() {
        let other = StoreKey::new("outra").unwrap();
        for (answered, alarm, expected) in [
            (Some(0), None, Beat::Proved),
            (Some(-181), None, Beat::Unproved),
            (None, None, Beat::Unproved),
            (Some(0), Some((Severity::Warning, Some(key()))), Beat::Warned),
            (Some(0), Some((Severity::Failing, None)), Beat::Failed),
            (Some(0), Some((Severity::Failing, Some(other))), Beat::Proved),
        ] {
            assert_eq!(beat(answered, &verdict(alarm.clone())), expected, "{answered:?} {alarm:?}");
        }
        let mut strangers = verdict(Some((Severity::Warning, None)));
        strangers.alarms[0].code = Code::UnknownStore;
        assert_eq!(beat(Some(0), &strangers), Beat::Proved);
        let mut several = verdict(Some((Severity::Failing, Some(key()))));
        several.alarms.extend(verdict(Some((Severity::Warning, Some(key())))).alarms);
        several.alarms.extend(verdict(Some((Severity::Warning, None))).alarms);
        assert_eq!(beat(Some(0), &several), Beat::Failed, "the worst counts, whichever comes first");
    }

    #[test]
    fn a_minute_is_as_bad_as_its_worst_moment_and_an_hour_later_it_is_forgotten() {
        let beats = Heartbeats::default();
        beats.note(&seen(0, Some(0)), &verdict(None));
        beats.note(&seen(3, Some(3)), &verdict(Some((Severity::Failing, None))));
        beats.note(&seen(6, Some(6)), &verdict(None));
        beats.note(&seen(120, Some(120)), &verdict(None));
        let hour = beats.hours(at(120))["loja"];
        assert_eq!(hour[57..], [Some(Beat::Failed), None, Some(Beat::Proved)]);
        assert!(hour[..57].iter().all(Option::is_none));
        assert_eq!(beats.hours(at(60 * 60))["loja"][1], Some(Beat::Proved));
        for minute in 3..200 {
            beats.note(&seen(minute * 60, Some(minute * 60)), &verdict(None));
        }
        assert_eq!(beats.0.lock()[&key()].len(), MINUTES);
    }

    #[test]
    fn after_a_start_the_minutes_before_it_are_what_the_database_tells_and_else_unknown() {
        let run = |state: &str, ended: i64| EndedRun {
            store: "loja".to_owned(),
            state: state.to_owned(),
            finished_at: at(ended * 60),
        };
        let sweep = |minute: Option<i64>| SweepRecord {
            kind: "orders".to_owned(),
            started_at: at(0),
            succeeded_at: minute.map(|minute| at(minute * 60)),
            problem: None,
        };
        let runs = [
            run("complete", -57),
            run("complete", -44),
            run("partial", -44),
            run("failed", -40),
            run("interrupted", -36),
            run("complete", 5),
            run("complete", -70),
        ];
        let sweeps = [sweep(Some(-30)), sweep(Some(0)), sweep(None)];
        let work = runs.iter().filter_map(|run| PastWork::of_run(&key(), run));
        let work = work.chain(sweeps.iter().filter_map(|sweep| PastWork::of_sweep(&key(), sweep)));
        let work: Vec<PastWork> = work.filter(|past| past.is_of_hour_before(at(0))).collect();
        let beats = Heartbeats::default();
        beats.note(&seen(0, None), &verdict(None));
        beats.recall(&work);
        let hour = beats.hours(at(0))["loja"];
        let minute = |ago: usize| hour[MINUTES - 1 - ago];
        for (ago, expected) in [
            (58, None),
            // No record tells whether an alarm stood.
            (57, Some(Beat::Unproved)),
            (56, None),
            (44, Some(Beat::Warned)),
            (40, Some(Beat::Failed)),
            (36, None),
            (30, Some(Beat::Unproved)),
            (1, None),
            // This process has seen itself that nothing is proved.
            (0, Some(Beat::Unproved)),
        ] {
            assert_eq!(minute(ago), expected, "{ago} minutes ago");
        }
        assert!(beats.0.lock()[&key()].len() <= MINUTES);
    }

    #[test]
    fn a_store_that_is_no_longer_configured_leaves() {
        let beats = Heartbeats::default();
        beats.note(&seen(0, None), &verdict(None));
        beats.note(&Observations { stores: Vec::new(), ..seen(3, None) }, &verdict(None));
        assert!(beats.hours(at(3)).is_empty());
    }
}

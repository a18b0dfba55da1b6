//! What is remembered of the sweeps: when each last succeeded, which fail, and what of it is not on disk yet. Pure.

use std::collections::{BTreeSet, HashMap};

use crate::plan::schedule::Sweep;
use chrono::{DateTime, Utc};
use espelho_model::time::past;
use espelho_store::SweepRecord;

/// The remembered state of all sweeps.
#[derive(Debug, Default)]
pub(super) struct SweepLog {
    succeeded: HashMap<Sweep, DateTime<Utc>>,
    unwritten: HashMap<Sweep, SweepRecord>,
    failing: BTreeSet<&'static str>,
}

/// How a run of a sweep ended.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// It succeeded at that time.
    Succeeded(DateTime<Utc>),
    /// It failed, with the problem in the reader's language.
    Failed(String),
}

impl SweepLog {
    /// Returns the log that an earlier owner has written; it knows nothing of sweeps that no longer exist, nor of
    /// successes in the future.
    pub(super) fn of_records(records: Vec<SweepRecord>, now: DateTime<Utc>) -> Self {
        let mut log = Self::default();
        for record in records {
            let sweep = Sweep::ALL.into_iter().find(|sweep| sweep.as_str() == record.kind);
            log.succeeded.extend(sweep.zip(past(record.succeeded_at, now)));
        }
        log
    }

    /// Records how a run that started at that time ended; returns whether that is news: a first failure, or the first
    /// success after failures.
    pub(super) fn note(&mut self, sweep: Sweep, started_at: DateTime<Utc>, outcome: Outcome) -> bool {
        let (is_news, problem) = match outcome {
            Outcome::Succeeded(at) => {
                self.succeeded.insert(sweep, at);
                (self.failing.remove(sweep.as_str()), None)
            }
            Outcome::Failed(problem) => (self.failing.insert(sweep.as_str()), Some(problem)),
        };
        let (kind, succeeded_at) = (sweep.as_str().to_owned(), self.succeeded.get(&sweep).copied());
        self.unwritten.insert(sweep, SweepRecord { kind, started_at, succeeded_at, problem });
        is_news
    }

    /// Returns when each sweep last succeeded.
    pub(super) fn succeeded(&self) -> HashMap<Sweep, DateTime<Utc>> {
        self.succeeded.clone()
    }

    /// Returns the sweeps that have failed and not succeeded since.
    pub(super) fn failing(&self) -> Vec<Sweep> {
        Sweep::ALL.into_iter().filter(|sweep| self.failing.contains(sweep.as_str())).collect()
    }

    /// Takes what is not on disk yet.
    pub(super) fn take_unwritten(&mut self) -> HashMap<Sweep, SweepRecord> {
        std::mem::take(&mut self.unwritten)
    }

    /// Puts back what could not be written; what was recorded meanwhile is later, and stays.
    pub(super) fn put_back(&mut self, unwritten: HashMap<Sweep, SweepRecord>) {
        for (sweep, record) in unwritten {
            self.unwritten.entry(sweep).or_insert(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn record(kind: &str, succeeded: Option<i64>) -> SweepRecord {
        SweepRecord { kind: kind.into(), started_at: at(1), succeeded_at: succeeded.map(at), problem: None }
    }

    #[test]
    fn what_was_written_is_remembered_without_sweeps_that_nobody_knows() {
        let (unknown, future) = (record("teleports", Some(7)), record("profile", Some(7_200)));
        let records = [record("counts", Some(5)), record("media", None), unknown, future];
        let log = SweepLog::of_records(records.to_vec(), at(9));
        assert_eq!(log.succeeded(), HashMap::from([(Sweep::Counts, at(5))]));
        assert!(log.failing().is_empty());
    }

    #[test]
    fn a_first_failure_and_the_success_after_it_are_news_and_nothing_else_is() {
        let mut log = SweepLog::default();
        let failed = || Outcome::Failed("down".to_owned());
        for (outcome, is_news, failing) in [
            (Outcome::Succeeded(at(1)), false, 0),
            (failed(), true, 1),
            (failed(), false, 1),
            (Outcome::Succeeded(at(9)), true, 0),
            (Outcome::Succeeded(at(10)), false, 0),
        ] {
            assert_eq!(log.note(Sweep::Counts, at(0), outcome.clone()), is_news, "{outcome:?}");
            assert_eq!(log.failing().len(), failing, "{outcome:?}");
        }
    }

    #[test]
    fn a_failure_keeps_the_time_of_the_last_success() {
        let mut log = SweepLog::of_records(vec![record("counts", Some(5))], at(9));
        log.note(Sweep::Counts, at(9), Outcome::Failed("down".to_owned()));
        let unwritten = log.take_unwritten();
        let expected =
            SweepRecord { started_at: at(9), problem: Some("down".into()), ..record("counts", Some(5)) };
        assert_eq!(unwritten[&Sweep::Counts], expected);
        assert_eq!(log.failing(), [Sweep::Counts]);
    }

    #[test]
    fn what_could_not_be_written_is_written_later_and_never_over_something_newer() {
        let mut log = SweepLog::default();
        log.note(Sweep::Counts, at(1), Outcome::Succeeded(at(1)));
        log.note(Sweep::Media, at(1), Outcome::Succeeded(at(1)));
        let lost = log.take_unwritten();
        assert!(log.take_unwritten().is_empty());
        log.note(Sweep::Counts, at(2), Outcome::Succeeded(at(2)));
        log.put_back(lost);
        let unwritten = log.take_unwritten();
        assert_eq!(unwritten[&Sweep::Counts].succeeded_at, Some(at(2)));
        assert_eq!(unwritten[&Sweep::Media].succeeded_at, Some(at(1)));
    }
}

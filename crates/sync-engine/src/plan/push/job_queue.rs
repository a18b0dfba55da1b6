//! The keyed queue of the way up: the most urgent job first, no two with a key in common at once, pauses after errors.
//!
//! The queue holds the result of one scan of the open work. A scan stays valid for a multiple of its own duration: with
//! much open work, a scan whenever a worker is free would be most of the work.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

/// A scan stays valid for this multiple of its own duration …
const SCAN_VALIDITY: u32 = 8;
/// … but no longer than this: urgent new work is unknown until the next scan.
const MAX_SCAN_VALIDITY: Duration = Duration::from_secs(2);
/// The key under which failures of the scan itself are counted.
const SCAN: &str = "";
/// The pause after the first error that passes, doubled after each up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause after an error that passes.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The longest pause while the marketplace answers nothing at all: waiting work goes on soon after an outage, however
/// long that was.
pub const OUTAGE_PAUSE: Duration = Duration::from_secs(20);
/// After this many errors in a row, half a minute, the row says what is in the way.
pub const SHOWN_AFTER: u32 = 4;
/// After this many the row fails: that is a day.
pub const FAILED_AFTER: u32 = 290;

/// The urgency of a job, the most urgent first. What lowers availability goes ahead of what raises it: a sale of goods
/// that are not there cannot be taken back. Checks of what was sent go last, after everything new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// An effect that was under way when the last owner ended.
    Unsettled,
    /// A level that goes to zero.
    Empties,
    /// A level that falls.
    Lowers,
    /// A command; they keep the order in which they were given.
    Command,
    /// Prices.
    Prices,
    /// A level that rises, or that the mirror does not know.
    Raises,
    /// A check of levels that were sent.
    Verify,
    /// A level of a SKU that nobody knows: a whole catalogue of them asks for nothing.
    Unknown,
}

/// A job. No two with a key in common are under way at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job<W> {
    /// Its own key, and the keys of what it excludes meanwhile.
    pub keys: Vec<String>,
    /// What is asked for: a pause is for this, not for what is asked for next under the same key.
    pub asked: String,
    /// Its urgency.
    pub rank: Rank,
    /// What to do.
    pub work: W,
}

impl<W> Job<W> {
    /// Its own key.
    pub fn key(&self) -> &str {
        self.keys.first().map_or("", String::as_str)
    }
}

/// What a scan has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Jobs are due.
    Due,
    /// Nothing is due before this time by the monotonic clock; without a time, nothing before something is written.
    NothingBefore(Option<Duration>),
}

/// The queue. All times are those of the monotonic clock.
#[derive(Debug)]
pub struct JobQueue<W> {
    /// What is left of the last scan, the most urgent first.
    due: VecDeque<Job<W>>,
    /// Until when the last scan is valid.
    valid_until: Duration,
    /// The keys under way, job by job.
    busy: Vec<Vec<String>>,
    /// Pauses by key: for what was asked for, until when.
    paused: HashMap<String, (String, Duration)>,
    /// Errors in a row by key, and what was asked for.
    failures: HashMap<String, (String, u32)>,
}

impl<W> Default for JobQueue<W> {
    fn default() -> Self {
        Self {
            due: VecDeque::new(),
            valid_until: Duration::ZERO,
            busy: Vec::new(),
            paused: HashMap::new(),
            failures: HashMap::new(),
        }
    }
}

impl<W> JobQueue<W> {
    /// The keys under way.
    pub fn busy_keys(&self) -> HashSet<String> {
        self.busy.iter().flatten().cloned().collect()
    }

    /// Until when the last scan is valid.
    pub fn valid_until(&self) -> Duration {
        self.valid_until
    }

    /// Takes over a scan that took so long. Jobs of equal rank keep their order; paused jobs are left out.
    pub fn fill(&mut self, mut jobs: Vec<Job<W>>, now: Duration, took: Duration) -> Found {
        self.failures.remove(SCAN);
        self.paused.retain(|_, (_, until)| *until > now);
        jobs.sort_by_key(|job| job.rank);
        let pause = |job: &Job<W>| {
            let (asked, until) = self.paused.get(job.key())?;
            (*asked == job.asked).then_some(*until)
        };
        let (due, waiting): (Vec<Job<W>>, Vec<Job<W>>) =
            jobs.into_iter().partition(|job| pause(job).is_none());
        let next = waiting.iter().filter_map(pause).min();
        self.due = due.into();
        let validity = (took * SCAN_VALIDITY).min(MAX_SCAN_VALIDITY);
        match self.due.is_empty() {
            true => {
                self.valid_until = now + validity;
                Found::NothingBefore(next)
            }
            // At least until the workers have taken something.
            false => {
                self.valid_until = now + validity.max(Duration::from_millis(1));
                Found::Due
            }
        }
    }

    /// Takes the most urgent job that shares no key with one under way. Of two jobs with a key in common the first goes
    /// ahead; the other is left for the next scan.
    pub fn take(&mut self, now: Duration) -> Option<Job<W>> {
        if now >= self.valid_until {
            return None;
        }
        let is_free =
            |job: &Job<W>| !job.keys.iter().any(|key| self.busy.iter().flatten().any(|busy| busy == key));
        let at = self.due.iter().position(is_free)?;
        let job = self.due.remove(at)?;
        self.busy.push(job.keys.clone());
        Some(job)
    }

    /// A job is over, however it went: its keys are free.
    pub fn release(&mut self, keys: &[String]) {
        if let Some(at) = self.busy.iter().position(|busy| busy == keys) {
            self.busy.swap_remove(at);
        }
    }

    /// A job went well, and its next step is due after a while.
    pub fn done(&mut self, key: String, asked: String, now: Duration, wait: Duration) {
        self.failures.remove(&key);
        self.paused.insert(key, (asked, now + wait));
    }

    /// Counts an error that passes; the pause after it. In an outage pauses stay short, and errors are not held against
    /// the row.
    pub fn failed(&mut self, key: &str, asked: String, now: Duration, is_outage: bool) -> Duration {
        let (then, failures) = self.failures.entry(key.to_owned()).or_default();
        // What is asked for next has met no error yet.
        if *then != asked {
            (*then, *failures) = (asked.clone(), 0);
        }
        let pause = count_failure(failures, is_outage);
        self.paused.insert(key.to_owned(), (asked, now + pause));
        pause
    }

    /// Counts an error of the scan itself; the pause after it.
    pub fn scan_failed(&mut self, now: Duration, is_outage: bool) -> Duration {
        self.failed(SCAN, String::new(), now, is_outage)
    }

    /// How many errors in a row a job has met.
    pub fn failures(&self, key: &str, asked: &str) -> u32 {
        self.failures.get(key).filter(|(then, _)| then == asked).map_or(0, |(_, count)| *count)
    }
}

/// Counts one more failure in a row; the pause after it.
fn count_failure(failures: &mut u32, is_outage: bool) -> Duration {
    let most = if is_outage { SHOWN_AFTER + 1 } else { u32::MAX };
    *failures = failures.saturating_add(1).min(most.max(*failures));
    let longest = if is_outage { OUTAGE_PAUSE } else { LONGEST_PAUSE };
    FIRST_PAUSE.saturating_mul(1 << (*failures - 1).min(10)).min(longest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job(rank: Rank, keys: &[&str]) -> Job<u32> {
        Job { keys: keys.iter().map(|key| (*key).to_owned()).collect(), asked: "1".into(), rank, work: 0 }
    }

    fn filled(jobs: Vec<Job<u32>>) -> JobQueue<u32> {
        let mut queue = JobQueue::default();
        queue.fill(jobs, SECOND, SECOND);
        queue
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn taken(queue: &mut JobQueue<u32>) -> Vec<String> {
        std::iter::from_fn(|| queue.take(SECOND)).map(|job| job.key().to_owned()).collect()
    }

    #[test]
    fn the_most_urgent_goes_first_and_equals_keep_their_order() {
        let jobs = vec![
            job(Rank::Raises, &["a"]),
            job(Rank::Command, &["b"]),
            job(Rank::Empties, &["c"]),
            job(Rank::Command, &["d"]),
            job(Rank::Verify, &["e"]),
        ];
        assert_eq!(taken(&mut filled(jobs)), ["c", "b", "d", "a", "e"]);
    }

    #[test]
    fn no_two_jobs_with_a_key_in_common_are_under_way_at_once() {
        let mut queue = filled(vec![
            job(Rank::Command, &["a", "x"]),
            job(Rank::Command, &["b", "x"]),
            job(Rank::Command, &["c"]),
        ]);
        assert_eq!(taken(&mut queue), ["a", "c"]);
        assert_eq!(queue.busy_keys(), ["a", "x", "c"].map(str::to_owned).into());
        queue.release(&["a".to_owned(), "x".to_owned()]);
        assert_eq!(taken(&mut queue), ["b"]);
    }

    #[test]
    fn a_pause_is_for_what_was_asked_for_and_not_for_what_is_asked_for_next() {
        let mut queue = filled(vec![]);
        queue.done("a".into(), "1".into(), SECOND, SECOND * 10);
        let wait = SECOND * 11;
        assert_eq!(
            queue.fill(vec![job(Rank::Command, &["a"])], SECOND, SECOND),
            Found::NothingBefore(Some(wait))
        );
        let next = Job { asked: "2".into(), ..job(Rank::Command, &["a"]) };
        assert_eq!(queue.fill(vec![next], SECOND, SECOND), Found::Due);
        assert_eq!(
            queue.fill(vec![job(Rank::Command, &["a"])], wait, SECOND),
            Found::Due,
            "the pause is over"
        );
        assert_eq!(queue.fill(vec![], SECOND, SECOND), Found::NothingBefore(None));
    }

    #[test]
    fn a_scan_is_valid_for_eight_times_as_long_as_it_took_and_two_seconds_at_most() {
        let valid = |took: u64, jobs: Vec<Job<u32>>| {
            let mut queue = JobQueue::default();
            queue.fill(jobs, SECOND, Duration::from_millis(took));
            (queue.valid_until() - SECOND).as_millis()
        };
        assert_eq!(valid(100, vec![]), 800);
        assert_eq!(valid(1_000, vec![]), 2_000);
        assert_eq!(valid(0, vec![]), 0);
        assert_eq!(valid(0, vec![job(Rank::Command, &["a"])]), 1, "until a worker has taken something");
        let mut queue = filled(vec![job(Rank::Command, &["a"])]);
        assert_eq!(queue.take(SECOND * 3), None, "what is urgent and new is not known");
    }

    #[test]
    fn pauses_double_up_to_five_minutes_and_in_an_outage_stay_short_and_are_not_held_against_the_row() {
        let pauses = |is_outage: bool, times: u32| {
            let mut queue = filled(vec![]);
            let pause = |_| queue.failed("a", "1".into(), SECOND, is_outage).as_secs();
            let pauses: Vec<u64> = (0..times).map(pause).collect();
            (pauses, queue.failures("a", "1"))
        };
        assert_eq!(pauses(false, 10), (vec![2, 4, 8, 16, 32, 64, 128, 256, 300, 300], 10));
        assert_eq!(pauses(true, 7), (vec![2, 4, 8, 16, 20, 20, 20], SHOWN_AFTER + 1));
        let mut failures = 100;
        assert_eq!((count_failure(&mut failures, true), failures), (OUTAGE_PAUSE, 100));
    }

    #[test]
    fn what_is_asked_for_next_has_met_no_error_and_what_went_well_forgets_its_errors() {
        let mut queue = filled(vec![]);
        for _ in 0..3 {
            queue.failed("a", "1".into(), SECOND, false);
        }
        assert_eq!((queue.failures("a", "1"), queue.failures("a", "2")), (3, 0));
        assert_eq!(queue.failed("a", "2".into(), SECOND, false), FIRST_PAUSE);
        queue.done("a".into(), "2".into(), SECOND, Duration::ZERO);
        assert_eq!(queue.failures("a", "2"), 0);
        assert_eq!(queue.scan_failed(SECOND, false), FIRST_PAUSE);
        queue.fill(vec![], SECOND, SECOND);
        assert_eq!(queue.scan_failed(SECOND, false), FIRST_PAUSE, "a scan that went well forgets its errors");
    }

    proptest! {
        #[test]
        fn whatever_is_taken_and_released_keys_are_never_shared(
            jobs in proptest::collection::vec(proptest::collection::vec(0u8..6, 1..4), 1..20), order in any::<u64>(),
        ) {
            let jobs = jobs.into_iter().map(|keys| {
                let keys: Vec<String> = keys.iter().map(u8::to_string).collect();
                Job { keys, asked: String::new(), rank: Rank::Command, work: 0u32 }
            });
            let mut queue = filled(jobs.collect());
            let (mut under_way, mut left) = (Vec::<Job<u32>>::new(), queue.due.len());
            for step in 0..64 {
                if order >> step & 1 == 0 {
                    if let Some(job) = queue.take(SECOND) {
                        for other in &under_way {
                            prop_assert!(!other.keys.iter().any(|key| job.keys.contains(key)));
                        }
                        left -= 1;
                        under_way.push(job);
                    }
                } else if let Some(job) = under_way.pop() {
                    queue.release(&job.keys);
                }
            }
            while let Some(job) = under_way.pop() {
                queue.release(&job.keys);
            }
            prop_assert!(queue.busy_keys().is_empty());
            prop_assert_eq!(left, queue.due.len());
        }
    }
}

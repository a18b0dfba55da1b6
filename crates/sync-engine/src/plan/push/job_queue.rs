//! The keyed queue of the way up: the most urgent job first, no two with a key in common at once, pauses after errors.
//!
//! Jobs come from walks over the open rows of a source, and a walk over many rows takes several turns (`walks`). What a
//! turn finds replaces what was queued under the same keys; what a walk does not find again leaves the queue when the walk
//! ends. A turn stays valid for a multiple of its own duration: a turn whenever a worker is free would be most of the
//! work. However much is open, the queue keeps the most urgent jobs of each source, and numbers in place of the keys of
//! those that pause.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use espelho_model::ContentHash;

/// Jobs that the queue keeps of a source. More than the workers carry out while a turn is valid.
pub const KEPT_JOBS: usize = 1_000;
/// A turn stays valid for this multiple of its own duration …
const TURN_VALIDITY: u32 = 8;
/// … but no longer than this: urgent new work is unknown until the next turn.
const MAX_TURN_VALIDITY: Duration = Duration::from_secs(2);
/// With more open rows than a turn reads, a turn stays valid for at least this time, unless the queue is used up.
const CROWDED_TURN_VALIDITY: Duration = Duration::from_millis(500);
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
    /// A status of an order: dispatches have deadlines.
    Status,
    /// A command; they keep the order in which they were given.
    Command,
    /// Prices.
    Prices,
    /// Another look at a command that waits. New commands go ahead: thousands may wait for their invoices.
    Waiting,
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

/// Where jobs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Unsettled effects, levels of zero and statuses of orders: each turn reads the first of them.
    Urgent,
    /// All open levels.
    Levels,
    /// All open commands.
    Commands,
    /// All open prices.
    Prices,
}

/// What a turn has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Jobs are due, or rows are still to be read.
    Due,
    /// Nothing is due before this time by the monotonic clock; without a time, nothing before something is written.
    NothingBefore(Option<Duration>),
}

/// The queue. All times are those of the monotonic clock.
#[derive(Debug)]
pub struct JobQueue<W> {
    shelves: [Shelf<W>; 4],
    /// Until when the last turn is valid.
    valid_until: Duration,
    /// Whether the last turn found a job, or answered rows without one.
    has_found: bool,
    /// Whether the turn under way has answered rows.
    has_answered: bool,
    /// The keys under way, job by job.
    busy: Vec<Vec<String>>,
    /// Pauses by key: for what was asked for, until when.
    paused: HashMap<Number, (Number, Duration)>,
    /// Errors in a row by key, and what was asked for.
    failures: HashMap<Number, (Number, u32)>,
}

/// The jobs of one source.
#[derive(Debug)]
struct Shelf<W> {
    /// Jobs of the walk under way, the most urgent first.
    due: VecDeque<Job<W>>,
    /// Jobs of the walk before that this one has not found again yet, the most urgent first.
    earlier: VecDeque<Job<W>>,
    /// What the turn under way has found: the most urgent jobs that are due, and some more.
    found: Vec<Job<W>>,
    /// The rank of the last job that is kept; there is none while all are kept.
    last: Option<Rank>,
    /// When the first pause of what the walk left out ends.
    next: Option<Duration>,
    /// Whether the walk has left out jobs for which there was no room.
    has_left_out: bool,
    /// Whether the walk has come to its end.
    is_at_end: bool,
}

/// Stands for a key, or for what is asked for, in far less memory.
type Number = u64;

fn number(text: &str) -> Number {
    ContentHash::of(text.as_bytes()).as_i64().cast_unsigned()
}

impl<W> Default for JobQueue<W> {
    fn default() -> Self {
        Self {
            shelves: std::array::from_fn(|_| Shelf::default()),
            valid_until: Duration::ZERO,
            has_found: false,
            has_answered: false,
            busy: Vec::new(),
            paused: HashMap::new(),
            failures: HashMap::new(),
        }
    }
}

impl<W> Default for Shelf<W> {
    fn default() -> Self {
        Self {
            due: VecDeque::new(),
            earlier: VecDeque::new(),
            found: Vec::new(),
            last: None,
            next: None,
            has_left_out: false,
            is_at_end: true,
        }
    }
}

impl<W> Shelf<W> {
    fn begin_walk(&mut self) {
        let earlier = std::mem::take(&mut self.due);
        *self = Self { earlier, is_at_end: false, ..Self::default() };
    }

    fn begin_turn(&mut self) {
        self.found.clear();
        self.last = self.due.get(KEPT_JOBS - 1).map(|job| job.rank);
    }

    fn wants(&self, rank: Rank) -> bool {
        self.last.is_none_or(|last| rank < last)
    }

    /// Keeps the most urgent of what was found; jobs of equal rank keep their order.
    fn prune(&mut self) {
        self.found.sort_by_key(|job| job.rank);
        if self.found.len() > KEPT_JOBS {
            self.found.truncate(KEPT_JOBS);
            self.last = self.last.into_iter().chain(self.found.last().map(|job| job.rank)).min();
        }
    }

    /// Adds what the turn has found to what is due.
    fn end_turn(&mut self) {
        self.has_left_out |= self.last.is_some();
        self.due.extend(std::mem::take(&mut self.found));
        self.due.make_contiguous().sort_by_key(|job| job.rank);
        self.has_left_out |= self.due.len() > KEPT_JOBS;
        self.due.truncate(KEPT_JOBS);
        match self.is_at_end {
            true => self.earlier.clear(),
            false => self.earlier.truncate(KEPT_JOBS),
        }
    }

    fn queued(&self) -> usize {
        self.due.len() + self.earlier.len()
    }

    fn retain(&mut self, keeps: impl Fn(&Job<W>) -> bool) {
        self.due.retain(&keeps);
        self.earlier.retain(&keeps);
    }
}

impl<W> JobQueue<W> {
    fn shelf(&mut self, source: Source) -> &mut Shelf<W> {
        &mut self.shelves[source as usize]
    }

    /// The keys under way.
    pub fn busy_keys(&self) -> HashSet<String> {
        self.busy.iter().flatten().cloned().collect()
    }

    /// How many jobs of a source wait.
    pub fn queued(&self, source: Source) -> usize {
        self.shelves[source as usize].queued()
    }

    /// Whether the walk over a source has left out jobs for which there was no room.
    pub fn has_left_out(&self, source: Source) -> bool {
        self.shelves[source as usize].has_left_out
    }

    /// Whether work of this kind waits.
    pub fn any(&self, is_it: impl Fn(&W) -> bool) -> bool {
        let jobs = |shelf: &'_ Shelf<W>| {
            let Shelf { due, earlier, found, .. } = shelf;
            due.iter().chain(earlier).chain(found).any(|job| is_it(&job.work))
        };
        self.shelves.iter().any(jobs)
    }

    /// Until when the last turn is valid: until its jobs are used up where more rows are open.
    pub fn valid_until(&self) -> Duration {
        match self.has_found && self.is_empty() && self.has_more() {
            true => Duration::ZERO,
            false => self.valid_until,
        }
    }

    fn is_empty(&self) -> bool {
        self.shelves.iter().all(|shelf| shelf.queued() == 0)
    }

    fn has_more(&self) -> bool {
        self.shelves.iter().any(|shelf| shelf.has_left_out || !shelf.is_at_end)
    }

    /// Begins a turn. The jobs of earlier turns stay.
    pub fn begin_turn(&mut self, now: Duration) {
        self.has_answered = false;
        self.paused.retain(|_, (_, until)| *until > now);
        self.shelves.iter_mut().for_each(Shelf::begin_turn);
        self.shelf(Source::Urgent).begin_walk();
        self.end_walk(Source::Urgent);
    }

    /// Begins a walk over all open rows of a source. The jobs of the one before stay until [`Self::end_walk`], unless
    /// they are found again.
    pub fn begin_walk(&mut self, source: Source) {
        self.shelf(source).begin_walk();
    }

    /// The walk over a source has come to its end.
    pub fn end_walk(&mut self, source: Source) {
        self.shelf(source).is_at_end = true;
    }

    /// Forgets the jobs of a source that are not under way.
    pub fn forget(&mut self, source: Source) {
        *self.shelf(source) = Shelf::default();
    }

    /// Says whether a job of this rank would be kept: of equals the first are.
    pub fn wants(&self, source: Source, rank: Rank) -> bool {
        self.shelves[source as usize].wants(rank)
    }

    /// Adds a job that the turn has found. Paused jobs are left out.
    pub fn offer(&mut self, source: Source, job: Job<W>) {
        let pause = self.paused.get(&number(job.key()));
        let pause = pause.filter(|(asked, _)| *asked == number(&job.asked)).map(|(_, until)| *until);
        let shelf = self.shelf(source);
        if let Some(until) = pause {
            shelf.next = Some(shelf.next.map_or(until, |next| next.min(until)));
        } else if shelf.wants(job.rank) {
            shelf.found.push(job);
            if shelf.found.len() >= 2 * KEPT_JOBS {
                shelf.prune();
            }
        }
    }

    /// The turn has answered rows without a job.
    pub fn note_answered(&mut self) {
        self.has_answered = true;
    }

    /// Takes back what waits, found in this turn or before.
    pub fn discard(&mut self, is_unwanted: impl Fn(&Job<W>) -> bool) {
        for shelf in &mut self.shelves {
            shelf.retain(|job| !is_unwanted(job));
            shelf.found.retain(|job| !is_unwanted(job));
        }
    }

    /// Takes over what the turn has found, which took so long. With `is_crowded`, more rows are open than a turn reads.
    pub fn end_turn(&mut self, now: Duration, took: Duration, is_crowded: bool) -> Found {
        self.failures.remove(&number(SCAN));
        self.shelves.iter_mut().for_each(Shelf::prune);
        let found = self.shelves.iter().flat_map(|shelf| &shelf.found).flat_map(|job| &job.keys);
        let anew: HashSet<Number> = found.map(|key| number(key)).collect();
        self.has_found = !anew.is_empty() || self.has_answered;
        for shelf in &mut self.shelves {
            if !anew.is_empty() {
                shelf.retain(|job| !job.keys.iter().any(|key| anew.contains(&number(key))));
            }
            shelf.end_turn();
        }
        let validity = (took * TURN_VALIDITY).min(MAX_TURN_VALIDITY);
        if self.is_empty() {
            self.valid_until = now + validity;
            return match self.has_more() {
                true => Found::Due,
                false => Found::NothingBefore(self.shelves.iter().filter_map(|shelf| shelf.next).min()),
            };
        }
        // At least until the workers have taken something.
        let least = if is_crowded { CROWDED_TURN_VALIDITY } else { Duration::from_millis(1) };
        self.valid_until = now + validity.max(least);
        Found::Due
    }

    /// Takes the most urgent job that shares no key with one under way. Of two jobs with a key in common the first goes
    /// ahead.
    pub fn take(&mut self, now: Duration) -> Option<Job<W>> {
        if now >= self.valid_until {
            return None;
        }
        let is_free =
            |job: &Job<W>| !job.keys.iter().any(|key| self.busy.iter().flatten().any(|busy| busy == key));
        let first = |jobs: &VecDeque<Job<W>>| {
            let at = jobs.iter().position(is_free)?;
            Some((jobs[at].rank, at))
        };
        let candidates = self.shelves.iter().enumerate().flat_map(|(shelf, jobs)| {
            [(true, &jobs.earlier), (false, &jobs.due)].into_iter().filter_map(move |(is_earlier, jobs)| {
                let (rank, at) = first(jobs)?;
                Some((rank, shelf, is_earlier, at))
            })
        });
        let (_, shelf, is_earlier, at) = candidates.min_by_key(|(rank, ..)| *rank)?;
        let shelf = &mut self.shelves[shelf];
        let job = if is_earlier { &mut shelf.earlier } else { &mut shelf.due }.remove(at)?;
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
    pub fn done(&mut self, key: &str, asked: &str, now: Duration, wait: Duration) {
        self.failures.remove(&number(key));
        self.paused.insert(number(key), (number(asked), now + wait));
    }

    /// Counts an error that passes; the pause after it. In an outage pauses stay short, and errors are not held against
    /// the row.
    pub fn failed(&mut self, key: &str, asked: &str, now: Duration, is_outage: bool) -> Duration {
        let (key, asked) = (number(key), number(asked));
        let (then, failures) = self.failures.entry(key).or_default();
        // What is asked for next has met no error yet.
        if *then != asked {
            (*then, *failures) = (asked, 0);
        }
        let pause = count_failure(failures, is_outage);
        self.paused.insert(key, (asked, now + pause));
        pause
    }

    /// Counts an error of the scan itself; the pause after it.
    pub fn scan_failed(&mut self, now: Duration, is_outage: bool) -> Duration {
        self.failed(SCAN, "", now, is_outage)
    }

    /// How many errors in a row a job has met.
    pub fn failures(&self, key: &str, asked: &str) -> u32 {
        let failures = self.failures.get(&number(key));
        failures.filter(|(then, _)| *then == number(asked)).map_or(0, |(_, count)| *count)
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
        fill(&mut queue, jobs, SECOND, SECOND);
        queue
    }

    const SOURCE: Source = Source::Commands;

    /// Walks once, and takes over what was found.
    fn fill(queue: &mut JobQueue<u32>, jobs: Vec<Job<u32>>, now: Duration, took: Duration) -> Found {
        queue.begin_turn(now);
        queue.begin_walk(SOURCE);
        jobs.into_iter().for_each(|job| queue.offer(SOURCE, job));
        queue.end_walk(SOURCE);
        queue.end_turn(now, took, false)
    }

    /// A turn of a walk that goes on.
    fn turn(queue: &mut JobQueue<u32>, source: Source, jobs: Vec<Job<u32>>) -> Found {
        queue.begin_turn(SECOND);
        jobs.into_iter().for_each(|job| queue.offer(source, job));
        queue.end_turn(SECOND, SECOND, true)
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
        queue.done("a", "1", SECOND, SECOND * 10);
        let wait = SECOND * 11;
        assert_eq!(
            fill(&mut queue, vec![job(Rank::Command, &["a"])], SECOND, SECOND),
            Found::NothingBefore(Some(wait))
        );
        let next = Job { asked: "2".into(), ..job(Rank::Command, &["a"]) };
        assert_eq!(fill(&mut queue, vec![next], SECOND, SECOND), Found::Due);
        assert_eq!(
            fill(&mut queue, vec![job(Rank::Command, &["a"])], wait, SECOND),
            Found::Due,
            "the pause is over"
        );
        assert_eq!(fill(&mut queue, vec![], SECOND, SECOND), Found::NothingBefore(None));
    }

    #[test]
    fn a_turn_is_valid_for_eight_times_as_long_as_it_took_and_two_seconds_at_most() {
        let valid = |took: u64, jobs: Vec<Job<u32>>| {
            let mut queue = JobQueue::default();
            fill(&mut queue, jobs, SECOND, Duration::from_millis(took));
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
            let pause = |_| queue.failed("a", "1", SECOND, is_outage).as_secs();
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
            queue.failed("a", "1", SECOND, false);
        }
        assert_eq!((queue.failures("a", "1"), queue.failures("a", "2")), (3, 0));
        assert_eq!(queue.failed("a", "2", SECOND, false), FIRST_PAUSE);
        queue.done("a", "2", SECOND, Duration::ZERO);
        assert_eq!(queue.failures("a", "2"), 0);
        assert_eq!(queue.scan_failed(SECOND, false), FIRST_PAUSE);
        fill(&mut queue, vec![], SECOND, SECOND);
        assert_eq!(queue.scan_failed(SECOND, false), FIRST_PAUSE, "a scan that went well forgets its errors");
    }

    #[test]
    fn of_much_open_work_the_most_urgent_is_kept_and_the_rest_is_found_when_that_is_used_up() {
        let many = 5 * KEPT_JOBS;
        let mut queue = JobQueue::default();
        queue.begin_turn(SECOND);
        queue.begin_walk(SOURCE);
        let key = |n: usize| format!("raises {n}");
        for n in 0..many {
            queue.offer(SOURCE, job(Rank::Raises, &[&key(n)]));
            assert!(queue.shelf(SOURCE).found.len() < 2 * KEPT_JOBS);
        }
        assert!(
            queue.wants(SOURCE, Rank::Command) && !queue.wants(SOURCE, Rank::Raises),
            "of equals the first are kept"
        );
        queue.offer(SOURCE, job(Rank::Empties, &["last and most urgent"]));
        queue.offer(SOURCE, job(Rank::Unknown, &["not urgent"]));
        queue.end_walk(SOURCE);
        assert_eq!(queue.end_turn(SECOND, SECOND, false), Found::Due);
        let first = queue.take(SECOND).map(|job| job.key().to_owned());
        assert_eq!(first.as_deref(), Some("last and most urgent"));
        assert!(queue.valid_until() > SECOND);
        let left: Vec<String> = taken(&mut queue);
        assert_eq!(left.len(), KEPT_JOBS - 1);
        assert_eq!(left, (0..KEPT_JOBS - 1).map(key).collect::<Vec<_>>());
        assert_eq!(queue.valid_until(), Duration::ZERO, "there is more");
    }

    #[test]
    fn what_pauses_is_not_kept_and_costs_two_numbers() {
        let mut queue = JobQueue::default();
        let keys: Vec<String> = (0..3 * KEPT_JOBS).map(|n| n.to_string()).collect();
        keys.iter().for_each(|key| queue.done(key, "1", SECOND, SECOND * 60));
        let jobs = keys.iter().map(|key| job(Rank::Waiting, &[key])).collect();
        assert_eq!(fill(&mut queue, jobs, SECOND, SECOND), Found::NothingBefore(Some(SECOND * 61)));
        assert!(queue.wants(SOURCE, Rank::Unknown) && !queue.has_left_out(SOURCE));
        assert!(size_of::<(Number, (Number, Duration))>() <= 32);
    }

    #[test]
    fn in_a_crowd_a_turn_is_valid_for_half_a_second_unless_its_jobs_are_used_up() {
        let mut queue = JobQueue::default();
        queue.begin_walk(SOURCE);
        queue.begin_turn(SECOND);
        queue.offer(SOURCE, job(Rank::Command, &["a"]));
        assert_eq!(queue.end_turn(SECOND, Duration::ZERO, true), Found::Due);
        assert_eq!(queue.valid_until(), SECOND + CROWDED_TURN_VALIDITY);
        assert_eq!(taken(&mut queue), ["a"]);
        assert_eq!(queue.valid_until(), Duration::ZERO, "the walk goes on");
        queue.begin_turn(SECOND);
        assert_eq!(queue.end_turn(SECOND, SECOND, true), Found::Due);
        assert_eq!(queue.valid_until(), SECOND * 3, "a turn that finds nothing is not followed at once");
        queue.begin_turn(SECOND);
        queue.note_answered();
        assert_eq!(queue.end_turn(SECOND, SECOND, true), Found::Due);
        assert_eq!(queue.valid_until(), Duration::ZERO, "there may be more to answer");
        queue.begin_turn(SECOND);
        queue.end_walk(SOURCE);
        assert_eq!(queue.end_turn(SECOND, SECOND, true), Found::NothingBefore(None));
    }

    #[test]
    fn jobs_stay_from_turn_to_turn_until_their_walk_is_over_and_what_is_found_anew_replaces_them() {
        let mut queue = filled(vec![
            job(Rank::Command, &["a"]),
            job(Rank::Command, &["b", "x"]),
            job(Rank::Waiting, &["c"]),
        ]);
        queue.begin_walk(SOURCE);
        assert_eq!(
            turn(&mut queue, SOURCE, vec![job(Rank::Waiting, &["a"]), job(Rank::Command, &["d"])]),
            Found::Due
        );
        assert_eq!(queue.queued(SOURCE), 4);
        turn(&mut queue, Source::Urgent, vec![job(Rank::Empties, &["x"])]);
        assert_eq!((queue.queued(SOURCE), queue.queued(Source::Urgent)), (3, 1), "urgent work takes its key");
        queue.begin_turn(SECOND);
        queue.end_walk(SOURCE);
        queue.end_turn(SECOND, SECOND, true);
        assert_eq!(queue.queued(Source::Urgent), 0, "urgent work is read in each turn");
        assert_eq!(taken(&mut queue), ["d", "a"], "the walk has not found c again");
    }

    #[test]
    fn a_full_source_takes_nothing_from_another() {
        let mut queue = JobQueue::default();
        for source in [Source::Levels, SOURCE] {
            queue.begin_walk(source);
        }
        let many = (0..KEPT_JOBS).map(|n| job(Rank::Lowers, &[&n.to_string()])).collect();
        turn(&mut queue, Source::Levels, many);
        queue.begin_turn(SECOND);
        assert!(!queue.wants(Source::Levels, Rank::Lowers) && queue.wants(Source::Levels, Rank::Empties));
        assert!(queue.wants(SOURCE, Rank::Waiting));
        queue.forget(Source::Levels);
        assert_eq!(queue.queued(Source::Levels), 0);
    }

    proptest! {
        #[test]
        fn whatever_is_found_the_kept_are_the_most_urgent_in_their_order(
            ranks in proptest::collection::vec(0usize..4, 0..4 * KEPT_JOBS),
        ) {
            let all = [Rank::Empties, Rank::Command, Rank::Raises, Rank::Unknown];
            let found: Vec<_> = ranks.iter().enumerate().map(|(n, rank)| (all[*rank], n.to_string())).collect();
            let jobs = found.iter().map(|(rank, key)| job(*rank, &[key])).collect();
            let queue = filled(jobs);
            let mut expected = found;
            expected.sort_by_key(|(rank, _)| *rank);
            expected.truncate(KEPT_JOBS);
            let kept: Vec<_> = queue.shelves[SOURCE as usize].due.iter().map(|job| (job.rank, job.key().to_owned())).collect();
            prop_assert_eq!(kept, expected);
        }

        #[test]
        fn whatever_is_taken_and_released_keys_are_never_shared(
            jobs in proptest::collection::vec(proptest::collection::vec(0u8..6, 1..4), 1..20), order in any::<u64>(),
        ) {
            let jobs = jobs.into_iter().map(|keys| {
                let keys: Vec<String> = keys.iter().map(u8::to_string).collect();
                Job { keys, asked: String::new(), rank: Rank::Command, work: 0u32 }
            });
            let mut queue = filled(jobs.collect());
            let (mut under_way, mut left) = (Vec::<Job<u32>>::new(), queue.queued(SOURCE));
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
            prop_assert_eq!(left, queue.queued(SOURCE));
        }
    }
}

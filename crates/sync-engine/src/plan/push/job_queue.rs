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

/// The source of a job.
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

/// The result of a turn.
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
    sources: [SourceJobs<W>; 4],
    /// Until when the last turn is valid.
    valid_until: Duration,
    /// The last turn found a job, or answered rows without one.
    has_found: bool,
    /// The turn under way has answered rows.
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
struct SourceJobs<W> {
    /// Jobs of the walk under way, the most urgent first.
    due: VecDeque<Job<W>>,
    /// Jobs of the walk before that this one has not found again yet, the most urgent first.
    earlier: VecDeque<Job<W>>,
    /// The jobs that the turn under way has found: the most urgent that are due, and some more.
    found: Vec<Job<W>>,
    /// The rank of the last job that is kept; there is none while all are kept.
    last: Option<Rank>,
    /// When the first pause of what the walk left out ends.
    next: Option<Duration>,
    /// The walk has left out jobs for which there was no room.
    has_left_out: bool,
    /// The walk has come to its end.
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
            sources: std::array::from_fn(|_| SourceJobs::default()),
            valid_until: Duration::ZERO,
            has_found: false,
            has_answered: false,
            busy: Vec::new(),
            paused: HashMap::new(),
            failures: HashMap::new(),
        }
    }
}

impl<W> Default for SourceJobs<W> {
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

impl<W> SourceJobs<W> {
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
    fn jobs_of(&mut self, source: Source) -> &mut SourceJobs<W> {
        &mut self.sources[source as usize]
    }

    /// The keys under way.
    pub fn busy_keys(&self) -> HashSet<String> {
        self.busy.iter().flatten().cloned().collect()
    }

    /// Returns the number of jobs of a source that wait.
    pub fn queued(&self, source: Source) -> usize {
        self.sources[source as usize].queued()
    }

    /// Tells whether the walk over a source has left out jobs for which there was no room.
    pub fn has_left_out(&self, source: Source) -> bool {
        self.sources[source as usize].has_left_out
    }

    /// Tells whether work of this kind waits.
    pub fn any(&self, is_it: impl Fn(&W) -> bool) -> bool {
        let has_it = |jobs: &'_ SourceJobs<W>| {
            let SourceJobs { due, earlier, found, .. } = jobs;
            due.iter().chain(earlier).chain(found).any(|job| is_it(&job.work))
        };
        self.sources.iter().any(has_it)
    }

    /// Until when the last turn is valid: until its jobs are used up where more rows are open.
    pub fn valid_until(&self) -> Duration {
        match self.has_found && self.is_empty() && self.has_more() {
            true => Duration::ZERO,
            false => self.valid_until,
        }
    }

    fn is_empty(&self) -> bool {
        self.sources.iter().all(|jobs| jobs.queued() == 0)
    }

    fn has_more(&self) -> bool {
        self.sources.iter().any(|jobs| jobs.has_left_out || !jobs.is_at_end)
    }

    /// Begins a turn. The jobs of earlier turns stay.
    pub fn begin_turn(&mut self, now: Duration) {
        self.has_answered = false;
        self.paused.retain(|_, (_, until)| *until > now);
        self.sources.iter_mut().for_each(SourceJobs::begin_turn);
        self.jobs_of(Source::Urgent).begin_walk();
        self.end_walk(Source::Urgent);
    }

    /// Begins a walk over all open rows of a source. The jobs of the one before stay until [`Self::end_walk`], unless
    /// they are found again.
    pub fn begin_walk(&mut self, source: Source) {
        self.jobs_of(source).begin_walk();
    }

    /// The walk over a source has come to its end.
    pub fn end_walk(&mut self, source: Source) {
        self.jobs_of(source).is_at_end = true;
    }

    /// Forgets the jobs of a source that are not under way.
    pub fn forget(&mut self, source: Source) {
        *self.jobs_of(source) = SourceJobs::default();
    }

    /// Says whether a job of this rank would be kept: of equals the first are.
    pub fn wants(&self, source: Source, rank: Rank) -> bool {
        self.sources[source as usize].wants(rank)
    }

    /// Adds a job that the turn has found. Paused jobs are left out.
    pub fn offer(&mut self, source: Source, job: Job<W>) {
        let pause = self.paused.get(&number(job.key()));
        let pause = pause.filter(|(asked, _)| *asked == number(&job.asked)).map(|(_, until)| *until);
        let jobs = self.jobs_of(source);
        if let Some(until) = pause {
            jobs.next = Some(jobs.next.map_or(until, |next| next.min(until)));
        } else if jobs.wants(job.rank) {
            jobs.found.push(job);
            if jobs.found.len() >= 2 * KEPT_JOBS {
                jobs.prune();
            }
        }
    }

    /// The turn has answered rows without a job.
    pub fn note_answered(&mut self) {
        self.has_answered = true;
    }

    /// Takes back what waits, found in this turn or before.
    pub fn discard(&mut self, is_unwanted: impl Fn(&Job<W>) -> bool) {
        for jobs in &mut self.sources {
            jobs.retain(|job| !is_unwanted(job));
            jobs.found.retain(|job| !is_unwanted(job));
        }
    }

    /// Takes over what the turn has found, which took so long. With `is_crowded`, more rows are open than a turn reads.
    pub fn end_turn(&mut self, now: Duration, took: Duration, is_crowded: bool) -> Found {
        self.failures.remove(&number(SCAN));
        self.sources.iter_mut().for_each(SourceJobs::prune);
        let found = self.sources.iter().flat_map(|jobs| &jobs.found).flat_map(|job| &job.keys);
        let anew: HashSet<Number> = found.map(|key| number(key)).collect();
        self.has_found = !anew.is_empty() || self.has_answered;
        for jobs in &mut self.sources {
            if !anew.is_empty() {
                jobs.retain(|job| !job.keys.iter().any(|key| anew.contains(&number(key))));
            }
            jobs.end_turn();
        }
        let validity = (took * TURN_VALIDITY).min(MAX_TURN_VALIDITY);
        if self.is_empty() {
            self.valid_until = now + validity;
            return match self.has_more() {
                true => Found::Due,
                false => Found::NothingBefore(self.sources.iter().filter_map(|jobs| jobs.next).min()),
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
        let candidates = self.sources.iter().enumerate().flat_map(|(source, jobs)| {
            [(true, &jobs.earlier), (false, &jobs.due)].into_iter().filter_map(move |(is_earlier, jobs)| {
                let (rank, at) = first(jobs)?;
                Some((rank, source, is_earlier, at))
            })
        });
        let (_, source, is_earlier, at) = candidates.min_by_key(|(rank, ..)| *rank)?;
        let jobs = &mut self.sources[source];
        let job = if is_earlier { &mut jobs.earlier } else { &mut jobs.due }.remove(at)?;
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
mod tests;

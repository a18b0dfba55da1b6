//! The queue of entities to refresh, each once however often it is requested. Pure: time is passed in.
//!
//! An entity that is requested again before it was read is read once, at the earlier of the times. It is never read
//! twice at once, nor more than once a second. While the marketplace does not yet show what a delivery reported, it is
//! read again, 2, 10, 60 and 300 s after the first time. The waiting deliveries are released when it is over, or before
//! the longest of these waits: the mirror then shows what the marketplace shows, and sweeps watch it too. Products are read
//! again only when no first reading of a delivery is due, and not more than a hundred at a time: a price list of thousands
//! that lags behind its events would otherwise cost as many readings again with each round, before the orders.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use super::refresh_request::{Entity, RefreshRequest, Urgency};

/// When an entity is read again while it does not show the expected state, counted from the first request.
const REREAD_AFTER: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];
/// The least time between two refreshes of one entity, and the first backoff.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// The longest wait after transient errors: after an outage nothing waits longer.
const LONGEST_BACKOFF: Duration = Duration::from_secs(20);
/// So many products are read again at a time. Further ones are read once, and left to the rotation.
const MOST_AWAITED: usize = 100;
/// From this queue length on, nothing that can wait is added.
pub(crate) const BUSY: usize = 50;

/// The entities to refresh.
#[derive(Debug, Default)]
pub struct Queue {
    // Thousands of stores have twenty entities here at a time: each has its name once.
    entries: HashMap<Arc<Entity>, Entry>,
    /// Entities that wait and are not being read, by priority; the number orders entries of the same time.
    due: [BTreeSet<(Duration, u64, Arc<Entity>)>; 4],
    /// Recently read entities, with the time from which each may be read again.
    resting: VecDeque<(Duration, Arc<Entity>)>,
    ids: HashSet<i64>,
    pushed: u64,
    busy: usize,
}

#[derive(Debug, Default)]
struct Entry {
    // Boxed: most remembered entities are only resting.
    waiting: Option<Box<Waiting>>,
    busy: Option<Box<Waiting>>,
    /// It is not read again before this time.
    rested: Duration,
}

#[derive(Clone, Debug)]
struct Waiting {
    request: RefreshRequest,
    due: Duration,
    sequence: u64,
    /// When it was first requested.
    begun: Duration,
    /// How often it was read without showing the expected state.
    round: usize,
    /// How often it could not be read.
    failures: u32,
}

impl Waiting {
    fn priority(&self, entity: &Entity) -> Priority {
        match self.request.urgency {
            Urgency::Hinted if self.round > 0 && matches!(entity, Entity::Product(_)) => Priority::Awaited,
            Urgency::Hinted => Priority::Hinted,
            Urgency::Found => Priority::Found,
            Urgency::Swept => Priority::Swept,
        }
    }

    /// Returns the less urgent rest of the request, to be read after the more urgent part.
    fn afterwards(&self, now: Duration) -> Option<Box<Self>> {
        let subresources = self.request.afterwards;
        let request = RefreshRequest { subresources, ..RefreshRequest::default() };
        let waiting = Self { request, due: now, sequence: 0, begun: now, round: 0, failures: 0 };
        (!waiting.request.subresources.is_empty()).then(|| Box::new(waiting))
    }
}

/// The order in which workers take entities, the most urgent first. It is no lane of the request budget: that is
/// `live::lanes`.
#[derive(Clone, Copy, Debug)]
enum Priority {
    Hinted,
    /// A product that did not show the expected state.
    Awaited,
    Found,
    Swept,
}

/// Returns the priorities that a worker pool serves, the most urgent first.
fn pool(urgency: Urgency) -> &'static [Priority] {
    match urgency {
        Urgency::Hinted => &[Priority::Hinted, Priority::Awaited],
        Urgency::Found => &[Priority::Found],
        Urgency::Swept => &[Priority::Found, Priority::Swept],
    }
}

/// A refresh to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The entity.
    pub entity: Entity,
    /// What to refresh of it.
    pub request: RefreshRequest,
    /// The number of readings before, none of which showed the expected state.
    pub round: usize,
    /// Whether it is not read again if it still does not show the expected state.
    pub is_last: bool,
}

/// How a refresh ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to do.
    Done,
    /// It does not show the expected state yet.
    NotYet,
    /// It changed during the refresh.
    Again,
    /// It could not be read, but may be after a while.
    Failed {
        /// The wait that the marketplace requested.
        after: Option<Duration>,
    },
}

impl Queue {
    /// Requests a refresh at `due`, or together with an earlier request for the same entity.
    pub fn push(&mut self, due: Duration, entity: impl Into<Arc<Entity>>, request: RefreshRequest) {
        self.ids.extend(&request.ids);
        let waiting = Waiting { request, due, sequence: 0, begun: due, round: 0, failures: 0 };
        self.insert(entity.into(), Box::new(waiting));
    }

    /// Returns the age of the oldest request that waits or is in progress.
    pub fn oldest(&self, now: Duration) -> Duration {
        let begun = self.entries.values().flat_map(|entry| entry.waiting.iter().chain(&entry.busy));
        begun.map(|waiting| waiting.begun).min().map_or(Duration::ZERO, |begun| now.saturating_sub(begun))
    }

    /// Returns the next work of a worker pool, if any is due.
    pub fn take(&mut self, now: Duration, urgency: Urgency) -> Option<Work> {
        self.forget_rested(now);
        let first = pool(urgency).iter().find_map(|priority| {
            let due = &mut self.due[*priority as usize];
            due.first().is_some_and(|(due, ..)| *due <= now).then(|| due.pop_first())?
        })?;
        let (_, _, entity) = first;
        let entry = self.entries.get_mut(&entity)?;
        let taken = entry.waiting.take()?;
        entry.rested = now + MIN_INTERVAL;
        let work = Work {
            entity: Entity::clone(&entity),
            request: taken.request.clone(),
            round: taken.round,
            is_last: taken.round >= REREAD_AFTER.len(),
        };
        entry.busy = Some(taken);
        self.busy += 1;
        Some(work)
    }

    /// Records how a refresh ended; returns the deliveries that no longer need to wait for it.
    pub fn done(&mut self, now: Duration, entity: &Entity, ended: Ended) -> Vec<i64> {
        let Some((entity, _)) = self.entries.get_key_value(entity) else { return Vec::new() };
        let entity = Arc::clone(entity);
        let Some(entry) = self.entries.get_mut(&entity) else { return Vec::new() };
        let Some(mut taken) = entry.busy.take() else { return Vec::new() };
        self.busy -= 1;
        let newer = entry.waiting.take();
        let rested = entry.rested;
        let is_crowded = self.due[Priority::Awaited as usize].len() >= MOST_AWAITED;
        let is_one_too_many = is_crowded && taken.round == 0 && matches!(*entity, Entity::Product(_));
        let mut waited_enough = Vec::new();
        match ended {
            Ended::NotYet if taken.round < REREAD_AFTER.len() && !is_one_too_many => {
                taken.due = (taken.begun + REREAD_AFTER[taken.round]).max(now);
                taken.round += 1;
                if taken.round == REREAD_AFTER.len() {
                    waited_enough = std::mem::take(&mut taken.request.ids);
                }
            }
            Ended::Again => taken.due = now,
            Ended::Failed { after } => {
                let backoff = MIN_INTERVAL.saturating_mul(1 << taken.failures.min(6)).min(LONGEST_BACKOFF);
                taken.failures += 1;
                taken.due = now + after.unwrap_or_default().max(backoff);
            }
            Ended::Done | Ended::NotYet => {
                for id in &taken.request.ids {
                    self.ids.remove(id);
                }
                let afterwards = taken.afterwards(now);
                if newer.is_none() && afterwards.is_none() {
                    self.resting.push_back((rested, Arc::clone(&entity)));
                }
                let more = newer.into_iter().chain(afterwards);
                more.for_each(|waiting| self.insert(Arc::clone(&entity), waiting));
                return taken.request.ids;
            }
        }
        self.insert(Arc::clone(&entity), taken);
        newer.into_iter().for_each(|newer| self.insert(Arc::clone(&entity), newer));
        for id in &waited_enough {
            self.ids.remove(id);
        }
        waited_enough
    }

    /// Returns when the next entity of a worker pool is due.
    pub fn next_due(&self, urgency: Urgency) -> Option<Duration> {
        pool(urgency)
            .iter()
            .filter_map(|priority| self.due[*priority as usize].first())
            .map(|(due, ..)| *due)
            .min()
    }

    /// Whether a delivery reported an entity that a sweep is refreshing: that refresh must give way.
    pub fn is_hinted(&self, entity: &Entity) -> bool {
        let waiting = self.entries.get(entity).and_then(|entry| entry.waiting.as_ref());
        waiting.is_some_and(|waiting| waiting.request.urgency == Urgency::Hinted)
    }

    /// Whether an entity waits to be read again.
    pub fn is_waiting(&self, entity: &Entity) -> bool {
        self.entries.get(entity).is_some_and(|entry| entry.waiting.is_some())
    }

    /// Tells if an entity waits to be read, or is being read.
    pub fn has_entity(&self, entity: &Entity) -> bool {
        self.entries.get(entity).is_some_and(|entry| entry.waiting.is_some() || entry.busy.is_some())
    }

    /// Whether a delivery waits here already.
    pub fn has(&self, id: i64) -> bool {
        self.ids.contains(&id)
    }

    /// Returns how many deliveries wait.
    pub fn deliveries(&self) -> usize {
        self.ids.len()
    }

    /// Returns `true` if at least `many` entities of a worker pool are due within the longest backoff. Failed readings count,
    /// so that the queue does not grow in an outage. Readings that are due after a minute or more keep nothing waiting.
    pub fn has_soon(&self, now: Duration, urgency: Urgency, many: usize) -> bool {
        let until = now + LONGEST_BACKOFF;
        let soon = |priority: &Priority| {
            self.due[*priority as usize].iter().take_while(move |(due, ..)| *due <= until)
        };
        pool(urgency).iter().flat_map(soon).take(many).count() >= many
    }

    /// Whether nothing is being read, and nothing is due.
    pub fn is_quiet(&self, now: Duration) -> bool {
        self.busy == 0 && self.due.iter().flatten().all(|(due, ..)| *due > now)
    }

    /// Inserts a request, merged with one for the same entity that waits already.
    fn insert(&mut self, entity: Arc<Entity>, mut new: Box<Waiting>) {
        self.pushed += 1;
        let entry = self.entries.entry(entity);
        let entity = Arc::clone(entry.key());
        let entry = entry.or_default();
        let mut waiting = match entry.waiting.take() {
            None => {
                new.sequence = self.pushed;
                new
            }
            Some(old) => {
                self.due[old.priority(&entity) as usize].remove(&(
                    old.due,
                    old.sequence,
                    Arc::clone(&entity),
                ));
                // The later request restarts the waits for the expected state.
                let (begun, round) = (old.begun.max(new.begun), old.round.min(new.round));
                let (due, sequence) = (old.due.min(new.due), old.sequence);
                let failures = old.failures.max(new.failures);
                Box::new(Waiting {
                    request: old.request.and(new.request),
                    due,
                    sequence,
                    begun,
                    round,
                    failures,
                })
            }
        };
        waiting.due = waiting.due.max(entry.rested);
        if entry.busy.is_none() {
            let priority = waiting.priority(&entity);
            self.due[priority as usize].insert((waiting.due, waiting.sequence, entity));
        }
        entry.waiting = Some(waiting);
    }

    /// Forgets idle entities once they may be read again.
    fn forget_rested(&mut self, now: Duration) {
        while let Some((_, entity)) = self.resting.pop_front_if(|(rested, _)| *rested <= now) {
            let is_idle =
                |entry: &Entry| entry.busy.is_none() && entry.waiting.is_none() && entry.rested <= now;
            if self.entries.get(&entity).is_some_and(is_idle) {
                self.entries.remove(&entity);
            }
        }
        if self.entries.is_empty() {
            // Release the memory that a busy hour has taken.
            self.entries = HashMap::new();
        }
    }
}

#[cfg(test)]
mod tests;

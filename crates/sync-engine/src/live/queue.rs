//! What is to be read, each thing once however often it was asked for. Pure: time is handed in.
//!
//! An entity that is asked for again before it was read is read once, at the earlier of the times. It is never read twice
//! at once, nor more than once a second. While the marketplace does not show yet what a delivery told, it is read again,
//! 2, 10, 60 and 300 s after the first time. The deliveries that wait for it are given back when it is over, or before the
//! longest of these waits: the mirror is then what the marketplace shows, and sweeps watch it too.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    time::Duration,
};

use super::refresh_request::{Entity, RefreshRequest, Urgency};

/// When an entity is read again while it does not show what it should, counted from when it was first asked for.
const AGAIN: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];
/// Between two readings of one entity.
const REST: Duration = Duration::from_secs(1);
/// The longest wait after errors that pass: after an outage nothing waits longer.
const LONGEST_BACKOFF: Duration = Duration::from_secs(20);
/// Where so much waits for its turn, nothing that can wait is added to it.
pub(super) const BUSY: usize = 50;

/// What is to be read.
#[derive(Debug, Default)]
pub struct Queue {
    entries: HashMap<Entity, Entry>,
    /// What waits and is not being read, by urgency; the number keeps those of one time in order.
    due: [BTreeSet<(Duration, u64, Entity)>; 3],
    /// Entities that were read lately, by when they may be read again.
    resting: VecDeque<(Duration, Entity)>,
    ids: HashSet<i64>,
    pushed: u64,
    busy: usize,
}

#[derive(Debug, Default)]
struct Entry {
    // Boxed: most entities that are remembered are merely resting.
    waiting: Option<Box<Waiting>>,
    busy: Option<Box<Waiting>>,
    /// Not before.
    rested: Duration,
}

#[derive(Clone, Debug)]
struct Waiting {
    request: RefreshRequest,
    due: Duration,
    permit: u64,
    /// When it was first asked for.
    begun: Duration,
    /// How often it was read without showing what it should.
    round: usize,
    /// How often it could not be read.
    failures: u32,
}

impl Waiting {
    /// What is left to read when the more urgent has been.
    fn afterwards(&self, now: Duration) -> Option<Box<Self>> {
        let subresources = self.request.afterwards.clone();
        let request = RefreshRequest { subresources, ..RefreshRequest::default() };
        let waiting = Self { request, due: now, permit: 0, begun: now, round: 0, failures: 0 };
        (!waiting.request.subresources.is_empty()).then(|| Box::new(waiting))
    }
}

/// What the crew that is called by an urgency reads, the most urgent first.
fn pool(urgency: Urgency) -> &'static [Urgency] {
    match urgency {
        Urgency::Hinted => &[Urgency::Hinted],
        Urgency::Found => &[Urgency::Found],
        Urgency::Swept => &[Urgency::Found, Urgency::Swept],
    }
}

/// Something to read now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// What.
    pub entity: Entity,
    /// What is wanted of it.
    pub request: RefreshRequest,
    /// Whether it will not be read again if it still does not show what it should.
    pub is_last: bool,
}

/// How a reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is nothing more to do.
    Done,
    /// It does not show yet what it should.
    NotYet,
    /// It changed under our hands.
    Again,
    /// It could not be read, and may be after a while.
    Failed {
        /// The wait that the marketplace asked for.
        after: Option<Duration>,
    },
}

impl Queue {
    /// Asks for an entity to be read at `due`, or with what is asked of it earlier.
    pub fn push(&mut self, due: Duration, entity: Entity, request: RefreshRequest) {
        self.ids.extend(&request.ids);
        let waiting = Waiting { request, due, permit: 0, begun: due, round: 0, failures: 0 };
        self.insert(entity, Box::new(waiting));
    }

    /// For how long the oldest of what waits or is being read has been asked for.
    pub fn oldest(&self, now: Duration) -> Duration {
        let begun = self.entries.values().flat_map(|entry| entry.waiting.iter().chain(&entry.busy));
        begun.map(|waiting| waiting.begun).min().map_or(Duration::ZERO, |begun| now.saturating_sub(begun))
    }

    /// What one of a crew is to read next, if anything is due.
    pub fn take(&mut self, now: Duration, urgency: Urgency) -> Option<Work> {
        self.forget_rested(now);
        let first = pool(urgency).iter().find_map(|urgency| {
            let due = &mut self.due[*urgency as usize];
            due.first().is_some_and(|(due, ..)| *due <= now).then(|| due.pop_first())?
        })?;
        let (_, _, entity) = first;
        let entry = self.entries.get_mut(&entity)?;
        let taken = entry.waiting.take()?;
        entry.rested = now + REST;
        let work = Work {
            entity: entity.clone(),
            request: taken.request.clone(),
            is_last: taken.round >= AGAIN.len(),
        };
        entry.busy = Some(taken);
        self.busy += 1;
        Some(work)
    }

    /// Notes how a reading ended; gives the deliveries that waited for it, if they need not wait any more.
    pub fn done(&mut self, now: Duration, entity: &Entity, ended: Ended) -> Vec<i64> {
        let Some(entry) = self.entries.get_mut(entity) else { return Vec::new() };
        let Some(mut taken) = entry.busy.take() else { return Vec::new() };
        self.busy -= 1;
        let newer = entry.waiting.take();
        let rested = entry.rested;
        let mut waited_enough = Vec::new();
        match ended {
            Ended::NotYet if taken.round < AGAIN.len() => {
                taken.due = (taken.begun + AGAIN[taken.round]).max(now);
                taken.round += 1;
                if taken.round == AGAIN.len() {
                    waited_enough = std::mem::take(&mut taken.request.ids);
                }
            }
            Ended::Again => taken.due = now,
            Ended::Failed { after } => {
                let backoff = REST.saturating_mul(1 << taken.failures.min(6)).min(LONGEST_BACKOFF);
                taken.failures += 1;
                taken.due = now + after.unwrap_or_default().max(backoff);
            }
            Ended::Done | Ended::NotYet => {
                for id in &taken.request.ids {
                    self.ids.remove(id);
                }
                let afterwards = taken.afterwards(now);
                if newer.is_none() && afterwards.is_none() {
                    self.resting.push_back((rested, entity.clone()));
                }
                let more = newer.into_iter().chain(afterwards);
                more.for_each(|waiting| self.insert(entity.clone(), waiting));
                return taken.request.ids;
            }
        }
        self.insert(entity.clone(), taken);
        newer.into_iter().for_each(|newer| self.insert(entity.clone(), newer));
        for id in &waited_enough {
            self.ids.remove(id);
        }
        waited_enough
    }

    /// When something of a crew is next due.
    pub fn next_due(&self, urgency: Urgency) -> Option<Duration> {
        pool(urgency)
            .iter()
            .filter_map(|urgency| self.due[*urgency as usize].first())
            .map(|(due, ..)| *due)
            .min()
    }

    /// Whether a delivery has told of what a sweep is having read: then that reading is to give way.
    pub fn is_hinted(&self, entity: &Entity) -> bool {
        let waiting = self.entries.get(entity).and_then(|entry| entry.waiting.as_ref());
        waiting.is_some_and(|waiting| waiting.request.urgency == Urgency::Hinted)
    }

    /// Whether something is to be read again.
    pub fn is_waiting(&self, entity: &Entity) -> bool {
        self.entries.get(entity).is_some_and(|entry| entry.waiting.is_some())
    }

    /// Whether a delivery waits here already.
    pub fn has(&self, id: i64) -> bool {
        self.ids.contains(&id)
    }

    /// How many deliveries wait.
    pub fn deliveries(&self) -> usize {
        self.ids.len()
    }

    /// How many entities of a crew wait.
    pub fn waiting(&self, urgency: Urgency) -> usize {
        pool(urgency).iter().map(|urgency| self.due[*urgency as usize].len()).sum()
    }

    /// Whether nothing is being read, and nothing need be yet.
    pub fn is_quiet(&self, now: Duration) -> bool {
        self.busy == 0 && self.due.iter().flatten().all(|(due, ..)| *due > now)
    }

    /// Puts what waits into its place, together with what waits there already.
    fn insert(&mut self, entity: Entity, mut new: Box<Waiting>) {
        self.pushed += 1;
        let entry = self.entries.entry(entity.clone()).or_default();
        let mut waiting = match entry.waiting.take() {
            None => {
                new.permit = self.pushed;
                new
            }
            Some(old) => {
                self.due[old.request.urgency as usize].remove(&(old.due, old.permit, entity.clone()));
                // The one that was asked for last begins the waiting for what it should show anew.
                let (begun, round) = (old.begun.max(new.begun), old.round.min(new.round));
                let (due, permit) = (old.due.min(new.due), old.permit);
                let failures = old.failures.max(new.failures);
                Box::new(Waiting {
                    request: old.request.and(new.request),
                    due,
                    permit,
                    begun,
                    round,
                    failures,
                })
            }
        };
        waiting.due = waiting.due.max(entry.rested);
        if entry.busy.is_none() {
            let key = (waiting.due, waiting.permit, entity);
            self.due[waiting.request.urgency as usize].insert(key);
        }
        entry.waiting = Some(waiting);
    }

    /// Entities that nobody asks for need not be remembered once they may be read again.
    fn forget_rested(&mut self, now: Duration) {
        while let Some((_, entity)) = self.resting.pop_front_if(|(rested, _)| *rested <= now) {
            let is_idle =
                |entry: &Entry| entry.busy.is_none() && entry.waiting.is_none() && entry.rested <= now;
            if self.entries.get(&entity).is_some_and(is_idle) {
                self.entries.remove(&entity);
            }
        }
        if self.entries.is_empty() {
            // What room a busy hour has taken is given back.
            self.entries = HashMap::new();
        }
    }
}

#[cfg(test)]
mod tests;

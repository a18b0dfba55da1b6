//! What is to be read, each thing once however often it was asked for. Pure: time is handed in.
//!
//! An entity that is asked for again before it was read is read once, at the earlier of the times. It is never read twice
//! at once, nor more than once a second. While the marketplace does not show yet what a delivery told, it is read again,
//! 2, 10, 60 and 300 s after the first time. The deliveries that wait for it are given back when it is over.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    time::Duration,
};

use super::want::{Entity, Urgency, Want};

/// When an entity is read again while it does not show what it should, counted from when it was first asked for.
const AGAIN: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];
/// Between two readings of one entity.
const REST: Duration = Duration::from_secs(1);
/// The longest wait after errors that pass.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// What is to be read.
#[derive(Debug, Default)]
pub struct Queue {
    entries: HashMap<Entity, Entry>,
    /// What waits and is not being read, by urgency; the number keeps those of one time in order.
    due: [BTreeSet<(Duration, u64, Entity)>; 2],
    /// Entities that were read lately, by when they may be read again.
    resting: VecDeque<(Duration, Entity)>,
    ids: HashSet<i64>,
    pushed: u64,
    busy: usize,
}

#[derive(Debug, Default)]
struct Entry {
    waiting: Option<Waiting>,
    busy: Option<Waiting>,
    /// Not before.
    rested: Duration,
}

#[derive(Clone, Debug)]
struct Waiting {
    want: Want,
    due: Duration,
    place: u64,
    /// When it was first asked for.
    begun: Duration,
    /// How often it was read without showing what it should.
    round: usize,
    /// How often it could not be read.
    failures: u32,
}

/// Something to read now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// What.
    pub entity: Entity,
    /// What is wanted of it.
    pub want: Want,
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
    /// Asks for an entity to be read now.
    pub fn push(&mut self, now: Duration, entity: Entity, want: Want) {
        self.ids.extend(&want.ids);
        self.insert(entity, Waiting { want, due: now, place: 0, begun: now, round: 0, failures: 0 });
    }

    /// What one of a crew is to read next, if anything is due.
    pub fn take(&mut self, now: Duration, urgency: Urgency) -> Option<Work> {
        self.forget_rested(now);
        let first = self.due[urgency as usize].first().filter(|(due, ..)| *due <= now)?.clone();
        self.due[urgency as usize].remove(&first);
        let (_, _, entity) = first;
        let entry = self.entries.get_mut(&entity)?;
        let taken = entry.waiting.take()?;
        entry.rested = now + REST;
        let work =
            Work { entity: entity.clone(), want: taken.want.clone(), is_last: taken.round >= AGAIN.len() };
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
        match ended {
            Ended::NotYet if taken.round < AGAIN.len() => {
                taken.due = (taken.begun + AGAIN[taken.round]).max(now);
                taken.round += 1;
            }
            Ended::Again => taken.due = now,
            Ended::Failed { after } => {
                let backoff = REST.saturating_mul(1 << taken.failures.min(6)).min(LONGEST_BACKOFF);
                taken.failures += 1;
                taken.due = now + after.unwrap_or_default().max(backoff);
            }
            Ended::Done | Ended::NotYet => {
                for id in &taken.want.ids {
                    self.ids.remove(id);
                }
                match newer {
                    Some(newer) => self.insert(entity.clone(), newer),
                    None => self.resting.push_back((rested, entity.clone())),
                }
                return taken.want.ids;
            }
        }
        self.insert(entity.clone(), taken);
        newer.into_iter().for_each(|newer| self.insert(entity.clone(), newer));
        Vec::new()
    }

    /// When something of a crew is next due.
    pub fn next_due(&self, urgency: Urgency) -> Option<Duration> {
        self.due[urgency as usize].first().map(|(due, ..)| *due)
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
        self.due[urgency as usize].len()
    }

    /// Whether nothing is being read, and nothing need be yet.
    pub fn is_quiet(&self, now: Duration) -> bool {
        self.busy == 0 && self.due.iter().flatten().all(|(due, ..)| *due > now)
    }

    /// Puts what waits into its place, together with what waits there already.
    fn insert(&mut self, entity: Entity, new: Waiting) {
        self.pushed += 1;
        let entry = self.entries.entry(entity.clone()).or_default();
        let mut waiting = match entry.waiting.take() {
            None => Waiting { place: self.pushed, ..new },
            Some(old) => {
                self.due[old.want.urgency as usize].remove(&(old.due, old.place, entity.clone()));
                // The one that was asked for last begins the waiting for what it should show anew.
                let (begun, round) = (old.begun.max(new.begun), old.round.min(new.round));
                let (due, place) = (old.due.min(new.due), old.place);
                let failures = old.failures.max(new.failures);
                Waiting { want: old.want.and(new.want), due, place, begun, round, failures }
            }
        };
        waiting.due = waiting.due.max(entry.rested);
        if entry.busy.is_none() {
            let key = (waiting.due, waiting.place, entity);
            self.due[waiting.want.urgency as usize].insert(key);
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
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use espelho_model::OrderNumber;
    use proptest::prelude::*;

    use super::*;

    fn order(n: u8) -> Entity {
        Entity::Order(OrderNumber::new(n.to_string()))
    }

    fn hint(id: i64) -> Want {
        Want { urgency: Urgency::Hinted, ids: vec![id], ..Want::default() }
    }

    fn seconds(n: f64) -> Duration {
        Duration::from_secs_f64(n)
    }

    fn take(queue: &mut Queue, now: f64) -> Option<Work> {
        queue.take(seconds(now), Urgency::Hinted)
    }

    #[test]
    fn what_is_asked_for_often_is_read_once_and_gives_all_its_deliveries_back() {
        let mut queue = Queue::default();
        for id in 0..100 {
            queue.push(seconds(0.0), order(1), hint(id));
        }
        assert_eq!(queue.deliveries(), 100);
        assert!(take(&mut queue, 0.0).is_some() && take(&mut queue, 0.0).is_none());
        assert_eq!(queue.done(seconds(0.1), &order(1), Ended::Done).len(), 100);
        assert!(queue.deliveries() == 0 && queue.is_quiet(seconds(9.0)) && take(&mut queue, 9.0).is_none());
        assert!(queue.entries.is_empty(), "what is over is forgotten");
    }

    #[test]
    fn what_is_asked_for_while_it_is_read_is_read_once_more_but_not_at_once() {
        let mut queue = Queue::default();
        queue.push(seconds(0.0), order(1), hint(1));
        take(&mut queue, 0.0).unwrap();
        queue.push(seconds(0.1), order(1), hint(2));
        assert_eq!(take(&mut queue, 5.0), None, "never twice at once");
        assert_eq!(queue.done(seconds(0.2), &order(1), Ended::Done), [1]);
        assert_eq!(take(&mut queue, 0.9), None, "not twice within a second");
        assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(1.0)));
        assert_eq!(take(&mut queue, 1.0).unwrap().want.ids, [2]);
    }

    #[test]
    fn what_does_not_show_yet_is_read_again_after_2_10_60_and_300_seconds() {
        let mut queue = Queue::default();
        queue.push(seconds(0.0), order(1), hint(1));
        for due in [0.0, 2.0, 10.0, 60.0, 300.0] {
            assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(due)));
            let work = take(&mut queue, due).unwrap();
            assert_eq!(work.is_last, due > 299.0);
            let over = queue.done(seconds(due + 0.1), &order(1), Ended::NotYet);
            assert_eq!(over, if work.is_last { vec![1] } else { vec![] });
        }
        assert_eq!(queue.next_due(Urgency::Hinted), None);
    }

    #[test]
    fn a_new_hint_cuts_the_waiting_short_and_begins_it_anew() {
        let mut queue = Queue::default();
        queue.push(seconds(0.0), order(1), hint(1));
        for due in [0.0, 2.0, 10.0] {
            take(&mut queue, due).unwrap();
            queue.done(seconds(due), &order(1), Ended::NotYet);
        }
        queue.push(seconds(20.0), order(1), hint(2));
        assert_eq!(take(&mut queue, 20.0).unwrap().want.ids, [1, 2]);
        queue.done(seconds(20.0), &order(1), Ended::NotYet);
        assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(22.0)));
    }

    #[test]
    fn what_fails_is_tried_less_and_less_often_and_never_given_up() {
        let mut queue = Queue::default();
        queue.push(seconds(0.0), order(1), hint(1));
        let mut now = 0.0;
        for wait in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0] {
            take(&mut queue, now).unwrap();
            assert!(queue.done(seconds(now), &order(1), Ended::Failed { after: None }).is_empty());
            assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(now + wait)));
            now += wait;
        }
        take(&mut queue, now).unwrap();
        queue.done(seconds(now), &order(1), Ended::Failed { after: Some(seconds(90.0)) });
        assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(now + 90.0)));
    }

    #[test]
    fn a_hint_makes_urgent_what_a_sweep_has_found() {
        let mut queue = Queue::default();
        queue.push(seconds(0.0), order(1), Want::default());
        assert!(take(&mut queue, 0.0).is_none());
        queue.push(seconds(0.0), order(1), hint(1));
        assert!(queue.take(seconds(0.0), Urgency::Swept).is_none());
        assert!(take(&mut queue, 0.0).is_some());
    }

    proptest! {
        #[test]
        fn whatever_is_asked_for_in_whatever_order_is_read_and_nothing_is_lost(
            hints in prop::collection::vec((0_u8..5, any::<bool>()), 1..60),
            reads_between in prop::collection::vec(0_usize..3, 60),
        ) {
            let mut queue = Queue::default();
            let (mut given_back, mut now) = (Vec::new(), 0.0);
            let mut read_at: BTreeMap<Entity, f64> = BTreeMap::new();
            let mut read = |queue: &mut Queue, now: f64, not_yet: bool| {
                let Some(work) = take(queue, now) else { return Vec::new() };
                if let Some(before) = read_at.insert(work.entity.clone(), now) {
                    assert!(now >= before + 0.999, "read twice within a second");
                }
                let ended = if not_yet && !work.is_last { Ended::NotYet } else { Ended::Done };
                queue.done(seconds(now), &work.entity, ended)
            };
            for (id, (n, not_yet)) in hints.iter().enumerate() {
                queue.push(seconds(now), order(*n), hint(id as i64));
                for _ in 0..reads_between[id] {
                    given_back.extend(read(&mut queue, now, *not_yet));
                }
                now += 0.25;
            }
            while let Some(due) = queue.next_due(Urgency::Hinted) {
                now = due.as_secs_f64().max(now);
                given_back.extend(read(&mut queue, now, false));
            }
            given_back.sort_unstable();
            prop_assert_eq!(given_back, (0..hints.len() as i64).collect::<Vec<_>>());
            let expected: BTreeSet<Entity> = hints.iter().map(|(n, _)| order(*n)).collect();
            prop_assert_eq!(read_at.into_keys().collect::<BTreeSet<_>>(), expected);
            prop_assert_eq!(queue.deliveries(), 0);
        }

        #[test]
        fn any_permutation_of_hints_asks_for_the_same(
            hints in prop::collection::vec((0_u8..4, 0_usize..6), 1..20).prop_shuffle(),
        ) {
            let reads = |hints: &[(u8, usize)]| {
                let mut queue = Queue::default();
                for (n, part) in hints {
                    let parts = BTreeSet::from([espelho_store::Part::ALL[*part]]);
                    queue.push(seconds(0.0), order(*n), Want { parts, ..hint(0) });
                }
                let mut reads = BTreeMap::new();
                while let Some(work) = take(&mut queue, 0.0) {
                    reads.insert(work.entity, work.want.parts);
                }
                reads
            };
            let mut sorted = hints.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(reads(&hints), reads(&sorted));
        }
    }
}

//! What the guards count over the last hour: levels that went to zero, and new listings. Loaded from the journal once.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::{Effect, EffectState};

use crate::{
    Error, StoreContext,
    plan::push::{
        evidence::{Evidence as _, read},
        level_evidence::LevelEvidence,
        movement_evidence::MovementEvidence,
        stock_movement::empties,
    },
};

/// The window in which levels that go to zero, and new listings, are counted together.
const GUARD_WINDOW: TimeDelta = TimeDelta::hours(1);

/// The history that the guards need, for one store.
pub(crate) struct GuardHistory<'c> {
    context: &'c StoreContext,
    recent: Mutex<Recent>,
}

/// The last hour.
#[derive(Default)]
struct Recent {
    /// When listings were created.
    listings: VecDeque<DateTime<Utc>>,
    /// When levels went to zero, by key.
    zeroes: HashMap<String, Vec<DateTime<Utc>>>,
    /// Whether both were loaded from the journal.
    is_loaded: bool,
}

impl<'c> GuardHistory<'c> {
    /// Creates an empty history; [`Self::load`] fills it.
    pub(super) fn new(context: &'c StoreContext) -> Self {
        Self { context, recent: Mutex::default() }
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads from the journal what the guards need of the hour before this service started.
    pub(super) async fn load(&self) -> Result<(), Error> {
        if self.recent().is_loaded {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let since = self.context.clock.now() - GUARD_WINDOW;
        let sets = store.journal().effects_since(key, LevelEvidence::KIND, since).await?;
        let movements = store.journal().effects_since(key, MovementEvidence::KIND, since).await?;
        let listings = store.journal().effects_since(key, "listing.create", since).await?;
        let is_zero =
            |set: &&Effect| read::<LevelEvidence>(set).is_ok_and(|evidence| evidence.target.is_zero());
        let is_emptied = |movement: &&Effect| {
            movement.state != EffectState::Refuted
                && read::<MovementEvidence>(movement)
                    .is_ok_and(|evidence| empties(evidence.before, evidence.delta))
        };
        let mut recent = Recent {
            zeroes: HashMap::new(),
            listings: listings.iter().map(|listing| listing.planned_at).collect(),
            is_loaded: true,
        };
        for effect in sets.iter().filter(is_zero).chain(movements.iter().filter(is_emptied)) {
            recent.note_zero(effect.key.clone(), effect.planned_at);
        }
        *self.recent() = recent;
        Ok(())
    }

    /// Notes that a level went to zero; returns when.
    pub(super) fn note_zero(&self, key: String) -> DateTime<Utc> {
        let now = self.context.clock.now();
        self.recent().note_zero(key, now);
        now
    }

    /// Takes back that a level went to zero at this time: it did not. What it did before or after still counts.
    pub(super) fn forget_zero(&self, key: &str, at: DateTime<Utc>) {
        self.recent().forget_zero(key, at);
    }

    /// Returns how many levels went to zero within the hour.
    pub(super) fn recent_zeroes(&self) -> usize {
        self.recent().zeroes_since(self.context.clock.now() - GUARD_WINDOW)
    }

    /// Returns the keys of the levels that went to zero within the hour.
    pub(super) fn keys_of_recent_zeroes(&self) -> HashSet<String> {
        self.recent().zeroes.keys().cloned().collect()
    }

    /// Returns how many listings were created within the hour.
    pub(super) fn recent_listings(&self) -> usize {
        self.recent().listings_since(self.context.clock.now() - GUARD_WINDOW)
    }

    /// Counts a listing that is about to be created.
    pub(super) fn note_listing(&self) {
        let now = self.context.clock.now();
        self.recent().listings.push_back(now);
    }

    /// Takes back the last listing that was counted: it was not created.
    pub(super) fn forget_listing(&self) {
        self.recent().listings.pop_back();
    }
}

impl Recent {
    fn note_zero(&mut self, key: String, at: DateTime<Utc>) {
        self.zeroes.entry(key).or_default().push(at);
    }

    fn forget_zero(&mut self, key: &str, at: DateTime<Utc>) {
        let Some(times) = self.zeroes.get_mut(key) else { return };
        if let Some(place) = times.iter().position(|time| *time == at) {
            times.remove(place);
        }
        if times.is_empty() {
            self.zeroes.remove(key);
        }
    }

    fn zeroes_since(&mut self, since: DateTime<Utc>) -> usize {
        self.zeroes.retain(|_, times| {
            times.retain(|at| *at > since);
            !times.is_empty()
        });
        self.zeroes.len()
    }

    fn listings_since(&mut self, since: DateTime<Utc>) -> usize {
        self.listings.retain(|at| *at > since);
        self.listings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_hour_counts_and_a_level_that_goes_to_zero_twice_counts_once() {
        let at = |minutes: i64| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let mut recent = Recent::default();
        for (key, minutes) in [("stock/a/1", 0), ("stock/b/1", 30), ("stock/a/1", 50)] {
            recent.note_zero(key.to_owned(), at(minutes));
        }
        recent.listings = [at(0), at(10), at(70)].into();
        assert_eq!((recent.zeroes_since(at(-1)), recent.listings_since(at(-1))), (2, 3));
        assert_eq!((recent.zeroes_since(at(30)), recent.listings_since(at(10))), (1, 1));
        assert_eq!(recent.zeroes_since(at(50)), 0);
    }

    #[test]
    fn a_zero_that_is_taken_back_takes_back_no_other_one_of_its_level() {
        let at = |minutes: i64| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let key = "stock/a/1";
        for (noted, taken_back, left, why) in [
            (vec![10], 10, 0, "it did not go to zero"),
            (vec![10, 20], 20, 1, "it went there before"),
            (vec![10, 20], 10, 1, "it went there later"),
            (vec![10, 10], 10, 1, "it went there twice at one time"),
            (vec![10], 20, 1, "that one is not counted"),
        ] {
            let mut recent = Recent::default();
            noted.into_iter().for_each(|minutes| recent.note_zero(key.to_owned(), at(minutes)));
            recent.forget_zero(key, at(taken_back));
            recent.forget_zero("stock/b/1", at(taken_back));
            assert_eq!(recent.zeroes_since(at(0)), left, "{why}");
        }
    }
}

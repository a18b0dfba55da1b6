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
        movement_evidence::MovementEvidence,
        stock_level::LevelEvidence,
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
    /// When levels were last set to zero, by key.
    zeroes: HashMap<String, DateTime<Utc>>,
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
        let zeroes = sets.iter().filter(is_zero).chain(movements.iter().filter(is_emptied));
        *self.recent() = Recent {
            zeroes: zeroes.map(|effect| (effect.key.clone(), effect.planned_at)).collect(),
            listings: listings.iter().map(|listing| listing.planned_at).collect(),
            is_loaded: true,
        };
        Ok(())
    }

    /// Notes that a level went to zero.
    pub(super) fn note_zero(&self, key: String) {
        let now = self.context.clock.now();
        self.recent().zeroes.insert(key, now);
    }

    /// Takes back a level that was counted: it did not go to zero.
    pub(super) fn forget_zero(&self, key: &str) {
        self.recent().zeroes.remove(key);
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
    fn zeroes_since(&mut self, since: DateTime<Utc>) -> usize {
        self.zeroes.retain(|_, at| *at > since);
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
            recent.zeroes.insert(key.to_owned(), at(minutes));
        }
        recent.listings = [at(0), at(10), at(70)].into();
        assert_eq!((recent.zeroes_since(at(-1)), recent.listings_since(at(-1))), (2, 3));
        assert_eq!((recent.zeroes_since(at(30)), recent.listings_since(at(10))), (1, 1));
        assert_eq!(recent.zeroes_since(at(50)), 0);
    }
}

//! The state behind the health checks.

use parking_lot::{Mutex, MutexGuard};
use std::{collections::BTreeMap, net::SocketAddr, sync::OnceLock};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::RunState, text::Text};
use espelho_sync_engine::{
    live::WebhookNews,
    plan::alarms::{FoundIn, Owner, RefusedConfiguration},
};

use crate::reload_state::ReloadState;

/// The health of all stores, and of what they share.
#[derive(Default)]
pub(crate) struct Health {
    /// The address of systemd's socket for webhooks, if it is another than the configured one.
    pub(crate) webhook_socket: OnceLock<SocketAddr>,
    /// The requests to read the configuration again; absent if this process takes none.
    reload: Mutex<Option<ReloadState>>,
    /// The configuration that the last reload refused.
    refused_configuration: Mutex<Option<RefusedConfiguration>>,
    /// The files of the configuration, where they have mistakes and nobody has asked to read them since.
    unusable_files: Mutex<Option<RefusedConfiguration>>,
    stores: Mutex<BTreeMap<StoreKey, StoreHealth>>,
}

/// The health of one store.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreHealth {
    /// Since when this process works on it.
    pub held_since: Option<DateTime<Utc>>,
    /// True while this process takes the store and opens what work on it needs. Its own lock is no other's.
    pub is_taking: bool,
    /// The time and result of its last reconciliation.
    pub last: Option<(DateTime<Utc>, RunState)>,
    /// The last problem, until work goes well again: a cause of its own, which neither the marketplace's nor the
    /// credential's trouble explains.
    pub problem: Option<Text>,
    /// Deliveries in a row without a signature by a known secret.
    pub unverified: u64,
    /// True while no login has shown what the configured password is worth: the token is from another one.
    pub is_password_unproved: bool,
    /// Why the password file cannot be read, and since when, although it could be read before.
    pub unreadable_password: Option<(DateTime<Utc>, Text)>,
    /// Whether webhooks arrive, as observed by the work on the store.
    pub webhook: Option<WebhookNews>,
    /// The webhook's registered address, if it is not the configured one.
    pub webhook_elsewhere: Option<String>,
}

impl StoreHealth {
    /// Whether this process works on the store.
    pub(crate) fn is_held(&self) -> bool {
        self.held_since.is_some()
    }

    /// Returns who works on the store; `is_locked` tells whether any process has its lock.
    pub(crate) fn owner(&self, is_locked: bool) -> Owner {
        match (self.held_since, is_locked, self.is_taking) {
            (Some(since), ..) => Owner::Here(since),
            (None, true, false) => Owner::Elsewhere,
            // The problem that kept it from taking the store is over.
            (None, true, true) => Owner::Nobody(None),
            (None, false, _) => Owner::Nobody(self.problem.clone()),
        }
    }
}

impl Health {
    /// Returns the health of all stores, by name.
    pub(crate) fn snapshot(&self) -> BTreeMap<StoreKey, StoreHealth> {
        self.stores().clone()
    }

    /// Shows the health of one store, if it is known.
    pub(crate) fn see<R>(&self, store: &StoreKey, see: impl FnOnce(&StoreHealth) -> R) -> Option<R> {
        self.stores().get(store).map(see)
    }

    /// Shows the health of all stores, by name, which must not change meanwhile.
    pub(crate) fn see_map<R>(&self, see: impl FnOnce(&BTreeMap<StoreKey, StoreHealth>) -> R) -> R {
        see(&self.stores())
    }

    /// Shows the health of each store, by name.
    pub(crate) fn see_all(&self, mut see: impl FnMut(&StoreKey, &StoreHealth)) {
        self.stores().iter().for_each(|(store, health)| see(store, health));
    }

    /// Says that this process takes requests to read the configuration again.
    pub(crate) fn take_reloads(&self) {
        self.reload.lock().get_or_insert_default();
    }

    /// Notes a reload that was carried out, but for the parts that need a restart.
    pub(crate) fn note_reload(&self, needs_restart: &[&'static str]) {
        (*self.refused_configuration.lock(), *self.unusable_files.lock()) = (None, None);
        self.reload.lock().get_or_insert_default().carried_out(needs_restart);
    }

    /// Notes a reload that was refused for these mistakes.
    pub(crate) fn note_refused_reload(&self, found_in: FoundIn, mistakes: &[Text], at: DateTime<Utc>) {
        note_mistakes(&mut self.refused_configuration.lock(), found_in, mistakes, at);
        *self.unusable_files.lock() = None;
        self.reload.lock().get_or_insert_default().refused(mistakes);
    }

    /// Returns the requests so far; `None` if this process takes none.
    pub(crate) fn reload(&self) -> Option<ReloadState> {
        self.reload.lock().clone()
    }

    /// Returns when the last reconciliation of any store ended.
    pub(crate) fn last_ended(&self) -> Option<DateTime<Utc>> {
        self.stores().values().filter_map(|health| health.last.as_ref()).map(|(ended, _)| *ended).max()
    }

    /// Adds a store, if it is not there.
    pub(crate) fn add(&self, store: &StoreKey) {
        self.stores().entry(store.clone()).or_default();
    }

    /// Tells whether no login has shown yet what the password of a store is worth.
    pub(crate) fn is_password_unproved(&self, store: &StoreKey) -> bool {
        self.stores().get(store).is_some_and(|health| health.is_password_unproved)
    }

    /// Changes the health of a store. The work on a store that was forgotten may end later, and changes nothing.
    pub(crate) fn change(&self, store: &StoreKey, change: impl FnOnce(&mut StoreHealth)) {
        self.stores().get_mut(store).map(change);
    }

    /// Forgets a store that is no longer configured.
    pub(crate) fn forget(&self, store: &StoreKey) {
        self.stores().remove(store);
    }

    /// Returns the configuration that the last reload refused, or that the next start would refuse.
    pub(crate) fn refused_configuration(&self) -> Option<RefusedConfiguration> {
        self.refused_configuration.lock().clone().or_else(|| self.unusable_files.lock().clone())
    }

    /// Notes the mistakes of changed files that nobody has asked to read; none where they can be read again.
    pub(crate) fn note_files(&self, mistakes: &[Text], at: DateTime<Utc>) {
        let mut unusable = self.unusable_files.lock();
        match mistakes {
            [] => *unusable = None,
            _ => note_mistakes(&mut unusable, FoundIn::UnreadFiles, mistakes, at),
        }
    }

    fn stores(&self) -> MutexGuard<'_, BTreeMap<StoreKey, StoreHealth>> {
        self.stores.lock()
    }
}

/// Notes the mistakes of a configuration, which may have had others before.
fn note_mistakes(
    refused: &mut Option<RefusedConfiguration>,
    found_in: FoundIn,
    mistakes: &[Text],
    at: DateTime<Utc>,
) {
    let Some(first) = mistakes.first().cloned() else { return };
    let since = refused.as_ref().map_or(at, |refused| refused.since);
    *refused = Some(RefusedConfiguration { since, mistakes: mistakes.len() as u64, first, found_in });
}

/// Webhooks that were registered at another address than the configured one.
#[derive(Default)]
pub(crate) struct Elsewhere(Mutex<BTreeMap<StoreKey, String>>);

impl Elsewhere {
    /// Returns the registered address of a store's webhook, if it is not the configured one.
    pub(crate) fn of(&self, store: &StoreKey) -> Option<String> {
        self.addresses().get(store).cloned()
    }

    /// Notes such an address.
    pub(crate) fn note(&self, store: &StoreKey, registered: &str) {
        self.addresses().insert(store.clone(), registered.to_owned());
    }

    /// Forgets a store whose webhook is at its configured address.
    pub(crate) fn forget(&self, store: &StoreKey) {
        self.addresses().remove(store);
    }

    fn addresses(&self) -> MutexGuard<'_, BTreeMap<StoreKey, String>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_of_a_process_that_has_just_started_is_not_taken_for_anothers() {
        let (since, problem) = (DateTime::UNIX_EPOCH, Some(Text::new("w")));
        for (held_since, is_taking, is_locked, expected) in [
            (Some(since), false, true, Owner::Here(since)),
            (None, true, true, Owner::Nobody(None)),
            (None, true, false, Owner::Nobody(problem.clone())),
            (None, false, true, Owner::Elsewhere),
            (None, false, false, Owner::Nobody(problem.clone())),
        ] {
            let problem = problem.clone();
            let health = StoreHealth { held_since, is_taking, problem, ..StoreHealth::default() };
            assert_eq!(health.owner(is_locked), expected, "{held_since:?} {is_taking} {is_locked}");
        }
    }

    #[test]
    fn a_refused_configuration_is_known_since_its_first_refusal_until_one_is_accepted() {
        let [first, second, third, fourth] = ["a", "b", "c", "d"].map(Text::new);
        let health = Health::default();
        let at = |second: i64| DateTime::from_timestamp(second, 0).unwrap();
        health.note_refused_reload(FoundIn::Files, &[first, second], at(1));
        health.note_refused_reload(FoundIn::Files, std::slice::from_ref(&third), at(9));
        let known =
            RefusedConfiguration { since: at(1), mistakes: 1, first: third, found_in: FoundIn::Files };
        assert_eq!(health.refused_configuration(), Some(known));
        health.note_reload(&[]);
        assert_eq!(health.refused_configuration(), None);
        health.note_refused_reload(FoundIn::Files, &[fourth], at(20));
        assert_eq!(health.refused_configuration().map(|refused| refused.since), Some(at(20)));
    }

    #[test]
    fn the_end_of_the_work_on_a_removed_store_does_not_bring_its_health_back() {
        let (health, store) = (Health::default(), StoreKey::new("loja").unwrap());
        health.add(&store);
        health.change(&store, |health| health.unverified = 1);
        health.add(&store);
        assert_eq!(health.snapshot()[&store].unverified, 1);
        health.forget(&store);
        health.change(&store, |health| health.held_since = None);
        assert!(health.snapshot().is_empty());
    }
}

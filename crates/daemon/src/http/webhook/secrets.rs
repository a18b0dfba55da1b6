//! The secrets that may sign deliveries: from the configuration, and from the logins on record.

use parking_lot::{Mutex, MutexGuard, RwLock};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::webhook;
use espelho_model::{Clock, StoreKey};
use espelho_store::{KeptSecret, Store};
use secrecy::SecretString;

/// The minimum time between two reads of a store's secrets, however many deliveries have a wrong signature.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The maximum time between two reads while deliveries come: a secret may have been retired meanwhile.
const BELIEVED_FOR: Duration = Duration::from_secs(60);

/// The secrets of all stores. A task that stores a new secret need not announce it: a signature without a known secret
/// triggers a new read.
pub(super) struct Secrets {
    store: Store,
    clock: Arc<dyn Clock>,
    known: RwLock<HashMap<StoreKey, Arc<Known>>>,
}

#[derive(Default)]
struct Known {
    configured: Option<SecretString>,
    records: Mutex<Arc<Records>>,
    /// When the stored secrets were last read; locked during the read, so that one read serves all waiters.
    last: tokio::sync::Mutex<Option<LastRead>>,
    /// Deliveries in a row without a signature by any of the secrets.
    unverified: AtomicU64,
}

/// The time of a read of the secrets, and whether it succeeded.
#[derive(Clone, Copy)]
struct LastRead {
    at: Duration,
    worked: bool,
}

/// The secrets are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown;

/// The secrets in the database.
#[derive(Default)]
struct Records {
    kept: Vec<Kept>,
    read_at: Option<Duration>,
}

struct Kept {
    secret: SecretString,
    /// When it was issued, and when another one replaced it.
    record: KeptSecret,
}

impl Secrets {
    pub(super) fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        configured: impl IntoIterator<Item = (StoreKey, Option<SecretString>)>,
    ) -> Self {
        let secrets = Self { store, clock, known: RwLock::default() };
        secrets.replace(configured);
        secrets
    }

    /// Replaces the stores with these. The next delivery reads the database again.
    pub(super) fn replace(&self, configured: impl IntoIterator<Item = (StoreKey, Option<SecretString>)>) {
        let known = |(key, configured)| (key, Arc::new(Known { configured, ..Known::default() }));
        let known = configured.into_iter().map(known).collect();
        *self.known.write() = known;
    }

    /// Returns the stores that receive webhooks.
    pub(super) fn stores(&self) -> Vec<StoreKey> {
        self.known.read().keys().cloned().collect()
    }

    /// Returns the store that a path names, if it receives webhooks.
    pub(super) fn store_named(&self, key: &str) -> Option<StoreKey> {
        StoreKey::new(key).ok().filter(|key| self.of(key).is_some())
    }

    /// Counts a checked delivery. Returns the number of deliveries in a row that no secret has signed, if it changes.
    pub(super) fn count(&self, store: &StoreKey, is_verified: bool) -> Option<u64> {
        let known = self.of(store)?;
        match is_verified {
            true => (known.unverified.swap(0, Ordering::Relaxed) > 0).then_some(0),
            false => Some(known.unverified.fetch_add(1, Ordering::Relaxed) + 1),
        }
    }

    fn of(&self, store: &StoreKey) -> Option<Arc<Known>> {
        self.known.read().get(store).cloned()
    }

    /// Whether one of the store's secrets has made this signature.
    pub(super) async fn verify(&self, store: &StoreKey, body: &[u8], header: &str) -> Result<bool, Unknown> {
        let Some(known) = self.of(store) else { return Ok(false) };
        if known.is_fresh(self.clock.monotonic()) && known.verify(body, header, self.clock.now()) {
            return Ok(true);
        }
        // A task of its own: a connection may end at any moment, and a running database query must not.
        let looking =
            Arc::clone(&known).last_read(self.store.clone(), Arc::clone(&self.clock), store.clone());
        tokio::spawn(looking).await.unwrap_or(Err(Unknown))?;
        Ok(known.verify(body, header, self.clock.now()))
    }
}

impl Known {
    /// Reads a store's secrets from the database, unless they were read a moment ago.
    async fn last_read(
        self: Arc<Self>,
        store: Store,
        clock: Arc<dyn Clock>,
        key: StoreKey,
    ) -> Result<(), Unknown> {
        let mut last = self.last.lock().await;
        let verdict = |last_read: LastRead| if last_read.worked { Ok(()) } else { Err(Unknown) };
        if let Some(last_read) = *last
            && clock.monotonic() < last_read.at + READ_AGAIN_AFTER
        {
            return verdict(last_read);
        }
        let read = store.inbox().secrets(&key, clock.now()).await;
        let last_read = LastRead { at: clock.monotonic(), worked: read.is_ok() };
        match read {
            Ok(records) => {
                let kept = |record: KeptSecret| Kept { secret: record.secret.as_str().into(), record };
                let kept = records.into_iter().map(kept).collect();
                *self.records() = Arc::new(Records { kept, read_at: Some(last_read.at) });
            }
            Err(error) => tracing::warn!(store = %key, %error, "cannot read the webhook secrets"),
        }
        *last = Some(last_read);
        verdict(last_read)
    }

    fn is_fresh(&self, now: Duration) -> bool {
        self.records().read_at.is_some_and(|read_at| now < read_at + BELIEVED_FOR)
    }

    fn verify(&self, body: &[u8], header: &str, now: DateTime<Utc>) -> bool {
        let records = Arc::clone(&self.records());
        let kept = records.kept.iter().filter(|kept| kept.record.is_accepted(now)).map(|kept| &kept.secret);
        self.configured.iter().chain(kept).any(|secret| webhook::verify(secret, body, header))
    }

    fn records(&self) -> MutexGuard<'_, Arc<Records>> {
        self.records.lock()
    }
}

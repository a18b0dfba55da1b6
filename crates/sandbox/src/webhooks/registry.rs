//! Every webhook of the marketplace, and what is on its way to them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use parking_lot::{Mutex, MutexGuard};

use super::{
    delivery::{DeliveryFault, Held},
    history::History,
    hook::Webhook,
    login::WebhookBlock,
    outbox::Outbox,
    support_cases::SupportCases,
};
use crate::{faults::Rules, random::Random};

/// The webhooks. Their locks come last in the order.
#[derive(Default)]
pub(crate) struct Webhooks {
    hooks: Mutex<Vec<Webhook>>,
    /// Spares the lock on the usual path: no webhooks.
    count: AtomicUsize,
    /// How many were ever made, so that no two share an identifier or a secret.
    made: AtomicU64,
    /// How many deliveries were ever built.
    pub(super) built: AtomicU64,
    pub(super) history: History,
    pub(super) faults: Rules<DeliveryFault>,
    pub(super) held: Held,
    pub(crate) outbox: Outbox,
    pub(super) support_cases: SupportCases,
}

impl Webhooks {
    pub(crate) fn new(seed: u64) -> Self {
        Self { faults: Rules::seeded(seed), ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Webhook>> {
        self.hooks.lock()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    /// The webhooks of a store, by its position.
    pub(crate) fn of_store(&self, store: usize) -> Vec<Webhook> {
        self.lock().iter().filter(|webhook| webhook.store == store).cloned().collect()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Webhook> {
        self.lock().iter().find(|webhook| webhook.id == id).cloned()
    }

    /// The webhook that the login of a credential makes, or brings in line keeping its secret; whether it was made.
    pub(crate) fn managed(
        &self,
        store: usize,
        credential: usize,
        WebhookBlock { url, events }: WebhookBlock,
        seed: u64,
        now: i64,
    ) -> (Webhook, bool) {
        let mut hooks = self.lock();
        let same = |hook: &&mut Webhook| hook.managed && (hook.store, hook.credential) == (store, credential);
        if let Some(webhook) = hooks.iter_mut().find(same) {
            (webhook.url, webhook.events) = (url, events);
            return (webhook.clone(), false);
        }
        let (id, secret) = self.identity(seed, now);
        let (headers, active, managed) = (Vec::new(), true, true);
        let webhook = Webhook { id, store, credential, url, events, headers, secret, active, managed };
        hooks.push(webhook.clone());
        self.count.store(hooks.len(), Relaxed);
        (webhook, true)
    }

    /// An identifier and a secret that no other webhook has.
    pub(super) fn identity(&self, seed: u64, now: i64) -> (String, String) {
        let number = self.made.fetch_add(1, Relaxed);
        let mut random = Random::of(&[seed, number, now.unsigned_abs(), 0x5E_C2E7]);
        (random.uuid(), format!("whsec_{}", random.word(32)))
    }

    pub(super) fn add(&self, webhook: Webhook) {
        let mut hooks = self.lock();
        hooks.push(webhook);
        self.count.store(hooks.len(), Relaxed);
    }

    /// Changes a webhook; what the change answers, if there is such a webhook.
    pub(super) fn edit<T>(&self, id: &str, change: impl FnOnce(&mut Webhook) -> T) -> Option<T> {
        self.lock().iter_mut().find(|webhook| webhook.id == id).map(change)
    }

    /// Deletes a webhook; whether there was one.
    pub(super) fn delete(&self, id: &str) -> bool {
        self.retain(|webhook| webhook.id != id)
    }

    /// Deletes the webhooks of a credential.
    pub(crate) fn forget(&self, store: usize, credential: usize) {
        self.retain(|webhook| (webhook.store, webhook.credential) != (store, credential));
    }

    fn retain(&self, keep: impl FnMut(&Webhook) -> bool) -> bool {
        let mut hooks = self.lock();
        let before = hooks.len();
        hooks.retain(keep);
        self.count.store(hooks.len(), Relaxed);
        hooks.len() < before
    }
}

//! Webhooks, deliveries, occurrences and conversations behind the API's back.

use serde::Serialize;

use super::{DeliveryAttempt, DeliveryRule, NewOccurrence, NewWebhook, WebhookInfo, dispatch, hook::Webhook};
use crate::{
    announce::send,
    control::handles::{SupportCasesControl, WebhooksControl},
    event::Event,
    refusal::Refusal,
    store::Store,
};

/// A webhook that was made in the portal: its secret is shown this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookSecret {
    /// A UUID.
    pub id: String,
    /// The key of the deliveries' signatures.
    pub secret: String,
}

impl WebhooksControl<'_> {
    /// Makes a webhook in the portal. A store's name stands for its first credential, which the webhook then belongs
    /// to; a username names another. `None` where that is unknown, or the portal refuses the webhook.
    pub fn create(self, credential: &str, webhook: NewWebhook) -> Option<WebhookSecret> {
        self.add_in_portal(credential, webhook).ok()
    }

    pub(super) fn add_in_portal(self, name: &str, new: NewWebhook) -> Result<WebhookSecret, Refusal> {
        let owner = self.control.credentials().position_of(name).ok_or(Refusal::NotFound)?;
        let world = self.world();
        let (local, seed) = (world.options.local_webhooks, world.options.seed);
        let webhook = world.webhooks.add_in_portal(owner, new, local, (seed, world.clock.seconds()))?;
        Ok(WebhookSecret { id: webhook.id, secret: webhook.secret })
    }

    /// Changes what is given about a webhook. The portal refuses to change one that the login made.
    pub fn edit(self, id: &str, change: NewWebhook) -> bool {
        self.edit_in_portal(id, change).is_ok()
    }

    pub(super) fn edit_in_portal(self, id: &str, change: NewWebhook) -> Result<(), Refusal> {
        let world = self.world();
        world.webhooks.edit_in_portal(id, change, world.options.local_webhooks)
    }

    /// Deletes a webhook, one that the login made too.
    pub fn delete(self, id: &str) -> bool {
        self.world().webhooks.delete(id)
    }

    /// Presses the test button of a webhook; whether it is active.
    pub fn test(self, id: &str) -> bool {
        dispatch::test_from_portal(self.world(), id).is_ok()
    }

    /// The webhooks of a store, oldest first.
    pub fn of_store(self, store: &str) -> Vec<WebhookInfo> {
        let Some(position) = self.world().position(store) else { return Vec::new() };
        self.world().webhooks.of_store(position).iter().map(Webhook::info).collect()
    }

    /// The last 10,000 attempts to deliver something, those for this store, oldest first.
    pub fn deliveries(self, store: &str) -> Vec<DeliveryAttempt> {
        self.world().webhooks.history.of_store(store)
    }

    /// Waits until every delivery that is due has been attempted.
    pub async fn deliveries_done(self) {
        self.world().webhooks.outbox.emptied().await;
    }

    /// Adds a rule that spoils deliveries.
    pub fn spoil_deliveries(self, rule: DeliveryRule) {
        let DeliveryRule { event, times, of_thousand, kind } = rule;
        self.world().webhooks.faults.add(event, times, of_thousand, kind);
    }

    /// Forgets every rule about deliveries.
    pub fn clear_delivery_faults(self) {
        self.world().webhooks.faults.clear();
    }
}

impl<'a> SupportCasesControl<'a> {
    /// Opens an occurrence that the store can see; its identifier.
    pub fn open_occurrence(self, store: &str, occurrence: NewOccurrence) -> Option<u64> {
        let (store, at) = self.store_at(store)?;
        let (id, event) = self.world().webhooks.support_cases.open_occurrence(at, occurrence)?;
        send(self.world(), store, [event]);
        Some(id)
    }

    /// Ends an occurrence as `resolved`, `cancelled` or `auto_closed`.
    pub fn end_occurrence(self, store: &str, id: u64, status: &str) -> bool {
        let Some((store, at)) = self.store_at(store) else { return false };
        let event = self.world().webhooks.support_cases.end_occurrence(at, id, status);
        self.send_any(store, event)
    }

    /// Opens a conversation about an order; its identifier.
    pub fn open_conversation(self, store: &str, order: &str, kind: &str) -> Option<u64> {
        let (store, at) = self.store_at(store)?;
        let (id, event) = self.world().webhooks.support_cases.open_conversation(at, order, kind);
        send(self.world(), store, [event]);
        Some(id)
    }

    /// Writes into a conversation as a `customer`, the `platform` or the `store`; the message's identifier.
    pub fn say(self, store: &str, conversation: u64, sender_type: &str, body: &str) -> Option<u64> {
        let (store, at) = self.store_at(store)?;
        let cases = &self.world().webhooks.support_cases;
        let (id, event) = cases.add_message(at, conversation, (sender_type, body))?;
        send(self.world(), store, event);
        Some(id)
    }

    /// Closes a conversation.
    pub fn close_conversation(self, store: &str, id: u64, reason: &str) -> bool {
        let Some((store, at)) = self.store_at(store) else { return false };
        let event = self.world().webhooks.support_cases.close_conversation(at, id, reason);
        self.send_any(store, event)
    }

    /// Sends the event of a change; whether there was one.
    fn send_any(self, store: &Store, event: Option<Event>) -> bool {
        let changed = event.is_some();
        send(self.world(), store, event);
        changed
    }

    fn store_at(self, key: &str) -> Option<(&'a Store, usize)> {
        Some((self.world().store(key)?, self.world().position(key)?))
    }
}

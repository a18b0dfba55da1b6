//! Webhooks, deliveries, occurrences and conversations behind the API's back.

use serde::Serialize;

use super::{DeliveryAttempt, DeliveryRule, NewWebhook, WebhookInfo, desk::NewOccurrence};
use crate::{Control, answer::Refusal, store::Store};

/// A webhook that was made in the portal: its secret is shown this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookSecret {
    /// A UUID.
    pub id: String,
    /// What deliveries are signed with.
    pub secret: String,
}

impl Control {
    /// Makes a webhook in the portal. A store's name stands for its first credential, which the webhook then belongs to;
    /// a username names another. `None` where that is unknown, or the portal refuses the webhook.
    pub fn add_webhook(&self, credential: &str, webhook: NewWebhook) -> Option<WebhookSecret> {
        self.portal_add(credential, webhook).ok()
    }

    pub(super) fn portal_add(&self, name: &str, new: NewWebhook) -> Result<WebhookSecret, Refusal> {
        let owner = self.position_of(name).ok_or(Refusal::NotFound)?;
        let webhook = self.world().portal_add(owner, new)?;
        Ok(WebhookSecret { id: webhook.id, secret: webhook.secret })
    }

    /// Changes what is given about a webhook. The portal refuses to change one that the login made.
    pub fn edit_webhook(&self, id: &str, change: NewWebhook) -> bool {
        self.world().portal_edit(id, change).is_ok()
    }

    /// Deletes a webhook, whoever made it.
    pub fn delete_webhook(&self, id: &str) -> bool {
        self.world().webhooks.delete(id)
    }

    /// Presses the test button of a webhook; whether it is active.
    pub fn test_webhook(&self, id: &str) -> bool {
        self.world().portal_test(id).is_ok()
    }

    /// The webhooks of a store, oldest first.
    pub fn webhooks(&self, store: &str) -> Vec<WebhookInfo> {
        let Some(position) = self.world().position(store) else { return Vec::new() };
        self.world().webhooks.of_store(position).iter().map(super::Webhook::info).collect()
    }

    /// The last 10,000 attempts to deliver something, those for this store, oldest first.
    pub fn deliveries(&self, store: &str) -> Vec<DeliveryAttempt> {
        self.world().webhooks.history.of_store(store)
    }

    /// Waits until every delivery that is due has been attempted.
    pub async fn deliveries_done(&self) {
        self.world().webhooks.outbox.emptied().await;
    }

    /// Adds a rule that spoils deliveries.
    pub fn spoil_deliveries(&self, rule: DeliveryRule) {
        let DeliveryRule { event, times, of_thousand, kind } = rule;
        self.world().webhooks.faults.add(event, times, of_thousand, kind);
    }

    /// Forgets every rule about deliveries.
    pub fn clear_delivery_faults(&self) {
        self.world().webhooks.faults.clear();
    }

    /// Opens an occurrence that the store can see; its identifier.
    pub fn open_occurrence(&self, store: &str, occurrence: NewOccurrence) -> Option<u64> {
        let (store, at) = self.store_at(store)?;
        self.world().open_occurrence(store, at, occurrence)
    }

    /// Ends an occurrence as `resolved`, `cancelled` or `auto_closed`.
    pub fn end_occurrence(&self, store: &str, id: u64, status: &str) -> bool {
        self.store_at(store).is_some_and(|(store, at)| self.world().end_occurrence(store, at, id, status))
    }

    /// Opens a conversation about an order; its identifier.
    pub fn open_conversation(&self, store: &str, order: &str, kind: &str) -> Option<u64> {
        let (store, at) = self.store_at(store)?;
        Some(self.world().open_conversation(store, at, order, kind))
    }

    /// Has a `customer`, the `platform` or the `store` write into a conversation; the message's identifier.
    pub fn say(&self, store: &str, conversation: u64, sender_type: &str, body: &str) -> Option<u64> {
        let (store, at) = self.store_at(store)?;
        self.world().say(store, at, conversation, (sender_type, body))
    }

    /// Closes a conversation.
    pub fn close_conversation(&self, store: &str, id: u64, reason: &str) -> bool {
        self.store_at(store).is_some_and(|(store, at)| self.world().close_conversation(store, at, id, reason))
    }

    fn store_at(&self, key: &str) -> Option<(&Store, usize)> {
        Some((self.world().store(key)?, self.world().position(key)?))
    }
}

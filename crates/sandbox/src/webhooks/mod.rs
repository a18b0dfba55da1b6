//! Webhooks: who subscribed to what, and the events that are sent to them ("Events" of the document).
//!
//! Reading order: [`events`] (what there is to hear), [`hook`] (one webhook), [`registry`] (all of them), [`login`] and
//! [`portal`] (the two ways to make one), [`delivery`] (what is sent, and when again), [`sender`] (how), [`desk`]
//! (occurrences and conversations), [`control`] (all of it behind the API's back).

pub(crate) mod control;
pub(crate) mod delivery;
pub(crate) mod desk;
mod events;
mod history;
mod hook;
pub(crate) mod levers;
pub(crate) mod login;
mod portal;
mod registry;
pub(crate) mod routes;
pub(crate) mod sender;

pub(crate) use self::registry::Webhooks;
pub use self::{
    control::WebhookSecret,
    delivery::{DeliveryFault, DeliveryRule},
    desk::NewOccurrence,
    history::DeliveryAttempt,
    hook::WebhookInfo,
    portal::NewWebhook,
};

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{auth::State, store::Store, text, world::World};
use hook::Webhook;

impl World {
    /// Tells every webhook of a store that something happened. `data` lacks only `store_id`.
    pub(crate) fn emit(self: &Arc<Self>, store: &Store, event: &'static str, data: Value) {
        if self.webhooks.is_empty() {
            return;
        }
        let Some(position) = self.position(&store.key) else { return };
        let mut fields = Map::new();
        fields.insert("store_id".to_owned(), store.id.into());
        if let Value::Object(data) = data {
            fields.extend(data);
        }
        let data = Value::Object(fields);
        for webhook in self.webhooks.of_store(position) {
            if webhook.subscribes(event) && self.is_delivered_to(&webhook) {
                self.dispatch(&webhook, event, &data);
            }
        }
    }

    /// Sends `webhook.test` to a webhook, which need not subscribe to it; whether it was active.
    pub(crate) fn emit_test(self: &Arc<Self>, webhook: &Webhook, source: &str) -> bool {
        if !webhook.active || !self.is_delivered_to(webhook) {
            return false;
        }
        let data = json!({
            "source": source,
            "webhook_id": webhook.id,
            "message": "Entrega de teste do webhook.",
            "sent_at": iso(self.clock.seconds()),
        });
        self.dispatch(webhook, events::TEST, &data);
        true
    }

    /// Switching a credential off cuts its deliveries at once.
    pub(crate) fn is_delivered_to(&self, webhook: &Webhook) -> bool {
        let Some(store) = self.stores.get(webhook.store) else { return false };
        let credentials = store.credentials();
        credentials.get(webhook.credential).is_some_and(|credential| credential.state == State::Active)
    }
}

/// An instant as text.
pub(crate) fn iso(seconds: i64) -> String {
    let mut buf = Vec::new();
    text::push_time(&mut buf, seconds);
    String::from_utf8(buf).unwrap_or_default()
}

//! Dispatch: builds the delivery of an event to a webhook and puts it into the outbox, or does what a fault rule says.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    delivery::{Delivery, DeliveryFault},
    events,
    hook::Webhook,
};
use crate::{auth::State, refusal::Refusal, text::iso, world::World};

/// How long a delivery is held back at most, should nothing follow it.
const MAX_HELD: i64 = 60;

/// The body of a delivery, in the order of the document.
#[derive(Serialize)]
struct Body<'a> {
    event: &'a str,
    data: &'a Value,
    timestamp: String,
    webhook_id: &'a str,
}

/// Whether deliveries to a webhook go out: switching its credential off stops them at once.
pub(crate) fn delivers_to(world: &World, webhook: &Webhook) -> bool {
    let Some(store) = world.stores.get(webhook.store) else { return false };
    let credentials = store.credentials();
    credentials.get(webhook.credential).is_some_and(|credential| credential.state == State::Active)
}

/// Sends `webhook.test` to a webhook, which need not subscribe to it; whether the webhook is active.
pub(crate) fn send_test(world: &Arc<World>, webhook: &Webhook, source: &str) -> bool {
    if !webhook.active || !delivers_to(world, webhook) {
        return false;
    }
    let data = json!({
        "source": source,
        "webhook_id": webhook.id,
        "message": "Entrega de teste do webhook.",
        "sent_at": iso(world.clock.seconds()),
    });
    dispatch(world, webhook, events::TEST, &data);
    true
}

/// The portal's test button.
pub(super) fn test_from_portal(world: &Arc<World>, id: &str) -> Result<(), Refusal> {
    let webhook = world.webhooks.get(id).ok_or(Refusal::NotFound)?;
    if send_test(world, &webhook, "seller.webhook-test") {
        return Ok(());
    }
    Err(Refusal::Rule("WEBHOOK_NOT_ACTIVE", "O webhook não está ativo.".to_owned()))
}

/// Builds a delivery and sends it, or does what a fault does to it.
pub(crate) fn dispatch(world: &Arc<World>, webhook: &Webhook, event: &'static str, data: &Value) {
    let timestamp = iso(world.clock.seconds());
    let body = Body { event, data, timestamp, webhook_id: &webhook.id };
    let delivery = Delivery {
        webhook: webhook.id.clone(),
        number: world.webhooks.built.fetch_add(1, Relaxed),
        event,
        body: serde_json::to_vec(&body).unwrap_or_default().into(),
        attempt: 1,
        forged_with: None,
    };
    let forged = |with| Delivery { forged_with: Some(with), ..delivery.clone() };
    let outbox = &world.webhooks.outbox;
    match world.webhooks.faults.take(|part, _| event.contains(part)) {
        Some(DeliveryFault::Lost) => return,
        Some(DeliveryFault::HeldBack) => return hold_back(world, delivery),
        Some(DeliveryFault::Delayed(seconds)) => {
            return world.run_after(i64::from(seconds), |world| world.webhooks.outbox.put(delivery));
        }
        Some(DeliveryFault::Doubled) => outbox.put(delivery.clone()),
        Some(DeliveryFault::WrongSignature) => outbox.put(forged("")),
        Some(DeliveryFault::OtherSecret) => outbox.put(forged("whsec_of_somebody_else")),
        None => {}
    }
    outbox.put(delivery);
}

fn hold_back(world: &Arc<World>, delivery: Delivery) {
    let (webhook, number) = (delivery.webhook.clone(), delivery.number);
    world.webhooks.held.put(delivery);
    world.run_after(MAX_HELD, move |world| {
        for delivery in world.webhooks.held.take(&webhook, |held| held.number == number) {
            world.webhooks.outbox.put(delivery);
        }
    });
}

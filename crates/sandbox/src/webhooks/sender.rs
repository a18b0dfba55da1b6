//! The sender: the one place that calls receivers.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Client,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT},
    redirect::Policy,
};
use tokio::task::JoinSet;

use super::{
    delivery::{Delivery, WAITS},
    dispatch::delivers_to,
    history::DeliveryAttempt,
    hook::{Webhook, signature},
};
use crate::{clock, text::iso, world::World};

/// Deliveries that are under way at the same time.
const IN_FLIGHT: usize = 64;

const AGENT: HeaderValue = HeaderValue::from_static("Marketplace-API-Webhook/1.0");
const SIGNATURE: HeaderName = HeaderName::from_static("x-webhook-signature");

/// Attempts deliveries until the task is aborted, which abandons those under way.
pub(crate) async fn run(world: Arc<World>) {
    let _ended = world.webhooks.outbox.end_with_sender();
    let Some(mut queue) = world.webhooks.outbox.take_queue() else { return };
    let mut client = None;
    let mut flying = JoinSet::new();
    loop {
        tokio::select! {
            Some(delivery) = queue.recv(), if flying.len() < IN_FLIGHT => {
                let client = client.get_or_insert_with(|| build(world.options.webhook_timeout)).clone();
                flying.spawn(deliver(Arc::clone(&world), client, delivery));
            }
            Some(_) = flying.join_next() => {}
        }
    }
}

/// Built when something is delivered for the first time: most sandboxes never deliver anything.
fn build(timeout: Duration) -> Option<Client> {
    // It fails where the program has installed a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().no_proxy().redirect(Policy::none()).timeout(timeout);
    builder.pool_max_idle_per_host(0).build().ok()
}

/// One attempt, from the look at the webhook to what follows from the outcome.
async fn deliver(world: Arc<World>, client: Option<Client>, delivery: Delivery) {
    let webhook = world.webhooks.get(&delivery.webhook);
    // Silently dropped where the webhook was switched off or deleted meanwhile.
    if let Some(webhook) = webhook.filter(|webhook| webhook.active && delivers_to(&world, webhook)) {
        let is_done = attempt(&world, client, &webhook, &delivery).await;
        follow_up(&world, delivery, is_done);
    }
    world.webhooks.outbox.done();
}

/// Whether the receiver took it.
async fn attempt(world: &World, client: Option<Client>, webhook: &Webhook, delivery: &Delivery) -> bool {
    let (at, watch) = (iso(world.clock.seconds()), clock::stopwatch());
    let outcome = match client {
        Some(client) => post(&client, webhook, delivery).await,
        None => Err("the HTTP client could not be built".to_owned()),
    };
    let (status, error) = match outcome {
        Ok(status) if (200..300).contains(&status) => (Some(status), None),
        Ok(status) => (Some(status), Some(format!("the receiver answered {status}"))),
        Err(error) => (None, Some(error)),
    };
    let is_done = error.is_none();
    world.webhooks.history.add(DeliveryAttempt {
        store: world.stores.get(webhook.store).map(|store| store.key.clone()).unwrap_or_default(),
        webhook_id: webhook.id.clone(),
        delivery: delivery.number,
        event: delivery.event.to_owned(),
        attempt: delivery.attempt,
        at,
        status,
        duration_ms: u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX),
        error,
        forged: delivery.forged_with.is_some(),
    });
    is_done
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the marketplace calls the receivers of its events"
)]
async fn post(client: &Client, webhook: &Webhook, delivery: &Delivery) -> Result<u16, String> {
    let request = client.post(&webhook.url).headers(headers(webhook, delivery)).body(delivery.body.clone());
    match request.send().await {
        Ok(response) => Ok(response.status().as_u16()),
        Err(error) if error.is_timeout() => Err("no answer in time".to_owned()),
        Err(error) if error.is_connect() => Err("the connection could not be made".to_owned()),
        Err(error) => Err(error.without_url().to_string()),
    }
}

/// The default headers, then those of the webhook, which take the place of a default one of the same name.
fn headers(webhook: &Webhook, delivery: &Delivery) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, AGENT);
    let signed = match delivery.forged_with {
        None => webhook.signature(&delivery.body),
        Some("") => format!("sha256={}", "0".repeat(64)),
        Some(secret) => signature(secret, &delivery.body),
    };
    if let Ok(signed) = HeaderValue::from_str(&signed) {
        headers.insert(SIGNATURE, signed);
    }
    for (name, value) in &webhook.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    headers
}

/// Schedules the next attempt after a failure, and releases the deliveries that waited for this one.
fn follow_up(world: &Arc<World>, delivery: Delivery, is_done: bool) {
    for held in world.webhooks.held.take_before(&delivery.webhook, delivery.number) {
        world.webhooks.outbox.put(held);
    }
    let wait = WAITS.get(usize::from(delivery.attempt) - 1);
    if let Some(wait) = wait.filter(|_| !is_done && delivery.forged_with.is_none()) {
        let next = Delivery { attempt: delivery.attempt + 1, ..delivery };
        world.run_after(*wait, |world| world.webhooks.outbox.put(next));
    }
}

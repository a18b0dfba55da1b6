//! Checks the webhook: its address, and a test delivery from the marketplace to the receiver.

use espelho_model::text;
use espelho_store::{Error, WebhookOwner};
use espelho_sync_engine::{Examination, Problem, Question, RoundTrip};

use super::{
    access::{Access, Silence},
    facts::StoreFacts,
    finding::{Finding, State},
};
use crate::{config::WebhookConfig, local};

/// Checks whether the next login would take the webhook away from its registered address.
pub(super) async fn address(store: &StoreFacts<'_>) -> Finding {
    let config = store.config;
    let Some(webhook) = &config.webhook else { return Finding::absent(text!("doctor-webhook-none")) };
    let wanted = format!("/webhooks/{}", config.key);
    let registered = registered(store, webhook).await;
    let is_well = registered.state <= State::Unknown && !registered.is_open;
    // Deliveries to another path are no delivery of this store, unless a proxy changes the path.
    match is_well && path_of(&webhook.public_url) != wanted {
        true => Finding::yellow(text!("doctor-webhook-path", address = &webhook.public_url, path = wanted)),
        false => registered,
    }
}

async fn registered(store: &StoreFacts<'_>, webhook: &WebhookConfig) -> Finding {
    let config = store.config;
    if webhook.secret.is_some() {
        return Finding::absent(text!("doctor-webhook-by-hand", address = &webhook.public_url));
    }
    let Some(database) = store.all.store() else { return Finding::absent(text!("doctor-database-none")) };
    let owner = WebhookOwner { store: &config.key, username: &config.username, base_url: &config.base_url };
    match database.inbox().refuse_to_move_webhook(owner, &webhook.public_url).await {
        Ok(()) => Finding::green(text!("doctor-webhook-address", address = &webhook.public_url)),
        Err(Error::WebhookElsewhere { registered, configured, .. }) => Finding::red(text!(
            "doctor-webhook-elsewhere",
            registered = registered,
            configured = configured,
            store = config.key.to_string()
        )),
        Err(error) => Finding::not_seen(text!("doctor-unread", cause = Problem::from_store(&error).error)),
    }
}

/// Returns the path of an address, as the receiver hears it.
fn path_of(address: &str) -> &str {
    let after = address.split_once("://").map_or(address, |(_, after)| after);
    let path = after.find('/').map_or("", |start| &after[start..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

/// Lets the marketplace send a test delivery.
pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let Some(webhook) = &store.config.webhook else { return Finding::absent(text!("doctor-webhook-none")) };
    if !matches!(store.access.get(), Some(Access::Service(..))) {
        return Finding::absent(text!("doctor-webhook-no-service"));
    }
    match store.ask_with_token(Question::Webhook).await {
        Ok(Examination::Webhook(RoundTrip::Unanswered)) if unverified_came(store).await => {
            Finding::red(text!("doctor-webhook-signature", file = store.file()))
        }
        Ok(Examination::Webhook(round_trip)) => {
            let listen = store.all.configuration.installation.webhooks.listen.to_string();
            judge(&round_trip, &webhook.public_url, &listen, store.config.key.as_str())
        }
        Ok(Examination::Failed(refusal)) => {
            Finding::not_seen(text!("doctor-webhook-not-asked", cause = refusal.error))
        }
        Ok(_) | Err(Silence::NoAnswer) => Finding::not_seen(text!("doctor-webhook-no-answer")),
        Err(Silence::NotAsked(why)) => Finding::not_seen(why),
    }
}

/// Whether deliveries without a signature by a known secret have arrived since the service was first asked.
async fn unverified_came(store: &StoreFacts<'_>) -> bool {
    let listen = store.all.configuration.installation.http.listen;
    let now = local::unverified(listen, &store.config.key, &store.all.clock).await;
    let before = store.status().and_then(|told| told["unverified"].as_u64());
    now.zip(before).is_some_and(|(now, before)| now > before)
}

fn judge(round_trip: &RoundTrip, address: &str, listen: &str, store: &str) -> Finding {
    match round_trip {
        RoundTrip::Arrived { milliseconds } => {
            Finding::green(text!("doctor-webhook", address = address, milliseconds = *milliseconds))
        }
        RoundTrip::Refused { problem } => Finding::red(text!("doctor-webhook-refused", cause = problem)),
        RoundTrip::Unanswered => Finding::not_seen(text!(
            "doctor-webhook-unanswered",
            address = address,
            listen = listen,
            store = store
        )),
        RoundTrip::NotAsked(refusal) => {
            Finding::not_seen(text!("doctor-webhook-not-asked", cause = &refusal.error))
        }
    }
}

#[cfg(test)]
mod tests {
    use espelho_sync_engine::Refusal;

    use super::{super::finding::State, *};

    #[test]
    fn the_path_of_an_address_is_what_the_receiver_hears() {
        for (address, expected) in [
            ("https://erp.example/webhooks/loja", "/webhooks/loja"),
            ("https://erp.example/webhooks/loja?x=1", "/webhooks/loja"),
            ("https://erp.example", ""),
            ("https://erp.example/", "/"),
            ("https://erp.example/espelho/loja", "/espelho/loja"),
        ] {
            assert_eq!(path_of(address), expected, "{address}");
        }
    }

    #[test]
    fn a_test_delivery_is_green_only_when_it_arrived_and_red_only_when_it_was_refused() {
        let refusal = Refusal { code: "http_500".into(), error: "e".into(), is_authentication: false };
        for (round_trip, state) in [
            (RoundTrip::Arrived { milliseconds: 120 }, State::Green),
            (RoundTrip::Refused { problem: "404".into() }, State::Red),
            (RoundTrip::Unanswered, State::Unknown),
            (RoundTrip::NotAsked(refusal), State::Unknown),
        ] {
            let finding = judge(&round_trip, "https://erp.example/webhooks/a", "127.0.0.1:8788", "a");
            assert_eq!((finding.state, finding.is_open), (state, state == State::Unknown), "{round_trip:?}");
        }
    }
}

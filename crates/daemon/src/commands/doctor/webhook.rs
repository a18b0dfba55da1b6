//! Checks the webhook: its address, and a test delivery from the marketplace to the receiver.

use espelho_model::{text, text::Text};
use espelho_store::WebhookOwner;
use espelho_sync_engine::{
    Examination, NOT_RECEIVED, Problem, Question, RoundTrip,
    plan::pauses::{Activity, held_until},
};

use super::{
    access::{Access, Silence},
    facts::StoreFacts,
    finding::{Finding, State},
    receiver,
};
use crate::{
    config::{StoreConfig, WebhookConfig},
    local,
};

/// Checks whether the next login would take the webhook away from its registered address.
pub(super) async fn address(store: &StoreFacts<'_>) -> Finding {
    let config = store.config;
    let Some(webhook) = &config.webhook else { return Finding::not_configured(none(store)) };
    let wanted = format!("/webhooks/{}", config.key);
    let registered = registered(store, webhook).await;
    let is_well = registered.state <= State::Unknown && !registered.is_open;
    // Deliveries to another path are no delivery of this store, unless a proxy changes the path.
    match is_well && path_of(&webhook.public_url) != wanted {
        true => Finding::yellow(text!("doctor-webhook-path", address = &webhook.public_url, path = wanted)),
        false => registered,
    }
}

/// Returns the message that the store has no webhook.
fn none(store: &StoreFacts<'_>) -> Text {
    text!("doctor-webhook-none", file = store.file())
}

async fn registered(store: &StoreFacts<'_>, webhook: &WebhookConfig) -> Finding {
    let config = store.config;
    if webhook.secret.is_some() {
        return Finding::absent(text!("doctor-webhook-by-hand", address = &webhook.public_url));
    }
    let database = match store.all.opened() {
        Ok(database) => database,
        Err(closed) => return closed,
    };
    match database.inbox().webhook_address(owner(config)).await {
        Ok(registered) => judge_address(
            registered.as_ref().map(|known| known.url.as_str()),
            &webhook.public_url,
            config.key.as_str(),
            store.all.status().is_some(),
        ),
        Err(error) => Finding::not_seen(text!("doctor-unread", cause = Problem::from_store(&error).text)),
    }
}

/// Judges the address that our last login registered. No answer of the marketplace shows it, so without such a login
/// nothing is known (API document, "Authentication" 10).
fn judge_address(registered: Option<&str>, configured: &str, store: &str, is_running: bool) -> Finding {
    match registered {
        Some(registered) if registered == configured => {
            Finding::green(text!("doctor-webhook-address", address = registered))
        }
        Some(registered) => Finding::red(text!(
            "doctor-webhook-elsewhere",
            registered = registered,
            configured = configured,
            store = store
        )),
        None => {
            let running = if is_running { "yes" } else { "no" };
            Finding::absent(text!("doctor-webhook-unregistered", address = configured, running = running))
        }
    }
}

fn owner(config: &StoreConfig) -> WebhookOwner<'_> {
    WebhookOwner { store: &config.key, username: &config.username, base_url: &config.base_url }
}

/// Returns the path of an address, as the receiver hears it.
fn path_of(address: &str) -> &str {
    let after = address.split_once("://").map_or(address, |(_, after)| after);
    let path = after.find('/').map_or("", |start| &after[start..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

/// Lets the marketplace send a test delivery.
pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let Some(webhook) = &store.config.webhook else { return Finding::not_configured(none(store)) };
    if !matches!(store.access.get(), Some(Access::Service(..))) {
        let is_unknown =
            store.access.get().is_none() && store.status().is_some() && store.all.opened().is_err();
        return match store.all.status() {
            None => Finding::absent(text!("doctor-webhook-no-service")),
            Some(_) if is_unknown => Finding::skipped(store.all.no_database()),
            Some(_) => Finding::absent(text!("doctor-webhook-not-its")),
        };
    }
    match store.ask_with_token(Question::Webhook).await {
        Ok(Examination::Webhook(RoundTrip::Unanswered)) if unverified_came(store).await => {
            let made = if webhook.secret.is_some() { "by-hand" } else { "by-login" };
            Finding::red(text!("doctor-webhook-signature", file = store.file(), made = made))
        }
        Ok(Examination::Webhook(RoundTrip::Unanswered)) if is_paused(store).await => {
            Finding::not_seen(text!("doctor-webhook-paused", store = store.config.key.as_str()))
        }
        Ok(Examination::Webhook(round_trip)) => {
            let listen = receiver::listens_on(store).to_string();
            // Where the webhook was made in the portal, only the configuration says where it points.
            let address = match (&webhook.secret, store.all.store()) {
                (None, Some(database)) => {
                    database.inbox().webhook_address(owner(store.config)).await.ok().flatten()
                }
                _ => None,
            };
            let address = (address.as_ref().map(|known| known.url.as_str()), webhook.public_url.as_str());
            judge(&round_trip, address, &listen, store.config.key.as_str())
        }
        Ok(Examination::Failed(refusal)) => {
            Finding::not_seen(text!("doctor-webhook-not-asked", cause = refusal.cause()))
        }
        Ok(_) | Err(Silence::NoAnswer) => Finding::not_seen(text!("doctor-webhook-no-answer")),
        Err(Silence::NotAsked(reason)) => Finding::skipped(reason),
    }
}

/// Tells if a pause holds the deliveries of the store.
async fn is_paused(store: &StoreFacts<'_>) -> bool {
    let Some(database) = store.all.store() else { return false };
    let pauses = database.pauses().recent().await.unwrap_or_default();
    held_until(&pauses, &store.config.key, Activity::Webhooks, store.all.clock.now()).is_some()
}

/// Whether deliveries without a signature by a known secret have arrived since the service was first asked.
async fn unverified_came(store: &StoreFacts<'_>) -> bool {
    let listen = store.all.configuration.installation.http.listen;
    let now = local::unverified(listen, &store.config.key, &store.all.clock).await;
    let before = store.status().and_then(|told| told["unverified"].as_u64());
    now.zip(before).is_some_and(|(now, before)| now > before)
}

/// Judges a test delivery. It proves the address that is registered, which need not be the configured one.
fn judge(
    round_trip: &RoundTrip,
    (registered, configured): (Option<&str>, &str),
    listen: &str,
    store: &str,
) -> Finding {
    match round_trip {
        RoundTrip::Arrived { milliseconds } => Finding::green(match registered {
            Some(address) => text!("doctor-webhook", address = address, milliseconds = *milliseconds),
            None => text!("doctor-webhook-arrived", milliseconds = *milliseconds),
        }),
        RoundTrip::Refused { problem } => Finding::red(text!("doctor-webhook-refused", cause = problem)),
        RoundTrip::Unanswered => Finding::not_seen(text!(
            "doctor-webhook-unanswered",
            address = registered.unwrap_or(configured),
            listen = listen,
            store = store
        )),
        // The configuration has a webhook, and the service does not know of it yet.
        RoundTrip::NotAsked(refusal) if refusal.code == NOT_RECEIVED => {
            Finding::not_seen(text!("doctor-webhook-not-received"))
        }
        RoundTrip::NotAsked(refusal) => {
            Finding::not_seen(text!("doctor-webhook-not-asked", cause = refusal.cause()))
        }
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;
    use espelho_sync_engine::Refusal;

    use super::*;

    const CONFIGURED: &str = "https://erp.example/webhooks/a";

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
        let refusal = Refusal {
            code: "http_500".into(),
            error: "e".into(),
            is_authentication: false,
            text: None,
            refused_fields: None,
        };
        for (round_trip, state) in [
            (RoundTrip::Arrived { milliseconds: 120 }, State::Green),
            (RoundTrip::Refused { problem: "404".into() }, State::Red),
            (RoundTrip::Unanswered, State::Unknown),
            (RoundTrip::NotAsked(refusal), State::Unknown),
        ] {
            let finding = judge(&round_trip, (None, CONFIGURED), "127.0.0.1:8788", "a");
            assert_eq!((finding.state, finding.is_open), (state, state == State::Unknown), "{round_trip:?}");
        }
    }

    #[test]
    fn a_service_with_an_earlier_configuration_is_to_be_reloaded() {
        let refusal = |code: &str| {
            RoundTrip::NotAsked(Refusal {
                code: code.into(),
                error: "e".into(),
                is_authentication: false,
                text: None,
                refused_fields: None,
            })
        };
        for (code, expected) in
            [(NOT_RECEIVED, "doctor-webhook-not-received"), ("http_500", "doctor-webhook-not-asked")]
        {
            let finding = judge(&refusal(code), (None, CONFIGURED), "127.0.0.1:8788", "a");
            assert_eq!((finding.found.id(), finding.is_open), (expected, true));
        }
    }

    #[test]
    fn a_test_delivery_proves_the_registered_address_and_no_other() {
        let old = "https://old.example/webhooks/a";
        for (registered, named) in
            [(Some(CONFIGURED), Some(CONFIGURED)), (Some(old), Some(old)), (None, None)]
        {
            let arrived = RoundTrip::Arrived { milliseconds: 120 };
            let finding = judge(&arrived, (registered, CONFIGURED), "127.0.0.1:8788", "a");
            let said = finding.found.message(Locale::default());
            for address in [CONFIGURED, old] {
                assert_eq!(said.contains(address), named == Some(address), "{registered:?}: {said}");
            }
        }
    }

    #[test]
    fn an_address_is_green_only_where_a_login_of_ours_has_registered_it() {
        for (registered, state) in [
            (Some(CONFIGURED), State::Green),
            (Some("https://old.example/webhooks/a"), State::Red),
            (None, State::Unknown),
        ] {
            assert_eq!(judge_address(registered, CONFIGURED, "a", true).state, state, "{registered:?}");
        }
    }
}

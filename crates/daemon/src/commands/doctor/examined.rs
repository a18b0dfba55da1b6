//! What a store's token may do, and whether its webhook arrives.

use std::{net::SocketAddr, time::Duration};

use espelho_model::clock::SystemClock;
use espelho_sync_engine::{Ability, Examination, RoundTrip};

use super::{Finding, State, green};
use crate::{config::StoreConfig, handover, local, status::Picture};

/// How long a service is waited for that is busy with a run, and with a test delivery of half a minute.
const LONGEST: Duration = Duration::from_secs(60);

/// Has the service look at token and webhook: only the owner of a store calls the marketplace for it.
pub(super) async fn by_service(listen: SocketAddr, config: &StoreConfig, unverified: u64) -> Vec<Finding> {
    let clock = SystemClock::shared();
    let found = tokio::select! {
        found = handover::ask_to_examine(listen, &config.key, &clock) => found,
        () = clock.sleep(LONGEST) => None,
    };
    let Some(Examination { abilities, webhook }) = found else {
        let found = green("webhook", "not tested: the service is busy with a run of the store");
        return vec![
            found.but(State::Yellow, "run doctor again when espelho status shows that the run has ended"),
        ];
    };
    let mut findings: Vec<Finding> = abilities.iter().map(scope).collect();
    if let (Some(round_trip), Some(webhook)) = (webhook, &config.webhook) {
        let path = format!("/status?store={}", config.key);
        let now = match local::request(listen, "GET", &path, None, &clock).await {
            Ok(answer) => answer.text().await.ok(),
            Err(_) => None,
        };
        let now: Option<Picture> = now.and_then(|text| serde_json::from_str(&text).ok());
        let now = now.and_then(|picture| picture.stores.first().map(|store| store.unverified));
        let is_unverified = now.is_some_and(|now| now > unverified);
        findings.push(arrival(&round_trip, &webhook.public_url, is_unverified));
    }
    findings
}

/// How the webhook's round trip went, and what is between the marketplace and the receiver where it did not.
fn arrival(round_trip: &RoundTrip, address: &str, is_unverified: bool) -> Finding {
    match (round_trip.milliseconds, &round_trip.problem) {
        (Some(milliseconds), _) => {
            green("webhook", format!("the test delivery to {address} arrived after {milliseconds} ms"))
        }
        (None, Some(problem)) => {
            green("webhook", format!("the marketplace refused to send a test delivery: {problem}"))
                .but(State::Red, "see in the seller portal that the webhook is there and active")
        }
        (None, None) if is_unverified => {
            let found = format!("a delivery to {address} arrived, signed with a secret that is not known");
            green("webhook", found).but(
                State::Red,
                "give webhook.secret_file; or delete the webhook in the seller portal: the next login makes a new one",
            )
        }
        (None, None) => {
            let found =
                format!("the marketplace was asked for a test delivery to {address}, and none arrived");
            let between = "between the marketplace and espelho are, in this order: the address that the portal shows for the \
                           webhook, the name in the DNS, the firewall or router, the reverse proxy and its certificate, and \
                           webhooks.listen; try each with curl -v from outside";
            green("webhook", found).but(State::Red, between)
        }
    }
}

/// An ability of the token. What cannot be seen is said, and no reason to act.
pub(super) fn scope(ability: &Ability) -> Finding {
    let found = green("scopes", format!("{}: {}", ability.name, ability.said));
    match ability.granted {
        Some(false) => found.but(
            State::Red,
            "add the ability to the credential in the seller portal, and start the service again",
        ),
        None if ability.failed => found.but(State::Yellow, "look at this error first, then run it again"),
        _ => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_that_fails_says_what_is_in_between() {
        let of = |milliseconds, problem: Option<&str>, is_unverified| {
            let round_trip = RoundTrip { milliseconds, problem: problem.map(str::to_owned) };
            arrival(&round_trip, "https://erp.example/webhooks/a", is_unverified)
        };
        let arrived = of(Some(120), None, false);
        assert_eq!(arrived.state, State::Green);
        assert!(arrived.found.contains("120 ms"), "{}", arrived.found);
        for (finding, words) in [
            (of(None, None, false), "reverse proxy and its certificate"),
            (of(None, None, true), "webhook.secret_file"),
            (of(None, Some("404"), false), "in the seller portal"),
        ] {
            assert_eq!(finding.state, State::Red);
            assert!(finding.lines().contains(words), "{}", finding.lines());
        }
    }

    #[test]
    fn only_an_ability_that_is_seen_to_be_missing_is_red() {
        let of = |granted| Ability {
            name: "store_products_read".into(),
            granted,
            said: "s".into(),
            failed: false,
        };
        assert_eq!(scope(&of(Some(false))).state, State::Red);
        assert_eq!([scope(&of(Some(true))).state, scope(&of(None)).state], [State::Green; 2]);
        assert_eq!(scope(&Ability { failed: true, ..of(None) }).state, State::Yellow);
    }
}

//! Deliveries that are lost, doubled, late, out of order or forged.

use crate::support::{Bench, receiver::Receiver, unlimited};
use espelho_sandbox::{DeliveryFault, DeliveryRule, NewOccurrence, NewWebhook, Options};
use reqwest::Method;
use serde_json::json;

/// A bench, a receiver, and the secret of the webhook between them.
async fn subscribed() -> (Bench, Receiver, String) {
    let (bench, receiver) =
        (Bench::start(Options { control: true, ..unlimited() }).await, Receiver::start().await);
    let new = NewWebhook {
        url: Some(receiver.url.clone()),
        events: Some(vec!["*".to_owned()]),
        ..NewWebhook::default()
    };
    let secret = bench.control().webhooks().create("loja-1", new).unwrap().secret;
    (bench, receiver, secret)
}

fn once(kind: DeliveryFault) -> DeliveryRule {
    DeliveryRule { event: "occurrence.".to_owned(), times: Some(1), of_thousand: 1000, kind }
}

fn happen(bench: &Bench, title: &str) {
    let new = NewOccurrence { title: title.to_owned(), ..NewOccurrence::default() };
    bench.control().support_cases().open_occurrence("loja-1", new).unwrap();
}

async fn next_title(receiver: &mut Receiver) -> String {
    receiver.next().await.data()["title"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_lost_delivery_never_comes() {
    let (bench, mut receiver, _) = subscribed().await;
    bench.control().webhooks().spoil_deliveries(once(DeliveryFault::Lost));
    happen(&bench, "lost");
    happen(&bench, "heard");
    assert_eq!(next_title(&mut receiver).await, "heard");
    bench.control().forward(86_400);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!((receiver.count(), bench.control().webhooks().deliveries("loja-1").len()), (0, 1));
}

// proves: WHK-027
#[tokio::test]
async fn a_doubled_delivery_comes_twice_with_the_same_bytes() {
    let (bench, mut receiver, secret) = subscribed().await;
    bench.control().webhooks().spoil_deliveries(once(DeliveryFault::Doubled));
    happen(&bench, "x");
    let (first, second) = (receiver.next().await, receiver.next().await);
    assert_eq!(first.body, second.body);
    assert!(first.is_signed_with(&secret) && second.is_signed_with(&secret));
    happen(&bench, "y");
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0, "the rule is spent");
}

// proves: WHK-028
#[tokio::test]
async fn a_delivery_that_is_held_back_comes_after_the_next_one() {
    let (bench, mut receiver, _) = subscribed().await;
    bench.control().webhooks().spoil_deliveries(once(DeliveryFault::HeldBack));
    happen(&bench, "first");
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
    happen(&bench, "second");
    assert_eq!(next_title(&mut receiver).await, "second");
    assert_eq!(next_title(&mut receiver).await, "first");
    bench.control().forward(3600);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0, "it comes once");
}

#[tokio::test]
async fn a_delivery_that_is_held_back_comes_after_a_minute_when_nothing_follows() {
    let (bench, mut receiver, _) = subscribed().await;
    bench.control().webhooks().spoil_deliveries(once(DeliveryFault::HeldBack));
    happen(&bench, "first");
    bench.control().forward(59);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
    bench.control().forward(1);
    assert_eq!(next_title(&mut receiver).await, "first");
}

#[tokio::test]
async fn a_late_delivery_comes_so_many_seconds_later_and_says_when_it_was_built() {
    let (bench, mut receiver, secret) = subscribed().await;
    bench.control().webhooks().spoil_deliveries(once(DeliveryFault::Delayed(90)));
    happen(&bench, "late");
    happen(&bench, "prompt");
    let prompt = receiver.next().await;
    bench.control().forward(89);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
    bench.control().forward(1);
    let late = receiver.next().await;
    assert_eq!(late.json()["timestamp"], prompt.json()["timestamp"]);
    assert!(late.is_signed_with(&secret));
}

#[tokio::test]
async fn a_forged_delivery_goes_ahead_of_the_real_one_and_is_not_attempted_again() {
    for kind in [DeliveryFault::WrongSignature, DeliveryFault::OtherSecret] {
        let (bench, mut receiver, secret) = subscribed().await;
        bench.control().webhooks().spoil_deliveries(once(kind));
        receiver.answer(&[401, 401]);
        happen(&bench, "x");
        let signed = [receiver.next().await, receiver.next().await].map(|d| d.is_signed_with(&secret));
        assert_eq!(signed.iter().filter(|signed| **signed).count(), 1, "{kind:?}");
        bench.control().webhooks().deliveries_done().await;
        bench.control().forward(86_400);
        bench.control().webhooks().deliveries_done().await;
        let attempts = bench.control().webhooks().deliveries("loja-1");
        let forged = attempts.iter().filter(|attempt| attempt.forged).count();
        assert_eq!(
            (forged, attempts.len()),
            (1, 3),
            "{kind:?}: the real one is attempted again, twice at most"
        );
        assert!(attempts.iter().all(|attempt| attempt.delivery == attempts[0].delivery));
    }
}

#[tokio::test]
async fn a_probability_spoils_some_and_rules_are_forgotten_on_demand() {
    let (bench, mut receiver, _) = subscribed().await;
    bench.control().webhooks().spoil_deliveries(DeliveryRule {
        event: String::new(),
        times: None,
        of_thousand: 500,
        kind: DeliveryFault::Lost,
    });
    for _ in 0..100 {
        happen(&bench, "x");
    }
    bench.control().webhooks().deliveries_done().await;
    let heard = receiver.count();
    assert!((25..75).contains(&heard), "{heard}");
    bench.control().webhooks().clear_delivery_faults();
    happen(&bench, "last");
    for _ in 0..heard {
        receiver.next().await;
    }
    assert_eq!(next_title(&mut receiver).await, "last");
}

#[tokio::test]
async fn the_levers_do_what_the_handle_does() {
    let (bench, mut receiver, _) = subscribed().await;
    for kind in ["lost", "held_back", "wrong_signature", "other_secret"] {
        let rule = json!({"event": "occurrence.", "times": 1, "probability": 0, "kind": kind});
        bench.pull(Method::POST, "deliveries/faults", &rule).await.data();
    }
    let rule = json!({"times": 1, "kind": "delayed", "seconds": 5});
    bench.pull(Method::POST, "deliveries/faults", &rule).await.data();
    let odd = json!({"kind": "lost", "probability": 2});
    bench.pull(Method::POST, "deliveries/faults", &odd).await.refused(422, "VALIDATION_ERROR");
    let new = json!({"title": "x", "severity": "high", "trigger_key": "k"});
    let id = bench.pull(Method::POST, "occurrences/loja-1", &new).await.data()["occurrence_id"].clone();
    bench.pull(Method::POST, "clock", &json!({"seconds": 5})).await.data();
    assert_eq!(receiver.next().await.data()["severity"], json!("high"));
    bench.pull(Method::DELETE, "deliveries/faults", &json!({})).await.data();
    let end = format!("occurrences/loja-1/{id}/end");
    bench.pull(Method::POST, &end, &json!({"status": "resolved"})).await.data();
    bench.pull(Method::POST, &end, &json!({"status": "resolved"})).await.refused(404, "NOT_FOUND");
    assert_eq!(receiver.next().await.event(), "occurrence.resolved");
    let new = json!({"order_number": "1", "type": "question"});
    let id = bench.pull(Method::POST, "conversations/loja-1", &new).await.data()["conversation_id"].clone();
    let message = json!({"sender_type": "customer", "body": "Olá"});
    bench.pull(Method::POST, &format!("conversations/loja-1/{id}/messages"), &message).await.data();
    bench
        .pull(Method::POST, &format!("conversations/loja-1/{id}/close"), &json!({"reason": "x"}))
        .await
        .data();
    for _ in 0..3 {
        assert!(receiver.next().await.event().starts_with("conversation."));
    }
    bench.control().webhooks().deliveries_done().await;
    let history = bench.pull(Method::GET, "deliveries/loja-1", &json!({})).await.data();
    assert_eq!(history.as_array().unwrap().len(), 5);
    assert_eq!((&history[0]["attempt"], &history[0]["status"]), (&json!(1), &json!(200)));
    bench.pull(Method::GET, "deliveries/loja-9", &json!({})).await.refused(404, "NOT_FOUND");
    bench.pull(Method::POST, "occurrences/loja-9", &json!({})).await.refused(404, "NOT_FOUND");
    let odd = json!({"severity": "terrible"});
    bench.pull(Method::POST, "occurrences/loja-1", &odd).await.refused(422, "VALIDATION_ERROR");
}

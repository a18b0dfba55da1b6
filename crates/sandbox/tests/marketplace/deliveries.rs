//! What a webhook's receiver is sent, and what follows from its answers ("Events / Delivery" of the document).

use std::{collections::BTreeSet, time::Duration};

use crate::support::{
    Bench, NOON,
    receiver::{Receiver, SILENCE},
    unlimited,
};
use espelho_sandbox::{NewOccurrence, NewWebhook, Options};
use serde_json::{Value, json};

/// A portal webhook of the first store; its identifier and secret.
fn webhook(bench: &Bench, url: &str, events: &[&str]) -> (String, String) {
    let events = events.iter().map(|event| (*event).to_owned()).collect();
    let new = NewWebhook { url: Some(url.to_owned()), events: Some(events), ..NewWebhook::default() };
    let made = bench.control().webhooks().create("loja-1", new).unwrap();
    (made.id, made.secret)
}

/// Something happens: an occurrence of this title is opened.
fn happen(bench: &Bench, title: &str) -> u64 {
    let new = NewOccurrence { title: title.to_owned(), ..NewOccurrence::default() };
    bench.control().support_cases().open_occurrence("loja-1", new).unwrap()
}

fn active(active: bool) -> NewWebhook {
    NewWebhook { active: Some(active), ..NewWebhook::default() }
}

/// Event, attempt, status and whether there was an error, of every attempt for the first store.
fn history(bench: &Bench) -> Vec<(String, u8, Option<u16>, bool)> {
    let attempts = bench.control().webhooks().deliveries("loja-1");
    attempts.into_iter().map(|a| (a.event, a.attempt, a.status, a.error.is_some())).collect()
}

// proves: WHK-001, WHK-002, WHK-003, WHK-004, WHK-005, WHK-006, WHK-007, WHK-008, WHK-009, WHK-012, ENV-003, ENV-004
#[tokio::test]
async fn a_delivery_is_a_signed_post_with_the_documented_envelope() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    let (id, secret) = webhook(&bench, &receiver.url, &["*"]);
    assert!(secret.starts_with("whsec_"));
    happen(&bench, "Atraso: \"çã\" 📦");
    let first = receiver.next().await;
    assert_eq!(first.line, "POST /ganchos HTTP/1.1");
    assert_eq!(first.headers["content-type"], "application/json");
    assert_eq!(first.headers["user-agent"], "Marketplace-API-Webhook/1.0");
    assert!(first.is_signed_with(&secret) && !first.is_signed_with("whsec_other"));
    let body = first.json();
    let names: BTreeSet<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["data", "event", "timestamp", "webhook_id"]));
    assert_eq!((&body["event"], &body["data"]["store_id"]), (&json!("occurrence.created"), &json!(1)));
    let timestamp = chrono::DateTime::parse_from_rfc3339(body["timestamp"].as_str().unwrap()).unwrap();
    assert_eq!(timestamp.timestamp_millis(), NOON);
    let uuid: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!((&body["webhook_id"], uuid), (&json!(id), vec![8, 4, 4, 4, 12]));
    bench.hands.forward(10);
    happen(&bench, "outra");
    let second = receiver.next().await.json();
    assert_eq!(second["webhook_id"], body["webhook_id"]);
    assert_ne!(second["timestamp"], body["timestamp"]);
}

// proves: WHK-015, WHK-016
#[tokio::test]
async fn custom_headers_are_sent_and_take_the_place_of_default_ones() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    let (id, secret) = webhook(&bench, &receiver.url, &["*"]);
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers =
        vec![header("X-Loja", "um"), header("user-AGENT", "meu-erp"), header("Content-Type", "text/x")];
    assert!(
        bench.control().webhooks().edit(&id, NewWebhook { headers: Some(headers), ..NewWebhook::default() })
    );
    happen(&bench, "x");
    let delivered = receiver.next().await;
    assert_eq!(delivered.headers["x-loja"], "um");
    assert_eq!(delivered.headers["user-agent"], "meu-erp");
    assert_eq!(delivered.headers["content-type"], "text/x");
    assert!(delivered.is_signed_with(&secret));
}

// proves: WHK-017, WHK-026
#[tokio::test]
async fn any_2xx_is_a_success_and_nothing_is_sent_again() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    for status in [200, 201, 204, 299] {
        receiver.answer(&[status]);
        happen(&bench, "x");
        receiver.next().await;
        bench.control().webhooks().deliveries_done().await;
        bench.control().forward(3600);
        bench.control().webhooks().deliveries_done().await;
        assert_eq!(receiver.count(), 0);
        assert_eq!(history(&bench).pop(), Some(("occurrence.created".to_owned(), 1, Some(status), false)));
    }
}

// proves: WHK-018, WHK-019, WHK-022, WHK-023, WHK-026
#[tokio::test]
async fn a_refused_delivery_is_attempted_after_one_and_after_five_minutes_and_then_given_up() {
    for status in [302, 400, 401, 404, 410, 500, 503] {
        let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
        webhook(&bench, &receiver.url, &["*"]);
        receiver.answer(&[status; 9]);
        happen(&bench, "x");
        let first = receiver.next().await;
        for wait in [60, 300] {
            bench.control().webhooks().deliveries_done().await;
            bench.control().forward(wait - 1);
            bench.control().webhooks().deliveries_done().await;
            assert_eq!(receiver.count(), 0, "{status}: too early");
            bench.control().forward(1);
            let again = receiver.next().await;
            assert_eq!(
                (again.body, &again.headers["x-webhook-signature"]),
                (first.body.clone(), &first.headers["x-webhook-signature"])
            );
        }
        bench.control().webhooks().deliveries_done().await;
        bench.control().forward(86_400);
        bench.control().webhooks().deliveries_done().await;
        assert_eq!(receiver.count(), 0, "{status}: given up");
        let event = "occurrence.created";
        let expected = [1, 2, 3].map(|attempt| (event.to_owned(), attempt, Some(status), true));
        assert_eq!(history(&bench), expected);
    }
}

// proves: WHK-023, WHK-017
#[tokio::test]
async fn a_second_attempt_that_succeeds_is_the_last() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    receiver.answer(&[500, 200]);
    happen(&bench, "x");
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    bench.control().forward(60);
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    bench.control().forward(3600);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
    let attempts = bench.control().webhooks().deliveries("loja-1");
    assert_eq!((attempts.len(), attempts[0].delivery), (2, attempts[1].delivery));
    assert_ne!(attempts[0].at, attempts[1].at);
}

// proves: WHK-020, WHK-026
#[tokio::test]
async fn a_receiver_that_does_not_answer_in_time_has_failed() {
    assert_eq!(Options::default().webhook_timeout, Duration::from_secs(30));
    let options = Options { webhook_timeout: Duration::from_millis(800), ..unlimited() };
    let (bench, mut receiver) = (Bench::start(options).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    receiver.answer(&[SILENCE]);
    happen(&bench, "x");
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    let attempt = bench.control().webhooks().deliveries("loja-1").remove(0);
    assert_eq!((attempt.status, attempt.error.as_deref()), (None, Some("no answer in time")));
    assert!(attempt.duration_ms >= 800);
    bench.control().forward(60);
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(history(&bench)[1].2, Some(200));
}

// proves: WHK-021
#[tokio::test]
async fn a_receiver_that_is_not_there_has_failed() {
    let bench = Bench::start(unlimited()).await;
    let url = Receiver::start().await.url.clone();
    webhook(&bench, &url, &["*"]);
    happen(&bench, "x");
    bench.control().webhooks().deliveries_done().await;
    bench.control().forward(60);
    bench.control().webhooks().deliveries_done().await;
    let expected = [1, 2].map(|attempt| ("occurrence.created".to_owned(), attempt, None, true));
    assert_eq!(history(&bench), expected);
}

// proves: WHK-024, WHK-025
#[tokio::test]
async fn a_deactivated_webhook_is_sent_nothing_not_even_what_waited_for_its_next_attempt() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    let (id, _) = webhook(&bench, &receiver.url, &["*"]);
    receiver.answer(&[500]);
    happen(&bench, "waits");
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    assert!(bench.control().webhooks().edit(&id, active(false)));
    happen(&bench, "unheard");
    bench.control().forward(3600);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!((receiver.count(), history(&bench).len()), (0, 1), "dropped without a trace");
    assert!(bench.control().webhooks().edit(&id, active(true)));
    bench.control().forward(3600);
    happen(&bench, "heard");
    assert_eq!(receiver.next().await.data()["title"], json!("heard"));
}

// proves: WHK-033, WHK-038
#[tokio::test]
async fn a_credential_that_is_switched_off_or_deleted_takes_its_deliveries_with_it() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    receiver.answer(&[500]);
    happen(&bench, "waits");
    receiver.next().await;
    bench.control().webhooks().deliveries_done().await;
    bench.control().credentials().set_active("loja-1", false);
    happen(&bench, "unheard");
    bench.control().forward(60);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
    bench.control().credentials().set_active("loja-1", true);
    happen(&bench, "heard");
    assert_eq!(receiver.next().await.data()["title"], json!("heard"));
    bench.control().credentials().revoke("loja-1");
    assert_eq!(bench.control().webhooks().of_store("loja-1"), []);
    happen(&bench, "unheard");
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
}

// proves: WHK-029, WHK-030
#[tokio::test]
async fn only_what_is_subscribed_to_is_sent_singly_or_by_the_family() {
    let bench = Bench::start(unlimited()).await;
    let (mut single, mut family) = (Receiver::start().await, Receiver::start().await);
    webhook(&bench, &single.url, &["conversation.closed"]);
    webhook(&bench, &family.url, &["conversation.*"]);
    happen(&bench, "x");
    let id = bench.control().support_cases().open_conversation("loja-1", "000100000001", "question").unwrap();
    bench.control().support_cases().say("loja-1", id, "customer", "Olá").unwrap();
    assert!(bench.control().support_cases().close_conversation("loja-1", id, "resolved"));
    assert_eq!(single.next().await.event(), "conversation.closed");
    let mut heard = BTreeSet::new();
    for _ in 0..3 {
        heard.insert(family.next().await.event());
    }
    let all = ["conversation.closed", "conversation.message", "conversation.opened"];
    assert_eq!(heard, BTreeSet::from(all.map(str::to_owned)));
    bench.control().webhooks().deliveries_done().await;
    assert_eq!((single.count(), family.count()), (0, 0));
}

// proves: WHK-031, WHK-014
#[tokio::test]
async fn events_of_a_store_go_to_its_webhooks_alone_each_signed_with_its_own_secret() {
    let bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let (mut a, mut b, other) = (Receiver::start().await, Receiver::start().await, Receiver::start().await);
    let (_, first) = webhook(&bench, &a.url, &["*"]);
    let (_, second) = webhook(&bench, &b.url, &["*"]);
    let new = NewWebhook {
        url: Some(other.url.clone()),
        events: Some(vec!["*".to_owned()]),
        ..NewWebhook::default()
    };
    bench.control().webhooks().create("loja-2", new).unwrap();
    happen(&bench, "x");
    assert!(a.next().await.is_signed_with(&first) && b.next().await.is_signed_with(&second));
    assert_ne!(first, second);
    bench.control().webhooks().deliveries_done().await;
    assert_eq!((other.count(), bench.control().webhooks().deliveries("loja-2").len()), (0, 0));
}

// proves: WHK-032
#[tokio::test]
async fn events_of_a_sub_store_go_to_its_own_webhooks_and_name_it() {
    let bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    assert!(bench.control().orders().set_parent("loja-2", Some("loja-1")));
    let (parent, mut child) = (Receiver::start().await, Receiver::start().await);
    webhook(&bench, &parent.url, &["*"]);
    let new = NewWebhook {
        url: Some(child.url.clone()),
        events: Some(vec!["*".to_owned()]),
        ..NewWebhook::default()
    };
    bench.control().webhooks().create("loja-2", new).unwrap();
    bench.control().support_cases().open_occurrence("loja-2", NewOccurrence::default()).unwrap();
    let delivery = child.next().await;
    assert_eq!(
        (delivery.event().as_str(), &delivery.json()["data"]["store_id"]),
        ("occurrence.created", &json!(2))
    );
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(parent.count(), 0);
}

#[tokio::test]
async fn more_deliveries_than_go_at_once_all_arrive() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    for number in 0..200 {
        happen(&bench, &number.to_string());
    }
    let mut titles = BTreeSet::new();
    for _ in 0..200 {
        titles.insert(receiver.next().await.data()["title"].as_str().unwrap().to_owned());
    }
    assert_eq!(titles.len(), 200);
    bench.control().webhooks().deliveries_done().await;
    let numbers: BTreeSet<u64> =
        bench.control().webhooks().deliveries("loja-1").iter().map(|a| a.delivery).collect();
    assert_eq!(numbers.len(), 200);
}

// proves: EVT-021, EVT-022, EVT-023, EVT-024
#[tokio::test]
async fn an_occurrence_is_told_when_it_opens_and_when_it_ends() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["occurrence.*"]);
    let ends = ["resolved", "cancelled", "auto_closed", "resolved"];
    for (severity, end) in ["low", "medium", "high", "critical"].into_iter().zip(ends) {
        let new = NewOccurrence {
            title: "Extravio".to_owned(),
            severity: severity.to_owned(),
            trigger_key: "lost_parcel".to_owned(),
        };
        let id = bench.control().support_cases().open_occurrence("loja-1", new).unwrap();
        let fields = |status: &str| {
            json!({"store_id": 1, "occurrence_id": id, "title": "Extravio", "severity": severity,
                "status": status, "trigger_key": "lost_parcel"})
        };
        let opened = receiver.next().await;
        assert_eq!((opened.event().as_str(), opened.data()), ("occurrence.created", fields("open")));
        assert!(!bench.control().support_cases().end_occurrence("loja-1", id, "open"), "no end");
        assert!(bench.control().support_cases().end_occurrence("loja-1", id, end));
        assert!(!bench.control().support_cases().end_occurrence("loja-1", id, end), "it has ended");
        let ended = receiver.next().await;
        assert_eq!((ended.event().as_str(), ended.data()), ("occurrence.resolved", fields(end)));
    }
    let odd = NewOccurrence { severity: "terrible".to_owned(), ..NewOccurrence::default() };
    assert_eq!(bench.control().support_cases().open_occurrence("loja-1", odd), None);
}

// proves: EVT-025, EVT-026, EVT-027, EVT-028
#[tokio::test]
async fn a_conversation_is_told_but_for_what_the_store_says_itself() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["conversation.*"]);
    let number = bench.control().orders().insert("loja-1");
    let id = bench.control().support_cases().open_conversation("loja-1", &number, "question").unwrap();
    let opened = receiver.next().await;
    let expected = json!({"store_id": 1, "conversation_id": id, "order_number": number, "type": "question"});
    assert_eq!((opened.event().as_str(), opened.data()), ("conversation.opened", expected));
    bench.control().support_cases().say("loja-1", id, "store", "Já enviamos.").unwrap();
    let message = bench.control().support_cases().say("loja-1", id, "customer", "Quando?").unwrap();
    let said = receiver.next().await;
    let expected = json!({"store_id": 1, "conversation_id": id, "message_id": message,
        "sender_type": "customer", "body": "Quando?"});
    assert_eq!((said.event().as_str(), said.data()), ("conversation.message", expected));
    assert!(bench.control().support_cases().close_conversation("loja-1", id, "resolved"));
    let closed = receiver.next().await;
    let expected = json!({"store_id": 1, "conversation_id": id, "reason": "resolved"});
    assert_eq!((closed.event().as_str(), closed.data()), ("conversation.closed", expected));
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
    assert_eq!(bench.control().support_cases().say("loja-1", id, "customer", "?"), None, "it is closed");
}

// proves: EVT-041
#[tokio::test]
async fn campaigns_and_price_lists_send_no_events() {
    let (bench, receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    let campaign = bench.control().campaigns().create(&espelho_sandbox::NewCampaign::default()).unwrap();
    let path = format!("/api/seller/discounts/campaigns/{campaign}");
    let rows: Value = bench.get(&format!("{path}/eligible-products?per_page=2")).await.data()["data"].clone();
    let ids: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["item_id"]).collect();
    bench.post(&format!("{path}/opt-in"), &json!({"publication_ids": ids})).await.data();
    bench.control().campaigns().set_status(campaign, "finished");
    let list = bench.post("/api/seller/price-lists", &json!({"name": "Atacado", "mode": "auto"})).await;
    assert_eq!(list.status, 201);
    bench.put("/api/seller/price-lists/settings", &json!({"price_lists_enabled": true})).await.data();
    bench.control().webhooks().deliveries_done().await;
    assert_eq!((receiver.count(), history(&bench)), (0, Vec::new()));
}

#[tokio::test]
async fn no_more_than_sixty_four_deliveries_are_under_way_at_a_time() {
    let options = Options { webhook_timeout: Duration::from_secs(3), ..unlimited() };
    let (bench, mut receiver) = (Bench::start(options).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    receiver.answer(&[SILENCE; 64]);
    for number in 0..65 {
        happen(&bench, &number.to_string());
    }
    for _ in 0..64 {
        receiver.next().await;
    }
    receiver.next().await;
    assert!(!history(&bench).is_empty(), "the last one waited until another had failed");
}

#[tokio::test]
async fn a_stopped_sandbox_delivers_nothing_and_nobody_waits_for_it() {
    let (bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    webhook(&bench, &receiver.url, &["*"]);
    receiver.answer(&[SILENCE]);
    happen(&bench, "under way");
    receiver.next().await;
    let control = bench.control();
    bench.sandbox.stop().await;
    control.webhooks().deliveries_done().await;
    control.support_cases().open_occurrence("loja-1", NewOccurrence::default()).unwrap();
    control.webhooks().deliveries_done().await;
    assert_eq!((receiver.count(), control.webhooks().deliveries("loja-1").len()), (0, 0));
}

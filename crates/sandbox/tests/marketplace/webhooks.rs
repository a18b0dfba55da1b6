//! Webhooks made by the login and in the portal, and their test ("Authentication", 9 and 10, of the document).

use crate::support::{Bench, receiver::Receiver, unlimited};
use espelho_sandbox::{NewWebhook, Options};
use reqwest::Method;
use serde_json::{Value, json};

const TEST: &str = "/api/integration/webhook/test";

fn controlled() -> Options {
    Options { control: true, ..unlimited() }
}

// proves: AUT-041, AUT-042, AUT-045, AUT-046, AUT-047, AUT-048, WHK-012, WHK-013, WHK-034
#[tokio::test]
async fn a_login_makes_one_webhook_and_later_logins_bring_it_in_line() {
    let mut bench = Bench::start(unlimited()).await;
    let first = bench.login_with_webhook("https://erp.example/a", &["order.paid", "order.paid"]).await;
    assert!(first["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(first["managed_by"], json!("integration_auth"));
    assert_eq!(first["events"], json!(["order.paid"]));
    let again = bench.login_with_webhook("https://erp.example/a", &["order.paid"]).await;
    let moved = bench.login_with_webhook("https://erp.example/b", &["*"]).await;
    for later in [&again, &moved] {
        assert_eq!((&later["id"], later.get("secret")), (&first["id"], None));
    }
    assert_eq!((&moved["url"], &moved["events"]), (&json!("https://erp.example/b"), &json!(["*"])));
    let webhooks = bench.control().webhooks().of_store("loja-1");
    assert_eq!((webhooks.len(), webhooks[0].url.as_str()), (1, "https://erp.example/b"));
    assert_eq!(webhooks[0].managed_by, Some("integration_auth"));
}

// proves: AUT-047
#[tokio::test]
async fn a_moved_webhook_is_signed_with_the_secret_it_had() {
    let (mut bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    let first = bench.login_with_webhook("https://erp.example/a", &["*"]).await;
    let url = receiver.url.clone();
    bench.login_with_webhook(&url, &["*"]).await;
    bench.post(TEST, &json!({})).await;
    assert!(receiver.next().await.is_signed_with(first["secret"].as_str().unwrap()));
}

// proves: AUT-048, AUT-011
#[tokio::test]
async fn each_credential_has_a_webhook_of_its_own() {
    let mut bench = Bench::start(unlimited()).await;
    let first = bench.login_with_webhook("https://erp.example/a", &["*"]).await;
    let other = bench.control().credentials().create("loja-1").unwrap();
    let body = json!({"username": other.username, "password": other.password,
        "webhook": {"url": "https://hub.example/", "events": ["*"]}});
    let second = bench.auth(&body).await.data()["webhook"].clone();
    assert_ne!((&first["id"], &first["secret"]), (&second["id"], &second["secret"]));
    assert_eq!(bench.control().webhooks().of_store("loja-1").len(), 2);
    bench.control().credentials().revoke(&other.username);
    let left: Vec<_> =
        bench.control().webhooks().of_store("loja-1").into_iter().map(|webhook| webhook.id).collect();
    assert_eq!(json!(left), json!([first["id"]]));
}

// proves: AUT-043, AUT-044
#[tokio::test]
async fn a_block_with_a_private_address_or_an_unknown_event_is_refused_by_field() {
    let bench = Bench::start(Options { local_webhooks: false, ..unlimited() }).await;
    let access = bench.access();
    let attempt = async |block: Value| {
        bench.hands.forward(60);
        let body = json!({"username": access.username, "password": access.password, "webhook": block});
        bench.auth(&body).await.refused(422, "VALIDATION_ERROR")
    };
    for url in [json!("http://erp.example/"), json!("https://10.0.0.1/"), json!("erp"), json!(7), json!(null)]
    {
        let errors = attempt(json!({"url": url, "events": ["*"]})).await;
        assert!(errors["webhook.url"][0].is_string(), "{url}: {errors}");
    }
    for events in [json!(["order.eaten"]), json!("*"), json!([]), json!([7]), json!(null), json!({"a": 1})] {
        let errors = attempt(json!({"url": "https://erp.example/", "events": events})).await;
        assert!(errors["webhook.events"][0].is_string(), "{events}: {errors}");
    }
    assert_eq!(bench.control().webhooks().of_store("loja-1"), []);
}

// proves: WHK-035, ERR-011
#[tokio::test]
async fn a_webhook_of_the_login_cannot_be_edited_in_the_portal() {
    let mut bench = Bench::start(controlled()).await;
    let made = bench.login_with_webhook("https://erp.example/a", &["*"]).await;
    let endpoint = format!("webhook/{}", made["id"].as_str().unwrap());
    for change in [json!({"active": false}), json!({"url": "https://other.example/"}), json!({})] {
        bench.pull(Method::POST, &endpoint, &change).await.refused(409, "CONFLICT");
    }
    let webhook = bench.control().webhooks().of_store("loja-1").remove(0);
    assert_eq!((webhook.url.as_str(), webhook.active), ("https://erp.example/a", true));
}

// proves: WHK-036, WHK-037
#[tokio::test]
async fn a_webhook_of_the_login_can_be_deleted_and_comes_back_with_a_new_secret() {
    let mut bench = Bench::start(controlled()).await;
    let first = bench.login_with_webhook("https://erp.example/a", &["*"]).await;
    let endpoint = format!("webhook/{}", first["id"].as_str().unwrap());
    bench.pull(Method::DELETE, &endpoint, &json!({})).await.data();
    bench.pull(Method::DELETE, &endpoint, &json!({})).await.refused(404, "NOT_FOUND");
    bench.login().await;
    assert_eq!(bench.control().webhooks().of_store("loja-1"), [], "a login without a block makes none");
    let second = bench.login_with_webhook("https://erp.example/a", &["*"]).await;
    assert!(second["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_ne!((&second["id"], &second["secret"]), (&first["id"], &first["secret"]));
}

#[tokio::test]
async fn a_webhook_of_the_portal_is_made_changed_listed_and_deleted() {
    let bench = Bench::start(controlled()).await;
    let new = json!({"url": "https://erp.example/a", "events": ["order.*"], "headers": [["X-A", "b"]]});
    let made = bench.pull(Method::POST, "webhooks/loja-1", &new).await;
    assert_eq!(made.status, 201);
    let made = made.json()["data"].clone();
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let endpoint = format!("webhook/{}", made["id"].as_str().unwrap());
    let change = json!({"url": "https://erp.example/b", "events": ["*"], "active": false});
    bench.pull(Method::POST, &endpoint, &change).await.data();
    let listed = bench.pull(Method::GET, "webhooks/loja-1", &json!({})).await.data();
    let expected = json!([{
        "id": made["id"], "url": "https://erp.example/b", "events": ["*"], "active": false, "managed_by": null,
    }]);
    assert_eq!(listed, expected, "the secret was shown once");
    assert!(bench.control().webhooks().delete(made["id"].as_str().unwrap()));
    assert_eq!(bench.control().webhooks().of_store("loja-1"), []);
}

#[tokio::test]
async fn the_portal_refuses_what_could_not_be_delivered() {
    let bench = Bench::start(Options { local_webhooks: false, ..controlled() }).await;
    let ok = json!({"url": "https://erp.example/", "events": ["*"]});
    for (field, value, named) in [
        ("url", json!("http://erp.example/"), "url"),
        ("url", json!(""), "url"),
        ("events", json!(["nothing"]), "events"),
        ("events", json!([]), "events"),
        ("headers", json!([["Host", "x"]]), "headers"),
        ("headers", json!([["a b", "x"]]), "headers"),
        ("headers", json!([["X-A", "\n"]]), "headers"),
        ("unknown", json!(1), "body"),
    ] {
        let mut new = ok.clone();
        new[field] = value;
        let reply = bench.pull(Method::POST, "webhooks/loja-1", &new).await;
        assert!(reply.refused(422, "VALIDATION_ERROR")[named][0].is_string(), "{field}");
    }
    bench.pull(Method::POST, "webhooks/loja-9", &ok).await.refused(404, "NOT_FOUND");
    bench.pull(Method::POST, "webhook/nobody", &json!({})).await.refused(404, "NOT_FOUND");
    assert_eq!(bench.control().webhooks().of_store("loja-1"), []);
}

// proves: AUT-052, EVT-035, EVT-036, WHK-006
#[tokio::test]
async fn a_test_is_really_sent_and_says_who_asked_for_it() {
    let (mut bench, mut receiver) = (Bench::start(controlled()).await, Receiver::start().await);
    let url = receiver.url.clone();
    let webhook = bench.login_with_webhook(&url, &["order.paid"]).await;
    let reply = bench.post(TEST, &json!({})).await;
    assert_eq!((reply.status, &reply.json()["data"]["total"]), (202, &json!(1)));
    let by_route = receiver.next().await;
    assert!(by_route.is_signed_with(webhook["secret"].as_str().unwrap()));
    let endpoint = format!("webhook/{}/test", webhook["id"].as_str().unwrap());
    bench.pull(Method::POST, &endpoint, &json!({})).await.data();
    let by_button = receiver.next().await;
    for (delivered, source) in [(by_route, "integration.webhook-test"), (by_button, "seller.webhook-test")] {
        assert_eq!(delivered.event(), "webhook.test");
        let data = delivered.data();
        assert_eq!((&data["source"], &data["webhook_id"]), (&json!(source), &webhook["id"]));
        assert!(data["message"].is_string() && data["sent_at"].is_string() && data.get("store_id").is_none());
        assert_eq!(data.as_object().unwrap().len(), 4);
    }
}

// proves: AUT-053, EVT-037
#[tokio::test]
async fn an_inactive_webhook_is_not_tested() {
    let (bench, receiver) = (Bench::start(controlled()).await, Receiver::start().await);
    bench.post(TEST, &json!({})).await.refused(422, "WEBHOOK_NOT_ACTIVE");
    let new = NewWebhook {
        url: Some(receiver.url.clone()),
        events: Some(vec!["*".to_owned()]),
        active: Some(false),
        ..NewWebhook::default()
    };
    let made = bench.control().webhooks().create("loja-1", new).unwrap();
    bench.post(TEST, &json!({})).await.refused(422, "WEBHOOK_NOT_ACTIVE");
    let endpoint = format!("webhook/{}/test", made.id);
    bench.pull(Method::POST, &endpoint, &json!({})).await.refused(422, "WEBHOOK_NOT_ACTIVE");
    assert!(!bench.control().webhooks().test(&made.id));
    bench.control().webhooks().deliveries_done().await;
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn a_test_reaches_the_webhooks_of_the_tokens_credential_only() {
    let (mut bench, mut receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    let other = bench.control().credentials().create("loja-1").unwrap();
    let new = NewWebhook {
        url: Some(receiver.url.clone()),
        events: Some(vec!["*".to_owned()]),
        ..NewWebhook::default()
    };
    bench.control().webhooks().create(&other.username, new).unwrap();
    bench.post(TEST, &json!({})).await.refused(422, "WEBHOOK_NOT_ACTIVE");
    bench.token = bench.login_to(&other).await;
    assert_eq!(bench.post(TEST, &json!({})).await.status, 202);
    assert_eq!(receiver.next().await.event(), "webhook.test");
}

//! Senseless bodies and queries: the order routes answer every one of them with a documented status.

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::NewOrder;
use reqwest::Method;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

/// Values of every kind, the large and the odd among them.
fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("preparing"),
        json!("\u{0}\u{FFFF}📦"),
        json!("x".repeat(5000)),
        json!([]),
        json!([null, [], {}, 1]),
        json!({}),
        json!({"reason": null, "tracking_code": [], "estimated_days": {}, "materials": 1}),
    ]
}

fn check(reply: &Reply, context: &str) {
    match reply.status {
        200 => assert!(reply.json()["data"].is_object(), "{context}"),
        404 => drop(reply.refused(404, "NOT_FOUND")),
        422 => {
            let errors = reply.refused(422, "VALIDATION_ERROR");
            assert!(!errors.as_object().unwrap().is_empty(), "{context}");
        }
        other => panic!("{other}: {context}"),
    }
}

// proves: ERR-014
#[tokio::test]
async fn every_field_of_every_kind_is_answered() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::default());
    let order = format!("/api/v1/sellers/orders/{number}");
    let bulk = "/api/v1/sellers/orders/bulk/transition";
    for value in values() {
        for other in values() {
            for (method, path, body) in [
                (Method::POST, format!("{order}/status"), json!({"status": value, "data": other})),
                (
                    Method::POST,
                    format!("{order}/status"),
                    json!({"status": "cancelled", "data": {"reason": value}}),
                ),
                (Method::PUT, format!("{order}/notes"), json!({"notes": value})),
                (Method::POST, bulk.to_owned(), json!({"action": value, "order_numbers": other})),
                (
                    Method::POST,
                    bulk.to_owned(),
                    json!({"action": "cancel", "order_numbers": ["x"], "data": value}),
                ),
                (
                    Method::POST,
                    bulk.to_owned(),
                    json!({"action": "mark-shipped", "order_numbers": value, "data": other}),
                ),
            ] {
                check(&bench.send(method, &path, &body).await, &format!("{path} {body}"));
            }
        }
    }
    assert_eq!(bench.order(&number).await["order_number"], json!(number));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_answered() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::default());
    for bytes in [&b"\xFF\xFE"[..], b"{\"status\":\"\xC3\"}", b"{\"status\":\"\\ud800\"}", b"\0"] {
        for content_type in ["application/json", "text/plain", "multipart/form-data", ""] {
            let url = bench.url(&format!("/api/v1/sellers/orders/{number}/status"));
            let request = bench.http.post(url).bearer_auth(&bench.token).body(bytes.to_vec());
            let sent = request.header("content-type", content_type).send().await.unwrap();
            check(&Reply::read(sent).await, content_type);
        }
    }
}

#[tokio::test]
async fn queries_and_numbers_from_nowhere_are_answered() {
    let bench = Bench::start(unlimited()).await;
    let odd =
        ["%00", "%FF", "-1", "1e9", "18446744073709551616", "9223372036854775807", "..", "%F0%9F%93%A6", "'"];
    for text in odd {
        for path in [
            format!("/api/v1/sellers/orders/{text}/tracking"),
            format!("/api/v1/sellers/orders/{text}/events"),
            format!("/api/v1/sellers/orders/{text}/shipments"),
            format!("/api/v1/sellers/orders/dashboard?days={text}"),
        ] {
            check(&bench.get(&path).await, &path);
        }
        for query in ["page", "per_page"] {
            let reply = bench.get(&format!("/api/v1/sellers/orders/stalled?{query}={text}")).await;
            assert!(reply.status == 200 || reply.status == 422, "{query} {text}");
        }
    }
}

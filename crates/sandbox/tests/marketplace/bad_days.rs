//! Faults of a marketplace that has a bad day, or has moved on.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Fault, FaultRule, Options, Spoil};
use reqwest::Method;
use serde_json::{Value, json};

const ORDERS: &str = "/api/v1/sellers/orders";
const ENUMS: &str = "/api/v1/sellers/orders/enums";

fn rule(route: &str, times: Option<u32>, kind: Fault) -> FaultRule {
    FaultRule { route: route.to_owned(), times, kind }
}

#[tokio::test]
async fn a_proxy_answers_for_a_server_that_is_gone() {
    let bench = Bench::start(unlimited()).await;
    for code in [500, 502, 503, 504] {
        bench.control().faults().add(rule(ENUMS, Some(1), Fault::Html(code)));
        let reply = bench.get(ENUMS).await;
        assert_eq!((reply.status, reply.bytes.starts_with(b"<!DOCTYPE html>")), (code, true));
        assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
    }
    assert!(!bench.control().faults().has_any());
}

#[tokio::test]
async fn a_burst_of_429_tells_how_long_to_wait() {
    let bench = Bench::start(Options::default()).await;
    bench.control().faults().add(rule("/api/", Some(3), Fault::TooMany(17)));
    for _ in 0..3 {
        let reply = bench.get(ENUMS).await;
        reply.refused(429, "TOO_MANY_REQUESTS");
        assert_eq!(reply.header("retry-after"), Some(17));
    }
    assert_eq!((bench.get(ENUMS).await.status, bench.sandbox.stats().rate_limited), (200, 3));
}

#[tokio::test]
async fn a_token_dies_silently_in_the_middle_of_the_work() {
    let mut bench = Bench::start(unlimited()).await;
    bench.control().faults().add(rule("GET /api/v1/sellers/orders", Some(1), Fault::KillToken));
    assert_eq!(bench.get("/api/stores/auth/session").await.status, 200);
    bench.get(ORDERS).await.refused(401, "UNAUTHORIZED");
    bench.get(ORDERS).await.refused(401, "UNAUTHORIZED");
    bench.token = bench.login().await;
    assert_eq!(bench.get(ORDERS).await.status, 200);
}

#[tokio::test]
async fn a_new_order_between_two_pages_moves_the_second_by_one() {
    let bench = Bench::start(unlimited()).await;
    let before = bench.orders("").await;
    bench.control().faults().add(rule("GET /api/v1/sellers/orders", Some(1), Fault::PageShift));
    let first = bench.get(&format!("{ORDERS}?limit=10")).await.data();
    let second = bench.get(&format!("{ORDERS}?limit=10&page=2")).await.data();
    assert_eq!(first.as_array().unwrap()[..], before[..10]);
    assert_eq!(second.as_array().unwrap()[..], before[9..19], "the last one of the first page again");
    assert_eq!(bench.control().orders().count("loja-1"), before.len() + 1);
}

#[tokio::test]
async fn words_that_nobody_has_heard_of_leave_all_else_as_it_was() {
    let bench = Bench::start(unlimited()).await;
    let plain = bench.get(&format!("{ORDERS}?limit=5")).await.data();
    bench.control().faults().add(rule(ORDERS, Some(1), Fault::UnknownEnums));
    let spoiled = bench.get(&format!("{ORDERS}?limit=5")).await.data();
    for (was, is) in plain.as_array().unwrap().iter().zip(spoiled.as_array().unwrap()) {
        for field in ["status", "type", "channel", "workflow_type", "payment_method", "payment_status"] {
            assert_eq!(is[field], json!("valor_desconhecido"), "{field}");
        }
        for field in ["order_number", "status_label", "totals", "customer", "created_at", "items_preview"] {
            assert_eq!(is[field], was[field], "{field}");
        }
    }
}

#[tokio::test]
async fn fields_that_nobody_has_heard_of_stand_in_every_object() {
    let bench = Bench::start(unlimited()).await;
    let path = format!("{ORDERS}?limit=3");
    let plain = bench.get(&path).await.json();
    bench.control().faults().add(rule(ORDERS, None, Fault::ExtraFields));
    let spoiled = bench.get(&path).await.json();
    assert!(spoiled["campo_novo"].is_object() && spoiled["data"][0]["totals"]["campo_novo"].is_object());
    assert_eq!(without_extra(spoiled), plain);
    bench.get(&format!("{ORDERS}/none")).await.refused(404, "NOT_FOUND");
}

fn without_extra(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(name, _)| name != "campo_novo")
            .map(|(name, value)| (name, without_extra(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_extra).collect(),
        other => other,
    }
}

#[tokio::test]
async fn the_right_body_comes_under_the_wrong_type() {
    let bench = Bench::start(unlimited()).await;
    let plain = bench.get(ENUMS).await.bytes;
    bench.control().faults().add(rule(ENUMS, Some(1), Fault::ContentType("text/plain".to_owned())));
    let reply = bench.get(ENUMS).await;
    assert_eq!((reply.headers["content-type"].to_str().unwrap(), reply.bytes), ("text/plain", plain));
    assert_eq!(bench.get(ENUMS).await.headers["content-type"], "application/json");
}

#[tokio::test]
async fn lies_strike_where_they_find_their_place_beside_each_other_and_beside_another_fault() {
    let bench = Bench::start(unlimited()).await;
    let lie = |at: &str, value: Option<Value>, key: Option<&str>| {
        Fault::Spoil(Spoil { at: at.to_owned(), value, key: key.map(str::to_owned) })
    };
    let path = format!("{ORDERS}?limit=3");
    let plain = bench.get(&path).await.data();
    let number = plain[1]["order_number"].as_str().unwrap();
    bench.control().faults().add(rule(
        ORDERS,
        Some(1),
        lie("/data/*/status", Some(Value::Null), Some(number)),
    ));
    bench.control().faults().add(rule(ORDERS, Some(1), lie("/data/*/totals/order", None, None)));
    bench.get(&format!("{ORDERS}/none")).await.refused(404, "NOT_FOUND");
    bench.control().faults().add(rule(ORDERS, Some(1), Fault::ContentType("text/plain".to_owned())));
    let reply = bench.get(&path).await;
    assert_eq!(reply.headers["content-type"], "text/plain");
    let spoiled = reply.data();
    for (was, is) in plain.as_array().unwrap().iter().zip(spoiled.as_array().unwrap()) {
        let mut expected = was.clone();
        expected["totals"].as_object_mut().unwrap().remove("order");
        if was["order_number"] == number {
            expected["status"] = Value::Null;
        }
        assert_eq!(*is, expected);
    }
    assert!(!bench.control().faults().has_any());
    assert_eq!(bench.get(&path).await.data(), plain);
}

#[tokio::test]
async fn a_probability_spoils_the_same_requests_for_the_same_seed() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let bench = Bench::start(unlimited()).await;
        bench.control().faults().add_sometimes(rule("enums", None, Fault::Html(503)), 300);
        let mut statuses = Vec::new();
        for _ in 0..60 {
            statuses.push(bench.get(ENUMS).await.status);
        }
        let spoiled = statuses.iter().filter(|status| **status == 503).count();
        assert!((8..30).contains(&spoiled), "{spoiled}");
        seen.push(statuses);
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn every_kind_can_be_asked_for_with_a_lever() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    for (kind, status) in [
        (json!({"kind": "html", "code": 503}), 503),
        (json!({"kind": "too_many", "retry_after": 3}), 429),
        (json!({"kind": "page_shift"}), 200),
        (json!({"kind": "unknown_enums"}), 200),
        (json!({"kind": "extra_fields"}), 200),
        (json!({"kind": "content_type", "content_type": "text/csv"}), 200),
        (json!({"kind": "status", "code": 418, "body": "chá"}), 418),
        (json!({"kind": "stall", "ms": 1}), 200),
        (json!({"kind": "html200"}), 200),
        (json!({"kind": "spoil", "at": "/success", "value": null}), 200),
        (json!({"kind": "spoil", "at": "/success"}), 200),
        (json!({"kind": "raw_json", "json": "{}"}), 200),
        (json!({"kind": "kill_token"}), 401),
    ] {
        let mut rule = kind;
        rule["route"] = json!("/enums");
        rule["times"] = json!(1);
        rule["probability"] = json!(1.0);
        bench.pull(Method::POST, "faults", &rule).await.data();
        assert_eq!(bench.get(ENUMS).await.status, status, "{rule}");
        assert!(!bench.control().faults().has_any());
    }
    let never = json!({"kind": "reset_before", "probability": 0});
    bench.pull(Method::POST, "faults", &never).await.data();
    assert_eq!(bench.plain(Method::GET, "/api/global/enums/order/status", "").await.status, 200);
    bench
        .pull(Method::POST, "faults", &json!({"kind": "html200", "probability": -1}))
        .await
        .refused(422, "VALIDATION_ERROR");
    let nowhere = json!({"kind": "spoil", "at": "success"});
    bench.pull(Method::POST, "faults", &nowhere).await.refused(422, "VALIDATION_ERROR");
}

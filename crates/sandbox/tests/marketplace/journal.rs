//! The journal of what was asked.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Fault, FaultRule, JournalEntry, JournalQuery, Options};
use reqwest::Method;
use serde_json::json;

const ENUMS: &str = "/api/v1/sellers/orders/enums";

fn entries(bench: &Bench) -> Vec<JournalEntry> {
    bench.control().journal(&JournalQuery::default())
}

#[tokio::test]
async fn every_request_of_the_api_is_entered_with_its_answer() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    bench.get("/api/v1/sellers/orders?limit=1&search=a%20b").await;
    bench.get("/api/nothing").await;
    bench.plain(Method::GET, "/api/products", "").await;
    bench.put("/api/seller/price-lists/settings", &json!({"price_lists_enabled": "é"})).await;
    bench.control().faults().add(FaultRule {
        route: "enums".to_owned(),
        times: Some(1),
        kind: Fault::ResetBefore,
    });
    assert!(bench.http.get(bench.url(ENUMS)).bearer_auth(&bench.token).send().await.is_err());
    bench.get("/").await;
    bench.get("/openapi.json").await;
    bench.plain(Method::GET, "/_sandbox/stats", "").await;
    let seen: Vec<_> = entries(&bench)
        .into_iter()
        .map(|entry| (entry.seq, entry.store, entry.method, entry.path, entry.status))
        .collect();
    let entry = |seq: u64, store: Option<&str>, method: &str, path: &str, status: u16| {
        (seq, store.map(str::to_owned), method.to_owned(), path.to_owned(), status)
    };
    let us = Some("loja-1");
    let expected = [
        entry(1, us, "POST", "/api/integration/auth", 200),
        entry(2, us, "GET", "/api/v1/sellers/orders?limit=1&search=a%20b", 200),
        entry(3, None, "GET", "/api/nothing", 404),
        entry(4, None, "GET", "/api/products", 401),
        entry(5, us, "PUT", "/api/seller/price-lists/settings", 422),
        entry(6, us, "GET", ENUMS, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(entries(&bench)[4].body.as_deref(), Some(r#"{"price_lists_enabled":"é"}"#));
    assert_eq!(entries(&bench)[1].body, None);
    assert_eq!(entries(&bench)[0].at, "2026-04-01T12:00:30-03:00");
}

#[tokio::test]
async fn secrets_are_masked_and_long_bodies_cut() {
    let bench = Bench::start(unlimited()).await;
    let access = bench.access();
    let body = entries(&bench)[0].body.clone().unwrap();
    assert!(body.contains(&access.username) && !body.contains(&access.password), "{body}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&body).unwrap()["password"], json!("***"));
    let broken = format!("{{\"username\": \"u\", \"password\": \"{}", access.password);
    bench.plain(Method::POST, "/api/integration/auth", &broken).await;
    bench.post("/api/seller/price-lists", &json!({"name": "x".repeat(9000)})).await;
    let request = bench.http.post(bench.url("/api/seller/price-lists")).bearer_auth(&bench.token);
    request.body(vec![0xFF, 0xD8, 0xFF]).send().await.unwrap();
    let bodies: Vec<_> = entries(&bench).into_iter().skip(1).map(|entry| entry.body.unwrap()).collect();
    assert!(!bodies[0].contains(&access.password));
    assert_eq!(bodies[1].len(), 4096);
    assert_eq!(bodies[2], "<3 bytes>");
}

#[tokio::test]
async fn entries_are_read_by_position_store_and_path() {
    let bench = Bench::start(Options { stores: 2, control: true, ..unlimited() }).await;
    let other = bench.login_to(&bench.sandbox.stores()[1]).await;
    bench.get(ENUMS).await;
    bench.get_with(&format!("Bearer {other}"), ENUMS).await;
    bench.get("/api/products").await;
    let seqs = async |query: &str| -> Vec<u64> {
        let reply = bench.plain(Method::GET, &format!("/_sandbox/journal?{query}"), "").await;
        reply.data().as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(seqs("").await, [1, 2, 3, 4, 5]);
    assert_eq!(seqs("since=3").await, [4, 5]);
    assert_eq!(seqs("store=loja-2").await, [2, 4]);
    assert_eq!(seqs("path=enums").await, [3, 4]);
    assert_eq!(seqs("path=enums&store=loja-1&since=1").await, [3]);
    assert_eq!(seqs("limit=2").await, [1, 2]);
    assert_eq!(seqs("store=loja-9").await, [0; 0]);
    assert_eq!(seqs("since=x&limit=-1").await, [1, 2, 3, 4, 5]);
}

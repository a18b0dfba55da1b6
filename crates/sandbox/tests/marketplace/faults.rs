//! Errors of the frame, faults on demand, raw orders, and the control routes.

use std::time::Duration;

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::{Fault, FaultRule, Options};
use reqwest::Method;
use serde_json::json;

const ENUMS: &str = "/api/v1/sellers/orders/enums";

fn once(route: &str, kind: Fault) -> FaultRule {
    FaultRule { route: route.to_owned(), times: Some(1), kind }
}

async fn send(bench: &Bench, path: &str) -> Result<Vec<u8>, reqwest::Error> {
    let request = bench.http.get(bench.url(path)).bearer_auth(&bench.token);
    Ok(request.send().await?.bytes().await?.to_vec())
}

#[tokio::test]
async fn an_unknown_route_and_a_wrong_method_answer_in_the_error_envelope() {
    let bench = Bench::start(unlimited()).await;
    for path in ["/api", "/api/v2/sellers/orders", "/api/v1/sellers/orders/1/2/3", "/_sandbox/stats"] {
        assert_eq!(bench.get(path).await.refused(404, "NOT_FOUND"), json!([]), "{path}");
    }
    let reply = bench.plain(Method::DELETE, "/api/products", "").await;
    reply.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(reply.headers["allow"], "GET, POST");
    bench.plain(Method::GET, "/api/integration/auth", "").await.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(bench.sandbox.stats().by_route["unmatched"], 6);
}

#[tokio::test]
async fn a_status_fault_is_served_as_it_is_written_and_then_spent() {
    let bench = Bench::start(Options::default()).await;
    let headers = vec![("Retry-After".to_owned(), "7".to_owned())];
    let (body, content_type) = (b"<h1>bad gateway</h1>".to_vec(), "text/html".to_owned());
    let kind = Fault::Status { code: 502, body: body.clone(), content_type, headers };
    bench.control().faults().add(once("sellers/orders/{id}", kind));
    assert_eq!(bench.get(ENUMS).await.status, 200, "another route");
    let reply = bench.get("/api/v1/sellers/orders/1").await;
    assert_eq!((reply.status, &reply.bytes, reply.header("retry-after")), (502, &body, Some(7)));
    assert_eq!(reply.headers["content-type"], "text/html");
    assert_eq!(bench.get("/api/v1/sellers/orders/1").await.status, 404);
    assert_eq!(bench.sandbox.stats().max_in_60s, 3, "a spoiled request counts");
}

#[tokio::test]
async fn connections_break_as_asked() {
    let bench = Bench::start(unlimited()).await;
    for kind in [Fault::ResetBefore, Fault::ResetAfter, Fault::TruncateBody] {
        bench.control().faults().add(once("enums", kind.clone()));
        assert!(send(&bench, ENUMS).await.is_err(), "{kind:?}");
        assert!(send(&bench, ENUMS).await.is_ok(), "{kind:?} is spent");
    }
    assert_eq!(bench.sandbox.stats().by_status[&0], 2);
}

#[tokio::test]
async fn a_reset_after_the_work_leaves_its_effect() {
    let bench = Bench::start(unlimited()).await;
    let access = bench.access();
    bench.control().faults().add(once("auth", Fault::ResetAfter));
    let body = json!({"username": access.username, "password": access.password});
    let request = bench.http.post(bench.url("/api/integration/auth")).body(body.to_string());
    assert!(request.send().await.is_err());
    assert_eq!(bench.sandbox.stats().logins, 2);
    bench.get(ENUMS).await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn a_stalled_answer_comes_in_the_end() {
    let bench = Bench::start(unlimited()).await;
    bench.control().faults().add(once("enums", Fault::Stall(Duration::from_millis(5))));
    assert_eq!(bench.get(ENUMS).await.status, 200);
}

#[tokio::test]
async fn html_and_raw_json_are_answered_with_200_until_the_rules_are_cleared() {
    let bench = Bench::start(unlimited()).await;
    let rule = |kind| FaultRule { route: "enums".to_owned(), times: None, kind };
    bench.control().faults().add(rule(Fault::Html200));
    for _ in 0..3 {
        let reply = bench.get(ENUMS).await;
        assert_eq!((reply.status, reply.bytes.starts_with(b"<!DOCTYPE html>")), (200, true));
    }
    bench.control().faults().clear();
    bench.control().faults().add(rule(Fault::RawJson("[1]".to_owned())));
    assert_eq!(bench.get(ENUMS).await.bytes, b"[1]");
    bench.control().faults().clear();
    assert_eq!(bench.get(ENUMS).await.json()["success"], json!(true));
}

#[tokio::test]
async fn a_rule_can_stand_in_for_a_route_that_does_not_exist() {
    let bench = Bench::start(unlimited()).await;
    bench.control().faults().add(once("/api/nothing", Fault::RawJson("{}".to_owned())));
    assert_eq!(bench.get("/api/nothing").await.bytes, b"{}");
    bench.get("/api/nothing").await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_raw_order_is_served_byte_for_byte_inside_the_envelope() {
    let bench = Bench { is_described: false, ..Bench::start(unlimited()).await };
    let (detail, row) = (r#"{"status":"novo", "items":[ null ]}"#, r#"{"order_number":"R-1","status":null}"#);
    bench.control().orders().add_raw("loja-1", "R-1", detail.to_owned(), row.to_owned());
    let text = |reply: Reply| String::from_utf8(reply.bytes).unwrap();
    let envelope = format!(r#"{{"success":true,"message_code":"SUCCESS","data":{detail}}}"#);
    assert_eq!(text(bench.get("/api/v1/sellers/orders/R-1").await), envelope);
    assert!(text(bench.get("/api/v1/sellers/orders?limit=1").await).contains(&format!("[{row}]")));
    assert_eq!(bench.control().orders().count("loja-1"), 201);
}

#[tokio::test]
async fn repeated_fetches_are_told_from_first_ones() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().insert("loja-1");
    for path in ["/api/v1/sellers/orders?page=1", "/api/v1/sellers/orders?page=2", "/api/products"] {
        bench.get(path).await;
    }
    bench.get(&format!("/api/v1/sellers/orders/{number}")).await;
    let stats = bench.sandbox.stats();
    assert_eq!((stats.repeated_list_pages, stats.repeated_details), (0, 0));
    bench.get("/api/v1/sellers/orders?page=2").await;
    bench.get(&format!("/api/v1/sellers/orders/{number}")).await;
    bench.get(&format!("/api/v1/sellers/orders/{number}")).await;
    let stats = bench.sandbox.stats();
    assert_eq!((stats.repeated_list_pages, stats.repeated_details), (1, 2));
    assert_eq!(stats.by_route["GET /api/v1/sellers/orders/{id}"], 3);
    bench.sandbox.reset_stats();
    assert_eq!(bench.sandbox.stats(), espelho_sandbox::Stats::default());
    bench.get("/api/products").await;
    assert_eq!(bench.sandbox.stats().repeated_list_pages, 0);
}

#[tokio::test]
async fn the_control_routes_do_what_the_handle_does() {
    let bench = Bench::start(Options { control: true, ..Options::default() }).await;
    let post = |path: &str, body: &str| {
        let (path, body) = (format!("/_sandbox/{path}"), body.to_owned());
        let bench = &bench;
        async move { bench.plain(Method::POST, &path, &body).await }
    };
    let number = post("orders/loja-1", "").await.data()["order_number"].as_str().unwrap().to_owned();
    post(&format!("orders/loja-1/{number}/status"), r#"{"status":"shipped"}"#).await.data();
    assert_eq!(bench.order(&number).await["status"], json!("shipped"));
    let path = format!("/_sandbox/orders/loja-1/{number}");
    bench.plain(Method::DELETE, &path, "").await.data();
    bench.plain(Method::DELETE, &path, "").await.refused(404, "NOT_FOUND");
    post("faults", r#"{"route":"enums","times":2,"kind":"status","code":503}"#).await.data();
    assert_eq!(bench.get(ENUMS).await.status, 503);
    bench.plain(Method::DELETE, "/_sandbox/faults", "").await.data();
    assert_eq!(bench.get(ENUMS).await.status, 200);
    post("faults", r#"{"kind":"odd"}"#).await.refused(422, "VALIDATION_ERROR");
    post("tokens/loja-1/kill", "").await.data();
    bench.get(ENUMS).await.refused(401, "UNAUTHORIZED");
    let stats = bench.plain(Method::GET, "/_sandbox/stats", "").await.json();
    assert_eq!((&stats["requests"], &stats["logins"]), (&json!(5), &json!(1)));
    post("stats/reset", "").await.data();
    assert_eq!(bench.plain(Method::GET, "/_sandbox/stats", "").await.json()["requests"], json!(0));
}

#[tokio::test]
async fn a_stopped_sandbox_refuses_connections() {
    let bench = Bench::start(unlimited()).await;
    let url = bench.url(ENUMS);
    bench.sandbox.stop().await;
    assert!(bench.http.get(url).send().await.is_err());
}

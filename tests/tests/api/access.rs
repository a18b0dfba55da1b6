//! Access by token, scope and store, and the texts of refusals.

use espelho_tests::{Kind, on_both_databases, pages, until};
use reqwest::Method;
use serde_json::json;

use crate::client::{ALL, FEEDS, LIMITED, READS, WRITES, World, tokens};

on_both_databases![
    each_address_demands_its_scope_and_its_store,
    a_request_that_cannot_be_answered_is_told_why_and_never_with_a_5xx,
];

async fn each_address_demands_its_scope_and_its_store(kind: Kind) {
    let world = World::on(kind).await;
    let stock = |store: &str| json!([{"store": store, "sku": "A", "location_id": 1, "quantity": 1}]);
    let outside = json!([]);
    for (token, method, path, body, expected) in [
        ("", "GET", "/orders", &outside, (401, "unauthorized")),
        ("0000000000000000-nenhum-destes", "GET", "/orders", &outside, (401, "unauthorized")),
        ("", "GET", "/nowhere", &outside, (401, "unauthorized")),
        (WRITES, "GET", "/orders", &outside, (403, "scope_missing")),
        (FEEDS, "GET", "/orders/loja-1/1", &outside, (403, "scope_missing")),
        (FEEDS, "GET", "/alarms", &outside, (403, "scope_missing")),
        (READS, "POST", "/erp_stock", &outside, (403, "scope_missing")),
        (READS, "POST", "/erp_prices", &outside, (403, "scope_missing")),
        (FEEDS, "POST", "/commands", &outside, (403, "scope_missing")),
        (READS, "POST", "/erp_orders", &outside, (403, "scope_missing")),
        (READS, "GET", "/changes", &outside, (403, "scope_missing")),
        (WRITES, "GET", "/consumers", &outside, (403, "scope_missing")),
        (READS, "POST", "/consumers/erp/ack", &outside, (403, "scope_missing")),
        (LIMITED, "GET", "/orders?store=outra", &outside, (403, "store_forbidden")),
        (LIMITED, "GET", "/orders/outra/1", &outside, (403, "store_forbidden")),
        (ALL, "POST", "/erp_stock", &stock("outra"), (422, "invalid_rows")),
    ] {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let program = world.program.with(token);
        let headers = [("content-type", "application/json")];
        let answer = program.send(method.parse().unwrap(), path, &headers, body).await.unwrap();
        assert_eq!(answer.problem(), expected, "{method} {path}");
        let asks = if expected.0 == 401 { "Bearer" } else { "" };
        assert_eq!(answer.header("www-authenticate"), asks);
    }
    // Another installation's row: a token that is limited to a store does not see it.
    world
        .mirror
        .execute("INSERT INTO erp_orders (store, order_number) VALUES ('outra', '1'), ('loja-1', '1')")
        .await;
    world
        .mirror
        .execute("INSERT INTO commands (store, kind, key) VALUES ('outra', 'webhook.test', '')")
        .await;
    let limited = world.program.with(LIMITED);
    assert_eq!(
        (world.program.get("/erp_orders").await.rows().len(), limited.get("/erp_orders").await.rows().len()),
        (2, 1)
    );
    let id = world.program.get("/commands?store=outra").await.rows()[0]["id"].clone();
    assert_eq!(limited.get(&format!("/commands/{id}")).await.problem(), (404, "no_such_row"));
    assert_eq!(world.program.get(&format!("/commands/{id}")).await.body["store"], "outra");
    let log = world.ended().await;
    for token in [ALL, READS, WRITES, FEEDS, LIMITED] {
        assert!(!log.contains(token), "a token is logged");
    }
}

async fn a_request_that_cannot_be_answered_is_told_why_and_never_with_a_5xx(kind: Kind) {
    let world = World::on(kind).await;
    let json_type = [("content-type", "application/json")];
    let large = format!("[{}]", " ".repeat(1 << 20));
    for (method, path, headers, body, expected) in [
        ("GET", "/orders?stauts=paid", &json_type[..], "", (400, "unknown_parameter")),
        ("GET", "/orders?status=a&status=b", &json_type, "", (400, "repeated_parameter")),
        ("GET", "/orders?limit=1001", &json_type, "", (400, "invalid_parameter")),
        ("GET", "/orders?updated_at.gte=ontem", &json_type, "", (400, "invalid_parameter")),
        ("GET", "/orders?status=%00", &json_type, "", (400, "invalid_parameter")),
        ("GET", "/orders?total_order=1e400", &json_type, "", (400, "invalid_parameter")),
        ("GET", "/orders?cursor=00", &json_type, "", (400, "invalid_cursor")),
        ("GET", "/v_alarms?gone=true", &json_type, "", (400, "unknown_parameter")),
        ("GET", "/alarms?store=loja-1", &json_type, "", (400, "unknown_parameter")),
        ("GET", "/orders/loja-1/%00", &json_type, "", (404, "no_such_row")),
        ("GET", "/orders/loja-1/%ff", &json_type, "", (404, "no_such_row")),
        ("GET", "/orders/loja-1/nenhum", &json_type, "", (404, "no_such_row")),
        ("GET", "/commands/x", &json_type, "", (404, "no_such_row")),
        ("GET", "/commands/99999999999999999999", &json_type, "", (404, "no_such_row")),
        ("GET", "/effects", &json_type, "", (404, "no_such_route")),
        ("GET", "/api_requests", &json_type, "", (404, "no_such_route")),
        ("GET", "/orders/loja-1/1/2", &json_type, "", (404, "no_such_route")),
        ("DELETE", "/orders", &json_type, "", (405, "method_not_allowed")),
        ("POST", "/orders", &json_type, "[]", (405, "method_not_allowed")),
        ("POST", "/erp_stock", &[], "[]", (415, "not_json")),
        ("POST", "/erp_stock", &json_type, "{", (400, "invalid_json")),
        ("POST", "/erp_stock", &json_type, &large, (413, "too_large")),
        ("POST", "/erp_stock?store=loja-1", &json_type, "[]", (400, "unknown_parameter")),
        ("POST", "/erp_orders?claim=sim", &json_type, "[]", (400, "invalid_parameter")),
        ("POST", "/consumers/erp/ack", &json_type, "{\"seq\": 999999999}", (422, "unknown_seq")),
        ("POST", "/consumers/erp/ack", &json_type, "{\"seq\": -1}", (400, "invalid_parameter")),
        ("POST", "/consumers/%20/ack", &json_type, "{\"seq\": 0}", (400, "invalid_parameter")),
        ("GET", "/changes?wait=31", &json_type, "", (400, "invalid_parameter")),
    ] {
        let method: Method = method.parse().unwrap();
        let answer = world.program.send(method, path, headers, body.to_owned()).await.unwrap();
        assert_eq!(answer.problem(), expected, "{path}");
        if expected.0 == 405 {
            assert_eq!(answer.header("allow"), "GET,HEAD", "{path}");
        }
    }
    let unknown = world.program.get("/orders?stauts=paid").await;
    assert!(unknown.body["detail"].as_str().unwrap().contains("did you mean “status”?"), "{unknown:?}");
    let host = "GET /api/v1/orders HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(pages::answer(&world.program.base, host).await.starts_with("HTTP/1.1 421"));
    world.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_tokens_the_api_is_off_and_a_reload_switches_it_on_and_changes_them() {
    let world = World::of(Kind::Sqlite, "").await;
    for path in ["/orders", "/openapi.json", "/nowhere"] {
        let answer = world.program.get(path).await;
        assert_eq!(answer.problem(), (404, "api_off"), "{path}");
        assert!(answer.body["next"].as_str().unwrap().contains("tokens_file"), "{answer:?}");
    }
    let main = std::fs::read_to_string(world.installation.dir().join("espelho.toml")).unwrap();
    world.installation.write("espelho.toml", &format!("{main}tokens_file = \"tokens.toml\"\n"));
    world.reload();
    until("the API is on", async || world.program.get("/orders").await.status == 200).await;
    assert_eq!(world.program.with("").get("/openapi.json").await.body["openapi"], "3.1.0");
    let other = "0000000000000000-outro-token";
    world.installation.write("tokens.toml", &tokens().replace(ALL, other));
    world.reload();
    until("the old token is refused", async || world.program.get("/orders").await.status == 401).await;
    assert_eq!(world.program.with(other).get("/orders").await.status, 200);
    // A mistake in the file changes nothing.
    world.installation.write("tokens.toml", "[[token]]\nname = \"x\"\n");
    // Nothing but the log tells of a reload that is refused: one of many signals has been handled when the last is sent.
    for _ in 0..20 {
        world.reload();
        assert_eq!(world.program.with(other).get("/orders").await.status, 200);
    }
    let log = world.ended().await;
    assert!(log.contains("tokens.toml") && !log.contains(other), "{log}");
}

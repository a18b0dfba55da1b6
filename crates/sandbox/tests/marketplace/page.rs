//! The page for people and the description for machines.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Options, openapi};
use reqwest::Method;
use serde_json::{Value, json};

async fn page(bench: &Bench) -> String {
    let reply = bench.plain(Method::GET, "/", "").await;
    assert_eq!(
        (reply.status, &reply.headers["content-type"]),
        (200, &"text/html; charset=utf-8".parse().unwrap())
    );
    let policy = reply.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    String::from_utf8(reply.bytes).unwrap()
}

#[tokio::test]
async fn the_page_names_the_stores_and_a_first_command_in_both_languages() {
    let bench = Bench::start(Options { stores: 3, ..unlimited() }).await;
    let html = page(&bench).await;
    for access in bench.sandbox.stores() {
        for text in [&access.key, &access.username, &access.password] {
            assert!(html.contains(text.as_str()), "{text}");
        }
    }
    let command = format!("curl -s {}/api/integration/auth", bench.sandbox.base_url());
    assert!(html.contains(&command));
    assert!(
        html.contains("lang=\"pt-BR\"") && html.contains("lang=\"en\"") && html.contains("/openapi.json")
    );
    assert!(html.contains("--control") && !html.contains("/_sandbox/"), "how to switch the endpoints on");
    assert!(!html.contains("{{"), "everything is filled in");
}

#[tokio::test]
async fn the_page_loads_nothing_and_runs_nothing() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let html = page(&bench).await;
    for forbidden in ["<script", "src=", "@import", "url(", "<link", "onclick", "<iframe", "<form"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("prefers-color-scheme: dark"));
}

#[tokio::test]
async fn with_the_control_every_lever_has_a_command() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let html = page(&bench).await;
    let endpoints = bench.plain(Method::GET, "/_sandbox/", "").await.data();
    assert!(endpoints.as_array().unwrap().len() > 30);
    for endpoint in endpoints.as_array().unwrap() {
        assert!(html.contains(&format!("<code>{}</code>", endpoint["path"].as_str().unwrap())), "{endpoint}");
    }
    let command = format!(
        "curl -s -X POST &#39;{}/_sandbox/clock&#39; -d &#39;{{&quot;seconds&quot;: 3600}}&#39;",
        bench.sandbox.base_url()
    );
    assert!(html.contains(&command));
    assert!(html.contains("adianta o relógio") && html.contains("moves the clock forward"));
    assert!(html.contains("/_sandbox/orders/loja-1&#39;"), "the first store stands in for any");
}

#[tokio::test]
async fn many_stores_are_counted_and_not_all_shown() {
    let bench = Bench::start(Options { stores: 23, orders: 1, products: 1, ..unlimited() }).await;
    let html = page(&bench).await;
    assert!(html.contains("e mais 3 lojas") && html.contains("loja-20@") && !html.contains("loja-21@"));
}

#[tokio::test]
async fn page_and_description_are_public_and_no_part_of_the_statistics() {
    let bench = Bench::start(unlimited()).await;
    let before = bench.sandbox.stats();
    page(&bench).await;
    let described = bench.plain(Method::GET, "/openapi.json", "").await;
    assert_eq!(bench.sandbox.stats(), before);
    let described = described.json();
    assert_eq!(described, serde_json::from_str::<Value>(openapi()).unwrap());
    assert_eq!((&described["openapi"], &described["servers"][0]["url"]), (&json!("3.1.0"), &json!("/")));
    bench.plain(Method::POST, "/", "").await.refused(404, "NOT_FOUND");
    bench.plain(Method::DELETE, "/openapi.json", "").await.refused(404, "NOT_FOUND");
}

// proves: VER-001
#[tokio::test]
async fn order_routes_carry_a_version_and_other_families_none() {
    let described: Value = serde_json::from_str(openapi()).unwrap();
    let paths: Vec<_> = described["paths"].as_object().unwrap().keys().collect();
    let with_version: Vec<_> = paths.iter().filter(|path| path.contains("/v1/")).collect();
    assert!(!with_version.is_empty() && with_version.len() < paths.len());
    assert!(with_version.iter().all(|path| path.starts_with("/api/v1/sellers/orders")));
    let bench = Bench::start(unlimited()).await;
    for path in [
        "/api/sellers/orders",
        "/api/v2/sellers/orders",
        "/api/v1/seller/discounts/campaigns/calendar",
        "/api/v1/stores/auth/session",
    ] {
        bench.get(path).await.refused(404, "NOT_FOUND");
    }
}

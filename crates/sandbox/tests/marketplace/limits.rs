//! The request limit of a token, in its three ways of counting.

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::{Options, Window};
use reqwest::Method;
use serde_json::json;

const ENUMS: &str = "/api/v1/sellers/orders/enums";

fn limited(rate: u32, window: Window) -> Options {
    Options { rate: Some(rate), window, ..Options::default() }
}

/// Status, remaining and retry-after.
async fn ask(bench: &Bench) -> (u16, Option<i64>, Option<i64>) {
    let reply = bench.get(ENUMS).await;
    (reply.status, reply.header("x-ratelimit-remaining"), reply.header("retry-after"))
}

// proves: LIM-001, LIM-002, LIM-004, LIM-005
#[tokio::test]
async fn every_integration_response_carries_the_limit_and_what_is_left() {
    let bench = Bench::start(Options::default()).await;
    let paths = [ENUMS, "/api/v1/sellers/orders/none", "/api/v1/sellers/orders?limit=0", "/api/products"];
    for (used, path) in (1..).zip(paths) {
        let reply = bench.get(path).await;
        assert_eq!(reply.header("x-ratelimit-limit"), Some(300));
        assert_eq!(reply.header("x-ratelimit-remaining"), Some(300 - used));
    }
}

// proves: LIM-004, LIM-005, LIM-002
#[tokio::test]
async fn refusals_and_writes_of_a_token_carry_the_headers_too() {
    let bench = Bench::start(limited(6, Window::Sliding)).await;
    bench.control().credentials().set_abilities("loja-1", &["store_products_read"]);
    let (lists, campaigns) = ("/api/seller/price-lists", "/api/seller/discounts/campaigns/calendar");
    let replies = [
        (403, bench.post(lists, &json!({})).await),
        (403, bench.get("/api/stores/page").await),
        (422, bench.post("/api/items/create", &json!({})).await),
        (201, bench.post("/api/items/create", &json!({"title": "Caneca"})).await),
        (404, bench.delete("/api/media/x").await),
        (200, bench.get(campaigns).await),
        (429, bench.get(campaigns).await),
    ];
    for ((status, reply), left) in replies.into_iter().zip([5, 4, 3, 2, 1, 0, 0]) {
        let headers = ["x-ratelimit-limit", "x-ratelimit-remaining"].map(|name| reply.header(name));
        assert_eq!((reply.status, headers), (status, [Some(6), Some(left)]));
    }
}

#[tokio::test]
async fn a_switched_off_limit_sends_no_headers_and_refuses_nothing() {
    let bench = Bench::start(unlimited()).await;
    for _ in 0..400 {
        let reply = bench.get(ENUMS).await;
        assert_eq!((reply.status, reply.header("x-ratelimit-limit")), (200, None));
    }
    assert_eq!(bench.sandbox.stats().max_in_60s, 400);
}

// proves: ERR-033, LIM-005
#[tokio::test]
async fn a_fixed_window_begins_again_with_the_minute_of_the_clock() {
    let bench = Bench::start(limited(2, Window::Fixed)).await;
    bench.hands.forward(20);
    assert_eq!(ask(&bench).await, (200, Some(1), None));
    assert_eq!(ask(&bench).await, (200, Some(0), None));
    assert_eq!(ask(&bench).await, (429, Some(0), Some(10)));
    bench.hands.forward(10);
    assert_eq!(ask(&bench).await, (200, Some(1), None));
    assert_eq!(ask(&bench).await, (200, Some(0), None));
    assert_eq!(bench.sandbox.stats().max_in_60s, 4, "the known weakness of fixed windows");
}

#[tokio::test]
async fn a_sliding_window_frees_one_request_at_a_time() {
    let bench = Bench::start(limited(2, Window::Sliding)).await;
    assert_eq!(ask(&bench).await, (200, Some(1), None));
    bench.hands.forward(40);
    assert_eq!(ask(&bench).await, (200, Some(0), None));
    assert_eq!(ask(&bench).await, (429, Some(0), Some(20)));
    bench.hands.forward(20);
    assert_eq!(ask(&bench).await, (200, Some(0), None));
    assert_eq!(ask(&bench).await, (429, Some(0), Some(40)));
    assert_eq!(bench.sandbox.stats().max_in_60s, 2);
}

#[tokio::test]
async fn a_first_hit_window_lasts_a_minute_from_its_first_request() {
    let bench = Bench::start(limited(2, Window::FirstHit)).await;
    assert_eq!(ask(&bench).await, (200, Some(1), None));
    bench.hands.forward(50);
    assert_eq!(ask(&bench).await, (200, Some(0), None));
    assert_eq!(ask(&bench).await, (429, Some(0), Some(10)));
    bench.hands.forward(10);
    assert_eq!(ask(&bench).await, (200, Some(1), None));
}

// proves: ERR-032, ENV-016, ENV-017, ENV-018, ENV-019, ENV-020, ENV-023
#[tokio::test]
async fn a_refused_request_says_so_in_the_error_envelope_and_is_not_counted() {
    let bench = Bench::start(limited(1, Window::Sliding)).await;
    bench.get(ENUMS).await;
    for _ in 0..5 {
        let refused: Reply = bench.get(ENUMS).await;
        assert_eq!(refused.refused(429, "TOO_MANY_REQUESTS"), json!([]));
    }
    let stats = bench.sandbox.stats();
    assert_eq!((stats.rate_limited, stats.max_in_60s), (5, 1));
    assert_eq!((stats.by_status[&200], stats.by_status[&429]), (2, 5));
}

// proves: LIM-003
#[tokio::test]
async fn each_token_has_a_limit_of_its_own() {
    let bench = Bench::start(Options { stores: 2, ..limited(1, Window::Fixed) }).await;
    let other = format!("Bearer {}", bench.login_to(&bench.sandbox.stores()[1]).await);
    assert_eq!(bench.get(ENUMS).await.status, 200);
    assert_eq!(bench.get(ENUMS).await.status, 429);
    assert_eq!(bench.get_with(&other, ENUMS).await.status, 200);
}

#[tokio::test]
async fn a_public_route_is_counted_only_with_a_token() {
    let bench = Bench::start(limited(2, Window::Fixed)).await;
    let path = "/api/global/enums/order/status";
    for _ in 0..3 {
        let reply = bench.plain(Method::GET, path, "").await;
        assert_eq!((reply.status, reply.header("x-ratelimit-limit")), (200, None));
    }
    assert_eq!(bench.get(path).await.header("x-ratelimit-remaining"), Some(1));
}

// proves: LIM-001, LIM-002
#[tokio::test]
async fn three_hundred_requests_of_any_routes_are_served_in_a_minute_and_no_more() {
    let bench = Bench::start(Options { window: Window::Sliding, ..Options::default() }).await;
    let paths =
        [ENUMS, "/api/stores/auth/session", "/api/seller/discounts/campaigns/summary", "/api/products"];
    for path in paths.iter().cycle().take(300) {
        assert_eq!(bench.get(path).await.status, 200, "{path}");
    }
    for path in paths {
        let refused = bench.get(path).await;
        refused.refused(429, "TOO_MANY_REQUESTS");
        assert_eq!(
            (refused.header("retry-after"), refused.header("x-ratelimit-limit")),
            (Some(60), Some(300))
        );
    }
    bench.hands.forward(60);
    assert_eq!(bench.get(ENUMS).await.header("x-ratelimit-remaining"), Some(299));
}

//! Listings whose request is refused, and waits that the marketplace asks for.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use espelho_tests::{
    Call, Kind, Reply, Shop,
    shop::{ORDERS, Order, PRODUCTS},
};
use serde_json::{Value, json};

use super::{has_next_step, one_shop};

// These tests wait as long as the marketplace asks, so they come first and wait together.

#[tokio::test]
async fn a_429_is_waited_out_for_as_long_as_it_asks() {
    let seconds = waited(Some("2".to_owned()));
    let in_three_seconds = chrono::TimeDelta::seconds(3);
    let date = waited(Some((now() + in_three_seconds).format("%a, %d %b %Y %H:%M:%S GMT").to_string()));
    let absent = waited(None);
    let (seconds, date, absent) = tokio::join!(seconds, date, absent);
    assert!((2.0..10.0).contains(&seconds), "Retry-After: 2 was waited out for {seconds} s");
    // The date has no fraction, so up to a second of the three is cut off.
    assert!((1.0..10.0).contains(&date), "a date in 3 s was waited out for {date} s");
    assert!((59.0..75.0).contains(&absent), "a 429 without Retry-After was waited out for {absent} s");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the header names an instant of the machine's clock, which espelho reads too"
)]
fn now() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now()
}

/// Details that are requested at once; they may arrive behind the next page of the listing.
const AT_ONCE: usize = 16;

/// Returns the seconds between a 429 on page 2 and the next call for it, in a run that completes. What comes between was
/// under way.
async fn waited(retry_after: Option<String>) -> f64 {
    let refused = AtomicUsize::new(0);
    let shop = Shop::with_rule(Order::many(150), move |call| {
        let first = call.is_order_page(2) && refused.fetch_add(1, SeqCst) == 0;
        let reply = Reply::refusal(429, "TOO_MANY_REQUESTS", "Limite excedido.", &json!([]));
        first.then(|| retry_after.iter().fold(reply, |reply, after| reply.with("Retry-After", after)))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!((&run.store()["rate_limited"], run.count("orders", "changed")), (&json!(1), 150));
    let calls = shop.take_calls();
    let at = calls.iter().position(|call| call.is_order_page(2)).unwrap();
    let again = calls[at + 1..].iter().position(|call| call.is_order_page(2)).unwrap();
    let between = &calls[at + 1..][..again];
    assert!(between.len() < AT_ONCE && between.iter().all(|call| call.path != ORDERS), "{between:?}");
    (calls[at + 1..][again].at - calls[at].at).as_secs_f64()
}

#[tokio::test]
async fn a_refused_limit_is_left_out_and_the_order_kept() {
    let shop = Shop::with_rule(Order::many(50), |call| {
        let errors = json!({"limit": ["O campo limit não pode ser superior a 50."]});
        (call.path == ORDERS && call.query.contains_key("limit")).then(|| invalid(&errors))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "changed"), 50);
    let calls: Vec<Call> = shop.take_calls().into_iter().filter(|call| call.path == ORDERS).collect();
    assert!((4..=5).contains(&calls.len()), "at most two refusals, then three pages of the default size");
    assert!(calls.iter().all(|call| call.query.contains_key("sort")), "the sort was not refused: {calls:?}");
}

#[tokio::test]
async fn a_limit_that_is_too_large_is_made_smaller_before_it_is_left_out() {
    let too_large =
        |call: &Call| call.query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20) > 50;
    let shop = Shop::with_rule(Order::many(100), move |call| {
        let errors = json!({"limit": ["O campo limit não pode ser superior a 50."]});
        (call.path == ORDERS && too_large(call)).then(|| invalid(&errors))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!((run.count("orders", "changed"), shop.count(|call| call.path == ORDERS)), (100, 3));
}

#[tokio::test]
async fn a_refused_sort_is_left_out_and_the_limit_kept() {
    let shop = Shop::with_rule(Order::many(150), |call| {
        let errors = json!({"sort": ["O campo sort selecionado é inválido."]});
        (call.path == ORDERS && call.query.contains_key("sort")).then(|| invalid(&errors))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "changed"), 150);
    let calls: Vec<Call> = shop.take_calls().into_iter().filter(|call| call.path == ORDERS).collect();
    assert_eq!(calls.len(), 3, "one refusal, two pages");
    assert!(
        calls.iter().all(|call| call.query.contains_key("limit")),
        "the limit was not refused: {calls:?}"
    );
}

#[tokio::test]
async fn a_run_that_asked_for_less_is_resumed_as_well() {
    let rule = |breaks: bool| {
        move |call: &Call| {
            let refused = call.path == ORDERS && call.query.contains_key("limit");
            let broken = breaks && call.is_order_page(3);
            (refused || broken).then(|| match refused {
                true => invalid(&json!({"limit": ["O campo limit é inválido."]})),
                false => Reply::refusal(403, "FORBIDDEN", "Agora não.", &json!([])),
            })
        }
    };
    let shop = Shop::with_rule(Order::many(90), rule(true)).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    installation.resync(&["--only", "orders"]).await.expect(3);
    shop.rule(rule(false));
    shop.take_calls();
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "seen"), 90);
    assert_eq!(shop.count(Call::is_order), 50, "the 40 details of pages 1 and 2 are mirrored already");
    let pages = shop.count(|call| call.is_order_page(2));
    assert_eq!((&run.resource("orders")["resumed_at_page"], pages), (&json!(3), 0));
}

#[tokio::test]
async fn a_listing_that_is_refused_however_it_is_asked_for_is_said_so() {
    let shop = Shop::with_rule(Order::many(5), |call| {
        [ORDERS, PRODUCTS]
            .contains(&call.path.as_str())
            .then(|| invalid(&json!({"store": ["A loja está suspensa."]})))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&[]).await.expect(1).says("A loja está suspensa.");
    has_next_step(&run, &run.resource("orders")["error"]);
    assert!(shop.take_calls().len() <= 8, "four ways to ask for orders, two for products");
}

fn invalid(errors: &Value) -> Reply {
    Reply::refusal(422, "VALIDATION_ERROR", "Os dados informados são inválidos.", errors)
}

//! Whatever the forms of answers, counts and pages, and whatever happens to one store: the other mirrors are the
//! same.

use std::collections::BTreeMap;

use espelho_sandbox::{ListShape, Options, Window};
use espelho_tests::{Installation, Kind, Reply, Row, Shop, on_both_databases, sandbox_of, shop::Order};
use serde_json::json;

use super::{DETAIL, LIST, PRODUCT, PRODUCTS, asked, joined, routes};

on_both_databases![
    every_shape_of_listing_and_number_gives_the_same_mirror,
    stores_are_reconciled_together_and_fail_apart,
];

// withstands: F077
async fn every_shape_of_listing_and_number_gives_the_same_mirror(kind: Kind) {
    let mut first = None;
    for list_shape in [ListShape::Flat, ListShape::Envelope, ListShape::Laravel] {
        for numbers_as_strings in [false, true] {
            let shape =
                Options { orders: 130, products: 20, list_shape, numbers_as_strings, ..Options::default() };
            let sandbox = sandbox_of(shape).await;
            let installation = joined(kind, &sandbox).await;
            installation.resync(&[]).await.expect(0);
            let mirror = installation.mirror().await;
            let mut tables = BTreeMap::new();
            for table in espelho_tests::mirror::MIRRORED {
                let as_sent = ["mirrored_at", "raw", "listing_hash", "content_hash"];
                let left_out = &as_sent[..if table.contains('_') { 2 } else { 4 }];
                tables.insert(table, mirror.rows_without(table, left_out).await);
            }
            match &first {
                None => first = Some(tables),
                Some(first) => assert_eq!(*first, tables, "{list_shape:?}, as strings: {numbers_as_strings}"),
            }
            sandbox.reset_stats();
            installation.resync(&[]).await.expect(0);
            assert_eq!(routes(&sandbox), asked(&[(LIST, 2), (PRODUCTS, 1)]), "{list_shape:?}");
        }
    }
}

async fn stores_are_reconciled_together_and_fail_apart(kind: Kind) {
    let sandbox = sandbox_of(Options { stores: 3, orders: 40, products: 10, ..Options::default() }).await;
    let installation = joined(kind, &sandbox).await;
    let broken = &sandbox.stores()[1];
    installation.write_store(&broken.key, &sandbox.base_url(), &broken.username, "errada-errada");
    let run = installation.resync(&[]).await.expect(3).says("Credenciais inválidas.").says(&broken.key);
    let report = run.json();
    let states: Vec<&str> =
        report["stores"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap()).collect();
    assert_eq!((report["state"].as_str(), states), (Some("partial"), vec!["complete", "failed", "complete"]));
    let mirror = installation.mirror().await;
    let count = |rows: &[Row], key: &str| rows.iter().filter(|row| row["store"] == key).count();
    let rows = mirror.rows("orders").await;
    assert_eq!(sandbox.stores().iter().map(|s| count(&rows, &s.key)).collect::<Vec<_>>(), [40, 0, 40]);
    installation.join(&sandbox);
    sandbox.reset_stats();
    let run = installation.resync(&["--store", &broken.key]).await.expect(0);
    assert_eq!(
        (run.store()["store"].as_str(), run.count("orders", "changed")),
        (Some(broken.key.as_str()), 40)
    );
    assert_eq!((routes(&sandbox)[LIST], routes(&sandbox)[PRODUCTS]), (1, 1), "the others are left alone");
}

#[tokio::test]
async fn a_run_within_the_budget_meets_no_429_whatever_the_server_counts() {
    // The rate limiter causes the wait, so the three runs share it.
    tokio::join!(meets_no_429(Window::Fixed), meets_no_429(Window::Sliding), meets_no_429(Window::FirstHit));
}

async fn meets_no_429(window: Window) {
    let options = Options { orders: 60, products: 20, rate: Some(300), window, ..Options::default() };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let sandbox = espelho_sandbox::start(listener, options).await.unwrap();
    let installation = joined(Kind::Sqlite, &sandbox).await;
    let text = std::fs::read_to_string(installation.dir().join("stores/loja-1.toml")).unwrap();
    installation.write("stores/loja-1.toml", &text.replace("= 1000000", "= 300"));
    let run = installation.resync(&[]).await.expect(0);
    let stats = sandbox.stats();
    assert_eq!((stats.rate_limited, &run.store()["rate_limited"]), (0, &json!(0)), "{window:?}");
    assert!(stats.requests > 80 && stats.max_in_60s <= 300, "{stats:?}");
}

// withstands: F055
#[tokio::test]
async fn a_server_that_ignores_the_page_is_found_out_and_named() {
    let sandbox =
        sandbox_of(Options { orders: 250, products: 250, ignore_page: true, ..Options::default() }).await;
    let installation = joined(Kind::Sqlite, &sandbox).await;
    let run = installation.resync(&[]).await;
    assert!([1, 3].contains(&run.code), "{run}");
    let run = run.says("page parameter").says("assumptions.page_parameter");
    assert_eq!(run.resource("orders")["error"]["code"], "paging");
    let asked = routes(&sandbox);
    assert_eq!((asked[LIST], asked[PRODUCTS]), (2, 2));
    assert!(asked[DETAIL] <= 100 && asked[PRODUCT] <= 100, "{asked:?}");
}

#[tokio::test]
async fn a_page_parameter_of_another_name_can_be_configured() {
    let shop = Shop::open(Order::many(150)).await;
    shop.rule(|call| {
        let misnamed = call.query.contains_key("page") && call.path != espelho_tests::shop::LOGIN;
        misnamed.then(|| {
            Reply::refusal(422, "VALIDATION_ERROR", "Campos inválidos.", &json!({"page": ["desconhecido"]}))
        })
    });
    let installation = Installation::on(Kind::Sqlite).await;
    let (username, password) = (espelho_tests::shop::USERNAME, espelho_tests::shop::PASSWORD);
    let more = "[assumptions]\npage_parameter = \"pagina\"\n";
    installation.write_store_with("loja-1", &shop.base_url(), username, password, more);
    // The shop ignores `pagina`, so it returns page 1 repeatedly: only the requests matter.
    let run = installation.resync(&["--only", "orders"]).await;
    assert!([1, 3].contains(&run.code), "{run}");
    let calls = shop.take_calls();
    assert_eq!(
        calls.iter().filter(|call| call.query.get("pagina").is_some_and(|page| page == "2")).count(),
        1
    );
}

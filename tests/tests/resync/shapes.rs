//! Whatever the forms of answers, counts and pages, and whatever happens to one store: the other mirrors are the
//! same.

use espelho_sandbox::{Options, Window};
use espelho_tests::{Installation, Kind, Reply, Row, Shop, on_both_databases, sandbox_of, shop::Order};
use serde_json::json;

use super::{LIST, PRODUCTS, joined, routes};

on_both_databases![stores_are_reconciled_together_and_fail_apart];

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

//! Credential faults: wrong, used by another program, expired, without an ability.

use espelho_sandbox::Options;
use espelho_tests::{
    Call, Installation, Kind, Reply, Shop, on_both_databases, sandbox, sandbox_of,
    shop::{LOGIN, Order, USERNAME},
    until,
};
use serde_json::json;

use super::{has_next_step, one_sandbox, one_shop};

on_both_databases![
    a_wrong_password_is_refused_in_the_marketplaces_words,
    an_expired_token_is_renewed_with_one_login,
];

async fn a_wrong_password_is_refused_in_the_marketplaces_words(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(kind).await;
    installation.write_store("loja-1", &shop.base_url(), USERNAME, "errada-errada");
    let run = installation.resync(&[]).await.expect(4).says("Credenciais inválidas.").says(USERNAME);
    assert_eq!(run.json()["state"], "failed");
    let error = &run.store()["error"];
    assert!(error["error"].as_str().unwrap().contains("Credenciais inválidas."), "{error}");
    has_next_step(&run, error);
    assert!(!run.stderr.contains("errada-errada") && !run.stdout.contains("errada-errada"), "{run}");
    assert_eq!(shop.count(|call| call.path == LOGIN), 1, "a wrong password stays wrong");
    assert_eq!(shop.count(|_| true), 1);
    assert_eq!(installation.mirror().await.rows("sync_runs").await[0]["state"], "failed");
}

#[tokio::test]
async fn a_token_that_dies_within_a_run_costs_one_login() {
    let sandbox = sandbox(600, 5).await;
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let running = installation.start(&["--resync", "--json"]);
    until("the run is under way", async || sandbox.stats().requests > 150).await;
    assert!(sandbox.control().credentials().kill_token("loja-1"));
    let run = running.end().await.expect(0);
    assert_eq!((sandbox.stats().logins, &run.store()["logins"]), (2, &json!(2)));
    assert_eq!(run.count("orders", "changed"), 600);
    assert_eq!(sandbox.stats().repeated_list_pages, 0);
}

#[tokio::test]
async fn a_token_that_died_between_runs_costs_one_login() {
    let sandbox = sandbox(20, 5).await;
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    assert!(sandbox.control().credentials().kill_token("loja-1"));
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!((&run.store()["logins"], run.count("orders", "changed")), (&json!(1), 0));
}

// withstands: F082
#[tokio::test]
async fn a_token_that_dies_again_and_again_is_another_program_and_not_fought_over() {
    let sandbox = sandbox(3_000, 5).await;
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let running = installation.start(&["--resync", "--json"]);
    for login in 1..=3 {
        until("it has logged in", async || sandbox.stats().logins == login).await;
        let before = sandbox.stats().by_status.get(&200).copied().unwrap_or(0);
        // The token has worked, so the next refusal is a new one.
        until("it works", async || sandbox.stats().by_status.get(&200).copied().unwrap_or(0) > before + 60)
            .await;
        assert!(sandbox.control().credentials().kill_token("loja-1"));
    }
    let run = running.end().await.expect(4).says("another program");
    assert_eq!(sandbox.stats().logins, 3, "the first, and two that were forced");
    assert_eq!(run.store()["error"]["code"], "foreign_login");
    has_next_step(&run, &run.store()["error"]);
    let mirror = installation.mirror().await;
    let mirrored = mirror.live("orders").await;
    assert!(mirrored >= 100, "what was read is kept");
    // Another run within the hour neither logs in nor loses anything.
    installation.resync(&[]).await.expect(4);
    assert_eq!((sandbox.stats().logins, mirror.live("orders").await), (3, mirrored));
}

#[tokio::test]
async fn a_token_that_is_never_accepted_is_not_asked_for_for_ever() {
    let refuse = |call: &Call| {
        (call.path != LOGIN).then(|| Reply::refusal(401, "UNAUTHORIZED", "Token inválido.", &json!([])))
    };
    let shop = Shop::with_rule(Order::many(3), refuse).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&[]).await.expect(4);
    has_next_step(&run, &run.store()["error"]);
    let logins = shop.count(|call| call.path == LOGIN);
    assert!(logins <= 3, "{logins} logins: the first, and at most two that were forced");
    assert!(shop.take_calls().len() <= 6);
}

async fn an_expired_token_is_renewed_with_one_login(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    installation
        .journal()
        .await
        .execute("UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000000Z'")
        .await;
    shop.take_calls();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(run.store()["logins"], 1);
    let calls = shop.take_calls();
    assert_eq!(calls[0].path, LOGIN, "an expired token is not even tried");
    assert_eq!(calls.iter().filter(|call| call.path == LOGIN).count(), 1);
    let again = installation.resync(&[]).await.expect(0);
    assert_eq!(again.store()["logins"], 0, "the new token is kept");
}

// withstands: F089
#[tokio::test]
async fn a_missing_scope_is_named_and_the_rest_is_mirrored() {
    let sandbox =
        sandbox_of(Options { orders: 20, products: 5, strict_scopes: true, ..Options::default() }).await;
    assert!(sandbox.control().credentials().set_abilities("loja-1", &[]));
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let run = installation.resync(&[]).await.expect(3).says("store_products_read");
    let error = &run.resource("products")["error"];
    assert!(error["error"].as_str().unwrap().contains("store_products_read"), "{error}");
    has_next_step(&run, error);
    assert_eq!((run.json()["state"].as_str(), run.count("orders", "changed")), (Some("partial"), 20));
    assert_eq!(sandbox.stats().by_route["GET /api/products"], 1, "a refusal is not asked for again");
}

//! The marketplace is reached only through the configured address.

use espelho_tests::{Installation, Kind, Reply, Running, Shop, shop::Order};

// withstands: F130
#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    let mut command = installation.command(&["--resync", "--json"]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:1");
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    Running::of(command).end().await.expect(0);
    assert_eq!(installation.mirror().await.live("orders").await, 3);
}

// withstands: F130
#[tokio::test]
async fn a_redirect_takes_the_token_nowhere() {
    let elsewhere = Shop::open(Vec::new()).await;
    let target = elsewhere.base_url();
    let shop = Shop::with_rule(Order::many(3), move |call| {
        let there = format!("{target}{}", call.path);
        call.is_order().then(|| Reply::text(302, "text/plain", "").with("Location", there))
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    let run = installation.resync(&[]).await;
    assert_ne!(run.code, 0, "{run}");
    assert!(shop.count(espelho_tests::Call::is_order) >= 3);
    assert_eq!(elsewhere.count(|_| true), 0);
}

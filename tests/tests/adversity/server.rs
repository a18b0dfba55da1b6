//! A database whose sessions end, and a killed migration.

use espelho_tests::{Installation, Kind, Shop, on_both_databases, shop::Order, until};

on_both_databases![a_migration_that_is_killed_is_made_by_the_next_one];

// withstands: F107
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn though_the_server_ends_every_session_again_and_again_the_mirror_becomes_whole() {
    let shop = Shop::open(Order::many(400)).await;
    let installation = Installation::on(Kind::Postgres).await;
    installation.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    shop.join(&installation);
    let service = installation.start(&["run"]);
    let mirror = installation.mirror().await;
    let mut before = 0;
    for _ in 0..4 {
        let live =
            async || mirror.try_ask("SELECT order_number FROM orders WHERE gone_at IS NULL").await.len();
        until("more is mirrored", async || live().await > before || live().await == 400).await;
        before = live().await;
        mirror
            .execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE application_name = 'espelho' AND datname = current_database()",
            )
            .await;
    }
    until("everything is mirrored", async || mirror.live("orders").await == 400).await;
    let told = mirror.ask("SELECT key FROM changes WHERE entity = 'order' AND op = 'insert'").await;
    assert_eq!(told.len(), 400, "each is told once, whether or not its commit was answered");
    service.terminate().await;
    service.end().await.expect(0);
}

// withstands: F108
async fn a_migration_that_is_killed_is_made_by_the_next_one(kind: Kind) {
    for steps in [0, 1, 2, 4] {
        let (shop, installation) = (Shop::open(Order::many(3)).await, Installation::on(kind).await);
        shop.join(&installation);
        let mut migrating = installation.start(&["migrate"]);
        let mirror = installation.mirror().await;
        let made = "SELECT CAST(version AS TEXT) AS version FROM _sqlx_migrations";
        until("some of it is made", async || {
            migrating.has_ended() || mirror.try_ask(made).await.len() >= steps
        })
        .await;
        migrating.kill().await;
        installation.run(&["migrate"]).await.expect(0);
        assert!(!mirror.ask(made).await.is_empty());
        installation.resync(&[]).await.expect(0);
        assert_eq!(mirror.live("orders").await, 3);
    }
}

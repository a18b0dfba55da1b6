//! The state after a restore: feed readers, store ownership, deliveries.

use std::{collections::BTreeMap, fs};

use espelho_tests::{
    Installation, Kind, Shop,
    shop::{LOGIN, Order},
};
use serde_json::Value;

use super::{ask, execute, file, text};

/// A reader of the feed that records what it received, and its position.
#[derive(Default)]
struct Reader {
    seq: i64,
    /// The content of each order when the feed reported it.
    known: BTreeMap<String, String>,
    told: BTreeMap<i64, String>,
}

impl Reader {
    async fn catch_up(&mut self, installation: &Installation) {
        let mirror = file(installation, "espelho.db");
        let fed = installation.run(&["feed"]).await.expect(0);
        for line in fed.stdout.lines() {
            let change: Value = serde_json::from_str(line).unwrap();
            let seq = change["seq"].as_i64().unwrap();
            if seq <= self.seq {
                assert_eq!(
                    self.told.get(&seq).map(String::as_str),
                    Some(line),
                    "a number with other contents"
                );
                continue;
            }
            self.told.insert(seq, line.to_owned());
            self.seq = seq;
            let key = change["key"].as_str().unwrap();
            let row = ask(&mirror, &format!("SELECT raw FROM orders WHERE order_number = '{key}'")).await;
            self.known.insert(key.to_owned(), row.first().map_or("", |row| row["raw"].as_str()).to_owned());
        }
    }
}

fn set_notes(shop: &Shop, number: &str, notes: &str) {
    shop.change(|orders| {
        let order = orders.iter_mut().find(|order| order.number == number).unwrap();
        order.row["notes"] = notes.into();
        order.detail["notes"] = notes.into();
        let updated = format!("2026-03-01T12:{:02}:00Z", notes.len());
        (order.row["updated_at"], order.detail["updated_at"]) = (updated.clone().into(), updated.into());
    });
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_the_feed_misses_nothing_after_a_restore_and_no_number_is_told_twice() {
    let shop = Shop::open(Order::many(6)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let backup = file(&installation, "backup");
    installation.run(&["backup", text(&backup)]).await.expect(0);
    let mut reader = Reader::default();
    for restores in 0..3 {
        // The reader receives more than the backup contains, including an order that changes and, unseen, changes
        // back.
        let original = shop_notes(&shop, "P00002");
        set_notes(&shop, "P00002", "for a moment");
        set_notes(&shop, "P00003", &"for good".repeat(restores + 1));
        shop.change(|orders| orders.push(Order::ordinary(&format!("P1000{restores}"))));
        installation.resync(&[]).await.expect(0);
        reader.catch_up(&installation).await;
        let before = reader.seq;
        put_back(&shop, "P00002", original);
        // Nothing is left of the mirror that reported all that.
        for entry in fs::read_dir(installation.dir()).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("espelho.db") && entry.path().is_file() {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        installation.run(&["restore", text(&backup)]).await.expect(0);
        installation.resync(&[]).await.expect(0);
        reader.catch_up(&installation).await;
        assert!(reader.seq > before && reader.seq < 1 << 53, "{}", reader.seq);
        let orders = ask(&file(&installation, "espelho.db"), "SELECT order_number, raw FROM orders").await;
        assert_eq!(orders.len(), 7 + restores);
        for order in orders {
            assert_eq!(reader.known[&order["order_number"]], order["raw"], "restore {restores}");
        }
    }
}

fn shop_notes(shop: &Shop, number: &str) -> (Value, Value) {
    let mut kept = (Value::Null, Value::Null);
    shop.change(|orders| {
        let order = orders.iter().find(|order| order.number == number).unwrap();
        kept = (order.row.clone(), order.detail.clone());
    });
    kept
}

fn put_back(shop: &Shop, number: &str, (row, detail): (Value, Value)) {
    shop.change(|orders| {
        let order = orders.iter_mut().find(|order| order.number == number).unwrap();
        (order.row, order.detail) = (row, detail);
    });
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_mirror_trusts_no_lease_token_budget_or_checkpoint_of_before() {
    let shop = Shop::open(Order::many(4)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let mirror = file(&installation, "espelho.db");
    execute(
        &mirror,
        "INSERT INTO sync_passes (store, resource, scope, started_at) VALUES ('loja-1', 'orders', 'x', '2026-01-01T00:00:00.000000Z')",
    )
    .await;
    let backup = file(&installation, "backup");
    installation.run(&["backup", text(&backup)]).await.expect(0);
    for _ in 0..3 {
        installation.resync(&[]).await.expect(0);
    }
    let fence = "SELECT CAST(fence AS TEXT) AS fence FROM leases";
    let number = async || ask(&mirror, fence).await[0]["fence"].parse::<i64>().unwrap();
    let held = number().await;
    execute(&mirror, "UPDATE leases SET fence = fence + 5000000").await;
    installation.run(&["restore", "--replace", text(&backup)]).await.expect(0);
    assert!(number().await > held + 5_000_000, "the holder of before could go on writing");
    let inbox = file(&installation, "espelho.db-inbox");
    assert_eq!(ask(&inbox, "SELECT token FROM tokens").await, []);
    assert_eq!(ask(&mirror, "SELECT scope FROM sync_passes").await, []);
    assert_eq!(ask(&backup.join("espelho.db-inbox"), "SELECT token FROM tokens").await.len(), 1);

    shop.take_calls();
    let resync = installation.resync(&[]).await.expect(0);
    assert_eq!(shop.take_calls().iter().filter(|call| call.path == LOGIN).count(), 1);
    assert_eq!(resync.count("orders", "seen"), 4);
}

/// Earlier versions kept tokens in the mirror's own file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_an_earlier_version_comes_back_with_its_secrets_and_without_its_tokens() {
    let shop = Shop::open(Order::many(2)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let inbox = file(&installation, "espelho.db-inbox");
    let secret = "INSERT INTO webhook_secrets (store, secret, obtained_at) \
        VALUES ('loja-1', 'one', '2026-03-01T12:00:00.000000Z')";
    execute(&inbox, secret).await;
    let backup = file(&installation, "backup");
    installation.run(&["backup", text(&backup)]).await.expect(0);
    execute(
        &backup.join("espelho.db-inbox"),
        "DROP TABLE tokens; DELETE FROM _sqlx_migrations WHERE version >= 30",
    )
    .await;
    execute(
        &backup.join("espelho.db"),
        "CREATE TABLE tokens (store TEXT PRIMARY KEY, username TEXT NOT NULL, base_url TEXT NOT NULL, token TEXT NOT NULL, \
         expires_at TEXT NOT NULL, obtained_at TEXT NOT NULL); \
         INSERT INTO tokens VALUES ('loja-1', 'u', 'b', 'of an earlier day', '2026-03-02T12:00:00.000000Z', '2026-03-01T12:00:00.000000Z'); \
         DELETE FROM _sqlx_migrations WHERE version = 31",
    )
    .await;
    let empty = Installation::on(Kind::Sqlite).await;
    shop.join(&empty);
    empty.run(&["restore", text(&backup)]).await.expect(0);
    let inbox = file(&empty, "espelho.db-inbox");
    assert_eq!(ask(&inbox, "SELECT token FROM tokens").await, []);
    assert_eq!(ask(&inbox, "SELECT secret FROM webhook_secrets").await[0]["secret"], "one");
    shop.take_calls();
    // A login would end the token of the installation that made the backup, and that may still run.
    let looked = empty.run(&["doctor"]).await;
    assert!(looked.stdout.contains("doctor --login"), "{looked}");
    assert!(shop.take_calls().iter().all(|call| call.path != LOGIN), "{looked}");
    empty.resync(&[]).await.expect(0);
    assert_eq!(shop.take_calls().iter().filter(|call| call.path == LOGIN).count(), 1);
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_delivery_is_lost_with_a_backup_or_a_restore() {
    let shop = Shop::open(Order::many(1)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let inbox = file(&installation, "espelho.db-inbox");
    let deliver = |n: u32, handled: &str| {
        format!(
            "INSERT INTO webhook_inbox (store, received_at, event, digest, body, handled_at) \
             VALUES ('loja-1', '2026-03-01T12:00:0{n}.000000Z', 'order.paid', 'd{n}', x'7b7d', {handled})"
        )
    };
    for (n, handled) in
        [(1, "'2026-03-01T12:01:00.000000Z'"), (2, "NULL"), (3, "'2026-03-01T12:01:01.000000Z'")]
    {
        execute(&inbox, &deliver(n, handled)).await;
    }
    execute(
        &inbox,
        "INSERT INTO webhook_secrets (store, secret, obtained_at) VALUES ('loja-1', 'one', '2026-03-01T12:00:00.000000Z')",
    )
    .await;
    let backup = file(&installation, "backup");
    installation.run(&["backup", text(&backup)]).await.expect(0);
    let handled = "SELECT digest, handled_at FROM webhook_inbox";
    let open = |rows: Vec<espelho_tests::Row>| -> Vec<String> {
        rows.into_iter()
            .filter(|row| !row.contains_key("handled_at"))
            .map(|row| row["digest"].clone())
            .collect()
    };
    // The third one may have been handled after the mirror was copied.
    assert_eq!(open(ask(&backup.join("espelho.db-inbox"), handled).await), ["d2", "d3"]);
    assert_eq!(open(ask(&inbox, handled).await), ["d2"]);

    execute(&inbox, &deliver(4, "'2026-03-01T12:01:02.000000Z'")).await;
    execute(
        &inbox,
        "UPDATE webhook_secrets SET retired_at = '2026-03-02T12:00:00.000000Z'; \
         INSERT INTO webhook_secrets (store, secret, obtained_at) VALUES ('loja-1', 'two', '2026-03-02T12:00:00.000000Z')",
    )
    .await;
    let done = installation.run(&["restore", "--replace", text(&backup), "--json"]).await.expect(0).json();
    assert_eq!(done["deliveries"], 1);
    assert_eq!(open(ask(&inbox, handled).await), ["d2", "d3", "d4"]);
    let secrets = ask(&inbox, "SELECT secret, retired_at FROM webhook_secrets").await;
    let retired: Vec<(&str, bool)> =
        secrets.iter().map(|row| (row["secret"].as_str(), row.contains_key("retired_at"))).collect();
    assert!(retired.contains(&("one", true)) && retired.contains(&("two", false)), "{retired:?}");
}

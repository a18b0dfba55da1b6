//! The open rows of a mirror that a backup has replaced.

use std::{fs, sync::Arc};

use espelho_model::text::{Language, Locale};
use espelho_store::{Store, back_up, restore};

use tempfile::TempDir;

use crate::{hand_clock::HandClock, tables::Tables, world::minha_loja};

const OPEN: &str = "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES \
    ('minha-loja', 'A', '1', 5), ('minha-loja', 'B', '1', 5), ('minha-loja', 'C', '1', 5)";
const PRICES: &str = "INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', 'A', 9.9), \
    ('minha-loja', 'B', 9.9), ('minha-loja', 'C', 9.9)";
const COMMANDS: &str = "INSERT INTO commands (store, kind, key, data) VALUES \
    ('minha-loja', 'order.status', 'N-1', '{}'), ('minha-loja', 'order.status', 'N-2', '{}'), \
    ('minha-loja', 'order.status', 'N-3', '{}'), ('minha-loja', 'stock.adjust', 'N-4', '{}')";
const HELD: &str = "UPDATE commands SET state = 'held' WHERE key IN ('N-3', 'N-4')";
const STATES: &str = "SELECT 'stock ' || sku || ' ' || state FROM erp_stock \
    UNION ALL SELECT 'price ' || sku || ' ' || state FROM erp_prices \
    UNION ALL SELECT 'command ' || key || ' ' || state FROM commands ORDER BY 1";

/// The events of a mirror between its backup and the restore.
struct Meanwhile {
    since: &'static str,
    without_inbox: bool,
}

/// Returns the tables of a mirror with open rows that was replaced by its backup, and the folder of its files.
async fn restored(meanwhile: Meanwhile) -> (Tables, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("espelho.db");
    let (url, copy) = (format!("sqlite:{}", file.display()), folder.path().join("copy"));
    let clock = Arc::new(HandClock::default());
    let store = Store::open(&url, clock.clone()).await.unwrap();
    let tables = Tables::open(&url).await;
    for sql in [OPEN, PRICES, COMMANDS, HELD] {
        tables.execute(sql).await;
    }
    back_up(&store, &copy, &|_, _, _| ()).await.unwrap();
    tables.execute(meanwhile.since).await;
    tables.close().await;
    store.close().await;
    drop(store);
    if meanwhile.without_inbox {
        fs::write(format!("{}-inbox", file.display()), "no database").unwrap();
    }
    let locale = Locale::of(Language::English);
    restore(&url, &copy, true, (clock, locale), &|_, _, _| ()).await.unwrap();
    (Tables::open(&url).await, folder)
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_stays_open_only_where_the_replaced_mirror_had_it_open_too() {
    let since = "UPDATE erp_stock SET quantity = 3 WHERE sku = 'A'; \
        UPDATE erp_stock SET state = 'done' WHERE sku = 'B'; \
        UPDATE erp_prices SET state = 'ignored' WHERE sku = 'A'; \
        UPDATE erp_prices SET package_weight = 2 WHERE sku = 'C'; \
        UPDATE commands SET state = 'ignored' WHERE key = 'N-1'; \
        UPDATE commands SET state = 'done' WHERE key = 'N-3'";
    let (tables, _folder) = restored(Meanwhile { since, without_inbox: false }).await;
    assert_eq!(
        tables.list(STATES).await,
        [
            "command N-1 doubtful",
            "command N-2 new",
            "command N-3 held",
            "command N-4 held",
            "price A failed",
            "price B new",
            "price C failed",
            "stock A failed",
            "stock B failed",
            "stock C new"
        ]
    );
    let hint = tables.list("SELECT hint FROM commands WHERE key = 'N-1'").await.remove(0);
    assert!(hint.contains("espelho retry command 1 --store minha-loja"), "{hint}");
    let hint = tables.list("SELECT hint FROM erp_stock WHERE sku = 'A'").await.remove(0);
    assert!(hint.contains("--code restored --store minha-loja"), "{hint}");
    let said = tables.list("SELECT said FROM erp_stock WHERE sku = 'A'").await.remove(0);
    assert!(said.contains("push-restored-wish") && said.contains("minha-loja"), "{said}");
    // The ERP's next word counts, even the same one.
    for again in ["UPDATE erp_stock SET quantity = quantity", "UPDATE erp_prices SET price = price"] {
        tables.execute(again).await;
    }
    let states = tables.list(STATES).await;
    assert_eq!(states.iter().filter(|row| row.ends_with(" new")).count(), 7, "{states:?}");
    tables.close().await;
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_replaced_journal_every_open_row_is_doubted() {
    let (tables, _folder) = restored(Meanwhile { since: "SELECT 1", without_inbox: true }).await;
    let states = tables.list(STATES).await;
    assert_eq!(states.len(), 10);
    let is_doubted = |row: &String| match row.starts_with("command") {
        true => row.ends_with(" doubtful"),
        false => row.ends_with(" failed"),
    };
    assert!(states.iter().all(is_doubted), "{states:?}");
    let said = tables.list("SELECT hint || said FROM commands ORDER BY key").await;
    for (said, is_movement) in said.iter().zip([false, false, false, true]) {
        assert_eq!(said.starts_with("Count the stock."), is_movement, "{said}");
        assert_eq!(said.starts_with("Look in the portal."), !is_movement, "{said}");
        assert_eq!(said.contains("push-restored-movement"), is_movement, "{said}");
    }
    tables.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_counts_as_restored_until_somebody_owns_it() {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let (clock, copy, store) = (Arc::new(HandClock::default()), folder.path().join("copy"), minha_loja());
    let first = Store::open(&url("espelho.db"), clock.clone()).await.unwrap();
    assert!(!first.leases().is_restored(&store).await.unwrap(), "a new database");
    let lease = first.leases().acquire_now(&store, "espelho run (process 7 on a)").await.unwrap();
    lease.release().await.unwrap();
    assert!(!first.leases().is_restored(&store).await.unwrap(), "its own database");
    back_up(&first, &copy, &|_, _, _| ()).await.unwrap();
    first.close().await;
    drop(first);
    let locale = Locale::of(Language::English);
    restore(&url("restored.db"), &copy, false, (clock.clone(), locale), &|_, _, _| ()).await.unwrap();
    let restored = Store::open(&url("restored.db"), clock).await.unwrap();
    assert!(restored.leases().is_restored(&store).await.unwrap());
    let lease = restored.leases().acquire_now(&store, "espelho doctor (process 8 on a)").await.unwrap();
    lease.release().await.unwrap();
    assert!(!restored.leases().is_restored(&store).await.unwrap(), "somebody has owned it");
    restored.close().await;
}

//! An installation whose database an earlier espelho has left, with rows in it.

use std::{collections::BTreeMap, path::Path, str::FromStr as _};

use espelho_tests::{
    Installation, Kind, Mirror, Row,
    installation::STORE,
    shop::{PASSWORD, USERNAME},
};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};

/// The last version with amounts as TEXT on SQLite: most of what was migrated since lies behind it.
pub(crate) const VERSION: i64 = 15;
pub(crate) const ORDERS: usize = 3_000;

/// Statements that both databases understand.
const ROWS: &[&str] = &[
    "INSERT INTO orders (store, order_number, listing_hash, content_hash, mirrored_at, status, total_order, items_count, raw) \
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
     SELECT 'loja-1', 'P' || CAST(i AS TEXT), i, i, '2026-11-20T12:00:00.000000Z', 'paid', 19.90, 1, '{\"status_label\":\"Pago\"}' FROM n",
    "INSERT INTO order_items (store, order_number, id, mirrored_at, unit_price, raw) \
     SELECT store, order_number, '1', mirrored_at, 19.90, '{\"name\":\"Camisa\"}' FROM orders",
    "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, price, raw) \
     VALUES ('loja-1', 'P', 1, 2, '2026-11-20T12:00:00.000000Z', 'A', 19.90, '{}')",
    "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('loja-1', 'A', '1', 7)",
    "INSERT INTO erp_prices (store, sku, price) VALUES ('loja-1', 'A', 21)",
    "INSERT INTO commands (store, kind, key) VALUES ('loja-1', 'webhook.test', '')",
];

/// The tables that have rows, with the columns that no migration fills.
const KEPT: [(&str, &str); 6] = [
    ("orders", "store, order_number, status, CAST(total_order AS TEXT) AS total, status_label"),
    ("order_items", "store, order_number, CAST(unit_price AS TEXT) AS price, name"),
    ("products", "store, sku, CAST(price AS TEXT) AS price"),
    ("erp_stock", "store, sku, state, CAST(quantity AS TEXT) AS quantity"),
    ("erp_prices", "store, sku, state, CAST(price AS TEXT) AS price"),
    ("commands", "store, kind, state"),
];

async fn up_to(version: i64, folder: &str) -> Migrator {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations").join(folder);
    let all = Migrator::new(all).await.unwrap();
    Migrator::with_migrations(all.iter().filter(|migration| migration.version <= version).cloned().collect())
}

/// Returns an installation with a store and without a database. Nobody answers at the store's address.
pub(crate) async fn empty(kind: Kind) -> Installation {
    let installation = Installation::on(kind).await;
    installation.write_store(STORE, "http://127.0.0.1:9", USERNAME, PASSWORD);
    installation
}

/// Returns an installation on a database of an earlier version, in which nothing was opened yet.
pub(crate) async fn installation(kind: Kind) -> Installation {
    let installation = empty(kind).await;
    match kind {
        Kind::Sqlite => {
            for (name, folder) in [("espelho.db", "sqlite"), ("espelho.db-inbox", "sqlite/inbox")] {
                let url = format!("sqlite:{}", installation.dir().join(name).display());
                let options = SqliteConnectOptions::from_str(&url).unwrap().create_if_missing(true);
                let mut file = options.journal_mode(SqliteJournalMode::Wal).connect().await.unwrap();
                up_to(VERSION, folder).await.run(&mut file).await.unwrap();
                for sql in ROWS.iter().filter(|_| folder == "sqlite") {
                    sqlx::raw_sql(AssertSqlSafe(*sql)).execute(&mut file).await.unwrap();
                }
                file.close().await.unwrap();
            }
        }
        Kind::Postgres => {
            let Mirror::Postgres(pool) = installation.mirror().await else { unreachable!() };
            up_to(VERSION, "postgres").await.run(&pool).await.unwrap();
            for sql in ROWS {
                sqlx::raw_sql(AssertSqlSafe(*sql)).execute(&pool).await.unwrap();
            }
            pool.close().await;
        }
    }
    installation
}

/// Closes a connection to the database: a server does not copy a database that somebody is connected to.
pub(crate) async fn closed(mirror: Mirror) {
    match mirror {
        Mirror::Sqlite(pool) => pool.close().await,
        Mirror::Postgres(pool) => pool.close().await,
    }
}

/// Returns the versions that a database has, the highest last.
pub(crate) async fn versions(installation: &Installation) -> Vec<i64> {
    let mirror = installation.mirror().await;
    let rows = mirror.try_ask("SELECT CAST(version AS TEXT) AS version FROM _sqlx_migrations").await;
    closed(mirror).await;
    let mut versions: Vec<i64> = rows.iter().map(|row| row["version"].parse().unwrap()).collect();
    versions.sort_unstable();
    versions
}

/// Returns the rows that must be there whatever happens to a migration.
pub(crate) async fn kept(installation: &Installation) -> BTreeMap<&'static str, Vec<Row>> {
    let mirror = installation.mirror().await;
    let mut all = BTreeMap::new();
    for (table, columns) in KEPT {
        all.insert(table, mirror.ask(&format!("SELECT {columns} FROM {table}")).await);
    }
    closed(mirror).await;
    assert_eq!(all["orders"].len(), ORDERS);
    all
}

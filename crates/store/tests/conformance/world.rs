//! The environment of a test: a fresh database, a store on it, a clock, and direct access to its tables.

use std::{path::Path, str::FromStr as _, sync::Arc};

use espelho_model::{ContentHash, StoreKey, order::Order, privacy::Policy, product::Product};
use espelho_store::{Error, Lease, LeaseTx, Op, OrderWrite, ProductWrite, Store};
use espelho_test_database::{ServerDatabase, Template, address_in};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _,
    migrate::Migrator,
    postgres::PgConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use tempfile::TempDir;

use crate::{hand_clock::HandClock, tables::Tables};

/// The migrations of an earlier espelho.
pub(crate) async fn up_to(version: i64, folder: &str) -> Migrator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(folder);
    let all = Migrator::new(path).await.unwrap();
    Migrator::with_migrations(all.iter().filter(|migration| migration.version <= version).cloned().collect())
}

/// A fresh mirror with a store on it.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) tables: Tables,
    pub(crate) url: String,
    // The last field is dropped last: the database is deleted after its last user.
    _home: Home,
}

enum Home {
    Directory { _held: TempDir },
    Database { _held: Box<ServerDatabase> },
    Lent,
}

impl World {
    /// In a directory of its own, migrated before.
    pub(crate) async fn on_sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let template = Template::new("espelho_store", migrate);
        let url = template.copy_files(Path::new(env!("CARGO_TARGET_TMPDIR")), directory.path()).await;
        Self::begin(url, Home::Directory { _held: directory }).await
    }

    /// In a database of its own on the server of `tests/run`, migrated before.
    pub(crate) async fn on_postgres() -> Self {
        let database = Template::new("espelho_store", migrate).copy_database().await;
        Self::begin(database.url(), Home::Database { _held: Box::new(database) }).await
    }

    /// On a file that an earlier espelho has migrated to `version`, with `rows` in it.
    pub(crate) async fn on_older_sqlite(version: i64, rows: &[String]) -> Self {
        Older::on_sqlite(version, rows).await.open().await
    }

    /// The same on PostgreSQL.
    pub(crate) async fn on_older_postgres(version: i64, rows: &[String]) -> Self {
        Older::on_postgres(version, rows).await.open().await
    }

    /// The definitions that the migrations leave in a database of the same kind, which no store has opened.
    pub(crate) async fn definitions_of_migrations(&self) -> Vec<Vec<Option<String>>> {
        let all = i64::MAX;
        if self.store.file().is_some() {
            let folder = tempfile::tempdir().unwrap();
            let url = address_in(folder.path());
            for (suffix, migrations) in [("", "sqlite"), ("-inbox", "sqlite/inbox")] {
                let options = SqliteConnectOptions::from_str(&format!("{url}{suffix}")).unwrap();
                let mut connection = options.create_if_missing(true).connect().await.unwrap();
                up_to(all, migrations).await.run(&mut connection).await.unwrap();
            }
            Tables::open(&url).await.definitions().await
        } else {
            let database = ServerDatabase::empty().await;
            let mut connection =
                PgConnectOptions::from_str(&database.url()).unwrap().connect().await.unwrap();
            up_to(all, "postgres").await.run(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            let tables = Tables::open(&database.url()).await;
            let definitions = tables.definitions().await;
            tables.close().await;
            definitions
        }
    }

    async fn begin(url: String, home: Home) -> Self {
        let clock = Arc::new(HandClock::default());
        let store = Store::open(&url, Arc::<HandClock>::clone(&clock)).await.unwrap();
        let tables = Tables::open(&url).await;
        Self { store, clock, tables, url, _home: home }
    }

    /// Opens the same database once more, as another process would.
    pub(crate) async fn open_again(&self) -> Result<Store, Error> {
        Store::open(&self.url, Arc::<HandClock>::clone(&self.clock)).await
    }

    /// The same database with a policy for people's data; it must not outlive this one.
    pub(crate) async fn under(&self, policy: Policy) -> Self {
        let store = self.store.clone().with_privacy(policy).await.unwrap();
        let (clock, tables) = (Arc::clone(&self.clock), Tables::open(&self.url).await);
        Self { store, clock, tables, url: self.url.clone(), _home: Home::Lent }
    }

    /// The lease of `minha-loja`.
    pub(crate) async fn lease(&self) -> Lease {
        self.lease_of(&minha_loja()).await
    }

    pub(crate) async fn lease_of(&self, store: &StoreKey) -> Lease {
        self.store.leases().acquire(store, "the test").await.unwrap()
    }

    /// Writes orders in a transaction of their own.
    pub(crate) async fn write_orders(&self, lease: &Lease, op: Op, orders: Vec<Order>) {
        let mut tx = self.store.begin(lease).await.unwrap();
        write_orders(&mut tx, op, orders).await;
        tx.commit().await.unwrap();
    }

    /// Writes products in a transaction of their own.
    pub(crate) async fn write_products(&self, lease: &Lease, op: Op, products: Vec<Product>) {
        let mut tx = self.store.begin(lease).await.unwrap();
        write_products(&mut tx, op, products).await;
        tx.commit().await.unwrap();
    }
}

/// A database that an earlier espelho has left, and that this one has not opened yet.
pub(crate) struct Older {
    pub(crate) url: String,
    home: Home,
}

impl Older {
    /// Two files with the migrations up to `version`, and `rows` in the first.
    pub(crate) async fn on_sqlite(version: i64, rows: &[String]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = address_in(directory.path());
        for (suffix, folder, rows) in [("", "sqlite", rows), ("-inbox", "sqlite/inbox", &[])] {
            let options = SqliteConnectOptions::from_str(&format!("{url}{suffix}")).unwrap();
            let options = options.create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
            let mut connection = options.connect().await.unwrap();
            up_to(version, folder).await.run(&mut connection).await.unwrap();
            for row in rows {
                sqlx::raw_sql(AssertSqlSafe(row.clone())).execute(&mut connection).await.unwrap();
            }
            connection.close().await.unwrap();
        }
        Self { url, home: Home::Directory { _held: directory } }
    }

    /// The same on PostgreSQL.
    pub(crate) async fn on_postgres(version: i64, rows: &[String]) -> Self {
        let database = ServerDatabase::empty().await;
        let mut connection = PgConnectOptions::from_str(&database.url()).unwrap().connect().await.unwrap();
        up_to(version, "postgres").await.run(&mut connection).await.unwrap();
        for row in rows {
            sqlx::raw_sql(AssertSqlSafe(row.clone())).execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();
        Self { url: database.url(), home: Home::Database { _held: Box::new(database) } }
    }

    /// Opens it, which migrates it.
    pub(crate) async fn open(self) -> World {
        World::begin(self.url, self.home).await
    }
}

async fn migrate(url: String) {
    Store::open(&url, Arc::new(HandClock::default())).await.unwrap().close().await;
}

/// Writes orders whose listing row equals their raw text.
pub(crate) async fn write_orders(tx: &mut LeaseTx<'_>, op: Op, orders: Vec<Order>) {
    let write = |order: Order| OrderWrite { listing_hash: order.raw.content_hash(), order, op };
    tx.mirror().write_orders(orders.into_iter().map(write).collect()).await.unwrap();
}

/// Writes products whose listing row equals their raw text.
pub(crate) async fn write_products(tx: &mut LeaseTx<'_>, op: Op, products: Vec<Product>) {
    let write = |product: Product| ProductWrite {
        listing_hash: product.raw.content_hash(),
        content_hash: ContentHash::of(format!("{product:?}").as_bytes()),
        product,
        op,
    };
    tx.mirror().write_products(products.into_iter().map(write).collect()).await.unwrap();
}

/// The store of most tests.
pub(crate) fn minha_loja() -> StoreKey {
    store_key("minha-loja")
}

pub(crate) fn store_key(text: &str) -> StoreKey {
    StoreKey::new(text).unwrap()
}

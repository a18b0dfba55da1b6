//! The ERP's role on PostgreSQL: what `espelho grants` lets it do, and nothing else.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher as _, RandomState},
    str::FromStr as _,
};

use espelho_store::grants;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection, Row as _, postgres::PgConnectOptions};

use crate::world::World;

/// The role must not see these: who holds it could call the marketplace, forge deliveries, or undo the journal.
const PRIVATE: [&str; 17] = [
    "_sqlx_migrations",
    "api_requests",
    "effects",
    "erased_people",
    "erasure_keys",
    "leases",
    "logins",
    "quarantine",
    "rate_blocks",
    "releases",
    "sync_pages",
    "sync_passes",
    "tokens",
    "webhook_addresses",
    "webhook_inbox",
    "webhook_secrets",
    "webhook_watch",
];

/// A connection as the ERP's role, and as the owner of the tables.
struct Erp {
    world: World,
    role: String,
    owner: PgConnection,
    erp: PgConnection,
}

impl Erp {
    async fn new() -> Self {
        let world = World::on_postgres().await;
        let role = format!("erp_{:016x}", RandomState::new().hash_one("role"));
        let options = PgConnectOptions::from_str(&world.url).unwrap();
        let (mut owner, mut erp) = (options.connect().await.unwrap(), options.connect().await.unwrap());
        // Twice: it can be run again.
        for _ in 0..2 {
            sqlx::raw_sql(AssertSqlSafe(grants(&role))).execute(&mut owner).await.unwrap();
        }
        let as_role = format!("SET SESSION AUTHORIZATION {role}");
        sqlx::raw_sql(AssertSqlSafe(as_role)).execute(&mut erp).await.unwrap();
        Self { world, role, owner, erp }
    }

    /// Runs a statement as the role; returns the number of rows, or the error's code.
    async fn run(&mut self, sql: &str) -> Result<u64, String> {
        let done = sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut self.erp).await;
        done.map(|done| done.rows_affected()).map_err(|error| {
            error.as_database_error().and_then(|error| error.code().map(Into::into)).unwrap_or_default()
        })
    }

    async fn relations(&mut self) -> BTreeSet<String> {
        let sql = "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'v') \
            AND relnamespace = current_schema()::regnamespace";
        let rows = sqlx::query(sql).fetch_all(&mut self.owner).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn end(mut self) {
        drop(self.erp);
        let drop_role = format!("DROP OWNED BY {0}; DROP ROLE {0}", self.role);
        sqlx::raw_sql(AssertSqlSafe(drop_role)).execute(&mut self.owner).await.unwrap();
        drop((self.owner, self.world));
    }
}

const DENIED: &str = "42501";

#[tokio::test]
async fn the_role_of_the_erp_reads_everything_but_what_is_the_services_own() {
    let mut erp = Erp::new().await;
    for relation in erp.relations().await {
        let read = erp.run(&format!("SELECT * FROM {relation}")).await;
        match PRIVATE.contains(&relation.as_str()) {
            true => assert_eq!(read, Err(DENIED.to_owned()), "{relation}"),
            false => assert!(read.is_ok(), "{relation}: {read:?}; a new table stands in `grants` too"),
        }
    }
    erp.end().await;
}

#[tokio::test]
async fn the_role_of_the_erp_writes_what_it_wants_and_has_taken_and_nothing_else() {
    let mut erp = Erp::new().await;
    for sql in [
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('loja', 'A', '1', 3)",
        "UPDATE erp_stock SET quantity = 4 WHERE sku = 'A'",
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('loja', 'A', '1', 5) \
         ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity",
        "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('loja', 'A', 1, 9.90)",
        "UPDATE erp_prices SET price = 8.90 WHERE sku = 'A'",
        "INSERT INTO commands (store, kind, key, data) VALUES ('loja', 'order.notes', '1', '{}')",
        "INSERT INTO commands (id, store, kind, key) VALUES (77, 'loja', 'webhook.test', '')",
        "UPDATE commands SET key = '2' WHERE kind = 'order.notes'",
        "INSERT INTO erp_orders (store, order_number) VALUES ('loja', '1') ON CONFLICT DO NOTHING",
        "UPDATE erp_orders SET erp_id = 'NF 1' WHERE order_number = '1'",
        "INSERT INTO consumers (name, seq) VALUES ('erp', 5) \
         ON CONFLICT (name) DO UPDATE SET seq = excluded.seq",
        "DELETE FROM erp_stock WHERE sku = 'A'",
        "DELETE FROM erp_prices WHERE sku = 'A'",
        "DELETE FROM commands WHERE id = 77",
        "DELETE FROM erp_orders WHERE order_number = '1'",
    ] {
        assert_eq!(erp.run(sql).await, Ok(1), "{sql}");
    }
    for relation in erp.relations().await {
        if !["commands", "consumers", "erp_orders", "erp_prices", "erp_stock"].contains(&relation.as_str()) {
            for verb in ["DELETE FROM", "TRUNCATE"] {
                let done = erp.run(&format!("{verb} {relation}")).await;
                assert!(done.is_err(), "{verb} {relation}: {done:?}");
            }
        }
    }
    assert_eq!(erp.run("CREATE TABLE mine (id int)").await, Err(DENIED.to_owned()));
    erp.end().await;
}

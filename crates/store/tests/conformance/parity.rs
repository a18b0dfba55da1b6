//! Both databases compared: one schema, and the same content after the same writes.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use proptest::collection::vec;

use crate::{
    generated::{apply, for_all, step},
    kinds::KINDS,
    specimens::{page, session},
    tables::Line,
    world::{World, store_key},
};

async fn both() -> [World; 2] {
    [World::on_sqlite().await, World::on_postgres().await]
}

/// Whether a column's type on SQLite corresponds to its type on PostgreSQL.
fn correspond(sqlite: &str, postgres: &str) -> bool {
    match sqlite {
        "TEXT" => ["text", "timestamp with time zone", "jsonb"].contains(&postgres),
        "NUMERIC" => postgres == "numeric",
        "INTEGER" => ["bigint", "integer", "boolean"].contains(&postgres),
        "BLOB" => postgres == "bytea",
        _ => false,
    }
}

#[tokio::test]
async fn both_databases_have_the_same_tables() {
    let [sqlite, postgres] = both().await;
    let names = sqlite.tables.names().await;
    assert_eq!(names, postgres.tables.names().await);
    assert!(names.len() >= 40, "{names:?}");
    let migrations = |from: &str| {
        format!("SELECT CAST(version AS TEXT) || ' ' || description FROM {from} ORDER BY version")
    };
    let of_both_files =
        "(SELECT * FROM main._sqlx_migrations UNION ALL SELECT * FROM inbox._sqlx_migrations) AS both_files";
    let ours = sqlite.tables.list(&migrations(of_both_files)).await;
    assert_eq!(ours, postgres.tables.list(&migrations("_sqlx_migrations")).await);
}

#[tokio::test]
async fn both_databases_have_the_same_columns_in_the_same_order() {
    let [sqlite, postgres] = both().await;
    for table in sqlite.tables.names().await {
        let columns = [sqlite.tables.columns(&table).await, postgres.tables.columns(&table).await];
        let [ours, theirs] =
            columns.each_ref().map(|c| c.iter().map(|c| c.name.as_str()).collect::<Vec<_>>());
        assert_eq!(ours, theirs, "columns of {table}");
    }
}

#[tokio::test]
async fn columns_of_both_databases_have_corresponding_types() {
    let [sqlite, postgres] = both().await;
    let tables = tables_only(&sqlite).await;
    for table in &tables {
        let columns = [sqlite.tables.columns(table).await, postgres.tables.columns(table).await];
        for (ours, theirs) in columns[0].iter().zip(&columns[1]) {
            let name = format!("{table}.{}", ours.name);
            assert!(correspond(&ours.declared, &theirs.declared), "{name}: {ours:?}, {theirs:?}");
            assert_eq!(ours.required, theirs.required, "{name} may be NULL on one side only");
            let expected = match ours.name.as_str() {
                "raw" => "jsonb",
                at if at == "at" || at.ends_with("_at") => "timestamp with time zone",
                truth if truth.starts_with("is_") || truth.starts_with("allows_") => "boolean",
                _ => continue,
            };
            assert_eq!(theirs.declared, expected, "{name}");
        }
        assert_eq!(
            sqlite.tables.primary_key(table).await,
            postgres.tables.primary_key(table).await,
            "key of {table}"
        );
    }
    assert_eq!(sqlite.tables.indexes().await, postgres.tables.indexes().await);
}

async fn tables_only(sqlite: &World) -> Vec<String> {
    let views = sqlite.tables.list("SELECT name FROM sqlite_master WHERE type = 'view'").await;
    let mut names = sqlite.tables.names().await;
    names.retain(|name| !views.contains(name));
    names
}

/// Every mirrored row has its store first in its key, the received object, and its two times.
#[tokio::test]
async fn every_mirror_table_says_when_a_row_came_and_went() {
    let sqlite = World::on_sqlite().await;
    let mut mirrors = 0;
    for table in tables_only(&sqlite).await {
        let columns: Vec<String> = sqlite.tables.columns(&table).await.into_iter().map(|c| c.name).collect();
        if columns.iter().any(|name| name == "mirrored_at") {
            mirrors += 1;
            assert!(columns.iter().any(|name| name == "gone_at"), "{table}");
            assert!(columns.iter().any(|name| name == "raw"), "{table}");
            assert_eq!(sqlite.tables.primary_key(&table).await[0], "store", "{table}");
        }
    }
    assert!(mirrors >= 22, "{mirrors} mirror tables");
}

/// The same history, written to both databases, reads back equal row for row and column for column.
// withstands: F110
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_writes_leave_the_same_rows() {
    let worlds = both().await;
    let case = AtomicUsize::new(0);
    for_all(24, &vec(step(), 1..8), async |steps| {
        let name = format!("loja-{}", case.fetch_add(1, Ordering::SeqCst));
        let key = store_key(&name);
        let leases = [worlds[0].lease_of(&key).await, worlds[1].lease_of(&key).await];
        for step in steps {
            for (world, lease) in worlds.iter().zip(&leases) {
                world.clock.advance(Duration::from_secs(1));
                apply(&world.store, lease, step.clone()).await;
            }
        }
        for table in ["orders", "order_items", "products", "product_prices", "product_stock", "changes"] {
            let [ours, theirs] = [rows(&worlds[0], table, &name).await, rows(&worlds[1], table, &name).await];
            assert_eq!(ours, theirs, "{table}");
        }
        for lease in leases {
            lease.release().await.unwrap();
        }
    });
    for table in ["order_items", "product_prices", "product_stock"] {
        assert!(worlds[1].tables.count(table).await > 0, "the histories have left nothing in {table}");
    }
}

async fn rows(world: &World, table: &str, store: &str) -> Vec<Line> {
    let lines = world.tables.of_store(table, store).await.into_iter().map(Line::with_plain_zeros);
    // A rolled-back write uses up numbers of the feed on PostgreSQL only.
    let mut lines: Vec<Line> = match table {
        "changes" => lines.map(|line| line.without("seq")).collect(),
        _ => lines.collect(),
    };
    lines.sort();
    lines
}

/// The same for the tables by description.
// withstands: F110
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_everything_is_the_same_on_both_databases() {
    let worlds = both().await;
    for world in &worlds {
        let lease = world.lease().await;
        for kind in KINDS {
            kind.keep(world, &lease, &["1", "2"], "antes").await;
            world.clock.advance(Duration::from_secs(1));
            kind.keep(world, &lease, &["2", "3"], "depois").await;
        }
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().write_profile(session(Some("55"), "Loja"), Some(page("Camisas"))).await.unwrap();
        tx.commit().await.unwrap();
    }
    let [sqlite, postgres] = &worlds;
    let tables = KINDS.map(|kind| kind.table).into_iter().chain(["store_profiles", "changes"]);
    for table in tables {
        let [ours, theirs] = [sqlite.tables.all(table).await, postgres.tables.all(table).await];
        assert!(!ours.is_empty(), "{table}");
        assert_eq!(ours, theirs, "{table}");
    }
    for table in espelho_store::api_tables() {
        let query = espelho_store::RowQuery { limit: 1_000, with_raw: true, ..Default::default() };
        let [ours, theirs] = [sqlite, postgres].map(async |world| {
            let rows = world.store.api().rows(table, &query).await.unwrap().rows;
            serde_json::to_value(rows).unwrap()
        });
        assert_eq!(ours.await, theirs.await, "{} as JSON", table.name);
    }
    for view in ["v_invoice_current", "v_deadlines", "v_errors"] {
        assert_eq!(sqlite.tables.all(view).await, postgres.tables.all(view).await, "{view}");
    }
}

/// The contract with people who write SQL: the document lists all columns of all tables.
#[tokio::test]
async fn every_column_of_every_mirror_table_and_view_is_documented() {
    const SCHEMA: &str = include_str!("../../../../docs/SCHEMA.md");
    const OF_ALL: [&str; 5] = ["raw", "mirrored_at", "gone_at", "content_hash", "listing_hash"];
    let sqlite = World::on_sqlite().await;
    for table in sqlite.tables.names().await {
        // The item of the list that begins with the table's name, or the row of a table.
        let name = format!("`{table}`");
        let of_table = |text: &&str| text.starts_with(&name);
        let line = SCHEMA.split("\n- ").chain(SCHEMA.split("\n| ")).find(of_table);
        let columns: Vec<String> = sqlite.tables.columns(&table).await.into_iter().map(|c| c.name).collect();
        if columns.iter().any(|column| column == "gone_at") || table.starts_with("v_") {
            let line = line.unwrap_or_else(|| panic!("{table} is not documented"));
            let is_named = |column: &&String| {
                OF_ALL.contains(&column.as_str())
                    || line
                        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .any(|word| word == *column)
            };
            let missing: Vec<&String> = columns.iter().filter(|column| !is_named(column)).collect();
            assert!(missing.is_empty(), "{table}: {missing:?}");
        }
    }
}

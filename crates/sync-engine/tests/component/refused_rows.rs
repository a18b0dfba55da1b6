//! Rows that the database refuses: each of them costs itself, whatever the refusal, and nothing beside it.

use std::time::Duration;

use espelho_model::sync::{Resource, RunState};
use espelho_sync_engine::{Options, ResourceReport};
use serde_json::json;

use crate::support::{Kind, Rig, Setup, live::only};

const FAILED: &str = "SELECT key || ' ' || code FROM sync_failures ORDER BY key";
/// Longer than any test lasts.
const NEVER: Duration = Duration::from_secs(30 * 86_400);

/// Ways in which SQLite refuses what a row holds: its extended code, and what a trigger does to cause it.
const REFUSALS: [(&str, &str); 6] = [
    ("RAISE in a trigger (1811)", "SELECT RAISE(ABORT, 'not this one');"),
    ("NOT NULL (1299)", "INSERT INTO filled VALUES (NULL);"),
    ("CHECK (275)", "INSERT INTO positive VALUES (0);"),
    ("UNIQUE (2067)", "INSERT INTO once VALUES ('again');"),
    ("a primary key (1555)", "INSERT INTO first VALUES ('again');"),
    ("another type (20)", "INSERT INTO numbers VALUES ('none');"),
];

/// What the triggers need.
const TABLES: &str = "CREATE TABLE filled (value TEXT NOT NULL); \
    CREATE TABLE positive (value INTEGER CHECK (value > 0)); \
    CREATE TABLE once (value TEXT UNIQUE); INSERT INTO once VALUES ('again'); \
    CREATE TABLE first (value TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO first VALUES ('again'); \
    CREATE TABLE numbers (id INTEGER PRIMARY KEY)";

async fn store(orders: usize, products: usize) -> Rig {
    let setup = Setup::on(Kind::Sqlite);
    let rig =
        setup.with(|setup| (setup.world.orders, setup.world.products) = (orders, products)).open().await;
    rig.tables.execute(TABLES).await;
    rig
}

impl Rig {
    /// Refuses what is written for one key of a table.
    async fn refuse(&self, table: &str, key: (&str, &str), way: &str) {
        let (column, value) = key;
        for (verb, name) in [("INSERT", "refuse_new"), ("UPDATE", "refuse_changed")] {
            let trigger = format!(
                "CREATE TRIGGER {name} BEFORE {verb} ON {table} WHEN NEW.{column} = '{value}' BEGIN {way} END"
            );
            self.tables.execute(&trigger).await;
        }
    }

    async fn refuse_no_more(&self) {
        self.tables.execute("DROP TRIGGER refuse_new; DROP TRIGGER refuse_changed").await;
    }
}

async fn pass(rig: &Rig, resource: Resource) -> ResourceReport {
    let options = Options { only: vec![resource.into()], kind: "manual", ..Options::default() };
    rig.reconcile(&options).await.resources.remove(0)
}

#[tokio::test]
async fn an_order_that_the_database_refuses_in_any_way_is_the_only_one_that_is_missing() {
    for (what, way) in REFUSALS {
        let rig = store(20, 3).await;
        let listed = rig.listing("/api/v1/sellers/orders?limit=100").await;
        let number = listed[7]["order_number"].as_str().unwrap();
        rig.refuse("orders", ("order_number", number), way).await;
        let report = pass(&rig, Resource::Orders).await;
        assert!(report.problem.is_none(), "{what}: {report:?}");
        assert_eq!((report.counts.changed, report.counts.failed), (19, 1), "{what}");
        assert_eq!(rig.ask(FAILED).await, [format!("{number} unwritable")], "{what}");
        rig.refuse_no_more().await;
        let report = pass(&rig, Resource::Orders).await;
        assert_eq!((report.state, report.counts.changed), (RunState::Complete, 1), "{what}");
        assert!(rig.ask(FAILED).await.is_empty(), "{what}");
        rig.orders_are_the_marketplaces().await;
    }
}

#[tokio::test]
async fn a_product_that_the_database_refuses_in_any_way_is_the_only_one_that_is_missing() {
    for (what, way) in REFUSALS {
        let rig = store(2, 12).await;
        let listed = rig.listing("/api/products?per_page=100").await;
        let id = crate::support::truth::text(&listed[5]["id"]);
        rig.refuse("products", ("id", &id), way).await;
        let report = pass(&rig, Resource::Products).await;
        assert!(report.problem.is_none(), "{what}: {report:?}");
        assert_eq!((report.counts.changed, report.counts.failed), (11, 1), "{what}");
        assert_eq!(rig.ask(FAILED).await, [format!("{id} unwritable")], "{what}");
        rig.refuse_no_more().await;
        assert_eq!(pass(&rig, Resource::Products).await.state, RunState::Complete, "{what}");
        rig.products_are_the_marketplaces().await;
    }
}

/// A line of an order counts as the order: none of its rows is written.
#[tokio::test]
async fn an_order_of_which_one_line_is_refused_is_not_written_by_halves() {
    let rig = store(10, 3).await;
    let listed = rig.listing("/api/v1/sellers/orders?limit=100").await;
    let number = listed[3]["order_number"].as_str().unwrap();
    rig.refuse("order_items", ("order_number", number), "SELECT RAISE(ABORT, 'not this one');").await;
    let report = pass(&rig, Resource::Orders).await;
    assert_eq!((report.counts.changed, report.counts.failed), (9, 1), "{report:?}");
    let written = format!("SELECT order_number FROM orders WHERE order_number = '{number}'");
    assert!(rig.ask(&written).await.is_empty());
    let told = format!("SELECT op FROM changes WHERE key = '{number}'");
    assert!(rig.ask(&told).await.is_empty(), "nothing is told of it");
    rig.refuse_no_more().await;
    assert_eq!(pass(&rig, Resource::Orders).await.state, RunState::Complete);
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_delivered_order_that_the_database_refuses_is_named_and_the_next_one_is_mirrored() {
    for (what, way) in REFUSALS {
        let mut rig = store(4, 4).await;
        rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
        let outside = rig.kept_in_step(only(&[], NEVER), true).await;
        let sku = rig.goods().await[0].sku.clone();
        let (refused, other) = (rig.sell("standard", &sku), rig.sell("standard", &sku));
        rig.refuse("orders", ("order_number", &refused), way).await;
        for number in [&refused, &other] {
            let data = json!({"store_id": 1, "order_number": number, "status": "paid"});
            rig.deliver(&outside, "order.created", &data).await;
        }
        rig.shown(FAILED, |rows| rows == [format!("{refused} unwritable")]).await;
        let mirrored = format!("SELECT status FROM orders WHERE order_number = '{other}'");
        rig.shown(&mirrored, |rows| rows == ["paid"]).await;
        rig.until("both are handled", async || outside.told().handled.len() >= 2).await;
        rig.refuse_no_more().await;
        let data = json!({"store_id": 1, "order_number": refused, "status": "paid"});
        rig.deliver(&outside, "order.created", &data).await;
        rig.shown(FAILED, <[String]>::is_empty).await;
        assert_eq!(rig.live("orders").await, 6, "{what}");
        rig.stop().await;
    }
}

/// What only deliveries tell cannot be read again, so one that cannot be written must not hold up the others.
#[tokio::test]
async fn an_occurrence_that_the_database_refuses_does_not_hold_up_the_others() {
    for (what, way) in REFUSALS {
        let mut rig = store(2, 2).await;
        rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
        let outside = rig.kept_in_step(only(&[], NEVER), true).await;
        rig.refuse("occurrences", ("id", "5"), way).await;
        for id in [4, 5, 6] {
            let data = json!({
                "store_id": 1, "occurrence_id": id, "title": "Atraso", "severity": "high", "status": "open",
                "trigger_key": "k",
            });
            rig.deliver(&outside, "occurrence.created", &data).await;
        }
        rig.shown("SELECT id FROM occurrences ORDER BY id", |ids| ids == ["4", "6"]).await;
        rig.until("all are handled", async || outside.told().handled.len() >= 3).await;
        let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
        assert!(rig.journal.ask(open).await.is_empty(), "{what}");
        rig.stop().await;
    }
}

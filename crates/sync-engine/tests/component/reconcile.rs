//! Reconciliation: what a run reads, what it writes, and what it believes.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use espelho_model::sync::{Resource, RunState, Target};
use espelho_sandbox::{Fault, FaultRule, ListShape};
use espelho_sync_engine::{Options, ResourceReport, StoreReport, Trouble};
use rust_decimal::Decimal;

use crate::support::{Kind, Rig, Setup, on_both_databases};

const LIST: &str = "GET /api/v1/sellers/orders";
const DETAIL: &str = "GET /api/v1/sellers/orders/{id}";
const PRODUCTS: &str = "GET /api/products";
const PRODUCT: &str = "GET /api/products/{id}";

on_both_databases![
    a_first_run_mirrors_all_that_the_marketplace_holds,
    a_second_run_changes_nothing_and_asks_for_listing_pages_only,
    a_changed_order_is_read_again_and_no_other,
    a_changed_product_is_read_again_and_no_other,
    a_new_order_is_read_and_no_other,
    a_removed_order_is_marked_as_gone_and_kept,
    a_removed_product_is_marked_as_gone_with_its_tiers_and_stock,
    many_missing_orders_are_not_believed_until_somebody_accepts_them,
    since_reads_from_a_day_on_and_marks_nothing_as_gone,
    only_reads_what_was_asked_for,
    a_dry_run_says_what_it_would_do_and_writes_nothing,
    orders_that_come_while_pages_are_read_are_all_mirrored_by_the_same_pass,
    orders_of_one_moment_across_a_pages_edge_are_all_mirrored_once,
];

/// A store of which nothing is mirrored yet.
async fn store(kind: Kind, orders: usize, products: usize) -> Rig {
    let setup = Setup::on(kind);
    setup.with(|setup| (setup.world.orders, setup.world.products) = (orders, products)).open().await
}

fn run() -> Options {
    Options { kind: "manual", ..Options::default() }
}

fn only(resource: Resource) -> Options {
    Options { only: vec![resource.into()], ..run() }
}

impl Rig {
    /// Reconciles, which must meet no problem, and counts what is asked from now on.
    async fn reconciled(&self, options: &Options) -> StoreReport {
        self.control().reset_stats();
        let report = self.reconcile(options).await;
        assert!(report.problems().next().is_none(), "{report:?}");
        report
    }

    /// Returns the requests for rows since the last run began.
    fn asked(&self) -> BTreeMap<String, u64> {
        let mut routes = self.sandbox.stats().by_route;
        // The stock of one product tells the names of the locations.
        routes.retain(|route, _| route.starts_with("GET ") && !route.ends_with("/stock"));
        routes
    }
}

fn routes(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected.iter().map(|(route, times)| ((*route).to_owned(), *times)).collect()
}

fn of(report: &StoreReport, resource: Resource) -> &ResourceReport {
    report.resources.iter().find(|found| found.resource == Target::from(resource)).unwrap()
}

async fn a_first_run_mirrors_all_that_the_marketplace_holds(kind: Kind) {
    let rig = store(kind, 130, 30).await;
    let report = rig.reconciled(&run()).await;
    assert_eq!(rig.asked(), routes(&[(LIST, 2), (DETAIL, 130), (PRODUCTS, 1), (PRODUCT, 30)]));
    for (resource, rows) in [(Resource::Orders, 130), (Resource::Products, 30)] {
        let counts = of(&report, resource).counts;
        assert_eq!((counts.seen, counts.changed, counts.gone, counts.failed), (rows, rows, 0, 0));
    }
    assert_eq!(report.state, RunState::Complete);
    rig.orders_are_the_marketplaces().await;
    rig.products_are_the_marketplaces().await;
    let told = "SELECT entity || ' ' || op || ' ' || CAST(count(*) AS TEXT) FROM changes \
                WHERE entity IN ('order', 'product') GROUP BY entity, op ORDER BY entity";
    assert_eq!(rig.ask(told).await, ["order insert 130", "product insert 30"]);
    let runs = "SELECT kind || ' ' || state || ' ' || CAST(seen AS TEXT) FROM sync_runs WHERE finished_at IS NOT NULL";
    assert_eq!(rig.ask(runs).await, ["manual complete 160"]);
}

async fn a_second_run_changes_nothing_and_asks_for_listing_pages_only(kind: Kind) {
    let rig = store(kind, 130, 30).await;
    rig.reconciled(&run()).await;
    let feed = "SELECT CAST(max(seq) AS TEXT) FROM changes";
    let mirrored = "SELECT CAST(mirrored_at AS TEXT) FROM orders ORDER BY order_number";
    let before = (rig.ask(feed).await, rig.ask(mirrored).await);
    let report = rig.reconciled(&run()).await;
    assert_eq!(rig.asked(), routes(&[(LIST, 2), (PRODUCTS, 1)]));
    assert_eq!((report.counts().changed, report.counts().gone), (0, 0));
    assert_eq!((rig.ask(feed).await, rig.ask(mirrored).await), before);
    // A deep run reads every row, and finds nothing either.
    let report = rig.reconciled(&Options { deep: true, ..run() }).await;
    assert_eq!(rig.asked(), routes(&[(LIST, 2), (DETAIL, 130), (PRODUCTS, 1), (PRODUCT, 30)]));
    assert_eq!((report.counts().changed, rig.ask(feed).await), (0, before.0));
}

async fn a_changed_order_is_read_again_and_no_other(kind: Kind) {
    let rig = store(kind, 120, 5).await;
    rig.reconciled(&run()).await;
    let rows = "SELECT order_number || ' ' || COALESCE(notes, '') || ' ' || CAST(mirrored_at AS TEXT) FROM orders \
                ORDER BY order_number";
    let before = rig.ask(rows).await;
    let number = before[60].split(' ').next().unwrap().to_owned();
    assert!(rig.control().orders().set_notes(&rig.key(), &number, Some("embalar para presente – ç")));
    let report = rig.reconciled(&run()).await;
    assert_eq!(rig.asked(), routes(&[(LIST, 2), (DETAIL, 1), (PRODUCTS, 1)]));
    assert_eq!(of(&report, Resource::Orders).counts.changed, 1);
    let after = rig.ask(rows).await;
    assert!(after[60].contains("embalar para presente – ç"), "{}", after[60]);
    let others = |rows: &[String]| [&rows[..60], &rows[61..]].concat();
    assert_eq!(others(&before), others(&after));
    let told = "SELECT entity || ' ' || key || ' ' || op FROM changes WHERE op <> 'insert'";
    assert_eq!(rig.ask(told).await, [format!("order {number} update")]);
}

async fn a_changed_product_is_read_again_and_no_other(kind: Kind) {
    let rig = store(kind, 5, 30).await;
    rig.reconciled(&run()).await;
    let products = rig.ask("SELECT id FROM products ORDER BY id").await;
    let skus = rig.ask("SELECT sku FROM products ORDER BY id").await;
    let control = rig.control();
    assert!(control.products().edit_price(&rig.key(), &products[3], Decimal::new(12_345, 2)));
    assert!(control.products().set_stock(&rig.key(), &skus[20], 7));
    let report = rig.reconciled(&run()).await;
    assert_eq!(rig.asked(), routes(&[(LIST, 1), (PRODUCTS, 1), (PRODUCT, 2)]));
    assert_eq!(of(&report, Resource::Products).counts.changed, 2);
    let price = format!("SELECT CAST(price AS TEXT) FROM products WHERE id = '{}'", products[3]);
    assert_eq!(rig.ask(&price).await[0].parse::<Decimal>().unwrap(), Decimal::new(12_345, 2));
    let left = format!(
        "SELECT CAST(quantity AS TEXT) FROM product_stock WHERE sku = '{}' AND gone_at IS NULL",
        skus[20]
    );
    let sum: Decimal = rig.ask(&left).await.iter().map(|level| level.parse::<Decimal>().unwrap()).sum();
    assert_eq!(sum, 7.into());
    rig.products_are_the_marketplaces().await;
}

async fn a_new_order_is_read_and_no_other(kind: Kind) {
    let rig = store(kind, 120, 5).await;
    rig.reconciled(&run()).await;
    let number = rig.control().orders().insert(&rig.key());
    rig.reconciled(&run()).await;
    assert_eq!(rig.asked()[DETAIL], 1);
    let row = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    assert_eq!(rig.ask(&row).await, ["paid"]);
    rig.orders_are_the_marketplaces().await;
}

async fn a_removed_order_is_marked_as_gone_and_kept(kind: Kind) {
    let rig = store(kind, 120, 5).await;
    rig.reconciled(&run()).await;
    let rows = "SELECT CAST(raw AS TEXT) FROM orders ORDER BY order_number";
    let before = rig.ask(rows).await;
    let number = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await.remove(7);
    assert!(rig.control().orders().remove(&rig.key(), &number));
    let report = rig.reconciled(&run()).await;
    let counts = of(&report, Resource::Orders).counts;
    assert_eq!((counts.seen, counts.gone), (119, 1));
    assert_eq!(rig.ask(rows).await, before, "nothing else has changed, and the row is kept whole");
    assert_eq!(rig.ask("SELECT order_number FROM orders WHERE gone_at IS NOT NULL").await, [&*number]);
    let lines = format!("SELECT id FROM order_items WHERE order_number = '{number}'");
    let gone = format!("{lines} AND gone_at IS NOT NULL");
    let (lines, gone) = (rig.ask(&lines).await, rig.ask(&gone).await);
    assert!(!lines.is_empty() && lines == gone, "its lines went with it");
    let told = "SELECT key || ' ' || op FROM changes WHERE op <> 'insert'";
    assert_eq!(rig.ask(told).await, [format!("{number} gone")]);
    let again = rig.reconciled(&run()).await;
    assert_eq!(of(&again, Resource::Orders).counts.gone, 0, "what is gone goes once");
}

async fn a_removed_product_is_marked_as_gone_with_its_tiers_and_stock(kind: Kind) {
    let rig = store(kind, 5, 30).await;
    rig.reconciled(&run()).await;
    let product = rig.ask("SELECT id FROM products ORDER BY id").await.remove(9);
    assert!(rig.control().products().remove(&rig.key(), &product));
    let report = rig.reconciled(&run()).await;
    assert_eq!(of(&report, Resource::Products).counts.gone, 1);
    for (table, key) in
        [("products", "id"), ("product_prices", "product_id"), ("product_stock", "product_id")]
    {
        let gone = format!("SELECT DISTINCT {key} FROM {table} WHERE gone_at IS NOT NULL");
        assert_eq!(rig.ask(&gone).await, [&*product], "{table}: it and no other");
        let left = format!("SELECT {key} FROM {table} WHERE {key} = '{product}' AND gone_at IS NULL");
        assert!(rig.ask(&left).await.is_empty(), "{table}");
    }
    rig.products_are_the_marketplaces().await;
}

// withstands: F060
async fn many_missing_orders_are_not_believed_until_somebody_accepts_them(kind: Kind) {
    let rig = store(kind, 40, 5).await;
    rig.reconciled(&run()).await;
    for number in &rig.ask("SELECT order_number FROM orders ORDER BY order_number").await[10..14] {
        assert!(rig.control().orders().remove(&rig.key(), number));
    }
    let rows = "SELECT order_number || CAST(mirrored_at AS TEXT) FROM orders WHERE gone_at IS NULL ORDER BY order_number";
    let before = rig.ask(rows).await;
    let report = rig.reconcile(&run()).await;
    let (orders, products) = (of(&report, Resource::Orders), of(&report, Resource::Products));
    let problem = orders.problem.as_ref().unwrap();
    assert_eq!((problem.trouble, &*problem.code), (Trouble::Guard, "too_many_gone"));
    assert!(problem.error.contains("4 of 40"), "{}", problem.error);
    assert!(problem.hint().contains("--accept-gone"), "{}", problem.hint());
    assert_eq!(orders.counts.gone, 0);
    assert_eq!(products.state, RunState::Complete, "the guard stops orders, not products");
    assert_eq!((report.state, rig.ask(rows).await), (RunState::Partial, before));
    let accepted = rig.reconciled(&Options { accept_gone: true, ..run() }).await;
    assert_eq!((of(&accepted, Resource::Orders).counts.gone, rig.live("orders").await), (4, 36));
    rig.reconciled(&run()).await;
}

async fn since_reads_from_a_day_on_and_marks_nothing_as_gone(kind: Kind) {
    let rig = store(kind, 200, 5).await;
    let listed = rig.listing("/api/v1/sellers/orders?limit=100").await;
    let day_of = |order: &serde_json::Value| order["created_at"].as_str().unwrap()[..10].to_owned();
    let mut days: Vec<String> = listed.iter().map(day_of).collect();
    days.sort_unstable();
    let day = days.swap_remove(150);
    let since: NaiveDate = day.parse().unwrap();
    let options = Options { since: Some(since), ..only(Resource::Orders) };
    let report = rig.reconciled(&options).await;
    let mirrored = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await;
    for order in &listed {
        let number = order["order_number"].as_str().unwrap();
        assert!(day_of(order) < day || mirrored.iter().any(|row| row == number), "{number} is missing");
    }
    assert!(mirrored.len() < 200 && report.counts().seen == mirrored.len() as u64, "{report:?}");
    assert!(rig.control().orders().remove(&rig.key(), mirrored.last().unwrap()));
    let report = rig.reconciled(&options).await;
    assert_eq!((report.counts().gone, rig.live("orders").await), (0, mirrored.len()));
}

async fn only_reads_what_was_asked_for(kind: Kind) {
    let rig = store(kind, 10, 10).await;
    let report = rig.reconciled(&only(Resource::Products)).await;
    assert_eq!(report.resources.len(), 1);
    assert_eq!(rig.asked(), routes(&[(PRODUCTS, 1), (PRODUCT, 10)]));
    assert_eq!((rig.live("orders").await, rig.live("products").await), (0, 10));
    let both = vec![Resource::Orders.into(), Resource::Products.into()];
    rig.reconciled(&Options { only: both, ..run() }).await;
    assert_eq!(rig.live("orders").await, 10);
}

async fn a_dry_run_says_what_it_would_do_and_writes_nothing(kind: Kind) {
    let rig = store(kind, 60, 10).await;
    let dry = Options { dry_run: true, ..run() };
    let first = rig.reconciled(&dry).await;
    let changed = |report| [Resource::Orders, Resource::Products].map(|r| of(report, r).counts.changed);
    assert_eq!(changed(&first), [60, 10]);
    for table in ["orders", "order_items", "products", "sync_runs", "sync_passes", "sync_pages", "changes"] {
        let rows = rig.ask(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")).await;
        assert_eq!(rows, ["0"], "a dry run has written into {table}");
    }
    rig.reconciled(&run()).await;
    let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await;
    assert!(rig.control().orders().set_notes(&rig.key(), &numbers[5], Some("!")));
    assert!(rig.control().orders().remove(&rig.key(), &numbers[6]));
    let rows = "SELECT order_number || COALESCE(notes, '') || CAST(mirrored_at AS TEXT) || COALESCE(CAST(gone_at AS TEXT), '') \
                FROM orders ORDER BY order_number";
    let (before, runs) = (rig.ask(rows).await, rig.ask("SELECT kind FROM sync_runs").await);
    let report = rig.reconciled(&dry).await;
    let counts = of(&report, Resource::Orders).counts;
    assert_eq!((counts.changed, counts.gone), (1, 1));
    assert_eq!(rig.asked(), routes(&[(LIST, 1), (PRODUCTS, 1)]));
    assert_eq!((rig.ask(rows).await, rig.ask("SELECT kind FROM sync_runs").await), (before, runs));
}

fn shifted(times: u32) -> FaultRule {
    FaultRule { route: LIST.into(), times: Some(times), kind: Fault::PageShift }
}

// withstands: F054
async fn orders_that_come_while_pages_are_read_are_all_mirrored_by_the_same_pass(kind: Kind) {
    // One order short of three full pages: the second new order opens a page that nothing has announced.
    let rig = store(kind, 299, 5).await;
    rig.control().faults().add(shifted(3));
    let report = rig.reconciled(&only(Resource::Orders)).await;
    assert!(!rig.control().faults().has_any(), "every page was shifted");
    assert_eq!(report.counts().seen, 302, "those that came meanwhile too");
    rig.orders_are_the_marketplaces().await;
    // The next pass brings nothing new.
    let again = rig.reconciled(&only(Resource::Orders)).await;
    assert_eq!((again.counts().changed, again.counts().gone), (0, 0));
}

// withstands: F058
async fn orders_of_one_moment_across_a_pages_edge_are_all_mirrored_once(kind: Kind) {
    let rig = store(kind, 85, 5).await;
    // They exist before the first page is read, and are within one second of each other.
    let numbers: Vec<String> = (0..30).map(|_| rig.control().orders().insert(&rig.key())).collect();
    rig.control().faults().add(shifted(2));
    let report = rig.reconciled(&only(Resource::Orders)).await;
    assert_eq!((report.counts().seen, report.counts().gone), (117, 0));
    let edge = "SELECT CAST(created_at AS TEXT) FROM orders ORDER BY orders.created_at LIMIT 2 OFFSET 99";
    let edge = rig.ask(edge).await;
    assert_eq!(edge[0], edge[1], "the edge lies within one moment");
    let listed = numbers.iter().map(|number| format!("'{number}'")).collect::<Vec<_>>().join(", ");
    let told = format!("SELECT key FROM changes WHERE entity = 'order' AND key IN ({listed})");
    assert_eq!(rig.ask(&told).await.len(), 30, "each of them once");
    rig.orders_are_the_marketplaces().await;
    let again = rig.reconciled(&only(Resource::Orders)).await;
    assert_eq!((again.counts().changed, again.counts().gone), (0, 0));
}

/// Columns that show how and when the marketplace has written a row, not what it says.
const AS_SENT: [&str; 5] = ["raw", "listing_hash", "content_hash", "mirrored_at", "unread_since"];

impl Rig {
    /// Returns the rows of a table as they are, without the columns that depend on the form of an answer.
    async fn content(&self, table: &str) -> Vec<String> {
        let names = self.ask(&format!("SELECT name FROM pragma_table_info('{table}')")).await;
        let names = names.iter().filter(|name| !AS_SENT.contains(&name.as_str()));
        let columns: Vec<String> = names.map(|name| format!("COALESCE(CAST({name} AS TEXT), '-')")).collect();
        self.ask(&format!("SELECT {} AS row FROM {table} ORDER BY row", columns.join(" || '|' || "))).await
    }
}

// withstands: F077
#[tokio::test]
async fn every_shape_of_listing_and_number_gives_the_same_mirror() {
    const TABLES: [&str; 6] =
        ["orders", "order_items", "products", "product_prices", "product_stock", "stock_locations"];
    let mut first: Option<Vec<Vec<String>>> = None;
    for list_shape in [ListShape::Flat, ListShape::Envelope, ListShape::Laravel] {
        for numbers_as_strings in [false, true] {
            let setup = Setup::on(Kind::Sqlite).with(|setup| {
                (setup.world.orders, setup.world.products) = (130, 20);
                (setup.world.list_shape, setup.world.numbers_as_strings) = (list_shape, numbers_as_strings);
            });
            let rig = setup.open().await;
            rig.reconciled(&run()).await;
            let mut tables = Vec::new();
            for table in TABLES {
                let rows = rig.content(table).await;
                assert!(!rows.is_empty(), "{table} is empty");
                tables.push(rows);
            }
            match &first {
                None => first = Some(tables),
                Some(first) => assert_eq!(*first, tables, "{list_shape:?}, as strings: {numbers_as_strings}"),
            }
            rig.reconciled(&run()).await;
            assert_eq!(rig.asked(), routes(&[(LIST, 2), (PRODUCTS, 1)]), "{list_shape:?}");
        }
    }
}

// withstands: F055
#[tokio::test]
async fn a_server_that_ignores_the_page_is_found_out_and_named() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| {
        (setup.world.orders, setup.world.products, setup.world.ignore_page) = (250, 250, true);
    });
    let rig = setup.open().await;
    let report = rig.reconcile(&run()).await;
    for resource in &report.resources {
        let problem = resource.problem.as_ref().unwrap();
        assert_eq!(problem.code, "paging", "{:?}", resource.resource);
        let told = format!("{} {}", problem.text, problem.hint());
        assert!(told.contains("page parameter") && told.contains("assumptions.page_parameter"), "{told}");
    }
    let asked = rig.asked();
    assert_eq!((asked[LIST], asked[PRODUCTS]), (2, 2));
    assert!(asked[DETAIL] <= 100 && asked[PRODUCT] <= 100, "{asked:?}");
}

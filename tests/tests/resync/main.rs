//! `espelho --resync`: the mirror equals the marketplace, and what is asked for is no more than that takes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod comparison;

use std::collections::BTreeMap;

use espelho_sandbox::{ListShape, Options, Sandbox, Window};
use espelho_tests::{
    Installation, Kind, Reply, Row, Shop,
    mirror::number,
    on_both_databases, sandbox, sandbox_of,
    shop::{ORDERS, Order},
    truth::Truth,
};
use serde_json::{Value, json};

use self::comparison::{compare_locations, compare_orders, compare_products};

on_both_databases![
    a_first_run_mirrors_all_that_the_marketplace_holds,
    a_second_run_changes_nothing_and_asks_for_listing_pages_only,
    a_changed_order_is_read_again_and_no_other,
    a_changed_product_is_read_again_and_no_other,
    a_new_order_is_read_and_no_other,
    a_removed_order_is_marked_as_gone_and_kept,
    an_order_that_comes_back_is_no_longer_gone,
    a_removed_product_is_marked_as_gone_with_its_tiers_and_stock,
    a_line_that_left_an_order_is_marked_as_gone,
    many_missing_orders_are_not_believed_until_somebody_accepts_them,
    an_empty_listing_is_never_believed,
    a_day_is_given_a_day_of_overlap_whatever_zone_the_marketplace_means_it_in,
    since_reads_from_a_day_on_and_marks_nothing_as_gone,
    only_reads_what_was_asked_for,
    a_dry_run_says_what_it_would_do_and_writes_nothing,
    an_interrupted_run_is_resumed_and_restart_begins_anew,
    what_seems_gone_half_way_through_a_pass_is_decided_by_a_complete_one_only,
    every_shape_of_listing_and_number_gives_the_same_mirror,
    stores_are_reconciled_together_and_fail_apart,
];

const LIST: &str = "GET /api/v1/sellers/orders";
const DETAIL: &str = "GET /api/v1/sellers/orders/{id}";
const PRODUCTS: &str = "GET /api/products";
const PRODUCT: &str = "GET /api/products/{id}";

async fn joined(kind: Kind, sandbox: &Sandbox) -> Installation {
    let installation = Installation::on(kind).await;
    installation.join(sandbox);
    installation
}

fn routes(sandbox: &Sandbox) -> BTreeMap<String, u64> {
    sandbox.stats().by_route
}

fn asked(wanted: &[(&str, u64)]) -> BTreeMap<String, u64> {
    wanted.iter().map(|(route, times)| ((*route).to_owned(), *times)).collect()
}

async fn a_first_run_mirrors_all_that_the_marketplace_holds(kind: Kind) {
    let sandbox = sandbox(330, 120).await;
    let installation = joined(kind, &sandbox).await;
    let truth = Truth::of(&sandbox).await;
    assert_eq!((truth.orders.len(), truth.products.len()), (330, 120));
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.expect(0);
    let report = run.json();
    assert_eq!(report["state"], "complete");
    for (resource, rows) in [("orders", 330), ("products", 120)] {
        assert_eq!(run.resource(resource)["state"], "complete");
        for (name, count) in [("seen", rows), ("changed", rows), ("gone", 0), ("failed", 0)] {
            assert_eq!(run.count(resource, name), count, "{resource} {name}");
        }
    }
    let stats = sandbox.stats();
    assert_eq!(run.store()["requests"], stats.requests - 1, "every request but the login");
    assert_eq!((&run.store()["logins"], &run.store()["rate_limited"]), (&json!(1), &json!(0)));
    assert!(run.store()["seconds"].is_number());
    let floor =
        asked(&[(LIST, 4), (DETAIL, 330), (PRODUCTS, 2), (PRODUCT, 120), ("POST /api/integration/auth", 1)]);
    for (route, times) in floor {
        assert_eq!(stats.by_route[&route], times, "{route}");
    }
    let mirror = installation.mirror().await;
    compare_orders(&mirror, &truth).await;
    compare_products(&mirror, &truth).await;
    compare_locations(&mirror, &truth).await;
    let runs = mirror.rows("sync_runs").await;
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0]["state"].as_str(), runs[0]["seen"].as_str()), ("complete", "450"));
    assert_eq!(mirror.rows("changes").await.len(), 450);
}

async fn a_second_run_changes_nothing_and_asks_for_listing_pages_only(kind: Kind) {
    let sandbox = sandbox(250, 30).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.everything().await;
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(routes(&sandbox), asked(&[(LIST, 3), (PRODUCTS, 1)]));
    for (resource, seen) in [("orders", 250), ("products", 30)] {
        let counts = ["seen", "changed", "gone", "failed", "details"].map(|name| run.count(resource, name));
        assert_eq!(counts, [seen, 0, 0, 0, 0], "{resource}");
    }
    assert_eq!((&run.store()["requests"], &run.store()["logins"]), (&json!(4), &json!(0)));
    let mut after = mirror.everything().await;
    assert_eq!(after.insert("sync_runs", before["sync_runs"].clone()).unwrap().len(), 2);
    assert_eq!(before, after);
}

async fn a_changed_order_is_read_again_and_no_other(kind: Kind) {
    let sandbox = sandbox(120, 5).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    let (number, old) = (before[60]["order_number"].clone(), before[60].clone());
    assert!(sandbox.control().set_notes("loja-1", &number, Some("embalar para presente – ç")));
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(routes(&sandbox), asked(&[(LIST, 2), (DETAIL, 1), (PRODUCTS, 1)]));
    assert_eq!(run.count("orders", "changed"), 1);
    let after = mirror.rows("orders").await;
    let new = after.iter().find(|row| row["order_number"] == number).unwrap();
    assert_eq!(new["notes"], "embalar para presente – ç");
    assert!(new["mirrored_at"] > old["mirrored_at"] && new["updated_at"] > old["updated_at"]);
    let others =
        |rows: Vec<Row>| rows.into_iter().filter(|r| r["order_number"] != number).collect::<Vec<_>>();
    assert_eq!(others(before), others(after));
    let change = json!([mirror.ask("SELECT entity, key, op FROM changes WHERE op <> 'insert'").await]);
    assert_eq!(change, json!([[{"entity": "order", "key": number, "op": "update"}]]));
}

async fn a_changed_product_is_read_again_and_no_other(kind: Kind) {
    let sandbox = sandbox(5, 30).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let products = mirror.rows("products").await;
    let (dearer, emptied) = (&products[3], &products[20]);
    let control = sandbox.control();
    assert!(control.edit_product_price("loja-1", &dearer["id"], rust_decimal::Decimal::new(12_345, 2)));
    assert!(control.set_stock("loja-1", &emptied["sku"], 7));
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(routes(&sandbox), asked(&[(LIST, 1), (PRODUCTS, 1), (PRODUCT, 2)]));
    assert_eq!(run.count("products", "changed"), 2);
    let one = |rows: Vec<Row>, key: &str, value: &str| rows.into_iter().find(|r| r[key] == value).unwrap();
    assert_eq!(one(mirror.rows("products").await, "id", &dearer["id"])["price"], "123.45");
    let stock = mirror.rows("product_stock").await;
    let left: Vec<Row> =
        stock.into_iter().filter(|r| r["sku"] == emptied["sku"] && !r.contains_key("gone_at")).collect();
    let sum: rust_decimal::Decimal = left.iter().filter_map(|level| number(level, "quantity")).sum();
    assert_eq!(sum, 7.into());
    compare_products(&mirror, &Truth::of(&sandbox).await).await;
}

async fn a_new_order_is_read_and_no_other(kind: Kind) {
    let sandbox = sandbox(120, 5).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let number = sandbox.control().insert_order("loja-1");
    sandbox.reset_stats();
    installation.resync(&[]).await.expect(0);
    assert_eq!(routes(&sandbox)[DETAIL], 1);
    let mirror = installation.mirror().await;
    assert!(mirror.rows("orders").await.iter().any(|row| row["order_number"] == number));
    compare_orders(&mirror, &Truth::of(&sandbox).await).await;
}

async fn a_removed_order_is_marked_as_gone_and_kept(kind: Kind) {
    let sandbox = sandbox(120, 5).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    let number = before[7]["order_number"].clone();
    assert!(sandbox.control().remove_order("loja-1", &number));
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!([run.count("orders", "seen"), run.count("orders", "gone")], [119, 1]);
    let mut after = mirror.rows("orders").await;
    let gone = after.iter_mut().find(|row| row["order_number"] == number).unwrap();
    assert!(gone.remove("gone_at").is_some());
    assert_eq!(before, after, "nothing else has changed, and the row is kept whole");
    let lines = mirror.rows("order_items").await;
    let of_it: Vec<&Row> = lines.iter().filter(|line| line["order_number"] == number).collect();
    assert!(
        !of_it.is_empty() && of_it.iter().all(|line| line.contains_key("gone_at")),
        "its lines went with it"
    );
    let ops = mirror.ask("SELECT key, op FROM changes WHERE op <> 'insert'").await;
    assert_eq!(json!(ops), json!([{"key": number, "op": "gone"}]));
    let again = installation.resync(&[]).await.expect(0);
    assert_eq!(again.count("orders", "gone"), 0, "what is gone goes once");
}

async fn an_order_that_comes_back_is_no_longer_gone(kind: Kind) {
    let orders = Order::many(30);
    let back = orders[4].clone();
    let shop = Shop::open(orders).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    shop.change(|orders| drop(orders.remove(4)));
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    assert_eq!(mirror.live("orders").await, 29);
    shop.change(|orders| orders.insert(4, back));
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!([run.count("orders", "changed"), run.count("orders", "gone")], [1, 0]);
    assert_eq!([mirror.live("orders").await, mirror.live("order_items").await], [30, 30]);
}

async fn a_removed_product_is_marked_as_gone_with_its_tiers_and_stock(kind: Kind) {
    let sandbox = sandbox(5, 30).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let product = mirror.rows("products").await.remove(9);
    assert!(sandbox.control().remove_product("loja-1", &product["id"]));
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(run.count("products", "gone"), 1);
    for (table, key) in
        [("products", "id"), ("product_prices", "product_id"), ("product_stock", "product_id")]
    {
        let rows = mirror.rows(table).await;
        let of_it: Vec<&Row> = rows.iter().filter(|row| row[key] == product["id"]).collect();
        assert!(!of_it.is_empty() && of_it.iter().all(|row| row.contains_key("gone_at")), "{table}");
        let others = rows.iter().filter(|row| row[key] != product["id"]);
        assert!(others.into_iter().all(|row| !row.contains_key("gone_at")), "{table}");
    }
}

async fn a_line_that_left_an_order_is_marked_as_gone(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    shop.change(|orders| {
        let mut second = orders[1].detail["items"][0].clone();
        second["id"] = json!(2);
        orders[1].detail["items"].as_array_mut().unwrap().push(second);
    });
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    assert_eq!(mirror.live("order_items").await, 4);
    shop.change(|orders| {
        orders[1].detail["items"].as_array_mut().unwrap().remove(0);
        orders[1].row["updated_at"] = json!("2026-03-02T10:00:00-03:00");
    });
    installation.resync(&[]).await.expect(0);
    let lines = mirror.rows("order_items").await;
    let left: Vec<_> = lines.iter().filter(|line| line.contains_key("gone_at")).collect();
    assert_eq!(left.len(), 1);
    assert_eq!((left[0]["order_number"].as_str(), left[0]["id"].as_str()), ("P00002", "1"));
}

// withstands: F060
async fn many_missing_orders_are_not_believed_until_somebody_accepts_them(kind: Kind) {
    let sandbox = sandbox(40, 5).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    for row in &before[10..14] {
        assert!(sandbox.control().remove_order("loja-1", &row["order_number"]));
    }
    let run = installation.resync(&[]).await.expect(5).says("4 of 40").says("--accept-gone");
    assert_eq!(run.count("orders", "gone"), 0);
    assert_eq!(run.resource("orders")["error"]["code"], "too_many_gone");
    assert_eq!(run.resource("products")["state"], "complete", "the guard stops orders, not products");
    assert_eq!(mirror.rows("orders").await, before);
    let accepted = installation.resync(&["--accept-gone"]).await.expect(0);
    assert_eq!(accepted.count("orders", "gone"), 4);
    assert_eq!(mirror.live("orders").await, 36);
    installation.resync(&[]).await.expect(0);
}

// withstands: F060
async fn an_empty_listing_is_never_believed(kind: Kind) {
    let shop = Shop::open(Order::many(2)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    shop.change(Vec::clear);
    installation.resync(&[]).await.expect(5).says("2 of 2");
    assert_eq!(mirror.rows("orders").await, before);
}

// withstands: F057
async fn a_day_is_given_a_day_of_overlap_whatever_zone_the_marketplace_means_it_in(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&["--only", "orders", "--since", "2026-03-01"]).await.expect(0);
    let calls = shop.take_calls().into_iter().filter(|call| call.path == ORDERS);
    let asked: Vec<_> =
        calls.map(|mut call| (call.query.remove("date_from"), call.query.remove("date_to"))).collect();
    assert!(!asked.is_empty());
    for (from, to) in asked {
        assert_eq!((from.as_deref(), to), (Some("2026-02-28"), None), "a day before, and no end");
    }
}

async fn since_reads_from_a_day_on_and_marks_nothing_as_gone(kind: Kind) {
    let sandbox = sandbox(200, 5).await;
    let installation = joined(kind, &sandbox).await;
    let truth = Truth::of(&sandbox).await;
    let mut days: Vec<&str> =
        truth.orders.values().map(|o| &o["created_at"].as_str().unwrap()[..10]).collect();
    days.sort_unstable();
    let day = days[150].to_owned();
    let run = installation.resync(&["--only", "orders", "--since", &day]).await.expect(0);
    let mirror = installation.mirror().await;
    let mirrored = mirror.rows("orders").await;
    let has = |number: &str| mirrored.iter().any(|row| row["order_number"] == number);
    for (number, order) in &truth.orders {
        let created = &order["created_at"].as_str().unwrap()[..10];
        assert!(created < day.as_str() || has(number), "{number} of {created} is missing");
    }
    assert!((mirrored.len() as u64) < 200 && run.count("orders", "seen") == mirrored.len() as u64);
    let gone = mirrored.last().unwrap()["order_number"].clone();
    assert!(sandbox.control().remove_order("loja-1", &gone));
    let run = installation.resync(&["--only", "orders", "--since", &day]).await.expect(0);
    assert_eq!(run.count("orders", "gone"), 0);
    assert_eq!(mirror.live("orders").await, mirrored.len());
}

async fn only_reads_what_was_asked_for(kind: Kind) {
    let sandbox = sandbox(10, 10).await;
    let installation = joined(kind, &sandbox).await;
    let run = installation.resync(&["--only", "products"]).await.expect(0);
    assert!(run.store()["resources"]["orders"].is_null());
    assert!(!routes(&sandbox).contains_key(LIST) && routes(&sandbox)[PRODUCT] == 10);
    let mirror = installation.mirror().await;
    assert_eq!([mirror.live("orders").await, mirror.live("products").await], [0, 10]);
    installation.resync(&["--only", "orders,products"]).await.expect(0);
    assert_eq!(mirror.live("orders").await, 10);
    installation.run(&["--resync", "--only", "pedidos"]).await.expect(2).says("orders, products");
}

async fn a_dry_run_says_what_it_would_do_and_writes_nothing(kind: Kind) {
    let sandbox = sandbox(60, 10).await;
    let installation = joined(kind, &sandbox).await;
    let first = installation.resync(&["--dry-run"]).await.expect(0);
    assert_eq!([first.count("orders", "changed"), first.count("products", "changed")], [60, 10]);
    let mirror = installation.mirror().await;
    assert!(mirror.everything().await.values().all(Vec::is_empty), "a dry run has written");
    installation.resync(&[]).await.expect(0);
    let before = mirror.everything().await;
    let number = before["orders"][5]["order_number"].clone();
    assert!(sandbox.control().set_notes("loja-1", &number, Some("!")));
    assert!(sandbox.control().remove_order("loja-1", &before["orders"][6]["order_number"]));
    sandbox.reset_stats();
    let run = installation.resync(&["--dry-run"]).await.expect(0);
    assert_eq!(["changed", "gone"].map(|name| run.count("orders", name)), [1, 1]);
    assert_eq!(routes(&sandbox), asked(&[(LIST, 1), (PRODUCTS, 1)]));
    assert_eq!(mirror.everything().await, before);
}

async fn an_interrupted_run_is_resumed_and_restart_begins_anew(kind: Kind) {
    let no = || Some(Reply::refusal(403, "FORBIDDEN", "Agora não.", &json!([])));
    let breaks_at_3 = move |call: &espelho_tests::Call| if call.is_order_page(3) { no() } else { None };
    let shop = Shop::with_rule(Order::many(450), breaks_at_3).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let pages = |shop: &Shop| -> Vec<String> {
        let calls = shop.take_calls().into_iter().filter(|call| call.path == ORDERS);
        calls.map(|mut call| call.query.remove("page").unwrap_or_default()).collect()
    };
    let run = installation.resync(&["--only", "orders"]).await.expect(3).says("Agora não.");
    assert_eq!(
        (run.count("orders", "changed"), pages(&shop)),
        (200, ["1", "2", "3"].map(String::from).to_vec())
    );
    let run = installation.resync(&["--only", "orders"]).await.expect(3);
    assert_eq!((&run.resource("orders")["resumed_at_page"], pages(&shop)), (&json!(3), vec!["3".to_owned()]));
    let run = installation.resync(&["--only", "orders", "--restart"]).await.expect(3);
    assert_eq!(run.resource("orders")["resumed_at_page"], Value::Null);
    assert_eq!(pages(&shop), ["1", "2", "3"]);
    shop.rule(|_| None);
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(
        (run.count("orders", "seen"), pages(&shop)),
        (450, ["3", "4", "5"].map(String::from).to_vec())
    );
    assert_eq!(installation.mirror().await.live("orders").await, 450);
}

// withstands: F061
async fn what_seems_gone_half_way_through_a_pass_is_decided_by_a_complete_one_only(kind: Kind) {
    let shop = Shop::open(Order::many(450)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&["--only", "orders"]).await.expect(0);
    let mirror = installation.mirror().await;
    shop.change(|orders| drop(orders.remove(4)));
    shop.rule(|call| {
        call.is_order_page(3).then(|| Reply::refusal(403, "FORBIDDEN", "Agora não.", &json!([])))
    });
    // Neither the order that is not there any more nor those of the pages that were not read.
    for _ in 0..2 {
        let run = installation.resync(&["--only", "orders"]).await.expect(3);
        assert_eq!(run.count("orders", "gone"), 0);
        assert_eq!(mirror.live("orders").await, 450);
    }
    shop.rule(|_| None);
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!((run.count("orders", "gone"), mirror.live("orders").await), (1, 449));
}

// withstands: F077
async fn every_shape_of_listing_and_number_gives_the_same_mirror(kind: Kind) {
    let mut first = None;
    for list_shape in [ListShape::Flat, ListShape::Envelope, ListShape::Laravel] {
        for numbers_as_strings in [false, true] {
            let shape =
                Options { orders: 130, products: 20, list_shape, numbers_as_strings, ..Options::default() };
            let sandbox = sandbox_of(shape).await;
            let installation = joined(kind, &sandbox).await;
            installation.resync(&[]).await.expect(0);
            let mirror = installation.mirror().await;
            let mut tables = BTreeMap::new();
            for table in espelho_tests::mirror::MIRRORED {
                let as_sent = ["mirrored_at", "raw", "listing_hash", "content_hash"];
                let left_out = &as_sent[..if table.contains('_') { 2 } else { 4 }];
                tables.insert(table, mirror.rows_without(table, left_out).await);
            }
            match &first {
                None => first = Some(tables),
                Some(first) => assert_eq!(*first, tables, "{list_shape:?}, as strings: {numbers_as_strings}"),
            }
            sandbox.reset_stats();
            installation.resync(&[]).await.expect(0);
            assert_eq!(routes(&sandbox), asked(&[(LIST, 2), (PRODUCTS, 1)]), "{list_shape:?}");
        }
    }
}

async fn stores_are_reconciled_together_and_fail_apart(kind: Kind) {
    let sandbox = sandbox_of(Options { stores: 3, orders: 40, products: 10, ..Options::default() }).await;
    let installation = joined(kind, &sandbox).await;
    let broken = &sandbox.stores()[1];
    installation.write_store(&broken.key, &sandbox.base_url(), &broken.username, "errada-errada");
    let run = installation.resync(&[]).await.expect(3).says("Credenciais inválidas.").says(&broken.key);
    let report = run.json();
    let states: Vec<&str> =
        report["stores"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap()).collect();
    assert_eq!((report["state"].as_str(), states), (Some("partial"), vec!["complete", "failed", "complete"]));
    let mirror = installation.mirror().await;
    let count = |rows: &[Row], key: &str| rows.iter().filter(|row| row["store"] == key).count();
    let rows = mirror.rows("orders").await;
    assert_eq!(sandbox.stores().iter().map(|s| count(&rows, &s.key)).collect::<Vec<_>>(), [40, 0, 40]);
    installation.join(&sandbox);
    sandbox.reset_stats();
    let run = installation.resync(&["--store", &broken.key]).await.expect(0);
    assert_eq!(
        (run.store()["store"].as_str(), run.count("orders", "changed")),
        (Some(broken.key.as_str()), 40)
    );
    assert_eq!((routes(&sandbox)[LIST], routes(&sandbox)[PRODUCTS]), (1, 1), "the others are left alone");
}

#[tokio::test]
async fn a_run_within_the_budget_meets_no_429_whatever_the_server_counts() {
    // The wait is the limiter's, so the three share it.
    tokio::join!(meets_no_429(Window::Fixed), meets_no_429(Window::Sliding), meets_no_429(Window::FirstHit));
}

async fn meets_no_429(window: Window) {
    let options = Options { orders: 60, products: 20, rate: Some(300), window, ..Options::default() };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let sandbox = espelho_sandbox::start(listener, options).await.unwrap();
    let installation = joined(Kind::Sqlite, &sandbox).await;
    let text = std::fs::read_to_string(installation.dir().join("stores/loja-1.toml")).unwrap();
    installation.write("stores/loja-1.toml", &text.replace("= 1000000", "= 300"));
    let run = installation.resync(&[]).await.expect(0);
    let stats = sandbox.stats();
    assert_eq!((stats.rate_limited, &run.store()["rate_limited"]), (0, &json!(0)), "{window:?}");
    assert!(stats.requests > 80 && stats.max_in_60s <= 300, "{stats:?}");
}

// withstands: F055
#[tokio::test]
async fn a_server_that_ignores_the_page_is_found_out_and_named() {
    let sandbox =
        sandbox_of(Options { orders: 250, products: 250, ignore_page: true, ..Options::default() }).await;
    let installation = joined(Kind::Sqlite, &sandbox).await;
    let run = installation.resync(&[]).await;
    assert!([1, 3].contains(&run.code), "{run}");
    let run = run.says("page parameter").says("assumptions.page_parameter");
    assert_eq!(run.resource("orders")["error"]["code"], "paging");
    let asked = routes(&sandbox);
    assert_eq!((asked[LIST], asked[PRODUCTS]), (2, 2));
    assert!(asked[DETAIL] <= 100 && asked[PRODUCT] <= 100, "{asked:?}");
}

#[tokio::test]
async fn a_page_parameter_of_another_name_can_be_configured() {
    let shop = Shop::open(Order::many(150)).await;
    shop.rule(|call| {
        let misnamed = call.query.contains_key("page") && call.path != espelho_tests::shop::LOGIN;
        misnamed.then(|| {
            Reply::refusal(422, "VALIDATION_ERROR", "Campos inválidos.", &json!({"page": ["desconhecido"]}))
        })
    });
    let installation = Installation::on(Kind::Sqlite).await;
    let (username, password) = (espelho_tests::shop::USERNAME, espelho_tests::shop::PASSWORD);
    let more = "[assumptions]\npage_parameter = \"pagina\"\n";
    installation.write_store_with("loja-1", &shop.base_url(), username, password, more);
    // The shop knows no `pagina`, so it answers page 1 again and again: what matters is what was asked for.
    let run = installation.resync(&["--only", "orders"]).await;
    assert!([1, 3].contains(&run.code), "{run}");
    let calls = shop.take_calls();
    assert_eq!(
        calls.iter().filter(|call| call.query.get("pagina").is_some_and(|page| page == "2")).count(),
        1
    );
}

//! The migration of a filled database of an earlier espelho keeps all its content.

use crate::world::World;

/// The last version with amounts as TEXT on SQLite.
pub(crate) const TEXT_AMOUNTS: i64 = 15;

const RAW: &str = r#"{"status_label":"Pago","customer":{"id":1,"name":"Ana","city":"","address":{"city":"Ji-Paraná"},"state":{"id":3}},"shipping_address":{"uf":"RO"},"shipping":{"deadline":"2026-11-27T18:00:00.5-03:00","nfe_requirements":{"deadline":"2026-11-26"}},"picking_deadline":"amanhã"}"#;

pub(crate) fn rows() -> Vec<String> {
    let order = |number: &str, total: &str, raw: &str| {
        format!(
            "INSERT INTO orders (store, order_number, listing_hash, content_hash, mirrored_at, status, total_order, items_count, raw) \
             VALUES ('minha-loja', '{number}', 1, 2, '2026-11-20T12:00:00.000000Z', 'paid', '{total}', 3, '{raw}')"
        )
    };
    let mut rows = vec![
        order("1", "9.00", RAW),
        order("2", "1234.50", r#"{"customer":[],"shipping":{"deadline":5}}"#),
        order("3", "99999999999.99", "{}"),
    ];
    rows.extend(
        [
            "INSERT INTO order_items (store, order_number, id, mirrored_at, unit_price, raw) \
             VALUES ('minha-loja', '1', '1', '2026-11-20T12:00:00.000000Z', '0.100', '{\"name\":\"Camisa\"}')",
            "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, price, raw) \
             VALUES ('minha-loja', 'P', 1, 2, '2026-11-20T12:00:00.000000Z', 'A', '19.90', '{}')",
            "INSERT INTO product_prices (store, product_id, min_quantity, mirrored_at, value, raw) \
             VALUES ('minha-loja', 'P', 1, '2026-11-20T12:00:00.000000Z', '0.00', '{}')",
            "INSERT INTO product_stock (store, sku, location_id, product_id, mirrored_at, quantity, raw) \
             VALUES ('minha-loja', 'A', '1', 'P', '2026-11-20T12:00:00.000000Z', '7.500', '{}')",
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', '7.50')",
            "INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', 'A', '19.90')",
            "UPDATE erp_stock SET state = 'held', revision = 77",
            "UPDATE erp_prices SET state = 'done', revision = 78, updated_at = '2026-11-20T12:00:00.000000Z'",
            "INSERT INTO releases (store, what, key, value, at) \
             VALUES ('minha-loja', 'stock', 'A/1', '7.50', '2026-11-20T12:00:00.000000Z')",
            "INSERT INTO commands (store, kind) VALUES ('minha-loja', 'webhook.test')",
            // An integrator's own objects beside ours.
            "CREATE INDEX ours_by_total ON orders (store, total_order)",
            "CREATE VIEW ours AS SELECT order_number, total_order FROM orders",
            "CREATE TABLE our_orders (order_number TEXT)",
        ]
        .map(str::to_owned),
    );
    rows
}

async fn assert_kept(world: &World) {
    let tables = &world.tables;
    let orders = "SELECT order_number || ' ' || COALESCE(status_label, '-') || ' ' || COALESCE(customer_city, '-') || ' ' || COALESCE(customer_state, '-') \
        FROM orders ORDER BY order_number";
    assert_eq!(tables.list(orders).await, ["1 Pago Ji-Paraná RO", "2 - - -", "3 - - -"]);
    let orders = tables.all("orders").await;
    let first = orders.iter().find(|order| order.get("order_number") == Some("1")).unwrap();
    let times = ["ship_by", "invoice_by", "pick_by", "mirrored_at"].map(|column| first.get(column));
    let expected = [
        Some("2026-11-27T21:00:00.500000Z"),
        Some("2026-11-26T23:59:59.000000Z"),
        None,
        Some("2026-11-20T12:00:00.000000Z"),
    ];
    assert_eq!(times, expected);
    assert_eq!(tables.list("SELECT name FROM order_items").await, ["Camisa"]);
    let above =
        "SELECT CAST(total_order AS TEXT) AS total FROM ours WHERE total_order > 100 ORDER BY total_order";
    assert_eq!(tables.numbers(above).await, ["1234.5", "99999999999.99"]);
    let intents = "SELECT state || ' ' || CAST(revision AS TEXT) FROM erp_stock UNION ALL SELECT state || ' ' || CAST(revision AS TEXT) FROM erp_prices";
    assert_eq!(tables.list(intents).await, ["held 77", "done 78"], "no intent is new by the migration");
    let released = world
        .store
        .releases()
        .releases(&crate::world::minha_loja(), espelho_store::IntentKind::Stock)
        .await
        .unwrap();
    let quantity = tables.list("SELECT CAST(quantity AS TEXT) FROM erp_stock").await;
    assert_eq!(released.get("A/1"), quantity.first(), "what was released stays so");
    assert_eq!(tables.list("SELECT key FROM v_drift WHERE entity = 'stock'").await, Vec::<String>::new());
    assert_eq!(tables.list("SELECT code FROM v_errors").await, ["price_zero"]);
    // Triggers and indexes still work.
    tables.execute("UPDATE erp_prices SET price = 21").await;
    assert_eq!(tables.list("SELECT state FROM erp_prices").await, ["new"]);
    tables.execute("DELETE FROM orders WHERE order_number = '2'").await;
    assert_eq!(tables.numbers(above).await, ["99999999999.99"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_mirrored_before_is_kept_on_sqlite() {
    let mut rows = rows();
    rows.push(
        "CREATE TRIGGER ours_told AFTER INSERT ON orders BEGIN INSERT INTO our_orders VALUES (NEW.order_number); END".into(),
    );
    let world = World::on_older_sqlite(TEXT_AMOUNTS, &rows).await;
    assert_kept(&world).await;
    for (table, column) in
        [("orders", "total_order"), ("order_items", "unit_price"), ("erp_stock", "quantity")]
    {
        let stored = world.tables.stored_types(table, column).await;
        assert!(
            stored.iter().all(|stored| stored == "real" || stored == "integer"),
            "{table}.{column}: {stored:?}"
        );
    }
    let sound = "SELECT integrity_check FROM pragma_integrity_check";
    assert_eq!(world.tables.list(sound).await, ["ok"], "also the indexes that somebody else made");
    let added = "INSERT INTO orders (store, order_number, listing_hash, content_hash, mirrored_at, raw) VALUES ('x', '9', 1, 1, '', '{}')";
    world.tables.execute(added).await;
    assert_eq!(world.tables.list("SELECT order_number FROM our_orders").await, ["9"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_mirrored_before_is_kept_on_postgres() {
    let world = World::on_older_postgres(TEXT_AMOUNTS, &rows()).await;
    assert_kept(&world).await;
}

/// The last version that looked through all orders for what is due.
const NO_DUE_TIMES: i64 = 33;

fn read_rows() -> Vec<String> {
    let at = |day: &str| format!("'2026-{day}T12:00:00.000000Z'");
    let mirrored = at("11-20");
    let order = |number: &str, status: &str, updated: &str, gone: &str| {
        format!(
            "INSERT INTO orders (store, order_number, listing_hash, content_hash, mirrored_at, status, updated_at, gone_at, raw) \
             VALUES ('minha-loja', '{number}', 1, 2, {mirrored}, '{status}', {}, {gone}, '{{}}')",
            at(updated)
        )
    };
    let product = |id: &str, gone: &str| {
        format!(
            "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, gone_at, raw) \
             VALUES ('minha-loja', '{id}', 1, 2, {mirrored}, {gone}, '{{}}')"
        )
    };
    let mut rows = vec![
        order("open", "paid", "01-01", "NULL"),
        order("week", "delivered", "11-15", "NULL"),
        order("month", "cancelled", "11-01", "NULL"),
        order("old", "delivered", "01-01", "NULL"),
        order("gone", "paid", "11-15", &mirrored),
        order("unread", "paid", "11-15", "NULL"),
        product("mirrored", "NULL"),
        product("read", "NULL"),
        product("gone", &mirrored),
    ];
    for number in ["open", "week", "month", "old", "gone"] {
        for part in ["order", "shipments", "tracking", "events", "invoices", "financial"] {
            let read_at = match (number, part) {
                ("week", "tracking") => continue,
                ("month", "events") => at("11-19"),
                _ => mirrored.clone(),
            };
            rows.push(format!(
                "INSERT INTO order_parts (store, order_number, part, read_at, content_hash) \
                 VALUES ('minha-loja', '{number}', '{part}', {read_at}, 3)"
            ));
        }
    }
    for id in ["read", "gone"] {
        let read_at = at("11-22");
        rows.push(format!("INSERT INTO product_reads VALUES ('minha-loja', '{id}', {read_at})"));
    }
    rows
}

async fn assert_due(world: &World) {
    let tables = &world.tables;
    let unread = "SELECT order_number FROM orders WHERE unread_since = mirrored_at ORDER BY order_number";
    assert_eq!(tables.list(unread).await, ["month", "unread", "week"]);
    assert_eq!(tables.count("orders WHERE unread_since IS NOT NULL").await, 3);
    let lines = tables.all("order_parts").await;
    let mut due: Vec<_> = lines
        .iter()
        .filter(|line| line.get("part") == Some("shipments"))
        .map(|line| ["order_number", "due_at", "is_young"].map(|column| line.get(column)))
        .collect();
    due.sort();
    let expected = [
        [Some("gone"), None, None],
        [Some("month"), Some("2026-11-27T12:00:00.000000Z"), Some("0")],
        [Some("old"), Some("2026-12-20T12:00:00.000000Z"), Some("0")],
        [Some("open"), Some("2026-11-21T12:00:00.000000Z"), Some("1")],
        [Some("week"), Some("2026-11-21T12:00:00.000000Z"), Some("1")],
    ];
    assert_eq!(due, expected);
    assert_eq!(tables.count("order_parts WHERE due_at IS NOT NULL").await, 4, "only shipments are due");
    let lines = tables.all("product_reads").await;
    let reads: Vec<_> = lines.iter().map(|line| ["id", "read_at"].map(|column| line.get(column))).collect();
    let expected = [
        [Some("mirrored"), Some("2026-11-20T12:00:00.000000Z")],
        [Some("read"), Some("2026-11-22T12:00:00.000000Z")],
    ];
    assert_eq!(reads, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_due_of_what_was_mirrored_before_is_known_on_sqlite() {
    assert_due(&World::on_older_sqlite(NO_DUE_TIMES, &read_rows()).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_due_of_what_was_mirrored_before_is_known_on_postgres() {
    assert_due(&World::on_older_postgres(NO_DUE_TIMES, &read_rows()).await).await;
}

/// Sweeps look again and again: what they cost must not grow with the mirror. Each step is the walk over an index that
/// holds only what is looked for, or the look-up of one row.
#[tokio::test]
async fn no_sweep_reads_all_orders_to_find_what_is_due() {
    const READS: &str = "p USING PRIMARY KEY (store=? AND part=? AND order_number=?)";
    const UNREAD: &str = "orders USING COVERING INDEX orders_unread (store=?";
    const DUE: &str =
        "order_parts USING COVERING INDEX order_parts_due (store=? AND is_young=? AND due_at<?)";
    let world = World::on_sqlite().await;
    for (name, sql) in espelho_store::statements_of_sweeps() {
        let expected = match name {
            "unread" | "unread below" => vec![UNREAD, READS],
            "unread open" => {
                let order = "n USING INDEX sqlite_autoindex_orders_1 (store=? AND order_number=?)";
                vec!["o USING COVERING INDEX orders_open (store=?)", order, READS]
            }
            "open orders" => vec!["orders USING COVERING INDEX orders_open (store=?"],
            "aged" => {
                let labels = "l USING INDEX shipment_labels_unready (store=?)";
                vec!["o USING COVERING INDEX orders_open (store=?)", READS, labels, READS]
            }
            "due" => vec![DUE],
            "unscheduled" => {
                let order = "o USING INDEX sqlite_autoindex_orders_1 (store=? AND order_number=?)";
                vec!["order_parts USING INDEX order_parts_due (store=? AND is_young=?", order]
            }
            "products" => {
                let product = "p USING INDEX sqlite_autoindex_products_1 (store=? AND id=?)";
                vec!["r USING COVERING INDEX product_reads_by_turn (store=?)", product]
            }
            other => panic!("{other} has no plan here"),
        };
        let plan = world.tables.plan(sql).await;
        assert_searches(name, &plan, &expected);
        // The answer of a part of the statement is read whole, a table never is.
        assert_scans_only(name, &plan, &["u", "p", "aged"]);
        let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY"));
        assert_eq!(sorts, ["aged", "unread open"].contains(&name), "{name}: {plan:#?}");
    }
}

/// An ERP polls these views for its store. What that costs must not grow with the orders that are closed.
#[tokio::test]
async fn the_views_of_open_orders_read_no_closed_order() {
    let world = World::on_sqlite().await;
    for view in ["v_orders_open", "v_deadlines"] {
        for condition in ["store = $1", "store = $1 AND kind IN ('ship_by', 'invoice_by') AND at < $2", "1"] {
            if view == "v_orders_open" && condition.contains("kind") {
                continue;
            }
            let plan = world.tables.plan(&format!("SELECT * FROM {view} WHERE {condition}")).await;
            let of_orders = plan.iter().filter(|step| {
                let step = step.trim_start_matches("SEARCH ").trim_start_matches("SCAN ");
                step.starts_with("orders") || step.starts_with("o ")
            });
            let of_orders: Vec<_> = of_orders.collect();
            assert!(of_orders.len() >= if view == "v_deadlines" { 5 } else { 1 }, "{view}: {plan:#?}");
            let is_open_or_key = |step: &&String| {
                ["orders_open", "orders_refunded (store=? AND order_number=?"]
                    .iter()
                    .any(|by| step.contains(by))
            };
            assert!(of_orders.iter().all(is_open_or_key), "{view}, {condition}: {plan:#?}");
        }
    }
}

/// Asserts the tables that a plan searches, each by the index whose use the step begins with.
fn assert_searches(name: &str, plan: &[String], expected: &[&str]) {
    let searched: Vec<&str> = plan.iter().filter_map(|step| step.strip_prefix("SEARCH ")).collect();
    let is_as_expected = searched.len() == expected.len()
        && searched.iter().zip(expected).all(|(step, expected)| step.starts_with(expected));
    assert!(is_as_expected, "{name}: {plan:#?}");
}

/// Asserts that a plan reads nothing whole but these.
fn assert_scans_only(name: &str, plan: &[String], few: &[&str]) {
    let mut scanned = plan.iter().filter_map(|step| step.strip_prefix("SCAN "));
    assert!(scanned.all(|of| few.contains(&of)), "{name}: {plan:#?}");
}

/// A turn must not cost more with more open rows: each of its statements finds what it returns in an index that is in the
/// order of the answer.
#[tokio::test]
async fn no_turn_of_the_scan_reads_more_open_rows_than_it_returns() {
    const PRODUCT: &str = "p USING INDEX products_by_sku (store=? AND sku=?)";
    const LEVEL: &str =
        "s USING INDEX sqlite_autoindex_product_stock_1 (store=? AND sku=? AND location_id=?)";
    let world = World::on_sqlite().await;
    for (name, sql) in espelho_store::statements_of_turns() {
        let expected = match name {
            "levels" => vec!["e USING INDEX erp_stock_open (store=? AND sku>?)", PRODUCT, LEVEL],
            "level" => vec!["e USING INDEX", PRODUCT, LEVEL],
            "zeroes" => {
                vec!["e USING INDEX erp_stock_zeroes (store=? AND quantity=? AND sku>?)", PRODUCT, LEVEL]
            }
            "count of zeroes" => {
                vec!["e USING INDEX erp_stock_zeroes (store=? AND quantity=?)", PRODUCT, LEVEL]
            }
            "commands" => vec!["commands USING INDEX commands_open (store=? AND id>?)"],
            "latest statuses" => vec!["commands USING INDEX commands_statuses (store=?)"],
            "first statuses" => vec![
                "commands USING INTEGER PRIMARY KEY (rowid=?)",
                "commands USING INDEX commands_statuses (store=?)",
                "e USING INDEX commands_open_by_key (store=? AND <expr>=? AND rowid<?)",
            ],
            "command of a kind" => vec!["commands USING INDEX commands_open_by_key (store=? AND <expr>=?)"],
            "prices" => vec!["e USING INDEX erp_prices_open (store=? AND sku>?)", PRODUCT],
            "long levels" => vec!["erp_stock USING INDEX erp_stock_long (store=?)"],
            "long prices" => vec!["erp_prices USING INDEX erp_prices_long (store=?)"],
            "unreadable levels" => vec!["erp_stock USING INDEX erp_stock_new (store=? AND rowid>?)"],
            "unreadable commands" => vec!["commands USING INDEX commands_new (store=? AND rowid>?)"],
            "stores with new commands" => {
                vec!["commands USING", "e USING"]
            }
            other => panic!("{other} has no plan here"),
        };
        let plan = world.tables.plan(sql).await;
        assert_searches(name, &plan, &expected);
        assert_scans_only(name, &plan, &["c", "wanting"]);
        let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorts, "{name}: {plan:#?}");
    }
}

/// An ERP polls this: it reads an index and no row, however long the history.
#[tokio::test]
async fn new_orders_are_found_without_reading_the_others() {
    let world = World::on_sqlite().await;
    let rows = world.tables.plan("SELECT * FROM v_orders_new").await;
    assert!(rows.iter().any(|row| row.contains("SCAN i USING COVERING INDEX")), "{rows:?}");
    assert!(rows.iter().any(|row| row.starts_with("SEARCH o USING INDEX")), "{rows:?}");
}

/// An order is looked up among the refunded ones: compared with each of them, a large shop would take minutes.
#[tokio::test]
async fn a_refunded_order_is_found_by_its_number() {
    let world = World::on_sqlite().await;
    for view in ["v_orders_new", "v_orders_open", "v_deadlines"] {
        let plan = world.tables.plan(&format!("SELECT * FROM {view}")).await;
        let mut refunded = plan.iter().filter(|step| step.contains("INDEX orders_refunded"));
        assert!(refunded.clone().count() > 0, "{view}: {plan:#?}");
        assert!(refunded.all(|step| step.contains("(store=? AND order_number=?")), "{view}: {plan:#?}");
    }
}

/// Each page reads the errors: of the products it reads those of the SKUs that are noted, in a shop of a million too.
#[tokio::test]
async fn errors_are_read_without_the_rows_that_have_none() {
    let world = World::on_sqlite().await;
    for of in ["", " WHERE store = 'minha-loja'"] {
        let rows = world.tables.plan(&format!("SELECT key FROM v_errors{of}")).await;
        let mut by_sku = rows.iter().filter(|row| row.contains("INDEX products_live_by_sku"));
        assert!(by_sku.clone().count() > 0, "{rows:?}");
        assert!(by_sku.all(|row| row.contains("(store=? AND sku=?")), "{rows:?}");
        let mut whole = rows.iter().filter(|row| row.starts_with("SCAN ") && !row.contains(" USING INDEX "));
        let few = ["SCAN n", "SCAN s", "SCAN v_errors", "SCAN sync_failures"];
        assert!(whole.all(|row| few.contains(&row.as_str())), "{rows:?}");
        // Of the campaigns, the listings that have joined, and the prices of their items.
        assert!(rows.iter().any(|row| row.contains("l USING INDEX campaign_listings_enrolled")), "{rows:?}");
        assert!(!rows.iter().any(|row| row.ends_with("campaign_listings_1 (store=?)")), "{rows:?}");
    }
}

/// The alarms ask it again and again.
#[tokio::test]
async fn shared_skus_are_asked_for_without_the_other_products() {
    let world = World::on_sqlite().await;
    let plan = world.tables.plan(espelho_store::statement_of_shared_skus()).await;
    let mut searched = plan.iter().filter(|step| step.starts_with("SEARCH "));
    let is_looked_up = |step: &String| step.ends_with("INDEX products_live_by_sku (store=? AND sku=?)");
    assert!(searched.clone().count() == 3 && searched.all(is_looked_up), "{plan:#?}");
    assert_scans_only("shared SKUs", &plan, &["n", "g", "s"]);
}

/// So are prices of zero.
#[tokio::test]
async fn prices_of_zero_are_asked_for_without_the_other_prices() {
    let world = World::on_sqlite().await;
    let plan = world.tables.plan(espelho_store::statement_of_zero_prices()).await;
    assert!(plan.iter().any(|step| step.contains("t USING INDEX product_prices_of_zero")), "{plan:#?}");
    let whole = plan.iter().filter(|step| step.starts_with("SCAN ")).count();
    assert_eq!(whole, 1, "{plan:#?}");
}

/// The same on PostgreSQL, whose plans depend on what the tables have.
#[tokio::test]
async fn postgres_looks_up_the_products_of_a_shared_sku_too() {
    let world = World::on_postgres().await;
    for sql in [
        "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, raw) \
         SELECT 'minha-loja', 'P-' || n, 1, 1, now(), 'S-' || n / 2, '{}' FROM generate_series(1, 20000) AS n",
        "INSERT INTO shared_skus (store, sku) VALUES ('minha-loja', 'S-5')",
        "ANALYZE products",
        "ANALYZE shared_skus",
    ] {
        world.tables.execute(sql).await;
    }
    for sql in [espelho_store::statement_of_shared_skus(), "SELECT key FROM v_errors"] {
        let plan = world.tables.plan(sql).await;
        let looks_up = plan.iter().any(|step| step.contains("using products_live_by_sku on products"));
        let is_read_whole = plan.iter().any(|step| step.contains("Seq Scan on products"));
        assert!(looks_up && !is_read_whole, "{sql}: {plan:#?}");
    }
    assert_eq!(world.tables.list("SELECT key FROM v_errors ORDER BY key").await, ["P-10", "P-11"]);
}

/// A page looks at an index, and at the rows that it shows.
#[tokio::test]
async fn lists_and_the_search_read_no_row_that_they_do_not_show() {
    let world = World::on_sqlite().await;
    for (name, sql) in espelho_store::statements_of_lists() {
        let plan = world.tables.plan(&sql).await;
        let scans =
            plan.iter().filter(|step| step.starts_with("SCAN") && !step.contains("USING COVERING INDEX"));
        let scans: Vec<_> = scans.filter(|step| !["SCAN f", "SCAN named"].contains(&step.as_str())).collect();
        assert!(scans.is_empty(), "{name}: {plan:#?}");
    }
}

/// A page of a hundred rows must not cost more in a store of a million.
#[tokio::test]
async fn what_is_asked_by_keys_is_found_by_them() {
    let world = World::on_sqlite().await;
    for sql in espelho_store::statements_with_keys() {
        let plan = world.tables.plan(&sql).await;
        let of_all = plan.iter().filter(|step| step.starts_with("SCAN ") || step.ends_with("(store=?)"));
        // Of stores and of what fails there are few.
        let is_few = |step: &&String| step.contains(" s ") || step.contains(" sync_failures ");
        let of_all: Vec<_> = of_all.filter(|step| !is_few(step)).collect();
        assert!(of_all.is_empty(), "{sql}: {plan:#?}");
    }
}

/// A store that is paused may have a million of them.
#[tokio::test]
async fn a_look_at_the_inboxes_of_all_stores_reads_no_delivery_but_the_first_of_each() {
    let world = World::on_sqlite().await;
    let plan = world.tables.plan(espelho_store::statement_of_waiting_stores()).await;
    let looks: Vec<_> = plan.iter().filter(|step| step.contains("webhook_inbox")).collect();
    let is_search = |step: &&&String| step.starts_with("SEARCH") && step.contains("webhook_inbox_open");
    assert_eq!(looks.iter().filter(is_search).count(), 3, "{plan:#?}");
    assert_eq!(looks.len(), 3, "{plan:#?}");
    let sorts = plan.iter().any(|step| step.contains("B-TREE"));
    assert!(!sorts, "{plan:#?}");
}

/// Without it, SQLite prepares a statement again for each value of its LIMIT.
#[tokio::test]
async fn sqlite_chooses_a_plan_without_a_look_at_the_values() {
    let world = World::on_sqlite().await;
    let options = world.tables.list("PRAGMA compile_options").await;
    assert!(options.iter().any(|option| option == "ENABLE_QPSG"), "build where .cargo/config.toml is read");
}

/// The last version in which the ERP could write any time.
const ANY_TIME: i64 = 36;
const ENDLESS: [&str; 4] = ["infinity", "-infinity", "294276-12-31 23:59:59Z", "4713-01-01 00:00:00Z BC"];

fn endless_rows() -> Vec<String> {
    let mut rows = Vec::new();
    for (n, time) in ENDLESS.iter().enumerate() {
        rows.extend([
            format!(
                "INSERT INTO commands (store, kind, key, data, created_at, updated_at, done_at) \
                 VALUES ('minha-loja', 'order.notes', '{n}', '{{}}', '{time}', '{time}', '{time}')"
            ),
            format!("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', '{n}', '1', 1)"),
            format!("INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', '{n}', 1)"),
            format!("UPDATE erp_stock SET updated_at = '{time}', pushed_at = '{time}' WHERE sku = '{n}'"),
            format!("UPDATE erp_prices SET updated_at = '{time}', pushed_at = '{time}' WHERE sku = '{n}'"),
            format!("INSERT INTO erp_orders (store, order_number, taken_at) VALUES ('minha-loja', '{n}', '{time}')"),
        ]);
    }
    rows
}

/// Reads all that a service reads of the ERP's rows, answers one of each kind, and returns the errors that are shown.
async fn work_on_endless_rows(world: &World) -> usize {
    use espelho_model::push::PushState;
    use espelho_store::{IntentKind, Outcome};
    let (store, key, lease) = (&world.store, crate::world::minha_loja(), world.lease().await);
    let commands = store.commands().open_page(&key, 0).await.unwrap();
    let levels = store.intents().open_stock_page(&key, None).await.unwrap();
    let prices = store.intents().open_prices_page(&key, None).await.unwrap();
    assert_eq!([commands.len(), levels.len(), prices.len()], [ENDLESS.len(); 3]);
    let failed = Outcome {
        code: Some("x".to_owned()),
        error: Some("e".to_owned()),
        ..Outcome::plain(PushState::Failed)
    };
    for ((command, level), price) in commands.iter().zip(&levels).zip(&prices) {
        let before = store.commands().read(&key, command.id).await.unwrap().unwrap();
        let tiers = store.intents().tier_intents(&key, &price.sku).await.unwrap();
        let mut tx = store.begin_answer(&lease).await.unwrap();
        let waiting = Outcome { code: Some("w".to_owned()), ..Outcome::plain(PushState::Waiting) };
        assert!(tx.intents().answer_command(&before, &waiting).await.unwrap());
        tx.commit().await.unwrap();
        let after = store.commands().read(&key, command.id).await.unwrap().unwrap();
        assert_eq!(before.fingerprint(), after.fingerprint(), "an answer makes no other command of it");
        store
            .releases()
            .intent_row(key.as_str(), IntentKind::Command, &command.id.to_string())
            .await
            .unwrap()
            .unwrap();
        store.history().story(&key, &espelho_store::Subject::Command(command.id.to_string())).await.unwrap();
        let mut tx = store.begin_answer(&lease).await.unwrap();
        assert!(tx.intents().answer_command(&after, &failed).await.unwrap());
        assert!(tx.intents().answer_stock(level, &failed, "physical").await.unwrap());
        assert!(tx.intents().answer_price(&price.sku, &tiers[0], &failed).await.unwrap());
        tx.commit().await.unwrap();
    }
    store.overview().rows_in_trouble().await.unwrap();
    store.overview().unseen_rows().await.unwrap();
    store.intents().undone(None).await.unwrap();
    lease.release().await.unwrap();
    store.history().errors(None, 100).await.unwrap().len()
}

#[tokio::test]
async fn times_without_an_end_that_stood_before_the_migration_end_no_service_on_postgres() {
    let world = World::on_older_postgres(ANY_TIME, &endless_rows()).await;
    assert_eq!(world.store.overview().unseen_rows().await.unwrap().len(), 3);
    assert_eq!(work_on_endless_rows(&world).await, 3 * ENDLESS.len());
}

#[tokio::test]
async fn a_time_without_an_end_becomes_that_of_the_writing_on_postgres() {
    let world = World::on_postgres().await;
    for row in endless_rows() {
        world.tables.execute(&row).await;
    }
    world.tables.execute("UPDATE commands SET created_at = 'infinity' WHERE key = '0'").await;
    world.tables.execute("UPDATE erp_orders SET taken_at = 'infinity' WHERE order_number = '0'").await;
    let times = "SELECT created_at AS at FROM commands UNION ALL SELECT updated_at FROM erp_stock \
        UNION ALL SELECT updated_at FROM erp_prices UNION ALL SELECT taken_at FROM erp_orders";
    let now = "at BETWEEN now() - interval '1 hour' AND now() + interval '1 hour'";
    let sql = format!("SELECT count(*)::text FROM ({times}) AS t WHERE {now}");
    assert_eq!(world.tables.list(&sql).await, [(4 * ENDLESS.len()).to_string()]);
    let optional = "SELECT count(*)::text FROM (SELECT updated_at AS at FROM commands UNION ALL SELECT done_at FROM commands \
        UNION ALL SELECT pushed_at FROM erp_stock UNION ALL SELECT pushed_at FROM erp_prices) AS t WHERE at IS NOT NULL";
    assert_eq!(world.tables.list(optional).await, ["0"]);
    assert_eq!(work_on_endless_rows(&world).await, 3 * ENDLESS.len());
}

/// Writes the largest revision, and then another value; returns what the table has.
async fn with_largest_revision(world: &World) -> Vec<String> {
    for sql in [
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', 1)",
        "INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', 'A', 1)",
        "UPDATE erp_stock SET revision = 9223372036854775807",
        "UPDATE erp_prices SET revision = 9223372036854775807",
        "UPDATE erp_stock SET quantity = 2",
        "UPDATE erp_prices SET price = 2",
    ] {
        world.tables.execute(sql).await;
    }
    let key = crate::world::minha_loja();
    let level = world.store.intents().open_stock_page(&key, None).await.unwrap().remove(0);
    assert!(world.store.intents().is_current(&key, &level).await.unwrap());
    let price = world.store.intents().open_prices_page(&key, None).await.unwrap().remove(0);
    [level.revision, price.revision].iter().map(|revision| (*revision < 1 << 62).to_string()).collect()
}

#[tokio::test]
async fn a_revision_that_cannot_rise_begins_again_on_sqlite() {
    assert_eq!(with_largest_revision(&World::on_sqlite().await).await, ["true"; 2]);
}

#[tokio::test]
async fn a_revision_that_cannot_rise_begins_again_on_postgres() {
    assert_eq!(with_largest_revision(&World::on_postgres().await).await, ["true"; 2]);
}

//! The migration of a filled database of an earlier espelho keeps all its content.

use crate::world::World;

/// The last version with amounts as TEXT on SQLite.
const TEXT_AMOUNTS: i64 = 15;

const RAW: &str = r#"{"status_label":"Pago","customer":{"id":1,"name":"Ana","city":"","address":{"city":"Ji-Paraná"},"state":{"id":3}},"shipping_address":{"uf":"RO"},"shipping":{"deadline":"2026-11-27T18:00:00.5-03:00","nfe_requirements":{"deadline":"2026-11-26"}},"picking_deadline":"amanhã"}"#;

fn rows() -> Vec<String> {
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
    let wished = "SELECT state || ' ' || CAST(revision AS TEXT) FROM erp_stock UNION ALL SELECT state || ' ' || CAST(revision AS TEXT) FROM erp_prices";
    assert_eq!(tables.list(wished).await, ["held 77", "done 78"], "no wish is new by the migration");
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

/// An ERP polls this: it reads an index and no row, however long the history.
#[tokio::test]
async fn new_orders_are_found_without_reading_the_others() {
    let world = World::on_sqlite().await;
    let rows = world.tables.plan("SELECT * FROM v_orders_new").await;
    assert!(rows.iter().any(|row| row.contains("SCAN i USING COVERING INDEX")), "{rows:?}");
    assert!(rows.iter().any(|row| row.starts_with("SEARCH o USING INDEX")), "{rows:?}");
}

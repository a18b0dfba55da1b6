//! Orders and their lines.

use std::time::Duration;

use espelho_model::{OrderNumber, RawJson, Sku, order::Order, product::Product};
use espelho_store::Op;

use crate::{
    examples::{bare_order, line, order, order_of, product},
    tables::Line,
    world::{World, minha_loja},
};

const LATER: &str = "2026-11-27T06:31:00.123456Z";
const LONG_AGO: &str = "2020-01-01T00:00:00Z";
const OPENING: &str = "2026-11-27T06:30:00.123456Z";

/// The lines of an order with the time they went.
async fn lines(world: &World, number: &str) -> Vec<(String, Option<String>)> {
    let all = world.tables.all("order_items").await;
    let of_order = all.iter().filter(|line| line.get("order_number") == Some(number));
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let mut lines: Vec<_> =
        of_order.map(|line| (line.get("id").unwrap().to_owned(), owned(line.get("gone_at")))).collect();
    lines.sort();
    lines
}

fn there(id: &str) -> (String, Option<String>) {
    (id.to_owned(), None)
}

fn gone_at(id: &str, at: &str) -> (String, Option<String>) {
    (id.to_owned(), Some(at.to_owned()))
}

async fn the_order(world: &World) -> Line {
    let mut orders = world.tables.all("orders").await;
    assert_eq!(orders.len(), 1);
    orders.remove(0)
}

pub(crate) async fn a_new_order_arrives_with_its_lines(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order_of("N-1", "paid", &["1", "2"])]).await;
    let written = the_order(world).await;
    assert_eq!(written.nulls(), ["gone_at"]);
    for (column, value) in [
        ("store", "minha-loja"),
        ("order_number", "N-1"),
        ("status", "paid"),
        ("workflow_type", "standard"),
        ("type", "sale"),
        ("channel", "marketplace"),
        ("delivery_method", "shipping"),
        ("checkout_group_id", "G-1"),
        ("customer_id", "42"),
        ("customer_name", "João da Conceição"),
        ("total_products", "199.9"),
        ("total_shipping", "15.1"),
        ("total_discounts", "5"),
        ("total_order", "210"),
        ("items_count", "3"),
        ("lines_count", "2"),
        ("payment_method", "pix"),
        ("payment_status", "approved"),
        ("payment_expires_at", "2026-11-27T09:00:00.000000Z"),
        ("is_collective", "0"),
        ("is_awaiting_campaign", "1"),
        ("release_at", "2026-11-28T00:00:00.000000Z"),
        ("picked_up_at", "2026-11-29T12:00:00.000000Z"),
        ("notes", "portão azul"),
        ("created_at", "2026-11-27T06:00:00.000000Z"),
        ("updated_at", "2026-11-27T06:00:01.000000Z"),
        ("status_label", "Pago"),
        ("customer_city", "Ji-Paraná"),
        ("customer_state", "RO"),
        ("ship_by", "2026-11-28T21:00:00.000000Z"),
        ("invoice_by", "2026-11-28T02:59:59.000000Z"),
        ("pick_by", "2026-11-28T18:00:00.000000Z"),
        ("mirrored_at", OPENING),
        ("unread_since", OPENING),
        ("raw", r#"{"items":["1","2"],"order_number":"N-1","status":"paid"}"#),
    ] {
        assert_eq!(written.get(column), Some(value), "{column}");
    }
    assert_eq!(lines(world, "N-1").await, [there("1"), there("2")]);
    let line = world.tables.all("order_items").await.remove(0);
    assert_eq!(line.nulls(), ["gone_at"]);
    for (column, value) in [
        ("product_id", "P-1"),
        ("sku", "CAMISA-P"),
        ("quantity", "2"),
        ("unit_price", "12.345"),
        ("net_value", "24.69"),
        ("price_scale", "3"),
        ("stock_status", "reserved"),
        ("is_blocking_stock", "1"),
        ("mirrored_at", OPENING),
    ] {
        assert_eq!(line.get(column), Some(value), "{column}");
    }
}

pub(crate) async fn an_order_of_nothing_but_its_number_is_all_null(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![bare_order("N-1")]).await;
    let written = the_order(world).await;
    // 38 columns, of which key, hashes, mirrored_at, unread_since and raw are always there.
    assert_eq!(written.nulls().len(), 31, "{:?}", written.nulls());
    assert_eq!(world.tables.count("order_items").await, 0);
}

pub(crate) async fn a_changed_order_is_overwritten_in_every_column(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("N-1", "paid")]).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_orders(&lease, Op::Update, vec![bare_order("N-1")]).await;
    let emptied = the_order(world).await;
    assert_eq!(emptied.nulls().len(), 31, "{:?}", emptied.nulls());
    assert_eq!((emptied.get("mirrored_at"), emptied.get("unread_since")), (Some(LATER), Some(LATER)));
    world.write_orders(&lease, Op::Update, vec![order("N-1", "shipped")]).await;
    let filled = the_order(world).await;
    assert_eq!(filled.nulls(), ["gone_at"]);
    assert_eq!(filled.get("status"), Some("shipped"));
}

pub(crate) async fn an_order_that_is_the_same_again_keeps_its_time(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("N-1", "paid")]).await;
    let before = the_order(world).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_orders(&lease, Op::Update, vec![order("N-1", "paid")]).await;
    assert_eq!(the_order(world).await, before);
}

pub(crate) async fn a_line_that_vanishes_is_marked_and_one_that_comes_back_is_not(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order_of("N-1", "paid", &["1", "2", "3"])]).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_orders(&lease, Op::Update, vec![order_of("N-1", "preparing", &["1", "4"])]).await;
    let after = [there("1"), gone_at("2", LATER), gone_at("3", LATER), there("4")];
    assert_eq!(lines(world, "N-1").await, after);
    world.clock.advance(Duration::from_secs(60));
    world.write_orders(&lease, Op::Update, vec![order_of("N-1", "shipped", &["1", "2", "4"])]).await;
    // A line that was already gone keeps its time.
    assert_eq!(lines(world, "N-1").await, [there("1"), there("2"), gone_at("3", LATER), there("4")]);
    world.write_orders(&lease, Op::Update, vec![order_of("N-1", "delivered", &[])]).await;
    assert!(lines(world, "N-1").await.iter().all(|(_, gone)| gone.is_some()));
}

pub(crate) async fn a_new_order_leaves_the_lines_of_others_alone(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order_of("N-1", "paid", &["1", "2"])]).await;
    world.write_orders(&lease, Op::Insert, vec![order_of("N-2", "paid", &["1"])]).await;
    world.write_orders(&lease, Op::Update, vec![order_of("N-2", "shipped", &["2"])]).await;
    assert_eq!(lines(world, "N-1").await, [there("1"), there("2")]);
    assert_eq!(lines(world, "N-2").await, [gone_at("1", OPENING), there("2")]);
}

pub(crate) async fn of_lines_with_one_id_the_last_is_kept(world: &World) {
    let lease = world.lease().await;
    // Enough rows for one multi-row statement, which PostgreSQL refuses if it meets a row twice.
    let mut twice = order_of("N-1", "paid", &["1", "2", "2", "2", "2", "2", "2", "2", "2", "1"]);
    twice.items[0].sku = Some("first".to_owned());
    twice.items[9].sku = Some("last".to_owned());
    let other = order_of("N-2", "paid", &["1"]);
    world.write_orders(&lease, Op::Insert, vec![twice.clone(), other]).await;
    assert_eq!(lines(world, "N-1").await, [there("1"), there("2")]);
    assert_eq!(lines(world, "N-2").await, [there("1")]);
    let sku = "SELECT sku FROM order_items WHERE order_number = 'N-1' AND id = '1'";
    assert_eq!(world.tables.list(sku).await, ["last"]);
    world.write_orders(&lease, Op::Update, vec![twice]).await;
    assert_eq!(world.tables.list(sku).await, ["last"]);
}

/// The document promises a line's `product_id`, not its SKU (API document, "Order").
pub(crate) async fn a_line_without_a_sku_has_that_of_its_product(world: &World) {
    let lease = world.lease().await;
    let named = |number: &str, product: &str, sku: Option<&str>| {
        let mut order = order_of(number, "paid", &["1"]);
        order.items[0].product_id = Some(product.to_owned());
        order.items[0].sku = sku.map(str::to_owned);
        order
    };
    let skus = || world.tables.list("SELECT COALESCE(sku, '-') FROM order_items ORDER BY order_number");
    world.write_products(&lease, Op::Insert, vec![product("7", "Caneca")]).await;
    let orders = vec![named("N-1", "7", None), named("N-2", "8", None), named("N-3", "8", Some("own"))];
    world.write_orders(&lease, Op::Insert, orders.clone()).await;
    assert_eq!(skus().await, ["SKU-7", "-", "own"]);
    // The product comes after its order.
    let without = Product { sku: None, ..product("8", "Bule") };
    world.write_products(&lease, Op::Insert, vec![without]).await;
    assert_eq!(skus().await, ["SKU-7", "-", "own"]);
    let told = || world.tables.list("SELECT key FROM changes WHERE entity = 'order' AND op = 'update'");
    assert!(told().await.is_empty());
    world.write_products(&lease, Op::Update, vec![product("8", "Bule")]).await;
    assert_eq!(skus().await, ["SKU-7", "SKU-8", "own"]);
    assert_eq!(told().await, ["N-2"], "whoever follows the feed reads it again");
    // The added SKU is no edit, and it stays when the order is read again.
    let mut tx = world.store.begin(&lease).await.unwrap();
    assert!(tx.mirror().edited_orders(orders.clone()).await.unwrap().is_empty());
    tx.commit().await.unwrap();
    world.write_orders(&lease, Op::Update, orders).await;
    assert_eq!(skus().await, ["SKU-7", "SKU-8", "own"]);
    let (key, sku) = (minha_loja(), Sku::new("SKU-8"));
    let of_sku = world.store.lookups().orders_with_sku(&key, &sku, LONG_AGO.parse().unwrap());
    assert_eq!(of_sku.await.unwrap(), [OrderNumber::new("N-2")]);
}

pub(crate) async fn an_order_may_have_ten_thousand_lines(world: &World) {
    let lease = world.lease().await;
    let of = |lines: std::ops::Range<u32>| Order {
        items: lines.clone().map(|n| line(&n.to_string())).collect(),
        raw: RawJson::new(&format!("{{\"lines\":\"{lines:?}\"}}")),
        ..order("N-1", "paid")
    };
    world.write_orders(&lease, Op::Insert, vec![of(0..10_000)]).await;
    assert_eq!(world.tables.count("order_items").await, 10_000);
    world.write_orders(&lease, Op::Update, vec![of(5_000..10_001)]).await;
    assert_eq!(world.tables.count("order_items").await, 10_001);
    assert_eq!(world.tables.count("order_items WHERE gone_at IS NULL").await, 5_001);
}

/// A page becomes statements of several sizes; none may lose a row at a seam.
pub(crate) async fn a_page_of_any_size_arrives_whole(world: &World) {
    let lease = world.lease().await;
    let mut written = 0;
    for size in [0, 1, 2, 4, 5, 9, 19, 49, 99, 100, 101, 187, 200, 301] {
        let numbers = (0..size).map(|n| order_of(&format!("{size}-{n}"), "paid", &["1", "2"]));
        let mut page: Vec<Order> = numbers.collect();
        world.write_orders(&lease, Op::Insert, page.clone()).await;
        page.iter_mut().for_each(|order| order.raw = RawJson::new(r#"{"changed":true}"#));
        world.write_orders(&lease, Op::Update, page).await;
        written += size;
        assert_eq!(world.tables.count("orders").await, written, "a page of {size}");
        assert_eq!(world.tables.count("order_items WHERE gone_at IS NULL").await, 2 * written);
        assert_eq!(world.tables.count("changes").await, 2 * written);
    }
}

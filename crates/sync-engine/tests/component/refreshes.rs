//! Refreshes: what a sale, a change or a gap makes the live mirror read, and what it need not read.

use std::time::Duration;

use espelho_sandbox::{Fault, Spoil};
use espelho_sync_engine::{Options, live::Handled, plan::schedule::Sweep};
use rust_decimal::Decimal;
use serde_json::json;

use crate::support::{Kind, Rig, Setup, live::only, refused_with};

pub(crate) const OFTEN: Duration = Duration::from_secs(60);
const DETAIL: &str = "GET /api/v1/sellers/orders/{id}";
const PRODUCT: &str = "GET /api/products/{id}";

pub(crate) async fn mirrored(orders: usize, products: usize) -> Rig {
    let setup = Setup::on(Kind::Sqlite);
    let world = |setup: &mut Setup| (setup.world.orders, setup.world.products) = (orders, products);
    let mut rig = setup.with(world).start().await;
    rig.stop().await;
    rig
}

fn status(number: &str) -> String {
    format!("SELECT status FROM orders WHERE order_number = '{number}'")
}

// withstands: F149
#[tokio::test]
async fn reserved_stock_is_fresh_within_seconds_of_a_sale() {
    let mut rig = mirrored(5, 4).await;
    let goods = rig.goods().await.remove(0);
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let reserved = format!("SELECT CAST(reserved_quantity AS TEXT) FROM products WHERE id = '{}'", goods.id);
    let before = rig.ask(&reserved).await;
    let (number, sold) = (rig.sell("standard", &goods.sku), rig.elapsed());
    // No delivery tells of stock that is reserved: the sale does.
    let data = json!({"store_id": 1, "order_number": number, "status": "paid"});
    rig.deliver(&outside, "order.created", &data).await;
    rig.shown(&reserved, |rows| rows != before).await;
    assert!(rig.elapsed() - sold <= Duration::from_secs(30), "{:?}", rig.elapsed() - sold);
    rig.products_are_the_marketplaces().await;
    rig.stop().await;
}

#[tokio::test]
async fn many_sales_of_one_product_cost_a_few_readings_of_it() {
    const SALES: usize = 100;
    let mut rig = mirrored(1, 2).await;
    let goods = rig.goods().await.remove(0);
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    rig.control().reset_stats();
    for _ in 0..SALES {
        let number = rig.control().orders().insert(&rig.key());
        let data = json!({"store_id": 1, "order_number": number, "status": "paid"});
        rig.deliver(&outside, "order.created", &data).await;
    }
    rig.until("all are handled", async || outside.told().handled.len() >= SALES).await;
    rig.until("the product is read", async || rig.sandbox.stats().by_route.contains_key(PRODUCT)).await;
    rig.pass(OFTEN * 2).await;
    let readings = rig.sandbox.stats().by_route[PRODUCT];
    assert!(readings <= SALES as u64 * 3 / 4, "{readings} readings of two products for {SALES} sales");
    assert_eq!(rig.live("orders").await, SALES + 1);
    assert!(!rig.requests(&format!("/products/{}", goods.id)).is_empty());
    rig.orders_are_the_marketplaces().await;
    rig.stop().await;
}

#[tokio::test]
async fn an_order_that_a_hint_brought_is_not_read_again_by_the_next_sweep() {
    let mut rig = mirrored(30, 3).await;
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number LIMIT 10").await;
    // They changed long ago, and only now does the mirror learn of them.
    for number in &numbers {
        rig.tables.execute(&format!("DELETE FROM orders WHERE order_number = '{number}'")).await;
        let data = json!({"store_id": 1, "order_number": number, "status": "paid"});
        rig.deliver(&outside, "order.refunded", &data).await;
    }
    rig.until("they are mirrored", async || rig.live("orders").await == 30).await;
    let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
    rig.until("all are handled", async || rig.journal.ask(open).await.is_empty()).await;
    rig.stop().await;
    rig.control().reset_stats();
    // The catch-up reads new and open orders, and the reconciliation all of them.
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.until("it is reconciled", async || outside.told().reconciled > 0).await;
    let routes = rig.sandbox.stats().by_route;
    assert_eq!(routes.get(DETAIL), None, "{routes:?}");
    assert!(routes.contains_key("GET /api/v1/sellers/orders"));
    rig.stop().await;
}

#[tokio::test]
async fn what_happened_in_an_outage_is_caught_up_with_before_anything_else() {
    let mut rig = mirrored(10, 3).await;
    let sku = rig.goods().await[0].sku.clone();
    let known = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[], OFTEN), true).await;
    assert_eq!(rig.ask(&status(&known)).await, ["paid"]);
    rig.stop().await;
    rig.leap(Duration::from_secs(14 * 60));
    assert!(rig.control().orders().cancel(&rig.key(), &known, "desistência"));
    let new = rig.control().orders().insert(&rig.key());
    let runs = rig.ask("SELECT kind FROM sync_runs").await.len();
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.until("they show", async || {
        rig.ask(&status(&known)).await == ["cancelled"] && rig.ask(&status(&new)).await == ["paid"]
    })
    .await;
    rig.until("it is reconciled", async || outside.told().reconciled > 0).await;
    assert_eq!(rig.ask("SELECT kind FROM sync_runs").await.len(), runs + 1);
    rig.stop().await;
}

// withstands: F046
#[tokio::test]
async fn what_refused_deliveries_told_is_swept_for_as_soon_as_something_can_be_written_again() {
    let mut rig = mirrored(5, 2).await;
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let known = rig.control().orders().insert(&rig.key());
    rig.pass(OFTEN * 5).await;
    assert!(rig.ask(&status(&known)).await.is_empty(), "no sweep is due for months");
    outside.gap.notify_one();
    rig.shown(&status(&known), |rows| rows == ["paid"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_total_that_differs_wakes_the_sweep_that_mends_it() {
    let mut rig = mirrored(10, 3).await;
    rig.kept_in_step(only(&[Sweep::Counts], OFTEN), true).await;
    let new = rig.control().orders().insert(&rig.key());
    rig.shown(&status(&new), |rows| rows == ["paid"]).await;
    let counts = "SELECT kind || ' ' || CAST(remote - local AS TEXT) FROM remote_counts ORDER BY kind";
    rig.shown(counts, |rows| rows == ["open_orders 0", "orders 0", "products 0"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_total_that_no_sweep_reaches_is_on_record_with_its_time_until_it_is_reached() {
    let mut rig = mirrored(10, 3).await;
    rig.kept_in_step(only(&[Sweep::Counts], OFTEN), true).await;
    let behind = "SELECT kind || ' ' || CAST(remote AS TEXT) || ' ' || CAST(local AS TEXT) FROM remote_counts \
                  WHERE behind_since < at ORDER BY kind";
    assert!(rig.ask(behind).await.is_empty());
    let lie = Spoil { at: "/meta/total".into(), value: Some(json!(500)), key: None };
    rig.fault("GET /api/v1/sellers/orders", None, Fault::Spoil(lie));
    rig.shown(behind, |rows| rows == ["orders 500 10"]).await;
    rig.control().faults().clear();
    rig.shown(behind, <[String]>::is_empty).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_total_that_was_not_reached_is_counted_again_when_a_complete_reconciliation_has_ended() {
    let mut rig = mirrored(4, 3).await;
    // Counts are not due for months; the sweeps look at what is woken.
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    let behind = "UPDATE remote_counts SET remote = 500, behind_since = at WHERE kind = 'orders'";
    rig.tables.execute(behind).await;
    outside.reconcile.notify_one();
    rig.shown("SELECT kind FROM remote_counts WHERE behind_since IS NOT NULL", <[String]>::is_empty).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_listing_of_orders_that_is_suddenly_empty_is_not_believed_and_told_with_the_next_sweep() {
    let mut rig = mirrored(10, 3).await;
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders, Sweep::Counts], OFTEN), true).await;
    let told = "SELECT kind || ' ' || CAST(remote AS TEXT) || ' ' || CAST(local AS TEXT) FROM remote_counts \
                WHERE behind_since IS NOT NULL";
    let meta = json!({"current_page": 1, "last_page": 1, "per_page": 100, "total": 0});
    let empty = json!({"success": true, "message_code": "SUCCESS", "data": [], "meta": meta});
    rig.fault("GET /api/v1/sellers/orders", None, Fault::RawJson(empty.to_string()));
    rig.shown(told, |rows| rows == ["orders 0 10"]).await;
    rig.until("the sweep fails", async || {
        outside.told().failed.contains(&(Sweep::NewOrders, "unexpected".to_owned()))
    })
    .await;
    assert_eq!(rig.ask("SELECT CAST(count(*) AS TEXT) FROM orders WHERE gone_at IS NULL").await, ["10"]);
    rig.control().faults().clear();
    rig.shown(told, <[String]>::is_empty).await;
    rig.stop().await;
}

#[tokio::test]
async fn an_order_whose_detail_was_refused_is_read_again_by_the_sweeps_and_not_only_in_an_hour() {
    let mut rig = mirrored(2, 2).await;
    rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    let odd = json!({"success": false, "code": 400, "message_code": "BAD_REQUEST", "data": []});
    for fault in [refused_with(422, "VALIDATION_ERROR"), Fault::RawJson(odd.to_string())] {
        rig.fault(DETAIL, None, fault.clone());
        let number = rig.control().orders().insert(&rig.key());
        let failure = format!("SELECT key FROM sync_failures WHERE resource = 'orders' AND key = '{number}'");
        rig.shown(&failure, |rows| rows == [&*number]).await;
        rig.control().faults().clear();
        rig.shown(&status(&number), |rows| rows == ["paid"]).await;
        assert!(rig.ask(&failure).await.is_empty(), "{fault:?}: what was mended is no failure");
    }
    rig.stop().await;
}

/// What a refresh is answered, whether the delivery is handled then, and the failure that is shown.
#[tokio::test]
async fn a_refresh_that_fails_is_repeated_until_it_goes_well_and_one_that_is_refused_is_shown() {
    for (fault, is_repeated) in [
        (Fault::Html(503), true),
        (Fault::ResetBefore, true),
        (Fault::TruncateBody, true),
        (Fault::TooMany(1), true),
        (refused_with(422, "VALIDATION_ERROR"), false),
    ] {
        let mut rig = mirrored(2, 2).await;
        let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
        let number = rig.control().orders().insert(&rig.key());
        let path = format!("/orders/{number}");
        rig.fault(&path, None, fault.clone());
        let data = json!({"store_id": 1, "order_number": number, "status": "paid"});
        rig.deliver(&outside, "order.created", &data).await;
        rig.until("it is read in vain", async || rig.requests(&path).len() >= 2 || !is_repeated).await;
        let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
        let failure = format!("SELECT key FROM sync_failures WHERE resource = 'orders' AND key = '{number}'");
        if is_repeated {
            assert_eq!(rig.journal.ask(open).await, ["order.created"], "{fault:?}");
            assert!(outside.told().handled.is_empty(), "{fault:?}");
        } else {
            rig.until("it is handled", async || outside.told().handled.contains(&Handled::Read)).await;
            assert_eq!(rig.ask(&failure).await, [&*number], "{fault:?}");
        }
        rig.control().faults().clear();
        if !is_repeated {
            rig.deliver(&outside, "order.paid", &data).await;
        }
        rig.shown(&status(&number), |rows| rows == ["paid"]).await;
        rig.until("it is handled", async || rig.journal.ask(open).await.is_empty()).await;
        assert!(rig.ask(&failure).await.is_empty(), "{fault:?}: what was mended is no failure");
        rig.stop().await;
    }
}

#[tokio::test]
async fn a_product_that_the_mirror_does_not_know_is_read_with_the_listing() {
    let mut rig = mirrored(2, 3).await;
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let product = rig.ask("SELECT id FROM products ORDER BY id").await.remove(1);
    rig.tables.execute(&format!("DELETE FROM products WHERE id = '{product}'")).await;
    let data = json!({"store_id": 1, "product_sku_id": product, "location_id": 1, "new_quantity": 3});
    rig.deliver(&outside, "product.stock_updated", &data).await;
    rig.until("it is mirrored", async || rig.live("products").await == 3).await;
    rig.products_are_the_marketplaces().await;
    rig.stop().await;
}

/// Returns the query for the price of a product.
fn price(product: &str) -> String {
    format!("SELECT CAST(price AS TEXT) FROM products WHERE id = '{product}'")
}

fn is_price(rows: &[String], price: Decimal) -> bool {
    rows.first().is_some_and(|row| row.parse::<Decimal>().is_ok_and(|shown| shown == price))
}

// withstands: F034
#[tokio::test]
async fn a_product_whose_copy_lags_is_read_again_until_it_shows_the_price_that_a_delivery_told() {
    let mut rig = mirrored(1, 2).await;
    let goods = rig.goods().await.remove(0);
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    rig.pass(OFTEN).await;
    let (path, new) = (format!("/products/{}", goods.id), Decimal::new(2_222, 2));
    let before = rig.truth.data(&format!("/api{path}")).await;
    let old = &before["product"]["price"];
    assert!(rig.control().products().edit_price(&rig.key(), &goods.id, new));
    rig.fault(&path, None, Fault::RawJson(json!({"success": true, "data": before}).to_string()));
    let told = json!({"store_id": 1, "product_sku_id": goods.id, "old_price": old, "new_price": 22.22,
        "min_quantity": 1});
    let asked = rig.requests(&path).len();
    rig.deliver(&outside, "product.price_updated", &told).await;
    rig.until("it is read in vain", async || rig.requests(&path).len() > asked).await;
    let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
    assert_eq!(rig.journal.ask(open).await, ["product.price_updated"]);
    rig.control().faults().clear();
    let caught_up = rig.elapsed();
    rig.shown(&price(&goods.id), |rows| is_price(rows, new)).await;
    assert!(rig.elapsed() - caught_up <= Duration::from_secs(15), "{:?}", rig.elapsed() - caught_up);
    rig.until("it is handled", async || rig.journal.ask(open).await.is_empty()).await;
    rig.products_are_the_marketplaces().await;
    rig.stop().await;
}

#[tokio::test]
async fn a_price_that_went_back_to_the_listed_one_without_a_delivery_is_found_by_a_pass() {
    let mut rig = mirrored(1, 2).await;
    let goods = rig.goods().await.remove(0);
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let price = price(&goods.id);
    let old: Decimal = rig.ask(&price).await.remove(0).parse().unwrap();
    let new = Decimal::new(2_222, 2);
    assert!(rig.control().products().edit_price(&rig.key(), &goods.id, new));
    let told = json!({"store_id": 1, "product_sku_id": goods.id, "new_price": 22.22, "min_quantity": 1});
    rig.deliver(&outside, "product.price_updated", &told).await;
    rig.shown(&price, |rows| is_price(rows, new)).await;
    rig.stop().await;
    assert!(rig.control().products().edit_price(&rig.key(), &goods.id, old));
    rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
    assert!(is_price(&rig.ask(&price).await, old), "the row is listed as it was before both changes");
    rig.products_are_the_marketplaces().await;
}

#[tokio::test]
async fn products_that_cannot_be_read_keep_no_other_from_the_rotation() {
    let mut rig = mirrored(1, 12).await;
    let ids = rig.ask("SELECT id FROM products ORDER BY id").await;
    let (refused, last) = (&ids[..10], &ids[11]);
    for id in refused {
        rig.fault(&format!("/products/{id}"), None, refused_with(422, "VALIDATION_ERROR"));
    }
    rig.kept_in_step(only(&[Sweep::Products], OFTEN), true).await;
    let quantity =
        format!("SELECT CAST(CAST(quantity AS INTEGER) AS TEXT) FROM products WHERE id = '{last}'");
    // No event tells of it.
    assert!(rig.control().products().set_stock(&rig.key(), last, 4_321));
    rig.shown(&quantity, |rows| rows == ["4321"]).await;
    let failed = rig.ask("SELECT key FROM sync_failures WHERE resource = 'products' ORDER BY key").await;
    assert_eq!(failed, refused, "they fail for good");
    rig.stop().await;
}

#[tokio::test]
async fn the_levels_of_a_product_come_back_with_the_next_sweep_when_another_leaves_its_sku() {
    let mut rig = mirrored(1, 60).await;
    let mut goods = rig.goods().await;
    // Its own turn in the rotation would come after all the others'.
    goods.sort_by(|one, other| other.id.cmp(&one.id));
    let one = goods.remove(0);
    let other = goods.into_iter().find(|goods| goods.location == one.location).unwrap();
    let outside = rig.kept_in_step(only(&[Sweep::Products], OFTEN), true).await;
    let sku = &one.sku;
    let levels = format!("SELECT product_id FROM product_stock WHERE sku = '{sku}' AND gone_at IS NULL");
    let data = json!({"store_id": 1, "product_sku_id": other.id, "location_id": 1, "new_quantity": 3});
    rig.lie(PRODUCT, "/data/product/sku", Some(json!(sku)), &other.id);
    rig.deliver(&outside, "product.stock_updated", &data).await;
    rig.shown(&levels, |rows| rows == [&*other.id]).await;
    rig.control().faults().clear();
    rig.deliver(&outside, "product.stock_updated", &data).await;
    rig.shown(&levels, <[String]>::is_empty).await;
    let left = rig.elapsed();
    rig.shown(&levels, |rows| rows == [&*one.id]).await;
    assert!(rig.elapsed() - left <= OFTEN * 3 / 2, "{:?}", rig.elapsed() - left);
    rig.products_are_the_marketplaces().await;
    rig.stop().await;
}

#[tokio::test]
async fn a_change_of_a_closed_order_that_no_delivery_told_is_found_by_its_age() {
    let mut rig = mirrored(12, 3).await;
    let often = only(&[Sweep::AgedOrders], OFTEN);
    rig.kept_in_step(often, true).await;
    let parts = "SELECT order_number FROM order_parts WHERE part = 'order'";
    rig.until("the sub-resources are read", async || rig.ask(parts).await.len() <= 12).await;
    let closed =
        "SELECT order_number FROM orders WHERE status IN ('delivered', 'completed', 'cancelled') LIMIT 1";
    let number = rig.ask(closed).await.remove(0);
    assert!(rig.control().orders().set_notes(&rig.key(), &number, Some("tarde")));
    // It was mirrored a month ago, and so were its sub-resources.
    let ago = (rig.parts.clock.now() - chrono::TimeDelta::days(32)).format("%FT%T%.6fZ").to_string();
    for sql in [
        format!("UPDATE orders SET mirrored_at = '{ago}' WHERE order_number = '{number}'"),
        format!(
            "UPDATE order_parts SET read_at = '{ago}', due_at = CASE part WHEN 'shipments' THEN '{ago}' END \
             WHERE order_number = '{number}'"
        ),
    ] {
        rig.tables.execute(&sql).await;
    }
    let notes = format!("SELECT notes FROM orders WHERE order_number = '{number}'");
    rig.shown(&notes, |rows| rows == ["tarde"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn readings_of_the_rotation_that_change_nothing_are_noted_and_end_what_stood_on_their_rows() {
    let mut rig = mirrored(3, 6).await;
    let sku = rig.goods().await[0].sku.clone();
    let order = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[Sweep::Products, Sweep::Subresources], OFTEN), true).await;
    let parts = format!(
        "SELECT read_at FROM order_parts WHERE part IN ('shipments', 'tracking') AND order_number = '{order}'"
    );
    rig.shown(&parts, |rows| rows.len() == 2).await;
    let failing = rig.ask("SELECT id FROM products ORDER BY id LIMIT 1").await.remove(0);
    rig.tables
        .execute(&format!(
            "INSERT INTO sync_failures (store, resource, key, code, error, hint, at) \
             SELECT store, 'products', id, 'unexpected', '', '', mirrored_at FROM products WHERE id = '{failing}'"
        ))
        .await;
    let rows = rig.ask("SELECT id || mirrored_at FROM products ORDER BY id").await;
    for readings in ["SELECT read_at FROM product_reads", &parts] {
        let last = rig.ask(&format!("SELECT max(read_at) FROM ({readings})")).await.remove(0);
        let earlier = format!("SELECT read_at FROM ({readings}) WHERE read_at <= '{last}'");
        rig.shown(&earlier, <[String]>::is_empty).await;
    }
    rig.shown("SELECT key FROM sync_failures", <[String]>::is_empty).await;
    assert_eq!(rig.ask("SELECT id || mirrored_at FROM products ORDER BY id").await, rows, "none was written");
    rig.stop().await;
}

#[tokio::test]
async fn a_product_that_another_task_writes_before_its_reading_is_noted_is_read_again_at_once() {
    const SELDOM: Duration = Duration::from_secs(3_600);
    let mut rig = mirrored(1, 2).await;
    let id = rig.ask("SELECT id FROM products ORDER BY id LIMIT 1").await.remove(0);
    let written = format!("SELECT CAST(content_hash AS TEXT) FROM products WHERE id = '{id}'");
    let before = rig.ask(&written).await;
    rig.fault(&format!("/products/{id}"), 1, Fault::Stall(Duration::from_secs(1)));
    rig.keep_in_step(only(&[Sweep::Products], SELDOM), true).await;
    rig.until("it is being read", async || !rig.control().faults().has_any()).await;
    rig.tables.execute(&format!("UPDATE products SET content_hash = 7 WHERE id = '{id}'")).await;
    let since = rig.elapsed();
    rig.shown(&written, |rows| rows == before).await;
    assert!(rig.elapsed() - since < SELDOM / 2, "it waited for the next run: {:?}", rig.elapsed() - since);
    rig.stop().await;
}

//! Readings that are behind our own changes: the marketplace answers from a replica.

use std::time::Duration;

use espelho_sandbox::JournalEntry;
use espelho_sync_engine::{Options, plan::schedule::Sweep};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::support::{Goods, Kind, Rig, cut_after, cut_before, live::only};

/// The interval of a test's sweeps.
const OFTEN: Duration = Duration::from_secs(60);
const ORDER: &str = "GET /api/v1/sellers/orders/{id}";
const PRODUCT: &str = "GET /api/products/{id}";
const POST_STOCK: &str = "POST /api/products/{id}/stock";

/// Goods that lie in one place only.
async fn in_one_place(rig: &Rig) -> Goods {
    let places = |goods: &Goods| {
        format!("SELECT CAST(count(*) AS TEXT) AS n FROM product_stock WHERE product_id = '{}'", goods.id)
    };
    for goods in rig.goods().await {
        if rig.ask(&places(&goods)).await == ["1"] {
            return goods;
        }
    }
    panic!("all products lie in several places");
}

/// From now on readings show this level of a product.
fn shows(rig: &Rig, goods: &Goods, quantity: i64) {
    for (route, at) in
        [(PRODUCT, "/data/stock/*/quantity"), ("GET /api/products/{id}/stock", "/data/stocks/*/quantity")]
    {
        rig.lie(route, at, Some(json!(quantity)), &goods.id);
    }
}

// withstands: F001
#[tokio::test]
async fn a_movement_begins_from_no_reading_that_is_behind_the_movement_before_it() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = in_one_place(&rig).await;
    let data = json!({"location_id": goods.location, "delta": 5});
    assert_eq!(rig.command("stock.adjust", &goods.sku, &data).await[0], "done");
    shows(&rig, &goods, goods.quantity);
    let id = rig.give("stock.adjust", &goods.sku, &data).await;
    rig.pass(Duration::from_secs(20)).await;
    assert_eq!(rig.writes("/stock").len(), 1, "the reading shows none of the two");
    rig.control().faults().clear();
    rig.fault(POST_STOCK, 1, cut_before());
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!(rig.stock_of(&goods).await, goods.quantity + 10);
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn a_movement_that_a_reading_does_not_show_for_two_minutes_is_not_sent_twice() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = in_one_place(&rig).await;
    shows(&rig, &goods, goods.quantity);
    rig.fault(POST_STOCK, 1, cut_after());
    let data = json!({"location_id": goods.location, "delta": 5});
    let id = rig.give("stock.adjust", &goods.sku, &data).await;
    rig.pass(Duration::from_secs(110)).await;
    rig.control().faults().clear();
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!(rig.stock_of(&goods).await, goods.quantity + 5);
    rig.stop().await;
}

#[tokio::test]
async fn a_level_is_set_back_although_a_reading_does_not_show_that_it_was_changed() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = in_one_place(&rig).await;
    let (before, between) = (goods.quantity.to_string(), (goods.quantity + 12).to_string());
    let state = "SELECT state AS s FROM erp_stock";
    rig.set_stock(&goods, &between).await;
    rig.shown(state, |states| states == ["done"]).await;
    shows(&rig, &goods, goods.quantity);
    rig.set_stock(&goods, &before).await;
    rig.shown(state, |states| states == ["done"]).await;
    rig.control().faults().clear();
    assert_eq!(rig.stock_of(&goods).await, goods.quantity);
    rig.stop().await;
}

#[tokio::test]
async fn a_price_is_set_back_although_a_reading_does_not_show_that_it_was_changed() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let product = "SELECT id || '|' || sku || '|' || CAST(price AS TEXT) AS p FROM products \
                   WHERE price_type = 'default' AND price > 1 ORDER BY sku";
    let row = rig.ask(product).await.swap_remove(0);
    let [id, sku, price] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
    let price: f64 = price.parse().unwrap();
    let state = "SELECT state AS s FROM erp_prices";
    rig.set_price(sku, 1, &format!("{:.2}", price * 1.1)).await;
    rig.shown(state, |states| states == ["done"]).await;
    rig.lie(PRODUCT, "/data/prices/*/value", Some(json!(price)), id);
    rig.set_price(sku, 1, &format!("{price:.2}")).await;
    rig.shown(state, |states| states == ["done"]).await;
    rig.control().faults().clear();
    let there = rig.truth.data(&format!("/api/products/{id}")).await;
    assert_eq!(there["prices"][0]["value"].as_f64(), Some(price), "{there}");
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn a_price_whose_lost_request_is_carried_out_after_the_next_one_is_sent_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let product = "SELECT id || '|' || sku || '|' || CAST(price AS TEXT) AS p FROM products \
                   WHERE price_type = 'default' AND price > 1 ORDER BY sku";
    let row = rig.ask(product).await.swap_remove(0);
    let [id, sku, price] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
    let price: f64 = price.parse().unwrap();
    let (slip, right) = (format!("{:.2}", price * 0.9), format!("{:.2}", price * 1.1));
    rig.fault("PUT /api/products/{id}/prices/{min_quantity}", 1, cut_before());
    rig.set_price(sku, 1, &slip).await;
    rig.until("the first request is lost", async || rig.writes("/prices").len() == 1).await;
    rig.set_price(sku, 1, &right).await;
    let price_of =
        |entry: &JournalEntry| serde_json::from_str::<Value>(entry.body.as_ref()?).ok()?["price"].as_f64();
    let has_right = |entry: &JournalEntry| price_of(entry) == right.parse().ok();
    rig.until("the second one is carried out", async || rig.writes("/prices").iter().any(has_right)).await;
    rig.pass(Duration::from_secs(10)).await;
    assert_ne!(rig.ask("SELECT state AS s FROM erp_prices").await, ["done"], "it may be overwritten");
    assert!(rig.control().products().edit_price(&rig.key(), id, slip.parse::<Decimal>().unwrap()));
    rig.shown("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    let there = rig.truth.data(&format!("/api/products/{id}")).await;
    assert_eq!(there["prices"][0]["value"].as_f64(), right.parse().ok(), "{there}");
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn a_zero_that_a_lost_level_has_overwritten_is_set_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = in_one_place(&rig).await;
    let lost = goods.quantity + 12;
    rig.fault(POST_STOCK, 1, cut_before());
    rig.set_stock(&goods, &lost.to_string()).await;
    rig.until("the first request is lost", async || rig.writes("/stock").len() == 1).await;
    rig.set_stock(&goods, "0").await;
    let sets_zero =
        |entry: &JournalEntry| entry.body.as_ref().is_some_and(|body| body.contains(r#""quantity":0"#));
    rig.until("the zero is set", async || rig.writes("/stock").iter().any(sets_zero)).await;
    let before = rig.writes("/stock").len();
    rig.pass(Duration::from_secs(10)).await;
    assert_ne!(rig.ask("SELECT state AS s FROM erp_stock").await, ["done"], "it may be overwritten");
    assert!(rig.control().products().set_stock(&rig.key(), &goods.id, lost));
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    let after = rig.writes("/stock").len();
    assert_eq!((rig.stock_of(&goods).await, after), (0, before + 1), "it is set once more");
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn notes_that_lost_ones_have_overwritten_are_written_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let order = rig.sell("standard", &rig.goods().await[0].sku);
    rig.mirror_again().await;
    rig.fault("PUT /api/v1/sellers/orders/{id}/notes", 1, cut_before());
    assert_eq!(rig.command("order.notes", &order, &json!({"notes": "ligar antes"})).await[0], "done");
    let id = rig.give("order.notes", &order, &json!({"notes": "portão azul"})).await;
    rig.until("the last ones are written", async || rig.writes("/notes").len() == 3).await;
    rig.pass(Duration::from_secs(10)).await;
    let state = format!("SELECT state AS s FROM commands WHERE id = {id}");
    assert_eq!(rig.ask(&state).await, ["sending"], "they may be overwritten");
    assert!(rig.control().orders().set_notes(&rig.key(), &order, Some("ligar antes")));
    assert_eq!(rig.outcome(id, |state| state != "sending").await[0], "done");
    let there = rig.truth.data(&format!("/api/v1/sellers/orders/{order}")).await;
    assert_eq!(there["notes"], "portão azul", "{there}");
    rig.stop().await;
}

/// From now on an order's detail is from before: it has the status and the time of its last change of this object.
fn answers_from_before(rig: &Rig, order: &str, before: &Value) {
    for field in ["status", "updated_at"] {
        rig.lie(ORDER, &format!("/data/{field}"), Some(before[field].clone()), order);
    }
}

// withstands: F032
#[tokio::test]
async fn an_order_whose_detail_is_behind_its_listing_row_is_read_again_until_it_shows_the_row() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    let order = rig.sell("standard", &rig.goods().await[0].sku);
    rig.kept_in_step(only(&[Sweep::NewOrders, Sweep::OpenOrders], OFTEN), false).await;
    let received = format!("SELECT raw AS c FROM orders WHERE order_number = '{order}'");
    rig.shown(&received, |rows| !rows.is_empty()).await;
    rig.pass(OFTEN * 3).await;
    let before: Value = serde_json::from_str(&rig.ask(&received).await[0]).unwrap();
    answers_from_before(&rig, &order, &before);
    assert!(rig.control().orders().set_status(&rig.key(), &order, "preparing"));
    rig.pass(OFTEN * 2).await;
    let status = format!("SELECT status FROM orders WHERE order_number = '{order}'");
    assert_eq!(rig.ask(&status).await, [before["status"].as_str().unwrap()], "the copy lags behind");
    rig.control().faults().clear();
    rig.shown(&status, |rows| rows == ["preparing"]).await;
    rig.stop().await;
}

// withstands: F032
#[tokio::test]
async fn a_pass_reads_an_order_again_whose_detail_was_behind_its_listing_row() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    let order = rig.sell("standard", &rig.goods().await[0].sku);
    let received = format!("SELECT raw AS c FROM orders WHERE order_number = '{order}'");
    let status = format!("SELECT status FROM orders WHERE order_number = '{order}'");
    rig.reconcile(&Options::default()).await;
    let before: Value = serde_json::from_str(&rig.ask(&received).await[0]).unwrap();
    rig.pass(OFTEN).await;
    assert!(rig.control().orders().set_status(&rig.key(), &order, "preparing"));
    rig.pass(OFTEN).await;
    answers_from_before(&rig, &order, &before);
    rig.reconcile(&Options::default()).await;
    assert_eq!(rig.ask(&status).await, [before["status"].as_str().unwrap()], "the copy lags behind");
    rig.control().faults().clear();
    rig.reconcile(&Options::default()).await;
    assert_eq!(rig.ask(&status).await, ["preparing"]);
}

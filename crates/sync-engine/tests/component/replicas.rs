//! Readings that are behind our own changes: the marketplace answers from a replica.

use std::time::Duration;

use serde_json::json;

use crate::support::{Goods, Kind, Rig, cut_after, cut_before};

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

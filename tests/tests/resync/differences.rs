//! Only what has changed since the last run is read.

use espelho_tests::{Installation, Kind, Shop, on_both_databases, shop::Order};
use serde_json::json;

on_both_databases![an_order_that_comes_back_is_no_longer_gone, a_line_that_left_an_order_is_marked_as_gone,];

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

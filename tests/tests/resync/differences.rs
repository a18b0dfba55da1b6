//! Only what has changed since the last run is read.

use espelho_tests::{
    Installation, Kind, Row, Shop, mirror::number, on_both_databases, sandbox, shop::Order, truth::Truth,
};
use serde_json::json;

use super::{
    DETAIL, LIST, PRODUCT, PRODUCTS, asked,
    comparison::{compare_orders, compare_products},
    joined, routes,
};

on_both_databases![
    a_changed_order_is_read_again_and_no_other,
    a_changed_product_is_read_again_and_no_other,
    a_new_order_is_read_and_no_other,
    a_removed_order_is_marked_as_gone_and_kept,
    an_order_that_comes_back_is_no_longer_gone,
    a_removed_product_is_marked_as_gone_with_its_tiers_and_stock,
    a_line_that_left_an_order_is_marked_as_gone,
];

async fn a_changed_order_is_read_again_and_no_other(kind: Kind) {
    let sandbox = sandbox(120, 5).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    let (number, old) = (before[60]["order_number"].clone(), before[60].clone());
    assert!(sandbox.control().orders().set_notes("loja-1", &number, Some("embalar para presente – ç")));
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
    assert!(control.products().edit_price("loja-1", &dearer["id"], rust_decimal::Decimal::new(12_345, 2)));
    assert!(control.products().set_stock("loja-1", &emptied["sku"], 7));
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
    let number = sandbox.control().orders().insert("loja-1");
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
    assert!(sandbox.control().orders().remove("loja-1", &number));
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
    assert!(sandbox.control().products().remove("loja-1", &product["id"]));
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

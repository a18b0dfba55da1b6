//! Prices, by the binary. `crates/sync-engine/tests/component` has the rest.

use espelho_tests::{Kind, installation::STORE, on_both_databases};
use serde_json::json;

use crate::erp::Erp;

on_both_databases![prices_that_the_erp_writes_reach_the_marketplace_tier_by_tier,];

const STATES: &str = "SELECT state AS s FROM erp_prices";

/// Returns a product of one price type, with its base price.
async fn product(erp: &Erp, price_type: &str, automatic: bool) -> (String, String, f64) {
    let sql = format!(
        "SELECT id || '|' || sku || '|' || CAST(price AS TEXT) AS p FROM products WHERE price_type = '{price_type}' \
         AND auto_wholesale_pricing IN ({}) AND price IS NOT NULL ORDER BY sku",
        if automatic { "TRUE" } else { "FALSE" }
    );
    let rows = erp.ask(&sql).await;
    let words: Vec<&str> = rows.first().unwrap_or_else(|| panic!("no product: {sql}")).split('|').collect();
    (words[0].to_owned(), words[1].to_owned(), words[2].parse().unwrap())
}

async fn tiers(erp: &Erp, id: &str) -> Vec<(u64, f64)> {
    let prices = erp.truth.data(&format!("/api/products/{id}/prices")).await;
    let rows = prices.as_array().unwrap().iter();
    rows.map(|row| (row["min_quantity"].as_u64().unwrap(), row["value"].as_f64().unwrap())).collect()
}

// withstands: F013
async fn prices_that_the_erp_writes_reach_the_marketplace_tier_by_tier(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (id, sku, price) = product(&erp, "default", false).await;
    let new = format!("{:.2}", price * 1.1);
    erp.set_price(&sku, 1, &new).await;
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!(tiers(&erp, &id).await, [(1, new.parse().unwrap())]);
    let done = erp.command("product.update", &sku, &json!({"price_type": "wholesale"})).await;
    assert_eq!(done[0], "done", "{done:?}");
    let cheaper = format!("{:.2}", price * 0.9);
    erp.mirror
        .execute(&format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price, package_weight, package_height, package_width, package_length) \
             VALUES ('{STORE}', '{sku}', 10, {cheaper}, 1.5, 20, 30, 40)"
        ))
        .await;
    erp.until(STATES, |states| states == ["done", "done"]).await;
    assert_eq!(tiers(&erp, &id).await, [(1, new.parse().unwrap()), (10, cheaper.parse().unwrap())]);
    assert_eq!(erp.command("price.delete_tier", &sku, &json!({"min_quantity": 10})).await[0], "done");
    assert_eq!(tiers(&erp, &id).await.len(), 1);
    // The row that requested the tier is superseded; otherwise the next price would restore the tier.
    assert_eq!(erp.ask("SELECT state AS s FROM erp_prices WHERE min_quantity = 10").await, ["superseded"]);
    erp.set_price(&sku, 1, &format!("{:.2}", price * 1.05)).await;
    erp.until("SELECT state AS s FROM erp_prices WHERE min_quantity = 1", |states| states == ["done"]).await;
    assert_eq!(tiers(&erp, &id).await.len(), 1);
    assert_eq!(erp.command("price.delete_tier", &sku, &json!({"min_quantity": 1})).await[1], "price_rule");
    assert_eq!(tiers(&erp, &id).await.len(), 1);
    erp.stop().await;
}

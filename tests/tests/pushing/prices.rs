//! Prices: tiers that the ERP writes, guards, and rules.

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, installation::STORE, on_both_databases};
use serde_json::json;

use crate::erp::Erp;

on_both_databases![
    prices_that_the_erp_writes_reach_the_marketplace_tier_by_tier,
    a_price_that_looks_like_a_slip_is_held_until_somebody_releases_it,
    tiers_against_the_rules_are_refused_beforehand_with_the_rule,
    a_step_whose_answer_was_lost_is_settled_by_reading,
    derived_tiers_are_written_as_discounts,
    a_price_that_somebody_changes_back_each_time_is_held_in_the_end,
    a_discount_that_is_held_is_released_too,
];

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

async fn a_price_that_looks_like_a_slip_is_held_until_somebody_releases_it(kind: Kind) {
    let mut erp = Erp::with(kind, "[guards]\nprice_floor = 0.5\n").await;
    let (id, sku, price) = product(&erp, "default", false).await;
    let slipped = format!("{:.2}", price * 10.0);
    erp.set_price(&sku, 1, &slipped).await;
    erp.until(STATES, |states| states == ["held"]).await;
    assert_eq!(erp.ask("SELECT error_code AS c FROM erp_prices").await, ["price_jump"]);
    assert_eq!(erp.writes("/prices").len(), 0);
    erp.set_price(&sku, 1, "0").await;
    erp.until("SELECT error_code AS c FROM erp_prices", |codes| codes == ["price_zero"]).await;
    erp.installation.run(&["release", "price", &format!("{sku}/1")]).await.expect(0);
    erp.until(STATES, |states| states == ["held"]).await;
    erp.set_price(&sku, 1, "0.3").await;
    erp.until("SELECT error_code AS c FROM erp_prices", |codes| codes == ["price_floor"]).await;
    erp.set_price(&sku, 1, &slipped).await;
    erp.until("SELECT error_code AS c FROM erp_prices", |codes| codes == ["price_jump"]).await;
    erp.installation.run(&["release", "price", &format!("{sku}/1")]).await.expect(0);
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!(tiers(&erp, &id).await, [(1, slipped.parse().unwrap())]);
    erp.stop().await;
}

async fn tiers_against_the_rules_are_refused_beforehand_with_the_rule(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (_, sku, price) = product(&erp, "default", false).await;
    erp.set_price(&sku, 5, &format!("{:.2}", price * 0.9)).await;
    erp.until(STATES, |states| states == ["failed"]).await;
    let shown = erp.ask("SELECT error_code || ': ' || error AS c FROM erp_prices").await;
    assert!(
        shown[0].starts_with("price_rule: As faixas de preço pedidas não são permitidas (regra 1)"),
        "{shown:?}"
    );
    assert_eq!(erp.writes("/prices").len(), 0);
    erp.set_price("NADA-1", 1, "5").await;
    erp.until("SELECT error_code AS c FROM erp_prices", |codes| codes.contains(&"unknown_sku".to_owned()))
        .await;
    erp.stop().await;
}

async fn a_step_whose_answer_was_lost_is_settled_by_reading(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (id, sku, price) = product(&erp, "default", false).await;
    let route = "PUT /api/products/{id}/prices/{min_quantity}";
    erp.control().faults().add(FaultRule { route: route.into(), times: Some(1), kind: Fault::ResetAfter });
    let new = format!("{:.2}", price * 1.2);
    erp.set_price(&sku, 1, &new).await;
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!((tiers(&erp, &id).await, erp.writes("/prices").len()), (vec![(1, new.parse().unwrap())], 1));
    erp.stop().await;
}

// withstands: F014
async fn derived_tiers_are_written_as_discounts(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (id, sku, price) = product(&erp, "default", false).await;
    let switched = erp
        .command("product.update", &sku, &json!({"price_type": "wholesale", "auto_wholesale_pricing": true}))
        .await;
    assert_eq!(switched[0], "done", "{switched:?}");
    for (quantity, discount) in [(5, 10), (20, 20)] {
        erp.mirror
            .execute(&format!(
                "INSERT INTO erp_prices (store, sku, min_quantity, discount_percent, package_weight, package_height, \
                 package_width, package_length) VALUES ('{STORE}', '{sku}', {quantity}, {discount}, 1, 2, 3, 4)"
            ))
            .await;
    }
    erp.until(STATES, |states| states == ["done", "done"]).await;
    let now = tiers(&erp, &id).await;
    assert_eq!(now.iter().map(|(quantity, _)| *quantity).collect::<Vec<_>>(), [1, 5, 20]);
    assert!((now[1].1 - price * 0.9).abs() < 0.011, "{now:?}");
    // The base changes, and every tier with it; no step reverts them.
    let puts = erp.writes("/prices").len();
    let dearer = format!("{:.2}", price * 1.5);
    erp.set_price(&sku, 1, &dearer).await;
    erp.until(STATES, |states| states == ["done", "done", "done"]).await;
    let now = tiers(&erp, &id).await;
    assert!((now[1].1 - price * 1.5 * 0.9).abs() < 0.02, "{now:?}");
    assert_eq!(erp.writes("/prices").len(), puts + 1);
    erp.stop().await;
}

// withstands: F015
async fn a_price_that_somebody_changes_back_each_time_is_held_in_the_end(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (id, sku, price) = product(&erp, "default", false).await;
    let ours = format!("{:.2}", price * 1.1);
    let theirs: rust_decimal::Decimal = format!("{:.2}", price * 0.9).parse().unwrap();
    for _ in 0..3 {
        erp.set_price(&sku, 1, &ours).await;
        erp.until(STATES, |states| states == ["done"]).await;
        // Our own write is reported as a change, and does not cause another write.
        assert!(erp.control().products().edit_price(&erp.key(), &id, theirs));
    }
    erp.set_price(&sku, 1, &ours).await;
    erp.until(STATES, |states| states == ["held"]).await;
    let said = erp.ask("SELECT error_code || ': ' || error || ' ' || hint AS c FROM erp_prices").await;
    assert!(said[0].starts_with("written_back: ") && said[0].contains("espelho release price"), "{said:?}");
    assert_eq!(erp.writes("/prices").len(), 3);
    erp.installation.run(&["release", "price", &format!("{sku}/1")]).await.expect(0);
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!((tiers(&erp, &id).await, erp.writes("/prices").len()), (vec![(1, ours.parse().unwrap())], 4));
    erp.stop().await;
}

async fn a_discount_that_is_held_is_released_too(kind: Kind) {
    let mut erp = Erp::with(kind, "[guards]\nprice_max_fall_percent = 50.0\n").await;
    let (id, sku, price) = product(&erp, "default", false).await;
    let data = json!({"price_type": "wholesale", "auto_wholesale_pricing": true});
    assert_eq!(erp.command("product.update", &sku, &data).await[0], "done");
    erp.mirror
        .execute(&format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, discount_percent, package_weight, package_height, \
             package_width, package_length) VALUES ('{STORE}', '{sku}', 5, 60, 1, 2, 3, 4)"
        ))
        .await;
    erp.until(STATES, |states| states == ["held"]).await;
    erp.installation.run(&["release", "price", &format!("{sku}/5")]).await.expect(0);
    erp.until(STATES, |states| states == ["done"]).await;
    let now = tiers(&erp, &id).await;
    assert!((now[1].1 - price * 0.4).abs() < 0.011, "{now:?}");
    erp.stop().await;
}

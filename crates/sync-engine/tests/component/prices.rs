//! Prices: tiers that the ERP writes, guards, and rules.

use espelho_sandbox::Fault;
use espelho_store::IntentKind;
use espelho_sync_engine::plan::guards::Guards;
use rust_decimal::Decimal;
use serde_json::json;

use crate::support::{Decision, Kind, Rig, STORE, Setup, on_both_databases};

on_both_databases![
    prices_that_the_erp_writes_reach_the_marketplace_tier_by_tier,
    a_price_that_looks_like_a_slip_is_held_until_somebody_releases_it,
    a_discount_that_is_held_is_released_too,
];

const STATES: &str = "SELECT state AS s FROM erp_prices";

/// Returns a product of one price type, with its base price.
async fn product(rig: &Rig, price_type: &str, automatic: bool) -> (String, String, f64) {
    let sql = format!(
        "SELECT id || '|' || sku || '|' || CAST(price AS TEXT) AS p FROM products WHERE price_type = '{price_type}' \
         AND auto_wholesale_pricing IN ({}) AND price IS NOT NULL ORDER BY sku",
        if automatic { "TRUE" } else { "FALSE" }
    );
    let rows = rig.ask(&sql).await;
    let words: Vec<&str> = rows.first().unwrap_or_else(|| panic!("no product: {sql}")).split('|').collect();
    (words[0].to_owned(), words[1].to_owned(), words[2].parse().unwrap())
}

async fn tiers(rig: &Rig, id: &str) -> Vec<(u64, f64)> {
    let prices = rig.truth.data(&format!("/api/products/{id}/prices")).await;
    let rows = prices.as_array().unwrap().iter();
    rows.map(|row| (row["min_quantity"].as_u64().unwrap(), row["value"].as_f64().unwrap())).collect()
}

async fn a_price_that_looks_like_a_slip_is_held_until_somebody_releases_it(kind: Kind) {
    let guards = Guards { price_floor: Decimal::new(5, 1), ..Guards::default() };
    let mut rig = Setup::on(kind).with(|setup| setup.push.guards = guards).start().await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let slipped = format!("{:.2}", price * 10.0);
    rig.set_price(&sku, 1, &slipped).await;
    rig.shown(STATES, |states| states == ["held"]).await;
    assert_eq!(rig.ask("SELECT error_code AS c FROM erp_prices").await, ["price_jump"]);
    assert_eq!(rig.writes("/prices").len(), 0);
    rig.set_price(&sku, 1, "0").await;
    rig.shown("SELECT error_code AS c FROM erp_prices", |codes| codes == ["price_zero"]).await;
    rig.decide(IntentKind::Price, &format!("{sku}/1"), Decision::Release).await;
    rig.shown(STATES, |states| states == ["held"]).await;
    rig.set_price(&sku, 1, "0.3").await;
    rig.shown("SELECT error_code AS c FROM erp_prices", |codes| codes == ["price_floor"]).await;
    rig.set_price(&sku, 1, &slipped).await;
    rig.shown("SELECT error_code AS c FROM erp_prices", |codes| codes == ["price_jump"]).await;
    rig.decide(IntentKind::Price, &format!("{sku}/1"), Decision::Release).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!(tiers(&rig, &id).await, [(1, slipped.parse().unwrap())]);
    rig.stop().await;
}

#[tokio::test]
async fn tiers_against_the_rules_are_refused_beforehand_with_the_rule() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let (_, sku, price) = product(&rig, "default", false).await;
    rig.set_price(&sku, 5, &format!("{:.2}", price * 0.9)).await;
    rig.shown(STATES, |states| states == ["failed"]).await;
    let shown = rig.ask("SELECT error_code || ': ' || error AS c FROM erp_prices").await;
    assert!(
        shown[0].starts_with("price_rule: As faixas de preço pedidas não são permitidas (regra 1)"),
        "{shown:?}"
    );
    assert_eq!(rig.writes("/prices").len(), 0);
    rig.set_price("NADA-1", 1, "5").await;
    rig.shown("SELECT error_code AS c FROM erp_prices", |codes| codes.contains(&"unknown_sku".to_owned()))
        .await;
    rig.stop().await;
}

#[tokio::test]
async fn a_step_whose_answer_was_lost_is_settled_by_reading() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let route = "PUT /api/products/{id}/prices/{min_quantity}";
    rig.fault(route, 1, Fault::ResetAfter);
    let new = format!("{:.2}", price * 1.2);
    rig.set_price(&sku, 1, &new).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!((tiers(&rig, &id).await, rig.writes("/prices").len()), (vec![(1, new.parse().unwrap())], 1));
    rig.stop().await;
}

// withstands: F014
#[tokio::test]
async fn derived_tiers_are_written_as_discounts() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let switched = rig
        .command("product.update", &sku, &json!({"price_type": "wholesale", "auto_wholesale_pricing": true}))
        .await;
    assert_eq!(switched[0], "done", "{switched:?}");
    for (quantity, discount) in [(5, 10), (20, 20)] {
        rig.write(&format!(
                "INSERT INTO erp_prices (store, sku, min_quantity, discount_percent, package_weight, package_height, \
                 package_width, package_length) VALUES ('{STORE}', '{sku}', {quantity}, {discount}, 1, 2, 3, 4)"
            ))
            .await;
    }
    rig.shown(STATES, |states| states == ["done", "done"]).await;
    let now = tiers(&rig, &id).await;
    assert_eq!(now.iter().map(|(quantity, _)| *quantity).collect::<Vec<_>>(), [1, 5, 20]);
    assert!((now[1].1 - price * 0.9).abs() < 0.011, "{now:?}");
    // The base changes, and every tier with it; no step reverts them.
    let puts = rig.writes("/prices").len();
    let dearer = format!("{:.2}", price * 1.5);
    rig.set_price(&sku, 1, &dearer).await;
    rig.shown(STATES, |states| states == ["done", "done", "done"]).await;
    let now = tiers(&rig, &id).await;
    assert!((now[1].1 - price * 1.5 * 0.9).abs() < 0.02, "{now:?}");
    assert_eq!(rig.writes("/prices").len(), puts + 1);
    rig.stop().await;
}

// withstands: F015
#[tokio::test]
async fn a_price_that_somebody_changes_back_each_time_is_held_in_the_end() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let ours = format!("{:.2}", price * 1.1);
    let theirs: Decimal = format!("{:.2}", price * 0.9).parse().unwrap();
    for _ in 0..3 {
        rig.set_price(&sku, 1, &ours).await;
        rig.shown(STATES, |states| states == ["done"]).await;
        // Our own write is reported as a change, and does not cause another write.
        assert!(rig.control().products().edit_price(&rig.key(), &id, theirs));
    }
    rig.set_price(&sku, 1, &ours).await;
    rig.shown(STATES, |states| states == ["held"]).await;
    let said = rig.ask("SELECT error_code || ': ' || error || ' ' || hint AS c FROM erp_prices").await;
    assert!(said[0].starts_with("written_back: ") && said[0].contains("espelho release price"), "{said:?}");
    assert_eq!(rig.writes("/prices").len(), 3);
    rig.decide(IntentKind::Price, &format!("{sku}/1"), Decision::Release).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!((tiers(&rig, &id).await, rig.writes("/prices").len()), (vec![(1, ours.parse().unwrap())], 4));
    rig.stop().await;
}

async fn a_discount_that_is_held_is_released_too(kind: Kind) {
    let guards = Guards { price_max_fall_percent: 50.into(), ..Guards::default() };
    let mut rig = Setup::on(kind).with(|setup| setup.push.guards = guards).start().await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let data = json!({"price_type": "wholesale", "auto_wholesale_pricing": true});
    assert_eq!(rig.command("product.update", &sku, &data).await[0], "done");
    rig.write(&format!(
        "INSERT INTO erp_prices (store, sku, min_quantity, price, discount_percent, package_weight, \
             package_height, package_width, package_length) \
             VALUES ('{STORE}', '{sku}', 5, NULL, 60, 1, 2, 3, 4), \
             ('{STORE}', '{sku}', 20, {price:.2}, 70, 1, 2, 3, 4)"
    ))
    .await;
    rig.shown(STATES, |states| states == ["held", "held"]).await;
    rig.decide(IntentKind::Price, &format!("{sku}/5"), Decision::Release).await;
    rig.decide(IntentKind::Price, &format!("{sku}/20"), Decision::Release).await;
    rig.shown(STATES, |states| states == ["done", "done"]).await;
    let now = tiers(&rig, &id).await;
    assert!((now[1].1 - price * 0.4).abs() < 0.011, "{now:?}");
    assert!((now[2].1 - price * 0.3).abs() < 0.011, "not the price beside the discount: {now:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_release_is_not_for_a_lower_price_than_the_one_that_was_shown() {
    let guards = Guards { price_max_fall_percent: 50.into(), ..Guards::default() };
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.push.guards = guards).start().await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let data = json!({"price_type": "wholesale", "auto_wholesale_pricing": true});
    assert_eq!(rig.command("product.update", &sku, &data).await[0], "done");
    rig.write(&format!(
        "INSERT INTO erp_prices (store, sku, min_quantity, discount_percent, package_weight, package_height, \
             package_width, package_length) VALUES ('{STORE}', '{sku}', 5, 60, 1, 2, 3, 4)"
    ))
    .await;
    rig.shown(STATES, |states| states == ["held"]).await;
    rig.stop().await;
    rig.decide(IntentKind::Price, &format!("{sku}/5"), Decision::Release).await;
    // Somebody halves the base price in the portal.
    let lower: Decimal = format!("{:.2}", price * 0.5).parse().unwrap();
    assert!(rig.control().products().edit_price(&rig.key(), &id, lower));
    rig.start().await;
    rig.shown(STATES, |states| states == ["held"]).await;
    assert_eq!(rig.writes("/prices").len(), 0);
    rig.decide(IntentKind::Price, &format!("{sku}/5"), Decision::Release).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    let now = tiers(&rig, &id).await;
    assert!((now[1].1 - price * 0.2).abs() < 0.011, "{now:?}");
    rig.stop().await;
}

// withstands: F013
async fn prices_that_the_erp_writes_reach_the_marketplace_tier_by_tier(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let (id, sku, price) = product(&rig, "default", false).await;
    let new = format!("{:.2}", price * 1.1);
    rig.set_price(&sku, 1, &new).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!(tiers(&rig, &id).await, [(1, new.parse().unwrap())]);
    let done = rig.command("product.update", &sku, &json!({"price_type": "wholesale"})).await;
    assert_eq!(done[0], "done", "{done:?}");
    let cheaper = format!("{:.2}", price * 0.9);
    rig.write(&format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price, package_weight, package_height, package_width, package_length) \
             VALUES ('{STORE}', '{sku}', 10, {cheaper}, 1.5, 20, 30, 40)"
        ))
        .await;
    rig.shown(STATES, |states| states == ["done", "done"]).await;
    assert_eq!(tiers(&rig, &id).await, [(1, new.parse().unwrap()), (10, cheaper.parse().unwrap())]);
    assert_eq!(rig.command("price.delete_tier", &sku, &json!({"min_quantity": 10})).await[0], "done");
    assert_eq!(tiers(&rig, &id).await.len(), 1);
    // The row that requested the tier is superseded; otherwise the next price would restore the tier.
    assert_eq!(rig.ask("SELECT state AS s FROM erp_prices WHERE min_quantity = 10").await, ["superseded"]);
    rig.set_price(&sku, 1, &format!("{:.2}", price * 1.05)).await;
    rig.shown("SELECT state AS s FROM erp_prices WHERE min_quantity = 1", |states| states == ["done"]).await;
    assert_eq!(tiers(&rig, &id).await.len(), 1);
    assert_eq!(rig.command("price.delete_tier", &sku, &json!({"min_quantity": 1})).await[1], "price_rule");
    assert_eq!(tiers(&rig, &id).await.len(), 1);
    rig.stop().await;
}

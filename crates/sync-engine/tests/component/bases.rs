//! What `erp_stock.quantity` means, and which prices and levels are held: tables.

use std::time::Duration;

use espelho_sandbox::JournalEntry;
use espelho_store::IntentKind;
use espelho_sync_engine::{plan::guards::Guards, push::Basis};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::support::{Decision, Kind, Rig, STORE, Setup};

/// A level in one basis: what is on the shelf, what is reserved, what the ERP writes, and what is then on the shelf;
/// `None` where nothing is sent.
struct Level {
    shelf: i64,
    reserved: i64,
    written: i64,
    set: Option<i64>,
    code: &'static str,
}

const fn level(shelf: i64, reserved: i64, written: i64, set: Option<i64>, code: &'static str) -> Level {
    Level { shelf, reserved, written, set, code }
}

const PHYSICAL: [Level; 5] = [
    level(10, 0, 4, Some(4), ""),
    level(10, 0, 10, None, ""),
    level(10, 3, 0, Some(0), "oversold"),
    level(10, 3, 2, Some(2), "oversold"),
    level(10, 3, 3, Some(3), ""),
];

const AVAILABLE: [Level; 5] = [
    level(10, 0, 4, Some(4), ""),
    level(10, 3, 4, Some(7), ""),
    level(10, 3, 7, None, ""),
    level(10, 3, 0, Some(3), ""),
    level(10, 10, 0, None, ""),
];

fn quantity(entry: &JournalEntry) -> i64 {
    let body: Value = serde_json::from_str(entry.body.as_deref().unwrap()).unwrap();
    body["quantity"].as_f64().unwrap() as i64
}

async fn levels(basis: Basis, table: &[Level]) {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.push.basis = basis).start().await;
    let goods = rig.goods().await.remove(0);
    for (at, Level { shelf, reserved, written, set, code }) in table.iter().enumerate() {
        let key = rig.key();
        assert!(rig.control().products().set_stock(&key, &goods.id, *shelf));
        assert!(*reserved == 0 || rig.control().products().reserve_stock(&key, &goods.id, *reserved));
        // Within two minutes of our last change, a level from before it would be set although it is there.
        rig.pass(Duration::from_secs(130)).await;
        rig.mirror_again().await;
        let before = rig.writes("/stock").len();
        rig.set_stock(&goods, &written.to_string()).await;
        let row = "SELECT state || ' ' || COALESCE(error_code, '') FROM erp_stock";
        let row = rig.shown(row, |rows| rows[0].starts_with("done") || rows[0].starts_with("failed")).await;
        assert_eq!(row[0].trim(), format!("done {code}").trim(), "{basis:?} {at}");
        let sent: Vec<i64> = rig.writes("/stock")[before..].iter().map(quantity).collect();
        assert_eq!(sent, set.iter().copied().collect::<Vec<_>>(), "{basis:?} {at}");
        assert_eq!(rig.stock_of(&goods).await, set.unwrap_or(*shelf), "{basis:?} {at}");
        assert!(*reserved == 0 || rig.control().products().release_stock(&key, &goods.id, *reserved));
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_physical_level_is_what_lies_on_the_shelf() {
    levels(Basis::Physical, &PHYSICAL).await;
}

#[tokio::test]
async fn an_available_level_is_told_with_what_is_reserved() {
    levels(Basis::Available, &AVAILABLE).await;
}

/// Returns a product with one price, and that price.
async fn priced(rig: &Rig) -> (String, Decimal) {
    let sql = "SELECT sku || '|' || CAST(price AS TEXT) FROM products WHERE price_type = 'default' \
        AND CAST(price AS REAL) > 5 ORDER BY sku LIMIT 1";
    let row = rig.ask(sql).await.remove(0);
    let (sku, price) = row.split_once('|').unwrap();
    (sku.to_owned(), price.parse().unwrap())
}

#[tokio::test]
async fn a_price_is_held_beyond_each_limit_and_not_at_it() {
    let guards = Guards {
        price_max_fall_percent: 50.into(),
        price_max_rise_percent: 100.into(),
        price_floor: Decimal::TWO,
        ..Guards::default()
    };
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.push.guards = guards).start().await;
    let (sku, _) = priced(&rig).await;
    // From a price of 10, which each row restores: what the ERP writes, and why it is held.
    for (written, code) in [
        ("0", "price_zero"),
        ("1.99", "price_floor"),
        ("4.99", "price_jump"),
        ("5.00", ""),
        ("9.99", ""),
        ("20.00", ""),
        ("20.01", "price_jump"),
        ("100.00", "price_jump"),
    ] {
        assert!(rig.control().products().edit_price(&rig.key(), &sku, Decimal::TEN));
        rig.mirror_again().await;
        // An hour and more lies between two prices: none counts as written back.
        rig.pass(Duration::from_secs(3_700)).await;
        let before = rig.writes("/prices").len();
        rig.set_price(&sku, 1, written).await;
        let open = "SELECT state || ' ' || COALESCE(error_code, '') FROM erp_prices \
                    WHERE state NOT IN ('new', 'waiting', 'sending')";
        let row = rig.shown(open, |rows| !rows.is_empty()).await.remove(0);
        let expected = if code.is_empty() { "done".to_owned() } else { format!("held {code}") };
        assert_eq!(row.trim(), expected, "{written}");
        assert_eq!(rig.writes("/prices").len() - before, usize::from(code.is_empty()), "{written}");
    }
    // A person may let a jump pass, and never a zero.
    rig.decide(IntentKind::Price, &format!("{sku}/1"), Decision::Release).await;
    rig.shown("SELECT state FROM erp_prices", |states| states == ["done"]).await;
    rig.set_price(&sku, 1, "0").await;
    rig.shown("SELECT state FROM erp_prices", |states| states == ["held"]).await;
    let before = rig.writes("/prices").len();
    rig.decide(IntentKind::Price, &format!("{sku}/1"), Decision::Release).await;
    rig.shown("SELECT error_code FROM erp_prices WHERE state = 'held'", |codes| codes == ["price_zero"])
        .await;
    assert_eq!(rig.writes("/prices").len(), before);
    rig.stop().await;
}

/// Tiers that are there, tiers that the ERP writes, and what is there then, with and without `remove_missing_tiers`.
#[tokio::test]
async fn tiers_become_what_the_erp_writes_and_others_stay_unless_they_are_to_go() {
    for (removes, expected) in [(false, "1 5 10 20"), (true, "1 5 10")] {
        let mut rig =
            Setup::on(Kind::Sqlite).with(|setup| setup.push.remove_missing_tiers = removes).start().await;
        let (sku, price) = priced(&rig).await;
        let made = rig.command("product.update", &sku, &json!({"price_type": "wholesale"})).await;
        assert_eq!(made[0], "done", "{made:?}");
        let tier = |quantity: u32, percent: i64| {
            let value = price * Decimal::from(percent) / Decimal::ONE_HUNDRED;
            format!(
                "INSERT INTO erp_prices (store, sku, min_quantity, price, package_weight, package_height, \
                 package_width, package_length) VALUES ('{STORE}', '{sku}', {quantity}, {:.2}, 1, 2, 3, 4);",
                value.round_dp(2)
            )
        };
        rig.write(&format!("{}{}", tier(5, 95), tier(20, 80))).await;
        rig.shown("SELECT state FROM erp_prices", |states| states == ["done", "done"]).await;
        // The ERP forgets one tier, and writes another.
        rig.write(&format!("DELETE FROM erp_prices WHERE min_quantity = 20; {}", tier(10, 90))).await;
        rig.shown("SELECT state FROM erp_prices", |states| states == ["done", "done"]).await;
        let id = rig.ask(&format!("SELECT id FROM products WHERE sku = '{sku}'")).await.remove(0);
        let prices = rig.truth.data(&format!("/api/products/{id}/prices")).await;
        let tiers: Vec<String> =
            prices.as_array().unwrap().iter().map(|tier| tier["min_quantity"].to_string()).collect();
        assert_eq!(tiers.join(" "), expected, "remove_missing_tiers = {removes}");
        rig.stop().await;
    }
}

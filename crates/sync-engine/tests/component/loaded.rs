//! Many changes at once: their cost in requests, and their order.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Goods, Kind, Rig, STORE, Setup};

/// Levels that the ERP writes.
const LEVELS: usize = 60;
/// How many of them end at zero.
const ZEROES: usize = 10;
const OPEN: &str = "SELECT sku FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') LIMIT 1";

/// Writes each level twice in one transaction; returns the last value of each.
async fn write_twice(rig: &Rig) -> Vec<(Goods, i64)> {
    let goods: Vec<Goods> = rig.goods().await.into_iter().take(LEVELS).collect();
    assert_eq!(goods.len(), LEVELS);
    let last = |at: usize, quantity: i64| match at {
        at if at < ZEROES => 0,
        at if at % 10 == 9 => quantity,
        at if at % 2 == 0 => quantity + 7,
        _ => quantity - 1,
    };
    let written = |value: &dyn Fn(usize, &Goods) -> i64| {
        let rows = goods.iter().enumerate().map(|(at, goods)| {
            format!("('{STORE}', '{}', '{}', {})", goods.sku, goods.location, value(at, goods))
        });
        format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES {} \
             ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity",
            rows.collect::<Vec<_>>().join(", ")
        )
    };
    let first = written(&|_, goods| goods.quantity + 3);
    let second = written(&|at, goods| last(at, goods.quantity));
    rig.write(&format!("BEGIN; {first}; {second}; COMMIT;")).await;
    let last: Vec<i64> = goods.iter().enumerate().map(|(at, goods)| last(at, goods.quantity)).collect();
    goods.into_iter().zip(last).collect()
}

/// Returns the products whose level was set, in the order of the requests.
fn set(rig: &Rig) -> Vec<String> {
    let product = |path: &str| path.split('/').nth(3).unwrap().to_owned();
    rig.writes("/stock").iter().map(|entry| product(&entry.path)).collect()
}

#[tokio::test]
async fn many_changes_at_once_cost_one_request_for_each_level_that_ends_different_and_one_look_at_it() {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.products = 110).start().await;
    let reads = rig.requests("/api/products/").len();
    let levels = write_twice(&rig).await;
    rig.shown(OPEN, <[String]>::is_empty).await;
    let different: BTreeSet<String> = levels
        .iter()
        .filter(|(goods, last)| goods.quantity != *last)
        .map(|(goods, _)| goods.id.clone())
        .collect();
    let mut times = BTreeMap::<String, usize>::new();
    set(&rig).into_iter().for_each(|product| *times.entry(product).or_default() += 1);
    assert_eq!(times.keys().cloned().collect::<BTreeSet<_>>(), different);
    assert!(times.values().all(|times| *times == 1), "{times:?}");
    let reads = rig.requests("/api/products/").len() - reads - different.len();
    // One look before a level that is not zero, and one afterwards.
    assert!((different.len()..=2 * LEVELS).contains(&reads), "{reads} reads for {}", different.len());
    assert_eq!(rig.ask("SELECT key FROM v_drift WHERE entity = 'stock'").await, Vec::<String>::new());
    rig.stop().await;
}

#[tokio::test]
async fn what_is_emptied_is_told_before_everything_else() {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.products = 110).start().await;
    let levels = write_twice(&rig).await;
    rig.shown(OPEN, <[String]>::is_empty).await;
    let emptied = levels.iter().filter(|(_, last)| *last == 0).map(|(goods, _)| &goods.id);
    let order = set(&rig);
    let last = emptied.map(|id| order.iter().position(|set| set == id).unwrap()).max().unwrap();
    // Eight are in progress at once.
    assert!(last < ZEROES + 8, "the last of {ZEROES} was number {last}");
    rig.stop().await;
}

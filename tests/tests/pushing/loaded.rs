//! Many changes at once: their cost in requests.

use espelho_sandbox::Options;
use espelho_tests::{
    Kind,
    levels::{Asked, Changes, levels},
    on_both_databases,
};

use crate::erp::Erp;

on_both_databases![
    many_changes_at_once_cost_one_request_for_each_level_that_ends_different_and_one_look_at_it,
    what_is_emptied_is_told_before_everything_else,
];

const OPEN: &str = "SELECT sku AS s FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') LIMIT 1";

async fn many_changes_at_once_cost_one_request_for_each_level_that_ends_different_and_one_look_at_it(
    kind: Kind,
) {
    let mut erp = Erp::of(kind, Options { orders: 0, products: 200, ..Options::default() }, "").await;
    let changes = Changes::of(&levels(&erp.mirror, 120).await, 10);
    let mut asked = Asked::from_now(&erp.control());
    changes.write_at_once(&erp.mirror).await;
    erp.until("SELECT sku AS s FROM erp_stock", |skus| skus.len() == 120).await;
    erp.until(OPEN, <[String]>::is_empty).await;
    asked.count(&erp.control());
    assert_eq!(
        (asked.writes(), asked.repeated(), asked.missing(&changes.different)),
        (changes.different.len(), 0, 0)
    );
    // One verification read for each; the reads of sweeps come on top.
    assert!(
        asked.reads >= changes.different.len() && asked.reads < 2 * changes.different.len() + 60,
        "{asked:?}"
    );
    assert_eq!(erp.ask("SELECT key AS k FROM v_drift WHERE entity = 'stock'").await, Vec::<String>::new());
    erp.stop().await;
}

async fn what_is_emptied_is_told_before_everything_else(kind: Kind) {
    let mut erp = Erp::of(kind, Options { orders: 0, products: 200, ..Options::default() }, "").await;
    let levels = levels(&erp.mirror, 120).await;
    let changes = Changes::of(&levels, 20);
    let mut asked = Asked::from_now(&erp.control());
    changes.write_at_once(&erp.mirror).await;
    erp.until("SELECT sku AS s FROM erp_stock", |skus| skus.len() == 120).await;
    erp.until(OPEN, <[String]>::is_empty).await;
    asked.count(&erp.control());
    let place = |key: &String| asked.order.iter().position(|set| set == key).unwrap();
    let last = changes.emptied.iter().map(place).max().unwrap();
    // Eight are in progress at once.
    assert!(last < changes.emptied.len() + 8, "the last of {} was number {last}", changes.emptied.len());
    erp.stop().await;
}

//! The operator's commands: `feed`; `acting` has the acts and the search of the pages; `seeing` has status, errors, explain, get and the pages; `auditing`; `keeping` has the
//! token, prune and doctor; `traces` has what a collector of traces is sent.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod acting;
mod auditing;
mod feed;
mod keeping;
mod seeing;
mod traces;

use espelho_tests::{Installation, Kind, Outcome, Shop, shop::Order};
use serde_json::Value;

/// An installation with a shop of these orders.
async fn set_up(kind: Kind, orders: Vec<Order>) -> (Installation, Shop) {
    let shop = Shop::open(orders).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    (installation, shop)
}

fn lines(outcome: &Outcome) -> Vec<Value> {
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

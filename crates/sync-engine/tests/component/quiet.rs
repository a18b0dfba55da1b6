//! How often a store is read in which nothing changes, and what ends its quiet.

use std::{sync::Arc, time::Duration};

use espelho_sandbox::Fault;
use espelho_sync_engine::plan::schedule::Sweep;
use serde_json::json;

use crate::{
    refreshes::{OFTEN, mirrored},
    support::{
        Goods, Rig,
        live::{Outside, only},
    },
};

const HOUR: Duration = Duration::from_secs(3_600);

/// A store with four open orders and six products that has been quiet for an hour. Deliveries arrive, if `receives` says so.
async fn quiet(receives: bool) -> (Rig, Arc<Outside>) {
    let mut rig = mirrored(1, 6).await;
    let sku = rig.goods().await[0].sku.clone();
    for _ in 0..4 {
        rig.sell("standard", &sku);
    }
    rig.make_webhook();
    let outside = rig.kept_in_step(only(&[Sweep::Products, Sweep::Subresources], OFTEN), receives).await;
    if receives {
        rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
        rig.until("it is heard", async || outside.told().webhook.is_some_and(|news| news.heard_at.is_some()))
            .await;
    }
    pass(&rig, HOUR).await;
    (rig, outside)
}

/// Lets time pass in short steps: on a busy machine the clock of a test may leap to the end of one.
async fn pass(rig: &Rig, time: Duration) {
    let end = rig.elapsed() + time;
    while rig.elapsed() < end {
        rig.pass(OFTEN / 2).await;
    }
}

/// Returns how many products and how many trackings are read in some time.
async fn readings_in(rig: &Rig, time: Duration) -> [usize; 2] {
    let readings = || ["/api/products/", "/tracking"].map(|route| rig.requests(route).len());
    let before = readings();
    pass(rig, time).await;
    let after = readings();
    [after[0] - before[0], after[1] - before[1]]
}

fn quantity(goods: &Goods) -> String {
    format!("SELECT CAST(CAST(quantity AS INTEGER) AS TEXT) FROM products WHERE id = '{}'", goods.id)
}

/// Changes a level in silence; returns after how long the mirror has it.
async fn found_after(rig: &Rig, goods: &Goods, level: i64) -> Duration {
    assert!(rig.control().products().set_stock(&rig.key(), &goods.id, level));
    let since = rig.elapsed();
    rig.shown(&quantity(goods), |rows| rows == [level.to_string()]).await;
    rig.elapsed() - since
}

async fn tell_level(rig: &Rig, outside: &Outside, goods: &Goods, level: i64) {
    let data = json!({"store_id": 1, "product_sku_id": goods.id, "location_id": 1, "new_quantity": level});
    rig.deliver(outside, "product.stock_updated", &data).await;
}

#[tokio::test]
async fn a_quiet_store_is_read_seldom_until_something_changes() {
    let (mut rig, outside) = quiet(true).await;
    let [products, trackings] = readings_in(&rig, HOUR / 2).await;
    assert!((25..=35).contains(&products), "{products} readings in half an hour: one with each sweep");
    assert!((25..=35).contains(&trackings), "{trackings} readings in half an hour: one with each sweep");
    let goods = rig.goods().await;
    assert!(rig.control().products().set_stock(&rig.key(), &goods[0].id, 4_321));
    tell_level(&rig, &outside, &goods[0], 4_321).await;
    rig.shown(&quantity(&goods[0]), |rows| rows == ["4321"]).await;
    let found = found_after(&rig, &goods[1], 1_234).await;
    assert!(found <= OFTEN * 2, "{found:?}: a change ends the rests of all rows");
    rig.stop().await;
}

#[tokio::test]
async fn a_store_that_hears_no_deliveries_is_never_quiet() {
    let (mut rig, _) = quiet(false).await;
    let [products, trackings] = readings_in(&rig, HOUR / 2).await;
    assert!(products >= 6 * 20, "{products} readings of 6 products in half an hour");
    assert!(trackings >= 4 * 15, "{trackings} readings of 4 orders in half an hour");
    rig.stop().await;
}

#[tokio::test]
async fn a_reading_that_failed_ends_the_quiet() {
    let (mut rig, outside) = quiet(true).await;
    let goods = rig.goods().await;
    let detail = format!("/api/products/{}", goods[0].id);
    rig.fault(&detail, None, Fault::Html(200));
    assert!(rig.control().products().set_stock(&rig.key(), &goods[0].id, 4_321));
    tell_level(&rig, &outside, &goods[0], 4_321).await;
    rig.shown("SELECT key FROM sync_failures", |rows| rows == [&*goods[0].id]).await;
    rig.control().faults().clear();
    let since = rig.elapsed();
    rig.shown("SELECT key FROM sync_failures", <[String]>::is_empty).await;
    assert!(rig.elapsed() - since <= OFTEN * 2, "{:?}", rig.elapsed() - since);
    rig.shown(&quantity(&goods[0]), |rows| rows == ["4321"]).await;
    rig.stop().await;
}

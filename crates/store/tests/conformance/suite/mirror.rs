//! The mirrored rows, and rows that are gone.

use std::time::Duration;

use espelho_model::{ContentHash, StoreKey, product::Product, sync::Resource};
use espelho_store::{Known, Lease, Op};

use crate::{
    examples::{bare_order, bare_product, level, order, order_of, product, tier},
    tables::Line,
    world::{World, minha_loja, store_key},
};

/// Writes rows of either resource with keys only.
async fn write(world: &World, lease: &Lease, resource: Resource, op: Op, keys: &[String]) {
    match resource {
        Resource::Orders => world.write_orders(lease, op, keys.iter().map(|k| bare_order(k)).collect()).await,
        Resource::Products => {
            world.write_products(lease, op, keys.iter().map(|k| bare_product(k)).collect()).await;
        }
    }
}

async fn mark_gone(world: &World, lease: &Lease, resource: Resource, keys: &[String]) -> u64 {
    let mut tx = world.store.begin(lease).await.unwrap();
    let marked = tx.mirror().mark_gone(resource, keys.to_vec()).await.unwrap();
    tx.commit().await.unwrap();
    marked
}

async fn live(world: &World, store: &StoreKey, resource: Resource) -> Vec<String> {
    world.store.mirror().live_keys(store, resource, "").await.unwrap()
}

fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn numbered(count: u32) -> Vec<String> {
    (0..count).map(|n| format!("{n:05}")).collect()
}

pub(crate) async fn what_is_known_is_found_and_what_is_not_is_absent(world: &World) {
    let lease = world.lease().await;
    for resource in Resource::ALL {
        let asked = keys(&["a", "b", "nowhere", "a", ""]);
        assert!(world.store.mirror().known(&minha_loja(), resource, asked.clone()).await.unwrap().is_empty());
        write(world, &lease, resource, Op::Insert, &keys(&["a", "b", "c"])).await;
        assert_eq!(mark_gone(world, &lease, resource, &keys(&["b"])).await, 1);
        let known = world.store.mirror().known(&minha_loja(), resource, asked.clone()).await.unwrap();
        let mut found: Vec<(&str, bool)> = known.iter().map(|(key, k)| (key.as_str(), k.gone)).collect();
        found.sort_unstable();
        assert_eq!(found, [("a", false), ("b", true)], "{resource}");
        assert!(world.store.mirror().known(&store_key("outra"), resource, asked).await.unwrap().is_empty());
    }
    let row = order("full", "paid");
    let hash = row.raw.content_hash();
    world.write_orders(&lease, Op::Insert, vec![row]).await;
    let known = world.store.mirror().known(&minha_loja(), Resource::Orders, keys(&["full"])).await.unwrap();
    assert_eq!(known["full"], Known { listing_hash: hash, content_hash: hash, gone: false });
}

pub(crate) async fn what_is_known_is_found_however_many_are_asked_for(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, Resource::Orders, Op::Insert, &numbered(1_234)).await;
    for count in [0, 1, 99, 101, 1_234, 40_000] {
        let known =
            world.store.mirror().known(&minha_loja(), Resource::Orders, numbered(count)).await.unwrap();
        assert_eq!(known.len(), count.min(1_234) as usize);
    }
}

pub(crate) async fn a_row_that_is_listed_differently_is_relisted_without_a_change(world: &World) {
    let lease = world.lease().await;
    for resource in Resource::ALL {
        write(world, &lease, resource, Op::Insert, &keys(&["a", "b"])).await;
        let [table, key] = match resource {
            Resource::Orders => ["orders", "order_number"],
            Resource::Products => ["products", "id"],
        };
        let before = world.tables.all(table).await;
        let changes = world.tables.count("changes").await;
        world.clock.advance(Duration::from_secs(60));
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().relist(resource, "a", ContentHash::from_i64(-7)).await.unwrap();
        tx.mirror().relist(resource, "nowhere", ContentHash::from_i64(8)).await.unwrap();
        tx.commit().await.unwrap();
        let known = world.store.mirror().known(&minha_loja(), resource, keys(&["a", "b"])).await.unwrap();
        assert_eq!(known["a"].listing_hash.as_i64(), -7);
        assert_ne!(known["b"].listing_hash.as_i64(), -7);
        assert_eq!(world.tables.count("changes").await, changes);
        let without_hash =
            |lines: Vec<Line>| lines.into_iter().map(|line| line.without("listing_hash")).collect();
        let [mut after, mut before]: [Vec<_>; 2] = [world.tables.all(table).await, before].map(without_hash);
        after.sort();
        before.sort();
        assert_eq!(after, before, "{table} by {key}");
    }
}

pub(crate) async fn rows_that_are_gone_are_marked_and_still_counted(world: &World) {
    let lease = world.lease().await;
    for resource in Resource::ALL {
        assert_eq!(world.store.mirror().count(&minha_loja(), resource).await.unwrap(), 0);
        write(world, &lease, resource, Op::Insert, &keys(&["a", "b", "c"])).await;
        assert_eq!(mark_gone(world, &lease, resource, &keys(&["a", "c"])).await, 2);
        assert_eq!(live(world, &minha_loja(), resource).await, ["b"]);
        assert_eq!(world.store.mirror().count(&minha_loja(), resource).await.unwrap(), 3);
        assert_eq!(world.store.mirror().count(&store_key("outra"), resource).await.unwrap(), 0);
        assert_eq!(mark_gone(world, &lease, resource, &[]).await, 0);
    }
}

pub(crate) async fn rows_that_are_gone_do_not_bear_a_later_time(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, Resource::Orders, Op::Insert, &keys(&["a"])).await;
    assert_eq!(mark_gone(world, &lease, Resource::Orders, &keys(&["a"])).await, 1);
    let before = world.tables.all("orders").await;
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(mark_gone(world, &lease, Resource::Orders, &keys(&["a", "nowhere"])).await, 0);
    assert_eq!(world.tables.all("orders").await, before);
}

pub(crate) async fn what_hangs_on_a_row_goes_and_comes_back_with_it(world: &World) {
    let lease = world.lease().await;
    let of = |id: &str| Product {
        prices: vec![tier(1, "1.50")],
        stock: vec![level(id, "L", "1")],
        ..product(id, "Camisa")
    };
    let orders = ["a", "b"].map(|number| order_of(number, "paid", &["1", "2"]));
    world.write_orders(&lease, Op::Insert, orders.to_vec()).await;
    world.write_products(&lease, Op::Insert, ["a", "b"].map(of).to_vec()).await;
    let parts = async || {
        let count = async |part: &str| world.tables.count(&format!("{part} WHERE gone_at IS NULL")).await;
        [count("order_items").await, count("product_prices").await, count("product_stock").await]
    };
    for resource in Resource::ALL {
        mark_gone(world, &lease, resource, &keys(&["a"])).await;
    }
    assert_eq!(parts().await, [2, 1, 1]);
    world.write_orders(&lease, Op::Update, vec![order_of("a", "paid", &["2"])]).await;
    world.write_products(&lease, Op::Update, vec![of("a")]).await;
    assert_eq!(parts().await, [3, 2, 2]);
}

pub(crate) async fn a_row_that_is_written_again_is_no_longer_gone(world: &World) {
    let lease = world.lease().await;
    for resource in Resource::ALL {
        write(world, &lease, resource, Op::Insert, &keys(&["a", "b"])).await;
        mark_gone(world, &lease, resource, &keys(&["a", "b"])).await;
        // The very same content: only the mark distinguishes it from the mirrored row.
        write(world, &lease, resource, Op::Update, &keys(&["a"])).await;
        assert_eq!(live(world, &minha_loja(), resource).await, ["a"]);
        let known = world.store.mirror().known(&minha_loja(), resource, keys(&["a", "b"])).await.unwrap();
        assert_eq!((known["a"].gone, known["b"].gone), (false, true));
    }
}

pub(crate) async fn thousands_of_rows_can_be_gone_at_once(world: &World) {
    let lease = world.lease().await;
    for resource in Resource::ALL {
        write(world, &lease, resource, Op::Insert, &numbered(3_210)).await;
        assert_eq!(mark_gone(world, &lease, resource, &numbered(3_209)).await, 3_209);
        assert_eq!(live(world, &minha_loja(), resource).await, ["03209"]);
    }
}

pub(crate) async fn live_keys_come_a_thousand_at_a_time_in_order(world: &World) {
    let lease = world.lease().await;
    for resource in Resource::ALL {
        // Written last to first, so that the order of insertion differs from the order of keys.
        let written: Vec<String> = numbered(2_501).into_iter().rev().collect();
        write(world, &lease, resource, Op::Insert, &written).await;
        mark_gone(world, &lease, resource, &keys(&["00000", "01500"])).await;
        let (mut after, mut all, mut sizes) = (String::new(), Vec::new(), Vec::new());
        loop {
            let batch = world.store.mirror().live_keys(&minha_loja(), resource, &after).await.unwrap();
            sizes.push(batch.len());
            let Some(last) = batch.last() else { break };
            after.clone_from(last);
            all.extend(batch);
        }
        assert_eq!(sizes, [1_000, 1_000, 499, 0]);
        let expected = numbered(2_501).into_iter().filter(|key| key != "00000" && key != "01500");
        assert_eq!(all, expected.collect::<Vec<_>>());
    }
}

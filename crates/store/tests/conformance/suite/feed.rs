//! The change feed.

use std::time::Duration;

use espelho_model::sync::Resource;
use espelho_store::Op;

use crate::{
    examples::{order, product},
    tables::Line,
    world::{World, write_orders},
};

/// Entity, key and operation of every change, in the order of the feed.
async fn told(world: &World) -> Vec<String> {
    world.tables.list("SELECT entity || ' ' || key || ' ' || op FROM changes ORDER BY seq").await
}

pub(crate) async fn insert_update_and_gone_are_told_in_their_order(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    world.write_products(&lease, Op::Insert, vec![product("P", "Camisa")]).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_orders(&lease, Op::Update, vec![order("1", "shipped")]).await;
    for resource in Resource::ALL {
        let key = if resource == Resource::Orders { "1" } else { "P" };
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().mark_gone(resource, vec![key.to_owned()]).await.unwrap();
        tx.commit().await.unwrap();
    }
    world.write_orders(&lease, Op::Update, vec![order("1", "shipped")]).await;
    let expected = [
        "order 1 insert",
        "product P insert",
        "order 1 update",
        "order 1 gone",
        "product P gone",
        "order 1 update",
    ];
    assert_eq!(told(world).await, expected);
    let changes = world.tables.all("changes").await;
    let at = |line: &Line| line.get("at").unwrap().to_owned();
    assert_eq!(changes.iter().filter(|line| at(line) == "2026-11-27T06:30:00.123456Z").count(), 2);
    assert_eq!(changes.iter().filter(|line| at(line) == "2026-11-27T06:31:00.123456Z").count(), 4);
    assert!(changes.iter().all(|line| line.get("store") == Some("minha-loja")));
}

pub(crate) async fn rows_of_one_page_are_told_in_its_order(world: &World) {
    let lease = world.lease().await;
    let numbers: Vec<String> = (0..187).map(|n: u32| (n * 71 % 187).to_string()).collect();
    world.write_orders(&lease, Op::Insert, numbers.iter().map(|n| order(n, "paid")).collect()).await;
    let expected: Vec<String> = numbers.iter().map(|n| format!("order {n} insert")).collect();
    assert_eq!(told(world).await, expected);
}

/// A consumer that has read up to a number must never meet a lower one later, nor the same one twice.
pub(crate) async fn the_feed_counts_up_over_a_page_that_was_not_kept(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let mut dropped = world.store.begin(&lease).await.unwrap();
    write_orders(&mut dropped, Op::Insert, vec![order("2", "paid")]).await;
    drop(dropped);
    world.write_orders(&lease, Op::Insert, vec![order("3", "paid")]).await;
    assert_eq!(told(world).await, ["order 1 insert", "order 3 insert"]);
    // Not even after the acknowledged part of the feed was deleted.
    let last = "SELECT CAST(max(seq) AS TEXT) FROM changes";
    let before: i64 = world.tables.list(last).await[0].parse().unwrap();
    world.tables.execute("DELETE FROM changes").await;
    world.write_orders(&lease, Op::Insert, vec![order("4", "paid")]).await;
    let after: i64 = world.tables.list(last).await[0].parse().unwrap();
    assert!(after > before, "{after} after {before}");
}

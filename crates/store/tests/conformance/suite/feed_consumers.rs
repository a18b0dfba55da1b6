//! The change feed as its consumers read it.

use std::{collections::HashSet, sync::Arc, time::Duration};

use chrono::TimeDelta;
use espelho_store::{Change, Op, Store};
use tokio::{sync::Barrier, task::JoinSet};

use crate::{
    examples::{order, product},
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key},
};

async fn write(world: &World, numbers: std::ops::Range<u32>) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, numbers.map(|n| order(&n.to_string(), "paid")).collect()).await;
    lease.release().await.unwrap();
}

async fn after(store: &Store, seq: i64, limit: u32) -> Vec<Change> {
    store.changes().changes_after(seq, limit).await.unwrap()
}

pub(crate) async fn changes_are_read_in_order_and_a_few_at_a_time(world: &World) {
    assert!(after(&world.store, 0, 10).await.is_empty());
    write(world, 0..7).await;
    let lease = world.lease().await;
    world.write_products(&lease, Op::Update, vec![product("P", "Camisa")]).await;
    let all = after(&world.store, 0, 100).await;
    assert_eq!(all.len(), 8);
    assert!(all.is_sorted_by(|a, b| a.seq < b.seq));
    let last = all[7].clone();
    let (entity, key) = ("product".to_owned(), "P".to_owned());
    let expected =
        Change { seq: last.seq, store: minha_loja(), entity, key, op: Op::Update, at: opening_hour() };
    assert_eq!(last, expected);
    let (mut read, mut sizes) = (Vec::new(), Vec::new());
    loop {
        let batch = after(&world.store, read.last().map_or(0, |change: &Change| change.seq), 3).await;
        sizes.push(batch.len());
        if batch.is_empty() {
            break;
        }
        read.extend(batch);
    }
    assert_eq!((sizes, read), (vec![3, 3, 2, 0], all));
}

pub(crate) async fn the_feed_knows_its_first_and_last_number(world: &World) {
    assert_eq!(world.store.changes().feed_bounds().await.unwrap(), None);
    write(world, 0..5).await;
    let all = after(&world.store, 0, 100).await;
    assert_eq!(world.store.changes().feed_bounds().await.unwrap(), Some((all[0].seq, all[4].seq)));
}

pub(crate) async fn a_consumer_never_goes_back_and_never_ahead(world: &World) {
    write(world, 0..5).await;
    let seqs: Vec<i64> = after(&world.store, 0, 100).await.iter().map(|change| change.seq).collect();
    assert_eq!(world.store.changes().consumer("erp").await.unwrap(), None);
    assert_eq!(world.store.changes().acknowledge("erp", seqs[2]).await.unwrap(), seqs[2]);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(world.store.changes().acknowledge("erp", seqs[1]).await.unwrap(), seqs[2]);
    assert_eq!(world.store.changes().acknowledge("erp", -7).await.unwrap(), seqs[2]);
    assert_eq!(world.store.changes().consumers().await.unwrap()[0].updated_at, opening_hour());
    assert_eq!(world.store.changes().acknowledge("erp", i64::MAX).await.unwrap(), seqs[4]);
    assert_eq!(world.store.changes().acknowledge("bi", 0).await.unwrap(), 0);
    assert_eq!(world.store.changes().consumer("erp").await.unwrap(), Some(seqs[4]));
    let all = world.store.changes().consumers().await.unwrap();
    let all: Vec<_> = all.iter().map(|c| (c.name.as_str(), c.seq)).collect();
    assert_eq!(all, [("bi", 0), ("erp", seqs[4])]);
    // An ERP that reads by SQL keeps its own number.
    world.tables.execute("INSERT INTO consumers (name, seq) VALUES ('sql', 3)").await;
    assert_eq!(world.store.changes().consumer("sql").await.unwrap(), Some(3));
}

pub(crate) async fn only_what_is_old_and_acknowledged_by_all_is_pruned(world: &World) {
    write(world, 0..4).await;
    world.clock.advance(Duration::from_secs(3_600));
    write(world, 4..6).await;
    let seqs: Vec<i64> = after(&world.store, 0, 100).await.iter().map(|change| change.seq).collect();
    world.store.changes().acknowledge("fast", seqs[5]).await.unwrap();
    world.store.changes().acknowledge("slow", seqs[1]).await.unwrap();
    let prune = async |age: i64| {
        world.store.changes().prune_changes(opening_hour() + TimeDelta::seconds(age)).await.unwrap()
    };
    let prunable = async |age: i64| {
        let before = opening_hour() + TimeDelta::seconds(age);
        world.store.changes().prunable_changes(before).await.unwrap()
    };
    assert_eq!((prunable(0).await.rows, prunable(1).await.rows), (0, 2));
    assert!(prunable(1).await.bytes > 0);
    assert_eq!(prune(0).await, 0);
    assert_eq!(prune(1).await, 2);
    assert_eq!(prune(1).await, 0);
    assert_eq!(world.store.changes().feed_bounds().await.unwrap(), Some((seqs[2], seqs[5])));
    world.store.changes().acknowledge("slow", seqs[5]).await.unwrap();
    assert_eq!(prune(1).await, 2);
    assert_eq!(prune(100_000).await, 2);
    assert_eq!(world.store.changes().feed_bounds().await.unwrap(), None);
    // An empty feed moves no consumer back, and later changes get higher numbers.
    assert_eq!(world.store.changes().acknowledge("slow", seqs[5]).await.unwrap(), seqs[5]);
    write(world, 6..7).await;
    assert_eq!(after(&world.store, seqs[5], 10).await.len(), 1);
}

pub(crate) async fn a_consumer_that_is_forgotten_is_not_waited_for(world: &World) {
    write(world, 0..3).await;
    world.store.changes().acknowledge("dead", 0).await.unwrap();
    let later = opening_hour() + TimeDelta::days(30);
    assert_eq!(world.store.changes().prune_changes(later).await.unwrap(), 0);
    assert!(world.store.changes().forget_consumer("dead").await.unwrap());
    assert!(!world.store.changes().forget_consumer("dead").await.unwrap());
    assert_eq!(world.store.changes().prune_changes(later).await.unwrap(), 3);
}

pub(crate) async fn a_long_feed_is_pruned_to_its_end(world: &World) {
    write(world, 0..12_345).await;
    let later = opening_hour() + TimeDelta::days(30);
    assert_eq!(world.store.changes().prune_changes(later).await.unwrap(), 12_345);
    assert_eq!(world.store.changes().feed_bounds().await.unwrap(), None);
}

const STORES: usize = 8;
const PAGES: usize = 40;

/// A consumer that remembers the last number it has read meets every change once, however many write.
pub(crate) async fn who_follows_the_feed_misses_nothing_while_eight_stores_write(world: &World) {
    let stores = [world.store.clone(), world.open_again().await.unwrap()];
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(STORES + 1)));
    for task in 0..STORES {
        let (store, start) = (stores[task % 2].clone(), Arc::clone(&start));
        tasks.spawn(async move {
            let lease =
                store.leases().acquire(&store_key(&format!("loja-{task}")), "the test").await.unwrap();
            start.wait().await;
            for n in 0..PAGES {
                let mut tx = store.begin(&lease).await.unwrap();
                let orders = (0..=n % 3).map(|row| order(&format!("{n}-{row}"), "paid")).collect();
                crate::world::write_orders(&mut tx, Op::Insert, orders).await;
                tx.commit().await.unwrap();
            }
        });
    }
    let expected = STORES * (0..PAGES).map(|n| n % 3 + 1).sum::<usize>();
    let reader = world.open_again().await.unwrap();
    start.wait().await;
    let (mut last, mut read) = (0, HashSet::new());
    loop {
        let is_over = tasks.is_empty();
        let batch = after(&reader, last, 50).await;
        for change in &batch {
            assert!(change.seq > last, "{change:?} after {last}");
            last = change.seq;
            assert!(read.insert((change.store.clone(), change.key.clone())), "{change:?} twice");
        }
        if is_over && batch.is_empty() {
            break;
        }
        while let Some(ended) = tasks.try_join_next() {
            ended.unwrap();
        }
    }
    assert_eq!(read.len(), expected, "changes were missed");
}

//! Many writers at once. SQLite has one writer, and a read that turns into a write fails there under concurrency;
//! that must never happen.

use std::sync::Arc;

use espelho_model::{RawJson, StoreKey, order::Order, sync::Resource};
use espelho_store::{Lease, Op, Store};
use tokio::{sync::Barrier, task::JoinSet};

use super::passes::page;
use crate::{
    examples::order_of,
    world::{World, store_key, write_orders},
};

const TASKS: usize = 8;
const PAGES: usize = 50;
/// Fewer numbers than pages, so that pages overwrite each other's rows.
const NUMBERS: usize = 7;

/// One page, as a run writes it: look up known rows, then write rows and checkpoint together.
async fn write_page(store: &Store, lease: &Lease, task: usize, n: usize) {
    let number = format!("{task}-{}", n % NUMBERS);
    let known = store.mirror().known(lease.store(), Resource::Orders, vec![number.clone()]).await.unwrap();
    let op = if known.contains_key(&number) { Op::Update } else { Op::Insert };
    let raw = RawJson::new(&format!("{{\"page\":{n}}}"));
    let order = Order { raw, ..order_of(&number, &n.to_string(), &["1", "2"]) };
    let mut tx = store.begin(lease).await.unwrap();
    write_orders(&mut tx, op, vec![order]).await;
    tx.passes().keep_page(Resource::Orders, &page((task * PAGES + n) as u64)).await.unwrap();
    tx.commit().await.unwrap();
}

async fn all(mut tasks: JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

async fn assert_all_pages_arrived(world: &World) {
    let [updates, inserts] = [TASKS * (PAGES - NUMBERS), TASKS * NUMBERS];
    assert_eq!(world.tables.count("sync_pages").await, TASKS * PAGES);
    assert_eq!(world.tables.count("changes WHERE op = 'insert'").await, inserts);
    assert_eq!(world.tables.count("changes WHERE op = 'update'").await, updates);
    assert_eq!(world.tables.count("order_items WHERE gone_at IS NULL").await, 2 * inserts);
    let mut last = world.tables.list("SELECT DISTINCT status FROM orders").await;
    last.sort();
    assert_eq!(last, ["43", "44", "45", "46", "47", "48", "49"]);
}

// withstands: F097
pub(crate) async fn eight_stores_over_two_connections_write_their_pages_at_once(world: &World) {
    let stores = [world.store.clone(), world.open_again().await.unwrap()];
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(TASKS)));
    for task in 0..TASKS {
        let (store, start) = (stores[task % 2].clone(), Arc::clone(&start));
        let key: StoreKey = store_key(&format!("loja-{task}"));
        tasks.spawn(async move {
            let lease = store.leases().acquire(&key, "the test").await.unwrap();
            start.wait().await;
            for n in 0..PAGES {
                write_page(&store, &lease, task, n).await;
            }
        });
    }
    all(tasks).await;
    assert_all_pages_arrived(world).await;
}

pub(crate) async fn eight_tasks_under_one_lease_write_their_pages_at_once(world: &World) {
    let lease = Arc::new(world.lease().await);
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(TASKS)));
    for task in 0..TASKS {
        let (store, start, lease) = (world.store.clone(), Arc::clone(&start), Arc::clone(&lease));
        tasks.spawn(async move {
            start.wait().await;
            for n in 0..PAGES {
                write_page(&store, &lease, task, n).await;
            }
        });
    }
    all(tasks).await;
    assert_all_pages_arrived(world).await;
}

// withstands: F097
pub(crate) async fn readers_see_whole_pages_while_they_are_written(world: &World) {
    let lease = world.lease().await;
    let other = world.open_again().await.unwrap();
    let assert_seen = async |expected: u64| {
        for store in [&world.store, &other] {
            assert_eq!(store.mirror().count(lease.store(), Resource::Orders).await.unwrap(), expected);
        }
    };
    for n in 0..5 {
        let mut tx = world.store.begin(&lease).await.unwrap();
        for row in 0..10 {
            write_orders(&mut tx, Op::Insert, vec![order_of(&format!("{n}-{row}"), "paid", &["1"])]).await;
            assert_seen(n * 10).await;
        }
        tx.commit().await.unwrap();
        assert_seen((n + 1) * 10).await;
    }
}

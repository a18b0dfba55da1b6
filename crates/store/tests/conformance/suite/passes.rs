//! The checkpoint of a pass.

use std::time::Duration;

use espelho_model::{
    ContentHash, StoreKey,
    sync::{Counts, Resource},
};
use espelho_store::{Error, KeptPage, Lease, Op, Pass};

use crate::{
    examples::order_of,
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key, write_orders},
};

const SCOPE: &str = "GET /orders?sort=created_at&limit=100";

/// A page of a hundred keys, the extremes among them, in random order.
pub(crate) fn page(step: u64) -> KeptPage {
    let spread = |n: i64| ContentHash::from_i64(n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed()));
    let extremes = [i64::MAX, 0, i64::MIN, -1].map(ContentHash::from_i64);
    KeptPage {
        step,
        page: step / 2 + 1,
        total: (step != 2).then_some(12_345),
        last: step == 2,
        counts: Counts { seen: 100, changed: step, gone: 0, failed: 1 },
        keys: extremes.into_iter().chain((0..96).map(spread)).collect(),
    }
}

async fn begin_pass(world: &World, lease: &Lease, resource: Resource, scope: &str) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.passes().begin_pass(resource, scope).await.unwrap();
    tx.commit().await.unwrap();
}

async fn keep(world: &World, lease: &Lease, resource: Resource, pages: &[KeptPage]) {
    let mut tx = world.store.begin(lease).await.unwrap();
    for page in pages {
        tx.passes().keep_page(resource, page).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn pass(world: &World, store: &StoreKey, resource: Resource) -> Option<Pass> {
    world.store.mirror().pass(store, resource).await.unwrap()
}

/// The pages of a pass, read as a walk resumes: as many as come at once, then those after them.
async fn pages(world: &World, store: &StoreKey, resource: Resource) -> Vec<KeptPage> {
    let mut all: Vec<KeptPage> = Vec::new();
    loop {
        let after = all.last().map_or(0, |page| page.step);
        let next = world.store.mirror().pages_of_pass(store, resource, after).await.unwrap();
        if next.is_empty() {
            return all;
        }
        all.extend(next);
    }
}

async fn pages_of_orders(world: &World) -> Vec<KeptPage> {
    pages(world, &minha_loja(), Resource::Orders).await
}

pub(crate) async fn a_pass_is_read_back_as_it_was_kept(world: &World) {
    let lease = world.lease().await;
    assert_eq!(pass(world, &minha_loja(), Resource::Orders).await, None);
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    let begun = Pass { scope: SCOPE.into(), started_at: opening_hour() };
    assert_eq!(pass(world, &minha_loja(), Resource::Orders).await, Some(begun.clone()));
    assert!(pages_of_orders(world).await.is_empty());
    world.clock.advance(Duration::from_secs(60));
    let empty = KeptPage { total: Some(0), counts: Counts::default(), keys: Vec::new(), ..page(3) };
    let kept = [page(1), page(2), empty];
    keep(world, &lease, Resource::Orders, &kept[..1]).await;
    keep(world, &lease, Resource::Orders, &kept[1..]).await;
    assert_eq!(pass(world, &minha_loja(), Resource::Orders).await, Some(begun));
    assert_eq!(pages_of_orders(world).await, kept);
}

pub(crate) async fn pages_come_back_in_the_order_of_their_steps(world: &World) {
    let lease = world.lease().await;
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    let steps = [10, 2, 1, 100, 9];
    keep(world, &lease, Resource::Orders, &steps.map(page)).await;
    assert_eq!(pages_of_orders(world).await, [1, 2, 9, 10, 100].map(page));
}

pub(crate) async fn the_pages_of_a_long_pass_come_a_part_at_a_time(world: &World) {
    let lease = world.lease().await;
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    let kept: Vec<KeptPage> = (1..=450).map(page).collect();
    keep(world, &lease, Resource::Orders, &kept).await;
    let first = world.store.mirror().pages_of_pass(&minha_loja(), Resource::Orders, 0).await.unwrap();
    assert!(first.len() < 450 && kept.starts_with(&first), "{}", first.len());
    assert_eq!(pages_of_orders(world).await, kept);
}

pub(crate) async fn a_new_pass_forgets_the_one_before(world: &World) {
    let lease = world.lease().await;
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    keep(world, &lease, Resource::Orders, &[page(1), page(2)]).await;
    world.clock.advance(Duration::from_secs(60));
    begin_pass(world, &lease, Resource::Orders, "another way").await;
    let begun = opening_hour() + Duration::from_secs(60);
    let expected = Pass { scope: "another way".into(), started_at: begun };
    assert_eq!(pass(world, &minha_loja(), Resource::Orders).await, Some(expected));
    assert!(pages_of_orders(world).await.is_empty());
}

/// Ends the pass over orders; returns how many pages are left after each slice that is forgotten.
async fn end_pass(world: &World, lease: &Lease) -> Vec<usize> {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.passes().end_pass(Resource::Orders).await.unwrap();
    tx.commit().await.unwrap();
    let mut left = Vec::new();
    loop {
        let mut tx = world.store.begin(lease).await.unwrap();
        let has_forgotten = tx.passes().forget_pages(Resource::Orders).await.unwrap();
        tx.commit().await.unwrap();
        if !has_forgotten {
            return left;
        }
        left.push(world.tables.count("sync_pages").await);
    }
}

pub(crate) async fn an_ended_pass_leaves_nothing(world: &World) {
    let lease = world.lease().await;
    assert!(end_pass(world, &lease).await.is_empty(), "there is none");
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    let pages: Vec<_> = [1, 2, 200, 201, 400, 401].map(page).into();
    keep(world, &lease, Resource::Orders, &pages).await;
    assert_eq!(end_pass(world, &lease).await, [3, 1, 0], "a few at a time");
    assert_eq!(pass(world, &minha_loja(), Resource::Orders).await, None);
}

pub(crate) async fn pages_that_an_ended_pass_left_are_forgotten_by_the_next(world: &World) {
    let lease = world.lease().await;
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    keep(world, &lease, Resource::Orders, &[page(1), page(2)]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.passes().end_pass(Resource::Orders).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(pass(world, &minha_loja(), Resource::Orders).await, None, "nobody resumes from them");
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    assert!(pages_of_orders(world).await.is_empty());
}

pub(crate) async fn passes_of_other_resources_and_stores_are_left_alone(world: &World) {
    let (mine, yours) = (world.lease().await, world.lease_of(&store_key("outra")).await);
    for lease in [&mine, &yours] {
        for resource in Resource::ALL {
            begin_pass(world, lease, resource, SCOPE).await;
            keep(world, lease, resource, &[page(1)]).await;
        }
    }
    end_pass(world, &mine).await;
    begin_pass(world, &yours, Resource::Products, SCOPE).await;
    let left = async |store: &str, resource| {
        let store = store_key(store);
        let pages = pages(world, &store, resource).await.len();
        pass(world, &store, resource).await.map(|_| pages)
    };
    assert_eq!(left("minha-loja", Resource::Orders).await, None);
    assert_eq!(left("minha-loja", Resource::Products).await, Some(1));
    assert_eq!(left("outra", Resource::Orders).await, Some(1));
    assert_eq!(left("outra", Resource::Products).await, Some(0));
}

pub(crate) async fn a_page_that_is_not_committed_leaves_neither_rows_nor_checkpoint(world: &World) {
    let lease = world.lease().await;
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    world.write_orders(&lease, Op::Insert, vec![order_of("kept", "paid", &["1"])]).await;
    keep(world, &lease, Resource::Orders, &[page(1)]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    write_orders(&mut tx, Op::Insert, vec![order_of("lost", "paid", &["1"])]).await;
    write_orders(&mut tx, Op::Update, vec![order_of("kept", "shipped", &[])]).await;
    tx.mirror().mark_gone(Resource::Orders, vec!["kept".to_owned()]).await.unwrap();
    tx.passes().keep_page(Resource::Orders, &page(2)).await.unwrap();
    drop(tx);
    // The next write follows the roll-back, on SQLite on the very same connection.
    world.store.begin(&lease).await.unwrap().commit().await.unwrap();
    assert_eq!(pages_of_orders(world).await, [page(1)]);
    assert_eq!(world.store.mirror().live_keys(&minha_loja(), Resource::Orders, "").await.unwrap(), ["kept"]);
    assert_eq!(world.tables.list("SELECT status FROM orders").await, ["paid"]);
    assert_eq!(world.tables.count("order_items WHERE gone_at IS NULL").await, 1);
    assert_eq!(world.tables.count("changes").await, 1);
}

pub(crate) async fn a_step_that_is_kept_twice_is_refused(world: &World) {
    let lease = world.lease().await;
    begin_pass(world, &lease, Resource::Orders, SCOPE).await;
    keep(world, &lease, Resource::Orders, &[page(1)]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    let error = tx.passes().keep_page(Resource::Orders, &page(1)).await.err();
    assert!(matches!(error, Some(Error::Statement { .. })), "{error:?}");
    drop(tx);
    keep(world, &lease, Resource::Orders, &[page(2)]).await;
    assert_eq!(pages_of_orders(world).await, [page(1), page(2)]);
}

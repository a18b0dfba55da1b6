//! One holder at a time.

use std::time::Duration;

use espelho_model::{StoreKey, sync::Resource};
use espelho_store::{Error, Lease, Op, Store};

use super::passes::page;
use crate::{
    examples::order,
    tables::Line,
    world::{World, minha_loja, store_key},
};

/// Takes the lease, or returns the refusal's words about the holder.
async fn try_to_take(store: &Store, key: &StoreKey) -> Result<Lease, (StoreKey, String, String)> {
    match store.leases().acquire(key, "the second").await {
        Ok(lease) => Ok(lease),
        Err(Error::Held { store, owner, since }) => Err((store, owner, since)),
        Err(other) => panic!("{other:?}"),
    }
}

async fn assert_held_by_the_first(store: &Store) {
    let Err((key, owner, since)) = try_to_take(store, &minha_loja()).await else { panic!("taken twice") };
    assert_eq!(key, minha_loja());
    assert_eq!(owner, "the first");
    assert_eq!(since, "2026-11-27T06:30:00.123456Z");
}

pub(crate) async fn a_second_holder_in_the_same_process_is_refused_by_name(world: &World) {
    let _first = world.store.leases().acquire(&minha_loja(), "the first").await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    assert_held_by_the_first(&world.store).await;
    assert_held_by_the_first(&world.store.clone()).await;
}

pub(crate) async fn a_second_holder_over_another_connection_is_refused_by_name(world: &World) {
    let _first = world.store.leases().acquire(&minha_loja(), "the first").await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    assert_held_by_the_first(&world.open_again().await.unwrap()).await;
}

pub(crate) async fn a_released_lease_can_be_taken_again(world: &World) {
    let other = world.open_again().await.unwrap();
    world.lease().await.release().await.unwrap();
    let second = try_to_take(&other, &minha_loja()).await.unwrap();
    second.release().await.unwrap();
    world.lease().await.release().await.unwrap();
}

pub(crate) async fn a_dropped_lease_can_be_taken_again(world: &World) {
    drop(world.lease().await);
    let again = try_to_take(&world.store, &minha_loja()).await;
    drop(again.expect("a dropped lease is still held in its own process"));
    let other = world.open_again().await.unwrap();
    let again = try_to_take(&other, &minha_loja()).await;
    assert!(again.is_ok(), "a dropped lease is still held over another connection");
}

pub(crate) async fn the_fence_rises_with_every_holder(world: &World) {
    let other = world.open_again().await.unwrap();
    let mut last = 0;
    for store in [&world.store, &other, &other, &world.store] {
        let lease = store.leases().acquire(&minha_loja(), "the test").await.unwrap();
        assert_eq!(lease.store(), &minha_loja());
        assert!(lease.fence() > last, "{} after {last}", lease.fence());
        last = lease.fence();
        lease.release().await.unwrap();
    }
}

pub(crate) async fn stores_are_leased_apart(world: &World) {
    let other = world.open_again().await.unwrap();
    let _here = world.lease_of(&store_key("a")).await;
    let _also_here = world.lease_of(&store_key("A")).await;
    let there = other.leases().acquire(&store_key("b"), "the test").await.unwrap();
    assert!(try_to_take(&world.store, &store_key("b")).await.is_err());
    there.release().await.unwrap();
    assert!(try_to_take(&other, &store_key("a")).await.is_err(), "releasing b has released a");
}

pub(crate) async fn writing_renews_the_lease(world: &World) {
    let lease = world.lease().await;
    world.clock.advance(Duration::from_secs(90));
    world.store.begin(&lease).await.unwrap().commit().await.unwrap();
    let line = world.tables.all("leases").await.remove(0);
    assert_eq!(line.get("acquired_at"), Some("2026-11-27T06:30:00.123456Z"));
    assert_eq!(line.get("renewed_at"), Some("2026-11-27T06:31:30.123456Z"));
}

// withstands: F111
pub(crate) async fn nothing_is_written_under_a_lease_that_was_overtaken(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    world.tables.execute("UPDATE leases SET fence = fence + 1, owner = 'another'").await;
    let before = everything(world).await;
    world.clock.advance(Duration::from_secs(1));
    let lost = world.store.begin(&lease).await.err();
    assert!(matches!(&lost, Some(Error::LeaseLost { store }) if *store == minha_loja()), "{lost:?}");
    assert_eq!(everything(world).await, before);
    // The refusal does not keep the writer waiting: the current holder continues.
    lease.release().await.unwrap();
    let next = world.lease().await;
    let mut tx = world.store.begin(&next).await.unwrap();
    tx.passes().keep_page(Resource::Orders, &page(1)).await.unwrap();
    tx.commit().await.unwrap();
}

async fn everything(world: &World) -> Vec<Vec<Line>> {
    let mut all = Vec::new();
    // Views are made of the tables, and some of them contain the time.
    for table in world.tables.names().await.into_iter().filter(|name| !name.starts_with("v_")) {
        all.push(world.tables.all(&table).await);
    }
    all
}

//! Rows that the mirror could not take.

use espelho_model::sync::Resource;
use espelho_store::{Failure, Lease};

use crate::world::{World, minha_loja, store_key};

fn failure(key: &str, code: &str) -> Failure {
    Failure {
        key: key.to_owned(),
        code: code.to_owned(),
        error: format!("a página de {key} não veio"),
        hint: "tente de novo".to_owned(),
        message: None,
    }
}

async fn note(world: &World, lease: &Lease, resource: Resource, failures: &[Failure]) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.failures().note_failures(resource, failures).await.unwrap();
    tx.commit().await.unwrap();
}

async fn clear(world: &World, lease: &Lease, resource: Resource, keys: &[&str]) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.failures().clear_failures(resource, keys.iter().map(|&key| key.to_owned()).collect()).await.unwrap();
    tx.commit().await.unwrap();
}

async fn told(world: &World, store: &str, resource: Resource) -> Vec<Failure> {
    world.store.mirror().failures(&store_key(store), resource).await.unwrap()
}

pub(crate) async fn a_row_that_failed_is_told_with_its_cause(world: &World) {
    let lease = world.lease().await;
    assert_eq!(told(world, "minha-loja", Resource::Orders).await, []);
    note(world, &lease, Resource::Orders, &[]).await;
    note(world, &lease, Resource::Orders, &[failure("2", "http_500"), failure("1", "unreadable")]).await;
    let expected = [failure("1", "unreadable"), failure("2", "http_500")];
    assert_eq!(world.store.mirror().failures(&minha_loja(), Resource::Orders).await.unwrap(), expected);
}

pub(crate) async fn a_row_that_fails_again_is_told_once(world: &World) {
    let lease = world.lease().await;
    note(world, &lease, Resource::Orders, &[failure("1", "http_500")]).await;
    note(world, &lease, Resource::Orders, &[failure("1", "http_404"), failure("2", "http_500")]).await;
    let expected = [failure("1", "http_404"), failure("2", "http_500")];
    assert_eq!(told(world, "minha-loja", Resource::Orders).await, expected);
}

pub(crate) async fn a_row_that_fails_twice_on_a_page_is_told_once(world: &World) {
    let lease = world.lease().await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    // Enough rows for one multi-row statement, which PostgreSQL refuses if it meets a row twice.
    let first = ["1", "2", "3", "4", "5"].map(|key| failure(key, "http_500"));
    let expected = ["1", "2", "3", "4", "5"].map(|key| failure(key, "http_404"));
    let twice = [first, expected.clone()].concat();
    tx.failures().note_failures(Resource::Orders, &twice).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(told(world, "minha-loja", Resource::Orders).await, expected);
}

pub(crate) async fn a_row_that_is_mended_is_told_no_more(world: &World) {
    let lease = world.lease().await;
    let many: Vec<Failure> = (0..250).map(|n| failure(&format!("{n:03}"), "http_500")).collect();
    note(world, &lease, Resource::Orders, &many).await;
    clear(world, &lease, Resource::Orders, &[]).await;
    assert_eq!(told(world, "minha-loja", Resource::Orders).await, many);
    let mended: Vec<&str> = many[1..].iter().map(|failure| failure.key.as_str()).collect();
    clear(world, &lease, Resource::Orders, &mended).await;
    clear(world, &lease, Resource::Orders, &["never failed"]).await;
    assert_eq!(told(world, "minha-loja", Resource::Orders).await, many[..1]);
}

pub(crate) async fn rows_that_failed_are_told_with_the_time_of_their_last_failure(world: &World) {
    let (lease, orders) = (world.lease().await, Resource::Orders);
    note(world, &lease, orders, &[failure("1", "unexpected"), failure("2", "unexpected")]).await;
    note(world, &lease, orders, &[failure("3", "http_500"), failure("4", "unexpected")]).await;
    note(world, &lease, Resource::Products, &[failure("1", "unexpected")]).await;
    let first = espelho_model::Clock::now(&*world.clock);
    world.clock.advance(std::time::Duration::from_secs(60));
    note(world, &lease, orders, &[failure("2", "unexpected")]).await;
    let last = espelho_model::Clock::now(&*world.clock);
    let keys = ["1", "2", "3", "5"].map(str::to_owned).to_vec();
    let mirror = world.store.mirror();
    let mut failed = mirror.failed_at(&minha_loja(), orders, keys).await.unwrap();
    failed.sort();
    let expected = [("1", first), ("2", last), ("3", first)];
    assert_eq!(failed, expected.map(|(key, at)| (key.to_owned(), at)));
}

pub(crate) async fn failures_of_other_resources_and_stores_are_left_alone(world: &World) {
    let (mine, yours) = (world.lease().await, world.lease_of(&store_key("outra")).await);
    for lease in [&mine, &yours] {
        for resource in Resource::ALL {
            note(world, lease, resource, &[failure("1", "http_500")]).await;
        }
    }
    clear(world, &mine, Resource::Products, &["1"]).await;
    assert_eq!(told(world, "minha-loja", Resource::Products).await, []);
    for (store, resource) in
        [("minha-loja", Resource::Orders), ("outra", Resource::Orders), ("outra", Resource::Products)]
    {
        assert_eq!(told(world, store, resource).await, [failure("1", "http_500")]);
    }
}

pub(crate) async fn malformed_deliveries_are_told_for_as_long_as_they_are_kept(world: &World) {
    let lease = world.lease().await;
    let malformed = async |failures: &[Failure]| {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.failures().note_malformed_deliveries(failures).await.unwrap();
        tx.commit().await.unwrap();
    };
    let minute = std::time::Duration::from_secs(60);
    note(world, &lease, Resource::Orders, &[failure("1", "unreadable")]).await;
    malformed(&[failure("a", "unreadable"), failure("b", "unreadable"), failure("c", "poisoned")]).await;
    world.clock.advance(minute);
    let between = espelho_model::Clock::now(&*world.clock);
    malformed(&[failure("b", "unreadable")]).await;
    world.clock.advance(minute);
    let later = espelho_model::Clock::now(&*world.clock);
    let pruned = async |before| world.store.mirror().prune_malformed_deliveries(before).await.unwrap();
    assert_eq!(pruned(between).await, 1, "b came again");
    assert_eq!((pruned(later).await, pruned(later).await), (1, 0), "what was set aside stays");
    assert_eq!(told(world, "minha-loja", Resource::Orders).await, [failure("1", "unreadable")]);
}

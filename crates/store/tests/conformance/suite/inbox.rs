//! The inbox of the webhook receiver.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::{DeliveryName, DeliverySelection, NewDelivery, Prunable, Store, StoredDelivery};

use crate::{
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key},
};

fn delivery(store: &str, body: &str) -> NewDelivery {
    NewDelivery {
        store: store_key(store),
        received_at: opening_hour(),
        event: Some("order.paid".to_owned()),
        digest: format!("{body:0>64}"),
        body: body.into(),
    }
}

fn bodies(deliveries: &[StoredDelivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| std::str::from_utf8(&delivery.body).unwrap()).collect()
}

async fn keep(store: &Store, deliveries: impl IntoIterator<Item = NewDelivery>) {
    store.inbox().keep_deliveries(deliveries.into_iter().collect()).await.unwrap();
}

async fn inbox(store: &Store) -> Vec<StoredDelivery> {
    store.inbox().unhandled(&minha_loja(), 0, 1_000).await.unwrap()
}

pub(crate) async fn a_delivery_is_read_back_by_another_as_it_came(world: &World) {
    let other = world.open_again().await.unwrap();
    let bytes: Vec<u8> = (0..=u8::MAX).chain(*b"\r\n\0\xff").collect();
    let first = NewDelivery {
        body: bytes,
        received_at: opening_hour() - TimeDelta::microseconds(1),
        ..delivery("minha-loja", "")
    };
    let second = NewDelivery { event: None, body: Vec::new(), ..delivery("minha-loja", "ção") };
    keep(&world.store, [first.clone(), second.clone()]).await;
    let read = inbox(&other).await;
    assert!(read[0].id > 0 && read[0].id < read[1].id);
    for (read, kept) in read.into_iter().zip([first, second]) {
        let NewDelivery { received_at, event, digest, body, .. } = kept;
        assert_eq!(read, StoredDelivery { id: read.id, received_at, event, digest, body });
    }
}

pub(crate) async fn the_same_delivery_twice_is_two_rows(world: &World) {
    keep(&world.store, [delivery("minha-loja", "a"), delivery("minha-loja", "a")]).await;
    keep(&world.store, [delivery("minha-loja", "a")]).await;
    assert_eq!(inbox(&world.store).await.len(), 3);
}

pub(crate) async fn deliveries_of_any_number_are_kept_in_their_order(world: &World) {
    let all: Vec<String> = (0..357).map(|n| n.to_string()).collect();
    keep(&world.store, all.iter().map(|body| delivery("minha-loja", body))).await;
    keep(&world.store, []).await;
    let (mut read, mut after) = (Vec::new(), 0);
    loop {
        let piece = world.store.inbox().unhandled(&minha_loja(), after, 100).await.unwrap();
        let Some(last) = piece.last() else { break };
        after = last.id;
        read.extend(bodies(&piece).into_iter().map(str::to_owned));
    }
    assert_eq!(read, all);
}

pub(crate) async fn what_is_handled_is_not_told_again(world: &World) {
    keep(&world.store, ["a", "b", "c"].map(|body| delivery("minha-loja", body))).await;
    let ids: Vec<i64> = inbox(&world.store).await.iter().map(|delivery| delivery.id).collect();
    assert_eq!(world.store.inbox().mark_handled(vec![ids[0], ids[2]]).await.unwrap(), 2);
    assert_eq!(bodies(&inbox(&world.store).await), ["b"]);
    assert_eq!(
        world.store.inbox().mark_handled(vec![ids[0], ids[1], 4_711]).await.unwrap(),
        1,
        "only what was open"
    );
    assert_eq!(world.store.inbox().mark_handled(Vec::new()).await.unwrap(), 0);
    assert!(inbox(&world.store).await.is_empty());
    keep(&world.store, [delivery("minha-loja", "d")]).await;
    let next = inbox(&world.store).await;
    assert!(next[0].id > ids[2], "an id is never used again");
}

pub(crate) async fn many_deliveries_are_handled_at_once(world: &World) {
    keep(&world.store, (0..1_234).map(|n| delivery("minha-loja", &n.to_string()))).await;
    let all = world.store.inbox().unhandled(&minha_loja(), 0, 2_000).await.unwrap();
    let ids = all.iter().map(|delivery| delivery.id).collect();
    assert_eq!(world.store.inbox().mark_handled(ids).await.unwrap(), 1_234);
    assert_eq!(world.store.inbox().backlog(&minha_loja()).await.unwrap(), 0);
}

pub(crate) async fn the_inbox_of_a_store_is_its_own(world: &World) {
    keep(&world.store, [delivery("outra", "theirs"), delivery("minha-loja", "mine")]).await;
    assert_eq!(bodies(&inbox(&world.store).await), ["mine"]);
    assert_eq!(world.store.inbox().backlog(&store_key("outra")).await.unwrap(), 1);
    assert_eq!(world.store.inbox().backlog(&store_key("nobody")).await.unwrap(), 0);
}

pub(crate) async fn the_age_is_that_of_the_oldest_open_delivery(world: &World) {
    let at = |minutes| opening_hour() + TimeDelta::minutes(minutes);
    let oldest = async || world.store.inbox().oldest_by_store().await.unwrap().remove("minha-loja");
    assert_eq!(oldest().await, None);
    for minutes in [1, 2] {
        keep(&world.store, [NewDelivery { received_at: at(minutes), ..delivery("minha-loja", "a") }]).await;
    }
    assert_eq!((oldest().await, world.store.inbox().backlog(&minha_loja()).await.unwrap()), (Some(at(1)), 2));
    let first = inbox(&world.store).await[0].id;
    world.store.inbox().mark_handled(vec![first]).await.unwrap();
    assert_eq!(oldest().await, Some(at(2)));
    keep(&world.store, [NewDelivery { received_at: at(5), ..delivery("outra", "b") }]).await;
    let all = world.store.inbox().oldest_by_store().await.unwrap();
    let expected = [("minha-loja".to_owned(), at(2)), ("outra".to_owned(), at(5))];
    assert_eq!(all, expected.into(), "one question for all");
}

pub(crate) async fn one_look_tells_all_stores_whether_they_have_open_deliveries(world: &World) {
    let age = std::time::Duration::from_secs(2);
    let has_unhandled = async |store: &str| world.store.inbox().has_unhandled(&store_key(store), age).await;
    assert!(!has_unhandled("minha-loja").await);
    keep(&world.store, [delivery("minha-loja", "a"), delivery("outra", "b")]).await;
    assert!(!has_unhandled("minha-loja").await, "the last look is not older than two seconds");
    world.clock.advance(age + std::time::Duration::from_millis(1));
    assert!(has_unhandled("minha-loja").await && has_unhandled("outra").await);
    let first = inbox(&world.store).await[0].id;
    world.store.inbox().mark_handled(vec![first]).await.unwrap();
    assert!(has_unhandled("minha-loja").await, "the same look");
    world.clock.advance(age * 2);
    assert!(
        !has_unhandled("minha-loja").await && has_unhandled("outra").await && !has_unhandled("nobody").await
    );
    world.clock.advance(age * 2);
    world.store.close().await;
    assert!(has_unhandled("nobody").await, "a look that failed says nothing");
}

/// Handles all open deliveries, at the clock's time.
async fn handle_all(world: &World) -> DateTime<Utc> {
    let ids = inbox(&world.store).await.iter().map(|delivery| delivery.id).collect();
    world.store.inbox().mark_handled(ids).await.unwrap();
    espelho_model::Clock::now(&*world.clock)
}

pub(crate) async fn only_what_was_handled_before_is_pruned(world: &World) {
    keep(&world.store, (0..1_000).map(|n| delivery("minha-loja", &n.to_string()))).await;
    let early = handle_all(world).await;
    world.clock.advance(std::time::Duration::from_secs(60));
    keep(&world.store, [delivery("minha-loja", "late")]).await;
    let late = handle_all(world).await;
    keep(&world.store, [delivery("minha-loja", "open")]).await;
    let prunable = async |before| world.store.inbox().prunable_deliveries(before).await.unwrap();
    assert_eq!(prunable(early).await, Prunable::default());
    // The digits of 0 to 999.
    assert_eq!(prunable(late).await, Prunable { rows: 1_000, bytes: 10 + 180 + 2_700 });
    assert_eq!(world.store.inbox().prune_inbox(early).await.unwrap(), 0);
    assert_eq!(world.store.inbox().prune_inbox(late).await.unwrap(), 1_000);
    assert_eq!(world.store.inbox().prune_inbox(late + TimeDelta::days(1)).await.unwrap(), 1);
    assert_eq!(bodies(&inbox(&world.store).await), ["open"]);
}

pub(crate) async fn two_receivers_keep_deliveries_at_once(world: &World) {
    let other = world.open_again().await.unwrap();
    let keep_many = async |store: &Store| {
        for _ in 0..20 {
            keep(store, (0..10).map(|n| delivery("minha-loja", &n.to_string()))).await;
        }
    };
    tokio::join!(keep_many(&world.store), keep_many(&other));
    assert_eq!(world.store.inbox().backlog(&minha_loja()).await.unwrap(), 400);
}

async fn ids_of(world: &World, selection: &DeliverySelection) -> Vec<i64> {
    let (mut ids, mut after) = (Vec::new(), 0);
    loop {
        let page = world.store.inbox().deliveries(&minha_loja(), selection, after).await.unwrap();
        let Some(last) = page.last() else { return ids };
        after = last.id;
        ids.extend(page.iter().map(|row| row.id));
    }
}

pub(crate) async fn a_delivery_is_replayed_as_often_as_it_is_asked_for(world: &World) {
    keep(&world.store, ["a", "a", "b"].map(|body| delivery("minha-loja", body))).await;
    let before = inbox(&world.store).await;
    let ids: Vec<i64> = before.iter().map(|delivery| delivery.id).collect();
    for _ in 0..2 {
        handle_all(world).await;
        assert!(inbox(&world.store).await.is_empty());
        assert_eq!(world.store.inbox().replay(&minha_loja(), ids.clone()).await.unwrap(), 3);
        assert_eq!(inbox(&world.store).await, before, "the rows are the same, equal bodies too");
    }
    assert_eq!(world.store.inbox().replay(&minha_loja(), ids).await.unwrap(), 0, "what is open stays open");
    assert_eq!(world.store.inbox().replay(&minha_loja(), Vec::new()).await.unwrap(), 0);
}

pub(crate) async fn deliveries_are_selected_by_name_time_and_event(world: &World) {
    let late = opening_hour() + TimeDelta::minutes(5);
    let digest = "0123456789abcdef".repeat(4);
    keep(
        &world.store,
        [
            delivery("minha-loja", "a"),
            NewDelivery { received_at: late, ..delivery("minha-loja", "b") },
            NewDelivery { event: None, ..delivery("minha-loja", "c") },
            NewDelivery { digest: digest.clone(), ..delivery("minha-loja", "d") },
            delivery("outra", "a"),
        ],
    )
    .await;
    let all = ids_of(world, &DeliverySelection::default()).await;
    let of = |name| DeliverySelection { name: Some(name), ..DeliverySelection::default() };
    let event =
        |event: &str| DeliverySelection { event: Some(event.to_owned()), ..DeliverySelection::default() };
    let since = |since| DeliverySelection { since: Some(since), ..DeliverySelection::default() };
    for (selection, expected) in [
        (of(DeliveryName::Id(all[1])), &all[1..2]),
        (of(DeliveryName::Id(all[3] + 1)), &[]),
        (of(DeliveryName::parse(&digest).unwrap()), &all[3..]),
        (event("order.paid"), &[all[0], all[1], all[3]]),
        (event("order.created"), &[]),
        (since(late), &all[1..2]),
        (since(late + TimeDelta::microseconds(1)), &[]),
        (since(opening_hour()), &all),
    ] {
        assert_eq!(ids_of(world, &selection).await, expected, "{selection:?}");
    }
    keep(&world.store, (0..2_000).map(|n| delivery("minha-loja", &n.to_string()))).await;
    assert_eq!(ids_of(world, &DeliverySelection::default()).await.len(), 2_004, "page by page");
}

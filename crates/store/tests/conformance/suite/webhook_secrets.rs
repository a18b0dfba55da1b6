//! The secrets that sign deliveries.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::Clock as _;
use espelho_store::{KeptSecret, SECRET_GRACE, Store};

use crate::{
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key},
};

async fn known(world: &World, store: &Store) -> Vec<String> {
    let secrets = store.inbox().secrets(&minha_loja(), world.clock.now()).await.unwrap();
    secrets.into_iter().map(|kept| kept.secret).collect()
}

// withstands: F036
pub(crate) async fn a_new_secret_retires_the_one_before_which_stays_for_a_day(world: &World) {
    let other = world.open_again().await.unwrap();
    assert!(known(world, &other).await.is_empty());
    world.store.inbox().keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    world.clock.advance(Duration::from_secs(3_600));
    world.store.inbox().keep_secret(&minha_loja(), "whsec_b").await.unwrap();
    assert_eq!(known(world, &other).await, ["whsec_b", "whsec_a"]);
    let retired_at = opening_hour() + TimeDelta::hours(1);
    let [new, old] = other.inbox().secrets(&minha_loja(), retired_at).await.unwrap().try_into().unwrap();
    assert_eq!((new.obtained_at, new.retired_at), (retired_at, None));
    assert_eq!((old.obtained_at, old.retired_at), (opening_hour(), Some(retired_at)));
    world.clock.advance(Duration::from_secs(24 * 3_600 - 1));
    assert_eq!(known(world, &other).await, ["whsec_b", "whsec_a"]);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(known(world, &other).await, ["whsec_b"]);
}

pub(crate) async fn the_same_secret_again_changes_nothing(world: &World) {
    world.store.inbox().keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    let before = world.store.inbox().secrets(&minha_loja(), world.clock.now()).await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    world.store.inbox().keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    assert_eq!(world.store.inbox().secrets(&minha_loja(), world.clock.now()).await.unwrap(), before);
}

pub(crate) async fn a_secret_that_comes_back_is_the_current_one(world: &World) {
    for secret in ["whsec_a", "whsec_b", "whsec_a"] {
        world.store.inbox().keep_secret(&minha_loja(), secret).await.unwrap();
    }
    let now = world.clock.now();
    let secrets = world.store.inbox().secrets(&minha_loja(), now).await.unwrap();
    let current: Vec<_> = secrets.iter().filter(|kept| kept.retired_at.is_none()).collect();
    assert!(current.len() == 1 && current[0].secret == "whsec_a", "{secrets:?}");
}

pub(crate) async fn secrets_of_other_stores_are_left_alone(world: &World) {
    world.store.inbox().keep_secret(&store_key("outra"), "whsec_theirs").await.unwrap();
    world.store.inbox().keep_secret(&minha_loja(), "whsec_mine").await.unwrap();
    assert_eq!(known(world, &world.store).await, ["whsec_mine"]);
    let theirs = world.store.inbox().secrets(&store_key("outra"), world.clock.now()).await.unwrap();
    assert!(theirs.len() == 1 && theirs[0].retired_at.is_none());
}

pub(crate) async fn a_secret_is_never_shown_and_knows_how_long_it_is_accepted(world: &World) {
    world.store.inbox().keep_secret(&minha_loja(), "whsec_s3cret").await.unwrap();
    let kept = world.store.inbox().secrets(&minha_loja(), world.clock.now()).await.unwrap().remove(0);
    assert!(!format!("{kept:?}").contains("s3cret"), "{kept:?}");
    assert!(kept.is_accepted(opening_hour() + TimeDelta::days(1_000)));
    let retired = KeptSecret { retired_at: Some(opening_hour()), ..kept };
    assert!(retired.is_accepted(opening_hour() + SECRET_GRACE - TimeDelta::microseconds(1)));
    assert!(!retired.is_accepted(opening_hour() + SECRET_GRACE));
}

//! The token of a store, and the logins made for it.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::{KeptToken, LoginOnRecord};

use crate::{
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key},
};

fn token(text: &str) -> KeptToken {
    let obtained_at = opening_hour();
    KeptToken {
        token: text.to_owned(),
        expires_at: obtained_at + TimeDelta::hours(24),
        obtained_at,
        username: format!("loja@{text}"),
        base_url: format!("https://{text}.example"),
        password_check: Some(255),
    }
}

fn login(at: DateTime<Utc>, reason: &str) -> LoginOnRecord {
    LoginOnRecord { at, reason: reason.to_owned() }
}

pub(crate) async fn a_token_is_kept_until_the_next_one(world: &World) {
    let other = world.open_again().await.unwrap();
    assert_eq!(world.store.tokens().token(&minha_loja()).await.unwrap(), None);
    world.store.tokens().keep_token(&minha_loja(), token("first")).await.unwrap();
    world.store.tokens().keep_token(&store_key("outra"), token("theirs")).await.unwrap();
    assert_eq!(other.tokens().token(&minha_loja()).await.unwrap(), Some(token("first")));
    let second = KeptToken {
        expires_at: opening_hour() + TimeDelta::microseconds(1),
        password_check: None,
        ..token("second|ção")
    };
    world.store.tokens().keep_token(&minha_loja(), second.clone()).await.unwrap();
    assert_eq!(other.tokens().token(&minha_loja()).await.unwrap(), Some(second));
    assert_eq!(other.tokens().token(&store_key("outra")).await.unwrap(), Some(token("theirs")));
}

pub(crate) async fn a_token_is_never_shown(world: &World) {
    world.store.tokens().keep_token(&minha_loja(), token("s3cret")).await.unwrap();
    let kept = world.store.tokens().token(&minha_loja()).await.unwrap();
    assert!(!format!("{kept:?}").contains("s3cret"), "{kept:?}");
}

// withstands: F085
pub(crate) async fn logins_are_told_from_a_time_on_oldest_first(world: &World) {
    let minutes = |n| opening_hour() + TimeDelta::minutes(n);
    let logins = [(30, "renewal"), (10, "no token"), (20, "401")];
    for (at, reason) in logins {
        world.store.tokens().record_login(&minha_loja(), &login(minutes(at), reason)).await.unwrap();
    }
    let since = async |at| world.store.tokens().logins_since(&minha_loja(), at).await.unwrap();
    let [ten, twenty, thirty] =
        [(10, "no token"), (20, "401"), (30, "renewal")].map(|(at, reason)| login(minutes(at), reason));
    assert_eq!(since(minutes(0)).await, [ten, twenty.clone(), thirty.clone()]);
    assert_eq!(since(minutes(20)).await, [twenty, thirty.clone()]);
    assert_eq!(since(minutes(20) + TimeDelta::microseconds(1)).await, [thirty]);
    assert_eq!(since(minutes(31)).await, []);
    assert_eq!(world.store.tokens().logins_since(&store_key("outra"), minutes(0)).await.unwrap(), []);
}

/// Recorded before the login, so that a login that kills the process still counts.
pub(crate) async fn a_login_that_succeeds_replaces_its_attempt(world: &World) {
    let at = opening_hour();
    for reason in ["attempt", "renewal"] {
        world.store.tokens().record_login(&minha_loja(), &login(at, reason)).await.unwrap();
    }
    world.store.tokens().record_login(&store_key("outra"), &login(at, "attempt")).await.unwrap();
    let mine = world.store.tokens().logins_since(&minha_loja(), at).await.unwrap();
    assert_eq!(mine, [login(at, "renewal")]);
    let theirs = world.store.tokens().logins_since(&store_key("outra"), at).await.unwrap();
    assert_eq!(theirs, [login(at, "attempt")]);
}

pub(crate) async fn logins_of_more_than_a_week_ago_are_forgotten(world: &World) {
    let days = |n| opening_hour() + TimeDelta::days(n);
    for store in ["minha-loja", "outra"] {
        for day in [0, 1] {
            world.store.tokens().record_login(&store_key(store), &login(days(day), "renewal")).await.unwrap();
        }
    }
    world.store.tokens().record_login(&minha_loja(), &login(days(8), "renewal")).await.unwrap();
    let kept = async |store: &str| {
        let logins = world.store.tokens().logins_since(&store_key(store), days(0)).await.unwrap();
        logins.into_iter().map(|login| login.at).collect::<Vec<_>>()
    };
    assert_eq!(kept("minha-loja").await, [days(1), days(8)]);
    assert_eq!(kept("outra").await, [days(0), days(1)]);
}

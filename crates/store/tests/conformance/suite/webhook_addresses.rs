//! The addresses of webhooks, with the time since when each is registered.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::WebhookOwner;

use crate::{
    hand_clock::opening_hour,
    world::{World, minha_loja},
};

const ADDRESS: &str = "https://hub.example/webhooks/minha-loja";

async fn log_in(world: &World, username: &str, url: &str) {
    let store = minha_loja();
    let owner = WebhookOwner { store: &store, username, base_url: "https://marketplace.example" };
    world.store.inbox().keep_webhook_address(owner, url).await.unwrap();
    world.clock.advance(Duration::from_secs(60));
}

async fn since(world: &World, username: &str) -> Option<DateTime<Utc>> {
    let store = minha_loja();
    let owner = WebhookOwner { store: &store, username, base_url: "https://marketplace.example" };
    world.store.inbox().webhook_address(owner).await.unwrap().map(|registered| registered.since)
}

fn after(minutes: i64) -> Option<DateTime<Utc>> {
    Some(opening_hour() + TimeDelta::minutes(minutes))
}

pub(crate) async fn an_address_is_as_old_as_its_first_login(world: &World) {
    assert_eq!(since(world, "erp").await, None);
    log_in(world, "erp", ADDRESS).await;
    log_in(world, "erp", ADDRESS).await;
    assert_eq!(since(world, "erp").await, after(0), "the same address again");
    log_in(world, "erp", "https://new.example/webhooks/minha-loja").await;
    assert_eq!(since(world, "erp").await, after(2), "another address");
    log_in(world, "erp", ADDRESS).await;
    assert_eq!(since(world, "erp").await, after(3), "back again");
    log_in(world, "other", ADDRESS).await;
    assert_eq!((since(world, "erp").await, since(world, "other").await), (after(3), after(4)));
}

pub(crate) async fn an_address_that_may_move_begins_anew(world: &World) {
    log_in(world, "erp", ADDRESS).await;
    assert!(world.store.inbox().let_webhook_move(&minha_loja()).await.unwrap());
    assert_eq!(since(world, "erp").await, None);
    log_in(world, "erp", ADDRESS).await;
    assert_eq!(since(world, "erp").await, after(1));
}

// withstands: F087
pub(crate) async fn the_time_of_a_clock_that_was_ahead_is_replaced(world: &World) {
    log_in(world, "erp", ADDRESS).await;
    world.tables.execute("UPDATE webhook_addresses SET registered_at = '2099-01-01T00:00:00.000000Z'").await;
    log_in(world, "erp", ADDRESS).await;
    assert_eq!(since(world, "erp").await, after(1));
}

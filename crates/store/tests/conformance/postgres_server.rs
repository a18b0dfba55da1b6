//! What only a database server has: addresses with passwords, and locks that live in a connection.

use std::{net::TcpListener, sync::Arc};

use espelho_store::{Error, Store};

use crate::{
    hand_clock::HandClock,
    world::{World, minha_loja, server, store_key},
};

async fn open(url: &str) -> Option<Error> {
    Store::open(url, Arc::new(HandClock::default())).await.err()
}

/// A port of this machine where nobody listens any more.
fn deserted_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The error with all of its causes, as a log would have it.
fn with_causes(error: &Error) -> String {
    let first: &dyn std::error::Error = error;
    std::iter::successors(Some(first), |error| error.source()).map(|error| format!("{error}: ")).collect()
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_to_be_unreachable() {
    let error = open(&format!("postgres://erp:s3cret@127.0.0.1:{}/espelho", deserted_port())).await;
    let Some(error @ Error::Connect { .. }) = error else { panic!("{error:?}") };
    assert!(error.hint().contains("server runs"), "{}", error.hint());
    let told = with_causes(&error);
    assert!(!told.contains("s3cret"), "{told}");
    assert!(told.contains("refused"), "the cause is not told: {told}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named() {
    let world = World::on_postgres().await;
    let url = world.url.replace("/espelho_test_", "/espelho_nowhere_");
    let error = open(&url).await;
    let Some(error @ Error::Connect { .. }) = error else { panic!("{error:?}") };
    assert!(with_causes(&error).contains("does not exist"), "{}", with_causes(&error));
}

#[tokio::test]
async fn a_password_is_never_shown_wherever_the_address_has_it() {
    let (host, port) = (server().get_host().to_owned(), server().get_port());
    for url in [
        format!("postgres://erp:s3cret@{host}:{port}/espelho_nowhere"),
        format!("postgres://{host}:{port}/espelho_nowhere?user=erp&password=s3cret"),
        "postgres://erp:s3cret@[not-an-address/espelho".to_owned(),
    ] {
        let error = open(&url).await.expect("there is no such database");
        let told = format!("{} {error:?}", with_causes(&error));
        assert!(!told.contains("s3cret"), "{told}");
    }
}

#[tokio::test]
async fn a_database_on_a_server_has_no_file() {
    assert_eq!(World::on_postgres().await.store.file(), None);
}

/// The databases of one server share its lock manager, not their stores.
#[tokio::test]
async fn one_store_in_two_databases_of_a_server_is_leased_apart() {
    let (here, there) = (World::on_postgres().await, World::on_postgres().await);
    let (_here, _there) = (here.lease().await, there.lease().await);
}

/// Ends the connections that hold locks, as a restart of the server or a broken network would.
async fn cut_lock_connections(world: &World) {
    let cut = "SELECT CAST(pg_terminate_backend(pid, 5000) AS TEXT) FROM (SELECT DISTINCT pid FROM pg_locks \
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS l";
    assert_eq!(world.tables.list(cut).await, ["true"]);
}

#[tokio::test]
async fn a_lock_ends_with_its_connection_and_the_fence_keeps_the_old_holder_out() {
    let world = World::on_postgres().await;
    let other = world.open_again().await.unwrap();
    let old = world.lease().await;
    cut_lock_connections(&world).await;
    // Nobody has taken the store meanwhile, so the old holder's writes are still his.
    world.store.begin(&old).await.unwrap().commit().await.unwrap();
    let new = other.acquire(&minha_loja(), "the other").await.unwrap();
    assert!(new.fence() > old.fence());
    let lost = world.store.begin(&old).await.err();
    assert!(matches!(lost, Some(Error::LeaseLost { .. })), "{lost:?}");
    other.begin(&new).await.unwrap().commit().await.unwrap();
    old.release().await.unwrap();
    let held = world.store.acquire(&minha_loja(), "the test").await.err();
    assert!(matches!(&held, Some(Error::Held { owner, .. }) if owner == "the other"), "{held:?}");
}

/// Letting go of a lease that was lost must not let go of the one that has replaced it.
#[tokio::test]
async fn releasing_a_lost_lease_leaves_its_successor_in_the_same_process_alone() {
    let world = World::on_postgres().await;
    let other = world.open_again().await.unwrap();
    let lost = world.lease().await;
    cut_lock_connections(&world).await;
    // Any other lock makes the process notice that its connection, and with it the first lease, is gone.
    let _noticed = world.lease_of(&store_key("outra")).await;
    let successor = world.lease().await;
    lost.release().await.unwrap();
    let held = other.acquire(&minha_loja(), "the other").await.err();
    assert!(matches!(held, Some(Error::Held { .. })), "the successor has lost its lock: {held:?}");
    world.store.begin(&successor).await.unwrap().commit().await.unwrap();
}

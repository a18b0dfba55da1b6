//! Tests of the server only: addresses with passwords, locks that belong to a connection, transactions that overlap,
//! and listeners.

use std::{collections::BTreeSet, net::TcpListener, str::FromStr as _, sync::Arc, time::Duration};

use espelho_model::{
    Clock as _,
    symptom::{DatabaseRefusal, Symptom},
};
use espelho_store::{
    CHANNEL, DatabaseTrouble, Error, Heard, IntentKind, Lease, NewDelivery, Op, RowWords, Store,
};
use espelho_test_database::server::{run_on, server};
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgListener},
};

use crate::{
    examples::order,
    hand_clock::HandClock,
    world::{World, minha_loja, store_key, write_orders},
};

async fn open(url: &str) -> Option<Error> {
    Store::open(url, Arc::new(HandClock::default())).await.err()
}

/// A port of this machine without a listener.
fn deserted_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The error with all of its causes, as in a log.
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
async fn the_server_says_how_many_locks_it_has_room_for() {
    let world = World::on_postgres().await;
    let table = world.store.leases().lock_table().await.unwrap().unwrap();
    // The server itself refuses fewer than ten.
    assert!(table.locks_per_transaction >= 10 && table.connections > 0, "{table:?}");
    let world = World::on_sqlite().await;
    assert_eq!(world.store.leases().lock_table().await.unwrap(), None);
}

/// PostgreSQL gives one code to a connection that it refuses and to statements that come too early.
#[tokio::test]
async fn a_database_is_closed_if_it_refuses_the_connection_and_not_if_it_refuses_a_statement() {
    let world = World::on_postgres().await;
    world.tables.execute("CREATE SEQUENCE untouched").await;
    let asked = world.store.diagnostics().ask("SELECT CAST(currval('untouched') AS TEXT)", 1).await;
    assert_eq!(asked.err().map(|error| error.symptom()), Some(Symptom::Refused("55000".into())));
    let name = PgConnectOptions::from_str(&world.url).unwrap().get_database().unwrap().to_owned();
    run_on(&server(), format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await;
    let closed = open(&world.url).await.map(|error| error.symptom());
    assert_eq!(closed, Some(Symptom::Database(DatabaseRefusal::Closed, "55000".into())));
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

/// Ends the connections that hold locks, like a restart of the server or a broken network.
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
    // Nobody has taken the store meanwhile, so the old holder may still write.
    world.store.begin(&old).await.unwrap().commit().await.unwrap();
    let new = other.leases().acquire(&minha_loja(), "the other").await.unwrap();
    assert!(new.fence() > old.fence());
    let lost = world.store.begin(&old).await.err();
    assert!(matches!(lost, Some(Error::LeaseLost { .. })), "{lost:?}");
    other.begin(&new).await.unwrap().commit().await.unwrap();
    old.release().await.unwrap();
    let held = world.store.leases().acquire(&minha_loja(), "the test").await.err();
    assert!(matches!(&held, Some(Error::Held { owner, .. }) if owner == "the other"), "{held:?}");
}

/// Releasing a lost lease must not release its successor.
#[tokio::test]
async fn releasing_a_lost_lease_leaves_its_successor_in_the_same_process_alone() {
    let world = World::on_postgres().await;
    let other = world.open_again().await.unwrap();
    let lost = world.lease().await;
    cut_lock_connections(&world).await;
    // Taking any other lock makes the process notice that its connection, and with it the first lease, is gone.
    let _noticed = world.lease_of(&store_key("outra")).await;
    let successor = world.lease().await;
    lost.release().await.unwrap();
    let held = other.leases().acquire(&minha_loja(), "the other").await.err();
    assert!(matches!(held, Some(Error::Held { .. })), "the successor has lost its lock: {held:?}");
    world.store.begin(&successor).await.unwrap().commit().await.unwrap();
}

/// Transactions commit in another order than they begin; the feed's numbers rise in the order of commits.
#[tokio::test]
async fn a_page_that_was_written_first_and_kept_last_comes_last_in_the_feed() {
    let world = World::on_postgres().await;
    let (a, b) = (world.lease_of(&store_key("a")).await, world.lease_of(&store_key("b")).await);
    let mut first = world.store.begin(&a).await.unwrap();
    write_orders(&mut first, Op::Insert, vec![order("1", "paid"), order("2", "paid")]).await;
    let mut second = world.store.begin(&b).await.unwrap();
    write_orders(&mut second, Op::Insert, vec![order("3", "paid")]).await;
    second.commit().await.unwrap();
    let read = world.store.changes().changes_after(0, 100).await.unwrap();
    assert_eq!(read.iter().map(|change| change.key.as_str()).collect::<Vec<_>>(), ["3"]);
    first.commit().await.unwrap();
    let rest = world.store.changes().changes_after(read[0].seq, 100).await.unwrap();
    assert_eq!(rest.iter().map(|change| change.key.as_str()).collect::<Vec<_>>(), ["1", "2"]);
}

/// Between its numbers and its commit a page holds the feed's lock; the next page waits and comes after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_waits_for_the_one_that_is_telling_the_feed() {
    let world = World::on_postgres().await;
    let mut telling = PgConnectOptions::from_str(&world.url).unwrap().connect().await.unwrap();
    // The last step of a page, stopped just before its commit.
    for sql in [
        "BEGIN",
        "SELECT pg_advisory_xact_lock(hashtextextended('espelho, changes of ' || current_schema(), 0))",
        "INSERT INTO changes (store, entity, key, op, at) VALUES ('a', 'order', '1', 'insert', now())",
    ] {
        sqlx::query(sql).execute(&mut telling).await.unwrap();
    }
    let lease = world.lease_of(&store_key("b")).await;
    let store = world.store.clone();
    let waiting = tokio::spawn(async move {
        let mut tx = store.begin(&lease).await.unwrap();
        write_orders(&mut tx, Op::Insert, vec![order("2", "paid")]).await;
        tx.commit().await.unwrap();
    });
    let waits = "SELECT CAST(count(*) AS TEXT) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while world.tables.list(waits).await != ["1"] {
        assert!(!waiting.is_finished(), "it did not wait");
    }
    assert!(world.store.changes().changes_after(0, 100).await.unwrap().is_empty());
    sqlx::query("COMMIT").execute(&mut telling).await.unwrap();
    waiting.await.unwrap();
    let read = world.store.changes().changes_after(0, 100).await.unwrap();
    assert_eq!(read.iter().map(|change| change.key.as_str()).collect::<Vec<_>>(), ["1", "2"]);
}

#[tokio::test]
async fn listeners_are_told_which_store_has_news_and_nothing_else() {
    let world = World::on_postgres().await;
    let mut listener = PgListener::connect(&world.url).await.unwrap();
    listener.listen(CHANNEL).await.unwrap();
    let (a, b) = (world.lease_of(&store_key("a")).await, world.lease_of(&store_key("b")).await);
    let page = (0..100).map(|n| order(&n.to_string(), "paid")).collect();
    world.write_orders(&a, Op::Insert, page).await;
    world.store.flush_notifications().await.unwrap();
    assert_eq!(listener.recv().await.unwrap().payload(), "a");
    // A page without changes and a rolled-back page send nothing: the next notification is of the other store.
    world.store.begin(&a).await.unwrap().commit().await.unwrap();
    let mut lost = world.store.begin(&a).await.unwrap();
    write_orders(&mut lost, Op::Insert, vec![order("lost", "paid")]).await;
    drop(lost);
    world.store.flush_notifications().await.unwrap();
    world.write_orders(&b, Op::Insert, vec![order("1", "paid")]).await;
    world.store.flush_notifications().await.unwrap();
    assert_eq!(listener.recv().await.unwrap().payload(), "b");
    assert_eq!(
        world.store.changes().changes_after(0, 1_000).await.unwrap().len(),
        101,
        "told before it was kept"
    );
}

/// Ends the session with the locks, like a restart of the server, and waits until the locks are gone.
async fn end_the_session(world: &World) {
    let of_this_database = "FROM pg_locks WHERE locktype = 'advisory' AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    world.tables.execute(&format!("SELECT pg_terminate_backend(pid) {of_this_database}")).await;
    let left = format!("SELECT CAST(count(*) AS TEXT) {of_this_database}");
    while world.tables.list(&left).await != ["0"] {}
}

/// How long a new owner waits for the previous one.
async fn wait_of(world: &World, lease: &Lease) -> Duration {
    let before = world.clock.monotonic();
    lease.lease_guard().wait_until_active().await;
    world.clock.monotonic().saturating_sub(before)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_owner_that_did_not_let_go_is_waited_for_by_the_next_one() {
    let world = World::on_postgres().await;
    let other = world.open_again().await.unwrap();
    let first = world.lease().await;
    assert_eq!(wait_of(&world, &first).await, Duration::ZERO, "there was nobody before");
    first.release().await.unwrap();
    let second = other.leases().acquire(&minha_loja(), "the second").await.unwrap();
    assert_eq!(wait_of(&world, &second).await, Duration::ZERO, "the first has let go");
    end_the_session(&world).await;
    let third = world.lease().await;
    assert_eq!(wait_of(&world, &third).await, Duration::from_secs(6), "the second may not know it yet");
    end_the_session(&world).await;
    let again = world.lease().await;
    assert_eq!(wait_of(&world, &again).await, Duration::ZERO, "it was its own, and nobody was there between");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_whose_session_was_ended_hears_of_it_and_may_not_call() {
    let world = World::on_postgres().await;
    let lease = world.lease().await;
    lease.lease_guard().confirm().await.unwrap();
    end_the_session(&world).await;
    tokio::select! {
        () = world.store.leases().watch_over_leases() => (),
        () = lease.lease_guard().ended() => (),
    }
    let lost = lease.lease_guard().confirm().await;
    assert!(matches!(&lost, Err(Error::LeaseLost { store }) if *store == minha_loja()), "{lost:?}");
    let next = world.lease().await;
    next.lease_guard().confirm().await.unwrap();
    assert!(lease.lease_guard().confirm().await.is_err(), "another lease does not bring it back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_watches_the_inbox_hears_for_which_store_others_have_received() {
    let world = World::on_postgres().await;
    let mut watch = world.open_again().await.unwrap().inbox().watch_inbox().await.unwrap().unwrap();
    let delivery = |store: &str, digest: &str| NewDelivery {
        store: store_key(store),
        received_at: world.clock.now(),
        event: None,
        digest: digest.to_owned(),
        body: b"{}".to_vec(),
    };
    let at_once = vec![delivery("a", "1"), delivery("b", "2"), delivery("a", "3")];
    world.store.inbox().keep_deliveries(at_once).await.unwrap();
    world.store.flush_notifications().await.unwrap();
    let mut heard = Vec::new();
    for _ in 0..2 {
        heard.push(watch.next().await.unwrap());
    }
    heard.sort_by_key(|heard| format!("{heard:?}"));
    assert_eq!(heard, [Heard::Deliveries(store_key("a")), Heard::Deliveries(store_key("b"))]);
}

/// More turns than sessions.
const TURNS: usize = 20;

/// A session opened before its server became a replica stays read-only for its whole life.
// withstands: F106
#[tokio::test]
async fn a_session_that_may_only_read_is_not_used_again() {
    let world = World::on_postgres().await;
    let demote = "SELECT set_config('default_transaction_read_only', 'on', false)";
    assert_eq!(world.store.diagnostics().ask(demote, 1).await.unwrap(), [["on"]]);
    for _ in 0..TURNS {
        world.store.diagnostics().prove_write().await.unwrap();
    }
}

// withstands: F106
#[tokio::test]
async fn a_server_that_takes_no_writes_is_told_apart_from_one_that_does_not_answer() {
    let world = World::on_postgres().await;
    let name = world.tables.list("SELECT CAST(current_database() AS TEXT)").await.remove(0);
    let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    world.tables.execute(&set).await;
    let clock = world.clock.clone();
    let store = Store::attach(&world.url, clock).await.unwrap();
    let refused = store.diagnostics().prove_write().await.unwrap_err();
    assert_eq!(refused.trouble(), DatabaseTrouble::ReadOnly, "{refused:?}");
}

// withstands: F105
#[tokio::test]
async fn a_session_whose_transaction_was_left_open_is_not_used_again() {
    let world = World::on_postgres().await;
    let mut sessions = BTreeSet::new();
    for turn in 0..2 * TURNS {
        let session =
            world.store.diagnostics().ask("SELECT CAST(pg_backend_pid() AS TEXT)", 1).await.unwrap();
        sessions.insert(session);
        if turn == TURNS {
            world.store.diagnostics().ask("BEGIN", 0).await.unwrap();
        }
    }
    assert!(sessions.len() < 10, "those that are well are used again: {sessions:?}");
    let open = "SELECT CAST(count(*) AS TEXT) FROM pg_stat_activity WHERE state = 'idle in transaction' \
        AND datname = current_database()";
    let mut left = world.tables.list(open).await;
    // The server takes a moment to notice that a session was closed.
    for _ in 0..1_000 {
        if left != ["0"] {
            left = world.tables.list(open).await;
        }
    }
    assert_eq!(left, ["0"]);
}

/// A transaction that notifies holds a lock of the whole server until it is durable.
// withstands: F155
#[tokio::test]
async fn no_transaction_that_writes_notifies() {
    let world = World::on_postgres().await;
    let mut listener = PgListener::connect(&world.url).await.unwrap();
    listener.listen_all([CHANNEL, "espelho_inbox", "espelho_outbox", "probe"]).await.unwrap();
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let delivery = NewDelivery {
        store: minha_loja(),
        received_at: world.clock.now(),
        event: None,
        digest: "1".to_owned(),
        body: b"{}".to_vec(),
    };
    world.store.inbox().keep_deliveries(vec![delivery]).await.unwrap();
    for sql in [
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', 5)",
        "UPDATE erp_stock SET quantity = 6",
        "INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', 'A', 5)",
        "UPDATE erp_prices SET price = 6",
        "INSERT INTO commands (store, kind) VALUES ('minha-loja', 'webhook.test')",
        "UPDATE commands SET state = 'failed'",
        "UPDATE commands SET kind = 'labels.generate'",
        "SELECT pg_notify('probe', '')",
    ] {
        world.tables.execute(sql).await;
    }
    // Notifications arrive in the order of commits: nothing came before the probe.
    assert_eq!(listener.recv().await.unwrap().channel(), "probe");
    world.store.flush_notifications().await.unwrap();
    let heard = [listener.recv().await.unwrap(), listener.recv().await.unwrap()];
    let mut heard = heard.map(|sent| (sent.channel().to_owned(), sent.payload().to_owned()));
    heard.sort();
    assert_eq!(
        heard,
        [CHANNEL, "espelho_inbox"].map(|channel| (channel.to_owned(), "minha-loja".to_owned()))
    );
    let wanting = world.store.intents().wanting_stores(IntentKind::Command).await;
    assert_eq!(wanting.unwrap(), [minha_loja()]);
}

/// A pooler may drop what a session is asked for at its start, so the bound goes with each read.
#[tokio::test]
async fn a_table_that_the_erp_keeps_locked_is_given_up_soon_and_hides_no_other() {
    let world = World::on_postgres().await;
    world.tables.execute("INSERT INTO commands (store, kind) VALUES ('minha-loja', 'webhook.test')").await;
    world.tables.execute("INSERT INTO commands (store, kind) VALUES ('outra', 'webhook.test')").await;
    let mut locking = PgConnectOptions::from_str(&world.url).unwrap().connect().await.unwrap();
    sqlx::raw_sql("BEGIN; TRUNCATE erp_stock").execute(&mut locking).await.unwrap();
    let (key, intents) = (minha_loja(), world.store.intents());
    let reads = async {
        [
            intents.wanting_stores(IntentKind::Stock).await.err(),
            intents.open_stock_page(&key, None).await.err(),
            intents.open_zeroes(&key).await.err(),
            intents.undone(None).await.err(),
            world.store.overview().rows_in_trouble().await.err(),
            world.store.overview().unseen_rows().await.err(),
            world.store.history().errors(None, 10).await.err(),
        ]
    };
    // The session's own bound is ten seconds for each.
    let refused = tokio::time::timeout(Duration::from_secs(9), reads).await.unwrap();
    for error in refused {
        assert_eq!(error.map(|error| error.trouble()), Some(DatabaseTrouble::Busy));
    }
    assert_eq!(intents.wanting_stores(IntentKind::Command).await.unwrap().len(), 2);
    let say = |_: &str| RowWords { error: "e".into(), hint: "h".into(), message: "{}".into() };
    let answered = intents.answer_unknown_stores(&[key].into(), &say).await.err();
    assert_eq!(answered.map(|error| error.trouble()), Some(DatabaseTrouble::Busy));
    let failed = world.tables.list("SELECT store FROM commands WHERE error_code = 'unknown_store'").await;
    assert_eq!(failed, ["outra"], "the rows of the other tables are answered");
}

//! Which connections are admitted, which have to go, and when.

use std::sync::atomic::AtomicBool;

use chrono::{DateTime, Utc};
use espelho_model::clock::Sleep;

use super::*;

/// A clock that advances only on command.
#[derive(Default)]
struct HandClock(AtomicU64);

impl HandClock {
    fn advance(&self, milliseconds: u64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(std::future::pending())
    }
}

struct Place {
    clock: Arc<HandClock>,
    connections: Arc<Connections>,
}

impl Place {
    fn with(connections: usize, connections_per_address: usize) -> Self {
        let clock = Arc::new(HandClock::default());
        let limits = ConnectionLimits {
            connections,
            connections_per_address,
            header: Duration::from_secs(5),
            request: Duration::from_secs(10),
            idle: Duration::from_secs(15),
        };
        let connections = Connections::new(limits, Arc::<HandClock>::clone(&clock));
        Self { clock, connections }
    }

    fn admit(&self, address: &str) -> Result<Guest, Refusal> {
        let registered = self.connections.admit(address.parse().unwrap())?;
        let connection = Arc::clone(&registered.0);
        let ended = Arc::new(AtomicBool::new(false));
        let task = Sentinel(Arc::clone(&ended), Some(registered));
        let task = tokio::spawn(async move {
            let _task = task;
            std::future::pending::<()>().await;
        });
        self.connections.served_by(connection.id(), task.abort_handle());
        Ok(Guest { connection, ended })
    }

    async fn sweep_after(&self, milliseconds: u64) {
        self.clock.advance(milliseconds);
        self.connections.sweep();
        settle().await;
    }
}

struct Guest {
    connection: Arc<Connection>,
    ended: Arc<AtomicBool>,
}

impl Guest {
    fn has_gone(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

struct Sentinel(Arc<AtomicBool>, Option<Registered>);

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.1.take();
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Lets aborted tasks end.
async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

const PROXY: &str = "127.0.0.1";

// withstands: F043
#[tokio::test]
async fn a_socket_that_says_nothing_or_half_a_head_goes_after_five_seconds() {
    let place = Place::with(10, 10);
    let (silent, half) = (place.admit(PROXY).unwrap(), place.admit(PROXY).unwrap());
    place.clock.advance(4_000);
    // A byte now and then buys no time.
    half.connection.bytes_came();
    place.sweep_after(999).await;
    assert!(!silent.has_gone() && !half.has_gone());
    place.sweep_after(1).await;
    assert!(silent.has_gone() && half.has_gone());
    assert_eq!(place.connections.len(), 0);
}

// withstands: F043
#[tokio::test]
async fn a_whole_request_has_ten_seconds_from_its_first_byte() {
    let place = Place::with(10, 10);
    let guest = place.admit(PROXY).unwrap();
    place.clock.advance(4_000);
    assert_eq!(guest.connection.request_began(), Duration::from_secs(6));
    place.sweep_after(6_100).await;
    assert!(!guest.has_gone(), "the answer that is due now may still be written");
    place.sweep_after(200).await;
    assert!(guest.has_gone());
}

// withstands: F043
#[tokio::test]
async fn the_next_request_may_begin_within_fifteen_seconds_and_has_its_own_time_then() {
    let place = Place::with(10, 10);
    let guest = place.admit(PROXY).unwrap();
    guest.connection.request_began();
    guest.connection.request_ended();
    place.sweep_after(14_000).await;
    assert!(!guest.has_gone());
    guest.connection.bytes_came();
    place.sweep_after(4_999).await;
    assert!(!guest.has_gone());
    assert_eq!(guest.connection.request_began(), Duration::from_millis(5_001));
    guest.connection.request_ended();
    // Its bytes came with the previous request, so nothing observed their arrival.
    assert_eq!(guest.connection.request_began(), Duration::from_secs(10));
    guest.connection.request_ended();
    place.sweep_after(15_000).await;
    assert!(guest.has_gone());
}

#[tokio::test]
async fn where_there_is_no_room_the_oldest_that_has_proven_nothing_goes() {
    let place = Place::with(3, 10);
    let [proven, old, young] = [(); 3].map(|()| place.admit(PROXY).unwrap());
    proven.connection.proven();
    let newcomer = place.admit(PROXY).unwrap();
    settle().await;
    assert!(old.has_gone() && !proven.has_gone() && !young.has_gone() && !newcomer.has_gone());
    assert_eq!(place.connections.len(), 3);
    for guest in [&young, &newcomer] {
        guest.connection.proven();
    }
    assert_eq!(place.admit(PROXY).err(), Some(Refusal::Full));
    assert!(!place.connections.evict());
}

// withstands: F043
#[tokio::test]
async fn an_address_has_its_share_and_a_proxy_on_this_machine_has_all() {
    let place = Place::with(100, 2);
    let guests: Vec<_> = ["203.0.113.7", "203.0.113.7", "2001:db8::1", "2001:db8::ffff:2"]
        .map(|address| place.admit(address).unwrap())
        .into();
    for full in ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::3"] {
        assert_eq!(place.admit(full).err(), Some(Refusal::Address), "{full}");
    }
    for free in
        ["203.0.113.8", "2001:db8:0:1::1", PROXY, PROXY, PROXY, "::1", "::1", "::1", "::ffff:127.0.0.1"]
    {
        assert!(place.admit(free).is_ok(), "{free}");
    }
    place.sweep_after(5_000).await;
    assert!(guests.iter().all(Guest::has_gone));
    assert!(place.admit("203.0.113.7").is_ok(), "who has gone is not counted");
}

#[tokio::test]
async fn a_connection_that_had_to_go_before_its_task_was_known_is_ended_too() {
    let place = Place::with(1, 10);
    let first = place.connections.admit(PROXY.parse().unwrap()).unwrap();
    let _second = place.connections.admit(PROXY.parse().unwrap()).unwrap();
    let task = tokio::spawn(std::future::pending::<()>());
    place.connections.served_by(first.0.id(), task.abort_handle());
    assert!(task.await.unwrap_err().is_cancelled());
}

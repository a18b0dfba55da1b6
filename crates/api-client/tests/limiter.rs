//! The rate limiter against a server that counts in each of the three ways, in simulated time. Nothing here has a
//! socket, so tokio's time may be paused and minutes pass in milliseconds.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::{
    collections::VecDeque,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::{
    error::BoxedError,
    limit::{BoxFuture, Lane, NoQuotaStore, Quota, QuotaStore, RateLimiter, Spent},
};
use espelho_model::{Clock, clock::SimulatedClock};
use proptest::{prelude::*, test_runner::TestRunner};

const LIMIT: usize = 300;
const MINUTE: Duration = Duration::from_secs(60);

/// The ways in which a server may count a minute.
#[derive(Clone, Copy, Debug)]
enum Window {
    Fixed,
    Sliding,
    FirstHit,
}

/// A server that counts, and records every arrival.
struct Server {
    window: Window,
    accepted: VecDeque<Duration>,
    opened: Option<Duration>,
    in_window: usize,
    arrivals: Vec<Duration>,
    refused: usize,
}

impl Server {
    fn new(window: Window) -> Self {
        Self {
            window,
            accepted: VecDeque::new(),
            opened: None,
            in_window: 0,
            arrivals: Vec::new(),
            refused: 0,
        }
    }

    fn arrive(&mut self, now: Duration) {
        self.arrivals.push(now);
        let counted = match self.window {
            Window::Sliding => {
                while self.accepted.front().is_some_and(|&at| at + MINUTE <= now) {
                    self.accepted.pop_front();
                }
                self.accepted.len()
            }
            Window::Fixed => self.count_since(Duration::from_secs(now.as_secs() / 60 * 60)),
            Window::FirstHit => {
                let opened = self.opened.filter(|&at| at + MINUTE > now).unwrap_or(now);
                self.count_since(opened)
            }
        };
        if counted >= LIMIT {
            self.refused += 1;
            return;
        }
        self.accepted.push_back(now);
        self.in_window += 1;
    }

    fn count_since(&mut self, opened: Duration) -> usize {
        if self.opened != Some(opened) {
            self.opened = Some(opened);
            self.in_window = 0;
        }
        self.in_window
    }

    fn most_in_any_minute(&self) -> usize {
        let mut arrivals = self.arrivals.clone();
        arrivals.sort();
        let mut from = 0;
        let in_minute = arrivals.iter().enumerate().map(|(at, &last)| {
            while arrivals[from] + MINUTE <= last {
                from += 1;
            }
            at - from + 1
        });
        in_minute.max().unwrap_or(0)
    }
}

/// One request's delays: to the server, and back.
type Delays = (Duration, Duration);

async fn work(
    limiter: Arc<RateLimiter>,
    lane: Lane,
    clock: Arc<dyn Clock>,
    server: Arc<Mutex<Server>>,
    delays: Vec<Delays>,
    until: Duration,
) {
    for (there, back) in delays.into_iter().cycle() {
        let permit = limiter.acquire(lane).await.unwrap();
        if clock.monotonic() >= until {
            return;
        }
        clock.sleep(there).await;
        server.lock().unwrap().arrive(clock.monotonic());
        clock.sleep(back).await;
        permit.answered(None, None);
    }
}

fn epoch() -> DateTime<Utc> {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

fn quota(per_minute: u32) -> Quota {
    Quota::per_minute(NonZeroU32::new(per_minute).unwrap())
}

/// Runs sixteen workers at saturation for `minutes` and returns the server's final state.
fn saturate(window: Window, lane: Lane, delays: Vec<Vec<Delays>>, minutes: u64) -> Server {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let server = runtime.block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
        let limiter =
            RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
        let server = Arc::new(Mutex::new(Server::new(window)));
        let until = MINUTE * u32::try_from(minutes).unwrap();
        let workers: Vec<_> = delays
            .into_iter()
            .map(|delays| {
                tokio::spawn(work(
                    Arc::clone(&limiter),
                    lane,
                    Arc::clone(&clock),
                    Arc::clone(&server),
                    delays,
                    until,
                ))
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
        server
    });
    Arc::into_inner(server).unwrap().into_inner().unwrap()
}

fn jitter() -> impl Strategy<Value = Vec<Vec<Delays>>> {
    let delay = prop_oneof![
        99 => 2u64..80,
        1 => 500u64..3_000,
    ];
    let delays =
        (delay.clone(), delay).prop_map(|(a, b)| (Duration::from_millis(a), Duration::from_millis(b)));
    prop::collection::vec(prop::collection::vec(delays, 40..60), 16)
}

// proves: LIM-001
// withstands: F092
#[test]
fn no_window_of_any_kind_ever_holds_more_than_the_limit_and_the_budget_is_used() {
    let minutes = 6;
    let mut runner = TestRunner::new(ProptestConfig { cases: 8, ..ProptestConfig::default() });
    runner
        .run(&jitter(), |delays| {
            for (window, lane) in [
                (Window::Fixed, Lane::Interactive),
                (Window::Sliding, Lane::Interactive),
                (Window::FirstHit, Lane::Interactive),
                (Window::Fixed, Lane::Backfill),
                (Window::Sliding, Lane::Backfill),
                (Window::FirstHit, Lane::Backfill),
            ] {
                let server = saturate(window, lane, delays.clone(), minutes);
                prop_assert_eq!(server.refused, 0, "{:?}", window);
                prop_assert!(
                    server.most_in_any_minute() <= LIMIT,
                    "{:?}: {}",
                    window,
                    server.most_in_any_minute()
                );
                let after_the_first = server.arrivals.iter().filter(|&&at| at >= MINUTE).count();
                let share = after_the_first as f64 / (LIMIT as f64 * (minutes - 1) as f64);
                prop_assert!(
                    share >= 0.97,
                    "{window:?} {lane:?}: only {:.1} % of the budget used",
                    share * 100.0
                );
            }
            Ok(())
        })
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_idle_budget_bursts_and_then_goes_at_its_pace() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    for _ in 0..60 {
        limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    }
    assert!(clock.monotonic() < Duration::from_millis(10), "{:?}", clock.monotonic());
    for _ in 0..50 {
        limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    }
    let took = clock.monotonic().as_secs_f64();
    assert!((9.5..10.5).contains(&took), "50 more took {took} s");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_costs_nothing_and_a_dropped_one_counts() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(10), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    limiter.acquire(Lane::Interactive).await.unwrap().unused();
    assert_eq!(limiter.held(), 0);
    drop(limiter.acquire(Lane::Interactive).await.unwrap());
    assert_eq!(limiter.held(), 1);
    clock.sleep(Duration::from_millis(60_200)).await;
    assert_eq!(limiter.held(), 0);
}

// withstands: F090
#[tokio::test(start_paused = true)]
async fn a_refusal_pauses_everybody_for_as_long_as_the_server_says() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    limiter.pause(Duration::from_secs(17));
    limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    assert!(clock.monotonic() >= Duration::from_secs(17));
}

// withstands: F095
#[tokio::test(start_paused = true)]
async fn a_route_that_is_refused_alone_waits_and_no_other_does() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    let wait = Duration::from_secs(17);
    // In one case the server says that the token has requests left; in the other it says nothing, and we have sent
    // almost nothing.
    for (route, limits) in [("/told", (Some(300), Some(250))), ("/untold", (None, None))] {
        limiter.acquire(Lane::Interactive).await.unwrap().refused(Some(route), limits, wait);
    }
    limiter.keep_route_pace("/other").await;
    limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    assert!(clock.monotonic() < Duration::from_secs(1), "others go on: {:?}", clock.monotonic());
    for route in ["/told", "/untold"] {
        let begun = clock.monotonic();
        limiter.keep_route_pace(route).await;
        let least = if route == "/told" { wait } else { Duration::ZERO };
        let took = clock.monotonic() - begun;
        assert!(took >= least && took < least + Duration::from_secs(2), "{route}: {took:?}");
        limiter.acquire(Lane::Interactive).await.unwrap().served(route, None, None);
        let begun = clock.monotonic();
        for _ in 0..11 {
            limiter.keep_route_pace(route).await;
        }
        let took = clock.monotonic() - begun;
        assert!(took < Duration::from_secs(1), "{route} is as fast as before once it is served: {took:?}");
    }
}

// withstands: F095
#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_token_that_is_spent_pauses_every_route() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(4), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    let told = Duration::from_secs(17);
    let refused = limiter.acquire(Lane::Interactive).await.unwrap();
    refused.refused(Some("/a"), (Some(4), Some(0)), told);
    limiter.keep_route_pace("/a").await;
    assert!(clock.monotonic() < Duration::from_secs(1), "the route has no limit of its own");
    limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    assert!(clock.monotonic() >= told);
    // Two or three of the token's four requests were sent: without information from the server, the token counts as
    // exhausted.
    let begun = clock.monotonic();
    limiter.acquire(Lane::Interactive).await.unwrap().refused(Some("/a"), (None, None), told);
    limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    assert!(clock.monotonic() - begun >= told);
}

// withstands: F090
#[tokio::test(start_paused = true)]
async fn what_the_server_counts_beyond_our_own_shrinks_the_budget_and_comes_back() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    // Another program has spent 200 of the token's 300.
    limiter.acquire(Lane::Interactive).await.unwrap().answered(Some(300), Some(99));
    let mut sent = 1;
    while clock.monotonic() < Duration::from_secs(55) {
        let others_keep_on = 99u32.saturating_sub(sent);
        limiter.acquire(Lane::Interactive).await.unwrap().answered(Some(300), Some(others_keep_on));
        sent += 1;
    }
    assert!(sent <= 100, "{sent} sent beside 200 foreign ones");
}

/// The reserve for live work is a share of the server's limit, not of the configured one.
#[tokio::test(start_paused = true)]
async fn a_server_that_allows_far_less_than_is_configured_is_still_used_by_every_lane() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter =
        RateLimiter::open(quota(100_000), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    for sent in 1..=280 {
        limiter.acquire(Lane::Backfill).await.unwrap().answered(Some(300), Some(300 - sent));
    }
    assert!(clock.monotonic() < Duration::from_secs(30), "{:?}", clock.monotonic());
}

/// A quota store that survives a crash unchanged.
#[derive(Default)]
struct Disk(Mutex<Vec<Spent>>);

impl QuotaStore for Disk {
    fn load(&self) -> BoxFuture<'_, Result<Vec<Spent>, BoxedError>> {
        Box::pin(async { Ok(self.0.lock().unwrap().clone()) })
    }

    fn keep(&self, blocks: Vec<Spent>, now: DateTime<Utc>) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async move {
            let mut disk = self.0.lock().unwrap();
            disk.retain(|kept| kept.free_at.is_none_or(|at| at >= now));
            for block in blocks {
                disk.retain(|kept| kept.block != block.block);
                disk.push(block);
            }
            Ok(())
        })
    }
}

// withstands: F093
#[tokio::test(start_paused = true)]
async fn a_process_that_is_killed_again_and_again_never_overspends() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let disk = Arc::new(Disk::default());
    let mut server = Server::new(Window::Sliding);
    let mut lives = 0;
    while clock.monotonic() < Duration::from_secs(300) {
        lives += 1;
        let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), disk.clone()).await.unwrap();
        // Each process is killed without a write to the quota store, with a request in flight.
        for _ in 0..(lives * 7) % 60 + 1 {
            let permit = limiter.acquire(Lane::Interactive).await.unwrap();
            clock.sleep(Duration::from_millis(3)).await;
            server.arrive(clock.monotonic());
            permit.answered(None, None);
        }
        let in_flight = limiter.acquire(Lane::Interactive).await.unwrap();
        server.arrive(clock.monotonic());
        std::mem::forget(in_flight);
        // Time passes until the next start.
        clock.sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(server.refused, 0);
    assert!(server.most_in_any_minute() <= LIMIT, "{} in {lives} lives", server.most_in_any_minute());
    assert!(server.arrivals.len() > 1_200, "the budget is used: {} requests", server.arrivals.len());
}

#[tokio::test(start_paused = true)]
async fn a_clean_end_leaves_exactly_what_was_spent_on_record() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let disk = Arc::new(Disk::default());
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), disk.clone()).await.unwrap();
    for _ in 0..23 {
        limiter.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    }
    limiter.settle().await.unwrap();
    let kept: u32 = disk.0.lock().unwrap().iter().map(|spent| spent.requests).sum();
    assert_eq!(kept, 23);
    let next = RateLimiter::open(quota(300), Arc::clone(&clock), disk.clone()).await.unwrap();
    assert_eq!(next.held(), 23);
    // A second settling, and a second process, must not overwrite the first one's blocks.
    limiter.settle().await.unwrap();
    next.acquire(Lane::Interactive).await.unwrap().answered(None, None);
    next.settle().await.unwrap();
    let third = RateLimiter::open(quota(300), Arc::clone(&clock), disk).await.unwrap();
    assert_eq!(third.held(), 24);
}

/// Returns the waits of a live request every 1.3 s beside a backfill that always has work, from a cold start.
async fn waits_beside_a_backfill(burst_before: usize) -> Vec<Duration> {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    for _ in 0..burst_before {
        limiter.acquire(Lane::Refresh).await.unwrap().answered(None, None);
    }
    let server = Arc::new(Mutex::new(Server::new(Window::Sliding)));
    let delays = vec![(Duration::from_millis(20), Duration::from_millis(30))];
    let until = Duration::from_secs(240);
    let backfill: Vec<_> = (0..16)
        .map(|_| {
            let (limiter, clock, server) = (Arc::clone(&limiter), Arc::clone(&clock), Arc::clone(&server));
            tokio::spawn(work(limiter, Lane::Backfill, clock, server, delays.clone(), until))
        })
        .collect();
    let mut waits = Vec::new();
    while clock.monotonic() < until {
        clock.sleep(Duration::from_millis(1_300)).await;
        let asked = clock.monotonic();
        let permit = limiter.acquire(Lane::Interactive).await.unwrap();
        waits.push(clock.monotonic() - asked);
        clock.sleep(Duration::from_millis(50)).await;
        permit.answered(None, None);
    }
    for worker in backfill {
        worker.await.unwrap();
    }
    waits.sort();
    waits
}

// withstands: F063
#[tokio::test(start_paused = true)]
async fn a_live_request_waits_two_slots_at_most_beside_a_backfill() {
    for burst_before in [0, 60, 120] {
        let waits = waits_beside_a_backfill(burst_before).await;
        let p99 = waits[waits.len() * 99 / 100];
        assert!(
            p99 <= Duration::from_millis(400),
            "after {burst_before}: p99 {p99:?}, worst {:?}",
            waits.last()
        );
    }
}

// withstands: F063
#[tokio::test(start_paused = true)]
async fn no_lane_starves_when_all_have_too_much_to_do() {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::starting_at(epoch()));
    let limiter = RateLimiter::open(quota(300), Arc::clone(&clock), Arc::new(NoQuotaStore)).await.unwrap();
    let served = Arc::new(Mutex::new([0; 5]));
    let until = Duration::from_secs(300);
    let mut workers = Vec::new();
    for lane in Lane::ALL {
        for _ in 0..8 {
            let (limiter, clock, served) = (Arc::clone(&limiter), Arc::clone(&clock), Arc::clone(&served));
            workers.push(tokio::spawn(async move {
                while clock.monotonic() < until {
                    limiter.acquire(lane).await.unwrap().answered(None, None);
                    served.lock().unwrap()[lane as usize] += 1;
                }
            }));
        }
    }
    for worker in workers {
        worker.await.unwrap();
    }
    let served = *served.lock().unwrap();
    let all: usize = served.iter().sum();
    assert!(served.is_sorted_by(|urgent, patient| urgent >= patient), "{served:?}");
    // The least urgent lane gets one in eighty-three.
    assert!(served[4] * 90 >= all, "backfill got {} of {all}", served[4]);
}

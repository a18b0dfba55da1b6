//! The rate limiter that every request passes.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use chrono::TimeDelta;
use espelho_model::{Clock, watch};
use governor::{
    RateLimiter as GovernorLimiter, clock::Clock as _, nanos::Nanos, state::InMemoryState, state::NotKeyed,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use super::{
    lane::{Lane, LaneQueues, QueueTicket},
    quota_store::{QuotaStore, Spent},
    routes::Routes,
    sliding_window::SlidingWindow,
};
use crate::error::Error;

/// The server's window (API document, "Limits": 300 per 1 minute).
const WINDOW: Duration = Duration::from_secs(60);

/// How often a request held back by the reserve checks again.
const RESERVE_CHECK: Duration = Duration::from_millis(200);

/// Whether a request may be sent now, or how long to wait before the next check.
enum Admission {
    Free,
    /// The budget is exhausted for every lane.
    Full(Duration),
    /// Only the reserve for live work is left.
    Reserved(Duration),
}

/// The request budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests in any 60 s.
    pub per_minute: NonZeroU32,
    /// How many of them an idle budget sends at once. The rest is spread evenly.
    pub burst: NonZeroU32,
}

impl Quota {
    /// Creates a quota with a burst of a fifth. A small store's whole reconciliation is sent at once, while sustained
    /// work never delays others by more than twelve seconds' worth.
    pub fn per_minute(per_minute: NonZeroU32) -> Self {
        Self { per_minute, burst: NonZeroU32::new(per_minute.get() / 5).unwrap_or(NonZeroU32::MIN) }
    }
}

/// Returns the requests that one durable write covers: a second's worth, or four while less than half of the budget is in
/// use. A crash wastes at most that much of it.
fn block_size(per_minute: NonZeroU32, held: u32, capacity: u32) -> u32 {
    let seconds = if held.saturating_mul(2) < capacity { 4 } else { 1 };
    (per_minute.get().saturating_mul(seconds) / 60).max(1)
}

/// Adapts our clock to governor.
#[derive(Clone)]
struct PaceClock(Arc<dyn Clock>);

impl governor::clock::Clock for PaceClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.monotonic().into()
    }
}

type Pace = GovernorLimiter<NotKeyed, InMemoryState, PaceClock, governor::middleware::NoOpMiddleware<Nanos>>;

/// The rate limiter of one store's token. Everything that calls the API for that store shares it.
pub struct RateLimiter {
    quota: Quota,
    clock: Arc<dyn Clock>,
    pace_clock: PaceClock,
    pace: Pace,
    /// The even pace of work that is not live.
    even_pace: Pace,
    quota_store: Arc<dyn QuotaStore>,
    queues: Arc<LaneQueues>,
    freed: Notify,
    /// Routes with a limit of their own.
    routes: Mutex<Routes>,
    state: Mutex<State>,
}

struct State {
    window: SlidingWindow,
    /// No request is sent before this time (monotonic), by the server's order.
    paused_until: Duration,
    /// The requests that other programs spend on the same token, as the server's own count shows.
    foreign: f64,
    /// The server's limit, if the server announced one.
    server_limit: Option<u32>,
    /// The block that supplies permits. Number 0 means none.
    block: Block,
    last_block: i64,
    /// Finished blocks that the quota store does not know yet.
    closed: Vec<Spent>,
    open: Vec<Block>,
}

/// A block of permits covered by one durable write.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    id: i64,
    left: u32,
    issued: u32,
    in_flight: u32,
    last_release: Duration,
}

/// The right to send one request. The caller reports the response; dropping the permit counts as "sent, outcome
/// unknown".
pub struct Permit {
    limiter: Arc<RateLimiter>,
    block: i64,
    settled: bool,
}

impl RateLimiter {
    /// Opens the rate limiter with the spent budget from the quota store.
    ///
    /// # Errors
    /// When the quota store cannot be read.
    pub async fn open(
        quota: Quota,
        clock: Arc<dyn Clock>,
        quota_store: Arc<dyn QuotaStore>,
    ) -> Result<Arc<Self>, Error> {
        let remembered =
            quota_store.load().await.map_err(|source| Error::QuotaStore { action: "read", source })?;
        let pace_clock = PaceClock(Arc::clone(&clock));
        let per_minute = governor::Quota::per_minute(quota.per_minute);
        let one_second = NonZeroU32::new(quota.per_minute.get() / 60).unwrap_or(NonZeroU32::MIN);
        let mut state = State {
            window: SlidingWindow::default(),
            paused_until: Duration::ZERO,
            foreign: 0.0,
            server_limit: None,
            block: Block::default(),
            last_block: 0,
            closed: Vec::new(),
            open: Vec::new(),
        };
        let (now, wall) = (clock.monotonic(), clock.now());
        for spent in remembered {
            state.last_block = state.last_block.max(spent.block);
            // A wall clock that was set back must not block the budget for years.
            let left =
                spent.free_at.map_or(WINDOW, |at| (at - wall).to_std().unwrap_or_default().min(WINDOW * 2));
            state.window.hold(spent.requests, now + left);
            let free_at = wall + TimeDelta::from_std(left).unwrap_or_default();
            state.closed.push(Spent { free_at: Some(free_at), ..spent });
        }
        Ok(Arc::new(Self {
            quota,
            pace: GovernorLimiter::direct_with_clock(per_minute.allow_burst(quota.burst), pace_clock.clone()),
            even_pace: GovernorLimiter::direct_with_clock(
                per_minute.allow_burst(one_second),
                pace_clock.clone(),
            ),
            pace_clock,
            clock,
            quota_store,
            queues: Arc::default(),
            freed: Notify::new(),
            routes: Mutex::new(Routes::new(quota.per_minute.get())),
            state: Mutex::new(state),
        }))
    }

    /// Waits until one more request of a lane may be sent.
    ///
    /// # Errors
    /// When the quota store cannot be written: without it a restart could overspend.
    pub async fn acquire(self: &Arc<Self>, lane: Lane) -> Result<Permit, Error> {
        if !lane.is_live() {
            self.keep_pace(&self.even_pace).await;
        }
        let _ticket = self.take_ticket(lane).await;
        self.keep_pace(&self.pace).await;
        self.cover_by_quota_store().await?;
        let mut state = self.state();
        state.window.take();
        state.block.left -= 1;
        state.block.issued += 1;
        state.block.in_flight += 1;
        Ok(Permit { limiter: Arc::clone(self), block: state.block.id, settled: false })
    }

    /// Waits until one more request of a route may be sent, if the server limits that route more than the token. Call
    /// it before [`RateLimiter::acquire`], so that the request does not block others in the queue.
    pub async fn keep_route_pace(&self, route: &'static str) {
        loop {
            let wait = self.routes().take(route, self.clock.monotonic());
            let Some(wait) = wait else { return };
            let _waiting = watch::idle();
            self.clock.sleep(wait).await;
        }
    }

    /// Waits until a request of a lane is next and the budget has a free entry.
    async fn take_ticket(&self, lane: Lane) -> QueueTicket {
        loop {
            let waiting = watch::idle();
            let ticket = self.queues.take(lane).await;
            drop(waiting);
            loop {
                let (wait, reserved) = match self.admission(lane) {
                    Admission::Free => return ticket,
                    Admission::Full(wait) => (wait, false),
                    Admission::Reserved(wait) => (wait, true),
                };
                if reserved {
                    // The free entries are reserved for live work, which must not wait in the queue behind this
                    // request.
                    drop(ticket);
                    self.clock.sleep(wait).await;
                    break;
                }
                tokio::select! {
                    () = self.clock.sleep(wait) => {}
                    () = self.freed.notified() => {}
                }
            }
        }
    }

    async fn keep_pace(&self, pace: &Pace) {
        while let Err(not_until) = pace.check() {
            self.clock.sleep(not_until.wait_time_from(self.pace_clock.now())).await;
        }
    }

    /// Returns the most requests in any 60 s.
    pub fn per_minute(&self) -> NonZeroU32 {
        self.quota.per_minute
    }

    /// Returns how many requests of a lane wait, for status and metrics.
    pub fn waiting(&self, lane: Lane) -> usize {
        self.queues.waiting(lane)
    }

    /// Returns how many entries the sliding window holds now, for status and tests.
    pub fn held(&self) -> u32 {
        let now = self.clock.monotonic();
        self.state().window.held(now)
    }

    /// Handles a 429 for a route. The route has a limit of its own, and only it slows down, if the server says that
    /// the token has requests left, or does not say and less than half of the budget is in use. Otherwise no request
    /// is sent before `wait` is over.
    pub fn refused(&self, route: &'static str, remaining: Option<u32>, wait: Duration) {
        let now = self.clock.monotonic();
        let is_routes_own = match remaining {
            Some(remaining) => remaining > 0,
            None => {
                let mut state = self.state();
                state.window.held(now) * 2 < self.capacity(&state)
            }
        };
        if !is_routes_own {
            return self.pause(wait);
        }
        let mut routes = self.routes();
        let has_limit = routes.refused(route, now, wait);
        let (per_minute, wait_ms) = (routes.pace(route), wait.as_millis() as u64);
        match has_limit {
            true => tracing::info!(route, per_minute, "route has its own rate limit; slowing it down"),
            false => tracing::debug!(route, per_minute, wait_ms, "route rate limited; only this route waits"),
        }
    }

    /// Pauses all requests for `wait`: the whole token is over its limit.
    pub fn pause(&self, wait: Duration) {
        let until = self.clock.monotonic() + wait;
        let mut state = self.state();
        state.paused_until = state.paused_until.max(until);
    }

    /// Persists the outcome of the blocks in use, so that the next start need not assume the worst.
    ///
    /// # Errors
    /// When the quota store cannot be written.
    pub async fn settle(&self) -> Result<(), Error> {
        let _ticket = self.queues.take(Lane::Interactive).await;
        let blocks = {
            let mut state = self.state();
            let current = state.block;
            self.retire(&mut state, current);
            std::mem::take(&mut state.closed)
        };
        self.keep(blocks).await
    }

    /// Decides whether a request of a lane may be sent now.
    fn admission(&self, lane: Lane) -> Admission {
        let now = self.clock.monotonic();
        let mut state = self.state();
        if state.paused_until > now {
            return Admission::Full(state.paused_until - now);
        }
        let free = self.capacity(&state).saturating_sub(state.window.held(now));
        let release = state.window.next_release().map_or(WINDOW, |at| at.saturating_sub(now));
        let soon = release.max(Duration::from_millis(1));
        match free {
            0 => Admission::Full(soon),
            _ if lane.is_live() || free > reserve(self.limit(&state), release) => Admission::Free,
            _ => Admission::Reserved(soon.min(RESERVE_CHECK)),
        }
    }

    /// Returns the requests of a minute: ours, or the server's where it allows fewer.
    fn limit(&self, state: &State) -> u32 {
        let ours = self.quota.per_minute.get();
        state.server_limit.map_or(ours, |server| server.min(ours))
    }

    /// Returns the available budget: the limit, less what other programs spend by the server's count.
    fn capacity(&self, state: &State) -> u32 {
        let limit = self.limit(state);
        if state.foreign < 1.0 {
            return limit;
        }
        let margin = (state.foreign * 0.2).max(4.0);
        // Never zero: one request at a time shows when the others have stopped.
        limit.saturating_sub((state.foreign + margin).ceil() as u32).max(1)
    }

    /// Makes sure that the quota store covers one more request.
    async fn cover_by_quota_store(&self) -> Result<(), Error> {
        if self.state().block.left > 0 {
            return Ok(());
        }
        let now = self.clock.monotonic();
        let (blocks, fresh) = {
            let mut state = self.state();
            let size = block_size(self.quota.per_minute, state.window.held(now), self.capacity(&state));
            let last = state.block;
            self.retire(&mut state, last);
            let fresh = Block { id: state.last_block + 1, left: size, ..Block::default() };
            let mut blocks = std::mem::take(&mut state.closed);
            blocks.push(Spent { block: fresh.id, requests: size, free_at: None });
            (blocks, fresh)
        };
        self.keep(blocks).await?;
        self.state().block = fresh;
        Ok(())
    }

    /// Takes a block out of use: it becomes closed, or open while responses are missing.
    fn retire(&self, state: &mut State, block: Block) {
        if block.in_flight > 0 {
            state.open.push(block);
        } else if block.issued > 0 {
            let spent = self.spent(&block);
            state.closed.push(spent);
        }
        // Answers that arrive before the next block is in place belong to this block, not to its successor.
        state.last_block = state.last_block.max(block.id);
        state.block = Block::default();
    }

    fn spent(&self, block: &Block) -> Spent {
        let left = block.last_release.saturating_sub(self.clock.monotonic());
        let free_at = self.clock.now() + TimeDelta::from_std(left).unwrap_or_default();
        Spent { block: block.id, requests: block.issued, free_at: Some(free_at) }
    }

    async fn keep(&self, blocks: Vec<Spent>) -> Result<(), Error> {
        let kept = self.quota_store.keep(blocks, self.clock.now()).await;
        kept.map_err(|source| Error::QuotaStore { action: "written", source })
    }

    fn finish(&self, block: i64, sent: bool) {
        let free_at = self.clock.monotonic() + WINDOW;
        let mut state = self.state();
        if sent {
            state.window.release_at(free_at);
        } else {
            state.window.put_back();
        }
        self.note_in_block(&mut state, block, free_at);
        drop(state);
        self.freed.notify_one();
    }

    fn note_in_block(&self, state: &mut State, block: i64, free_at: Duration) {
        if state.block.id == block {
            state.block.in_flight = state.block.in_flight.saturating_sub(1);
            state.block.last_release = free_at;
            return;
        }
        let Some(at) = state.open.iter().position(|b| b.id == block) else { return };
        let open = &mut state.open[at];
        open.in_flight -= 1;
        open.last_release = free_at;
        if open.in_flight == 0 {
            let done = state.open.swap_remove(at);
            let spent = self.spent(&done);
            state.closed.push(spent);
        }
    }

    /// Learns from `X-RateLimit-Limit` and `X-RateLimit-Remaining`, downwards only.
    fn learn(&self, limit: Option<u32>, remaining: Option<u32>) {
        let now = self.clock.monotonic();
        let mut state = self.state();
        // A limit of zero on a served request is meaningless.
        let limit = limit.filter(|&limit| limit > 0);
        state.server_limit = limit.or(state.server_limit);
        let (Some(limit), Some(remaining)) = (limit, remaining) else { return };
        let counted = f64::from(limit.saturating_sub(remaining));
        // The window holds every entry at least as long as the server counts it, so any excess in the server's count
        // comes from others.
        let others = (counted - f64::from(state.window.held(now))).max(0.0);
        let step = if others > state.foreign { 1.0 } else { 1.0 / 16.0 };
        state.foreign += (others - state.foreign) * step;
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Permit {
    /// Reports that the response arrived, with its rate headers.
    pub fn answered(mut self, limit: Option<u32>, remaining: Option<u32>) {
        self.limiter.learn(limit, remaining);
        self.settled = true;
        self.limiter.finish(self.block, true);
    }

    /// Reports that a route served the request, with the rate headers of the response.
    pub fn served(self, route: &'static str, limit: Option<u32>, remaining: Option<u32>) {
        let now = self.limiter.clock.monotonic();
        self.limiter.routes().accepted(route, now);
        self.answered(limit, remaining);
    }

    /// Reports a 429 with its rate headers, and decides who has to wait. Without a route, the whole token waits.
    pub fn refused(
        self,
        route: Option<&'static str>,
        (limit, remaining): (Option<u32>, Option<u32>),
        wait: Duration,
    ) {
        let limiter = Arc::clone(&self.limiter);
        self.answered(limit, remaining);
        match route {
            Some(route) => limiter.refused(route, remaining, wait),
            None => limiter.pause(wait),
        }
    }

    /// Reports that nothing was sent, because there was no connection.
    pub fn unused(mut self) {
        self.settled = true;
        self.limiter.finish(self.block, false);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.settled {
            self.limiter.finish(self.block, true);
        }
    }
}

/// Returns how many entries of a limit are reserved for live work: half of what its pace allows until further entries
/// come free. While entries come free all the time, the reserve is zero.
fn reserve(limit: u32, until_release: Duration) -> u32 {
    let at_pace = until_release.as_secs_f64() * f64::from(limit) / 60.0;
    ((at_pace / 2.0) as u32).min(limit / 25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_covers_more_requests_while_the_budget_is_not_short() {
        for (per_minute, held, capacity, expected, why) in [
            (300, 0, 300, 20, "the store is quiet"),
            (300, 149, 300, 20, "less than half is in use"),
            (300, 150, 300, 5, "half is in use"),
            (300, 300, 300, 5, "all is in use"),
            (300, 60, 100, 5, "other programs spend the rest"),
            (30, 0, 30, 2, "a small budget"),
            (1, 0, 1, 1, "the smallest"),
            (u32::MAX, 0, u32::MAX, u32::MAX / 60, "no limit"),
        ] {
            let per_minute = NonZeroU32::new(per_minute).unwrap();
            assert_eq!(block_size(per_minute, held, capacity), expected, "{why}");
        }
    }
}

//! Decides which sweep is due when. Pure: time is passed in.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{ContentHash, StoreKey};

/// A sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sweep {
    /// The newest orders.
    NewOrders,
    /// Orders that may still change.
    OpenOrders,
    /// Products in changed orders: their reserved stock changes without an event.
    SoldProducts,
    /// The least recently read products.
    Products,
    /// Sub-resources of orders that were never read, or not since the order changed.
    Subresources,
    /// Orders by their age, with all their sub-resources.
    AgedOrders,
    /// How many rows the marketplace has.
    Counts,
    /// Campaigns with their listings.
    Campaigns,
    /// The store's images.
    Media,
    /// The store itself.
    Profile,
    /// The marketplace's enumerations for orders.
    Enums,
    /// Whether a requested test delivery arrives.
    WebhookTest,
}

impl Sweep {
    /// The number of sweeps.
    pub const COUNT: usize = 12;

    /// All sweeps, the most urgent first.
    pub const ALL: [Self; Self::COUNT] = [
        Self::NewOrders,
        Self::OpenOrders,
        Self::SoldProducts,
        Self::Products,
        Self::Subresources,
        Self::AgedOrders,
        Self::Counts,
        Self::Campaigns,
        Self::Media,
        Self::Profile,
        Self::Enums,
        Self::WebhookTest,
    ];

    /// Returns the name in metrics, logs and `sweeps.kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NewOrders => "new_orders",
            Self::OpenOrders => "open_orders",
            Self::SoldProducts => "sold_products",
            Self::Products => "aged_products",
            Self::Subresources => "parts",
            Self::AgedOrders => "aged_orders",
            Self::Counts => "counts",
            Self::Campaigns => "campaigns",
            Self::Media => "media",
            Self::Profile => "profile",
            Self::Enums => "enums",
            Self::WebhookTest => "webhook_test",
        }
    }
}

/// Configured moments, in UTC, where no clock change doubles or skips one.
pub trait Timetable: fmt::Debug + Send + Sync {
    /// Returns the first of them after `time`; `None` if there is no more.
    fn next_after(&self, time: DateTime<Utc>) -> Option<DateTime<Utc>>;
}

/// When a sweep runs.
#[derive(Clone, Debug)]
pub enum Cadence {
    /// This long after its last run.
    Every(Duration),
    /// At the moments of a timetable.
    At(Arc<dyn Timetable>),
}

impl Cadence {
    /// Returns how long after `now` it is due, if it last ran at `last`; zero if that time has passed.
    fn due_in(&self, last: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
        // A clock that was put back must not delay a sweep.
        let last = last.min(now);
        let due = match self {
            Self::Every(interval) => last.checked_add_signed(TimeDelta::from_std(*interval).unwrap_or(FAR)),
            Self::At(timetable) => timetable.next_after(last),
        };
        due.map_or(FAR, |due| due - now).min(FAR).to_std().unwrap_or_default()
    }

    /// Returns the time from one run to the next.
    pub fn period(&self, now: DateTime<Utc>) -> Duration {
        self.due_in(self.next(now), self.next(now))
    }

    fn next(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::Every(_) => now,
            Self::At(timetable) => timetable.next_after(now).unwrap_or(now),
        }
    }
}

/// Longer than any service runs.
const FAR: TimeDelta = TimeDelta::days(366);
/// When a failed sweep is retried, if its own time is later.
const AFTER_FAILURE: Duration = Duration::from_secs(300);
/// The wait after a start before the webhook is tested: the first login may register another address.
pub const FIRST_TEST: Duration = Duration::from_secs(5);
/// First tests are spread over this time after that, by the store's name: thousands of stores may start at once. A test
/// that does not come is still proved within a minute of the start.
const TESTS_SPREAD: Duration = Duration::from_secs(30);
/// One sweep's share of the budget, as a divisor.
pub const SHARE: u64 = 3;

/// Returns the least time between two starts of a sweep, from the requests that it took: whatever its interval is, it
/// uses its share of the budget and no more.
pub fn stretched(requests: u64, per_minute: u32) -> Duration {
    Duration::from_secs_f64((requests * SHARE) as f64 * 60.0 / f64::from(per_minute.max(1)))
}

/// Returns how long after each start a store's webhook is tested, whenever the last test was: what it proved may have
/// ended with the change that the start was for.
pub fn first_test(store: &StoreKey) -> Duration {
    FIRST_TEST + TESTS_SPREAD.mul_f64(lot(store, Sweep::WebhookTest) as f64 / 1_000.0)
}

/// Returns a number below 1,000 that spreads what many stores do.
fn lot(store: &StoreKey, sweep: Sweep) -> u64 {
    let name = format!("{store}/{}", sweep.as_str());
    ContentHash::of(name.as_bytes()).as_i64().unsigned_abs() % 1_000
}

/// How often each sweep runs.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields bear the names of the sweeps")]
pub struct Intervals {
    pub new_orders: Cadence,
    pub open_orders: Cadence,
    pub sold_products: Cadence,
    pub products: Cadence,
    pub subresources: Cadence,
    pub aged_orders: Cadence,
    pub counts: Cadence,
    pub campaigns: Cadence,
    pub media: Cadence,
    pub profile: Cadence,
    pub enums: Cadence,
    pub webhook_test: Cadence,
}

impl Intervals {
    /// Returns how often a sweep runs.
    pub fn of(&self, sweep: Sweep) -> &Cadence {
        match sweep {
            Sweep::NewOrders => &self.new_orders,
            Sweep::OpenOrders => &self.open_orders,
            Sweep::SoldProducts => &self.sold_products,
            Sweep::Products => &self.products,
            Sweep::Subresources => &self.subresources,
            Sweep::AgedOrders => &self.aged_orders,
            Sweep::Counts => &self.counts,
            Sweep::Campaigns => &self.campaigns,
            Sweep::Media => &self.media,
            Sweep::Profile => &self.profile,
            Sweep::Enums => &self.enums,
            Sweep::WebhookTest => &self.webhook_test,
        }
    }
}

/// The time on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The monotonic clock.
    pub monotonic: Duration,
    /// The wall clock.
    pub wall: DateTime<Utc>,
}

/// When each sweep is next due.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// In the order of [`Sweep::ALL`].
    due: [Duration; Sweep::COUNT],
    cadences: [Cadence; Sweep::COUNT],
}

impl Schedule {
    /// A sweep that has succeeded before keeps its time; all others are due at once. The webhook is tested at each
    /// start anyway ([`first_test`]), so its sweep is due an interval later. Each store has its own pace, up to a tenth
    /// slower than configured, so that a thousand stores do not call in step.
    pub fn new(
        intervals: &Intervals,
        store: &StoreKey,
        now: Moment,
        succeeded: &HashMap<Sweep, DateTime<Utc>>,
    ) -> Self {
        let paced = |sweep: Sweep| {
            let lot = lot(store, sweep);
            match intervals.of(sweep) {
                Cadence::Every(every) => Cadence::Every(*every + every.mul_f64(lot as f64 / 10_000.0)),
                at @ Cadence::At(_) => at.clone(),
            }
        };
        let cadences = Sweep::ALL.map(paced);
        let due = Sweep::ALL.map(|sweep| {
            now.monotonic
                + match succeeded.get(&sweep) {
                    _ if sweep == Sweep::WebhookTest => cadences[sweep as usize].period(now.wall),
                    Some(last) => cadences[sweep as usize].due_in(*last, now.wall),
                    None => Duration::ZERO,
                }
        });
        Self { due, cadences }
    }

    /// Returns the sweep that is due first, and when.
    pub fn next(&self) -> (Sweep, Duration) {
        let first = Sweep::ALL.into_iter().zip(self.due).min_by_key(|(_, due)| *due);
        first.unwrap_or((Sweep::NewOrders, Duration::MAX))
    }

    /// Records a run: the sweep is due an interval after its end, so that a slow one does not follow itself, and not
    /// before its share of the budget allows it again.
    pub fn ran(&mut self, sweep: Sweep, now: Moment, not_before: Duration) {
        let due = now.monotonic + self.cadences[sweep as usize].due_in(now.wall, now.wall);
        self.due[sweep as usize] = due.max(not_before);
    }

    /// Records a failure: a rare sweep is not delayed for as long as after a run.
    pub fn failed(&mut self, sweep: Sweep, now: Moment) {
        self.ran(sweep, now, Duration::ZERO);
        self.wake(sweep, now.monotonic + AFTER_FAILURE);
    }

    /// Makes a sweep due at `at`, or earlier.
    pub fn wake(&mut self, sweep: Sweep, at: Duration) {
        let due = &mut self.due[sweep as usize];
        *due = at.min(*due);
    }
}

#[cfg(test)]
mod tests;

//! Which sweep is due when. Pure: time is handed in.

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
    /// Products in orders that have changed: what is reserved of them changes without an event.
    SoldProducts,
    /// The products that were not read for longest.
    Products,
    /// Sides of orders that were never read, or not since the order changed.
    Parts,
    /// Orders by their age, with all their sides.
    AgedOrders,
    /// How many rows the marketplace has.
    Counts,
    /// Campaigns with the listings in them.
    Campaigns,
    /// The store's images.
    Media,
    /// The store itself.
    Profile,
    /// The marketplace's words for orders.
    Enums,
    /// Whether a delivery arrives when one is asked for.
    WebhookTest,
}

impl Sweep {
    /// How many there are.
    pub const COUNT: usize = 12;

    /// Every sweep, the one that cannot wait first.
    pub const ALL: [Self; Self::COUNT] = [
        Self::NewOrders,
        Self::OpenOrders,
        Self::SoldProducts,
        Self::Products,
        Self::Parts,
        Self::AgedOrders,
        Self::Counts,
        Self::Campaigns,
        Self::Media,
        Self::Profile,
        Self::Enums,
        Self::WebhookTest,
    ];

    /// The name in metrics, logs and `sweeps.kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NewOrders => "new_orders",
            Self::OpenOrders => "open_orders",
            Self::SoldProducts => "sold_products",
            Self::Products => "aged_products",
            Self::Parts => "parts",
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

/// Moments that somebody has written down, in UTC, where no clock change doubles or skips one.
pub trait Timetable: fmt::Debug + Send + Sync {
    /// The first of them after `time`; none when there is no more.
    fn next_after(&self, time: DateTime<Utc>) -> Option<DateTime<Utc>>;
}

/// When a sweep runs.
#[derive(Clone, Debug)]
pub enum Cadence {
    /// An interval after it last did.
    Every(Duration),
    /// At moments.
    At(Arc<dyn Timetable>),
}

impl Cadence {
    /// How long after its last run it is due, as it is `now`; at once when that is over.
    fn due_in(&self, last: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
        // A clock that was put back must not put a sweep off.
        let last = last.min(now);
        let due = match self {
            Self::Every(interval) => last.checked_add_signed(TimeDelta::from_std(*interval).unwrap_or(FAR)),
            Self::At(timetable) => timetable.next_after(last),
        };
        due.map_or(FAR, |due| due - now).min(FAR).to_std().unwrap_or_default()
    }

    /// How long it takes from one run to the next.
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

/// Later than any service runs.
const FAR: TimeDelta = TimeDelta::days(366);
/// When a sweep that failed is tried again, where its own time is later.
const AFTER_FAILURE: Duration = Duration::from_secs(300);
/// A webhook that was just made is given so long before it is tested.
const FIRST_TEST: Duration = Duration::from_secs(300);
/// Within so long after that, by the store's name: thousands of webhooks may be made at once.
const TESTS_SPREAD: Duration = Duration::from_secs(900);
/// One sweep's share of the budget: one of so many parts.
pub const SHARE: u64 = 3;

/// The least time from one beginning of a sweep to the next, by the requests that it took: whatever its interval is, it uses
/// its share of the budget and no more.
pub fn stretched(requests: u64, per_minute: u32) -> Duration {
    Duration::from_secs_f64((requests * SHARE) as f64 * 60.0 / f64::from(per_minute.max(1)))
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
    /// How often a sweep runs.
    pub fn of(&self, sweep: Sweep) -> &Cadence {
        match sweep {
            Sweep::NewOrders => &self.new_orders,
            Sweep::OpenOrders => &self.open_orders,
            Sweep::SoldProducts => &self.sold_products,
            Sweep::Products => &self.products,
            Sweep::Parts => &self.subresources,
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

/// What both clocks say.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The one that never jumps.
    pub monotonic: Duration,
    /// The one that others know.
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
    /// What ran well before goes on as if nothing had happened meanwhile; everything else is due at once. Each store has its
    /// own pace, up to a tenth slower than it was told, so that a thousand stores do not ask in step.
    pub fn new(
        intervals: &Intervals,
        store: &StoreKey,
        now: Moment,
        succeeded: &HashMap<Sweep, DateTime<Utc>>,
    ) -> Self {
        let lot = |sweep: Sweep| {
            let name = format!("{store}/{}", sweep.as_str());
            ContentHash::of(name.as_bytes()).as_i64().unsigned_abs() % 1_000
        };
        let paced = |sweep: Sweep| {
            let lot = lot(sweep);
            match intervals.of(sweep) {
                Cadence::Every(every) => Cadence::Every(*every + every.mul_f64(lot as f64 / 10_000.0)),
                at @ Cadence::At(_) => at.clone(),
            }
        };
        let cadences = Sweep::ALL.map(paced);
        let due = Sweep::ALL.map(|sweep| {
            now.monotonic
                + match succeeded.get(&sweep) {
                    Some(last) => cadences[sweep as usize].due_in(*last, now.wall),
                    None if sweep == Sweep::WebhookTest => {
                        let first = FIRST_TEST + TESTS_SPREAD.mul_f64(lot(sweep) as f64 / 1_000.0);
                        first.min(cadences[sweep as usize].period(now.wall))
                    }
                    None => Duration::ZERO,
                }
        });
        Self { due, cadences }
    }

    /// The sweep that is due first, and when.
    pub fn next(&self) -> (Sweep, Duration) {
        let first = Sweep::ALL.into_iter().zip(self.due).min_by_key(|(_, due)| *due);
        first.unwrap_or((Sweep::NewOrders, Duration::MAX))
    }

    /// A sweep has just run: it is due an interval after its end, so that a slow one does not follow itself, and not before
    /// its share of the budget allows for it again.
    pub fn ran(&mut self, sweep: Sweep, now: Moment, not_before: Duration) {
        let due = now.monotonic + self.cadences[sweep as usize].due_in(now.wall, now.wall);
        self.due[sweep as usize] = due.max(not_before);
    }

    /// A sweep has just failed: what is rare is not put off for as long as if it had run.
    pub fn failed(&mut self, sweep: Sweep, now: Moment) {
        self.ran(sweep, now, Duration::ZERO);
        self.wake(sweep, now.monotonic + AFTER_FAILURE);
    }

    /// A sweep is wanted then, or earlier.
    pub fn wake(&mut self, sweep: Sweep, at: Duration) {
        let due = &mut self.due[sweep as usize];
        *due = at.min(*due);
    }
}

#[cfg(test)]
mod tests;

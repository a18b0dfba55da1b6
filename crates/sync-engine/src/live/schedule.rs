//! Which sweep is due when. Pure: time is handed in.

use std::time::Duration;

use espelho_model::{ContentHash, StoreKey};

/// A sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    /// The newest orders.
    NewOrders,
    /// Orders that may still change.
    OpenOrders,
    /// The products that were not read for longest.
    Products,
    /// Sides of orders that were never read, or not since the order changed.
    Parts,
    /// Campaigns with the listings in them.
    Campaigns,
    /// The store's images.
    Media,
    /// The store itself.
    Profile,
}

impl Look {
    /// Every sweep, the one that cannot wait first.
    pub const ALL: [Self; 7] = [
        Self::NewOrders,
        Self::OpenOrders,
        Self::Products,
        Self::Parts,
        Self::Campaigns,
        Self::Media,
        Self::Profile,
    ];

    /// The name in metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NewOrders => "new_orders",
            Self::OpenOrders => "open_orders",
            Self::Products => "aged_products",
            Self::Parts => "parts",
            Self::Campaigns => "campaigns",
            Self::Media => "media",
            Self::Profile => "profile",
        }
    }
}

/// How often each sweep runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields bear the names of the sweeps")]
pub struct Intervals {
    pub new_orders: Duration,
    pub open_orders: Duration,
    pub products: Duration,
    pub parts: Duration,
    pub campaigns: Duration,
    pub media: Duration,
    pub profile: Duration,
}

impl Intervals {
    fn of(&self, look: Look) -> Duration {
        match look {
            Look::NewOrders => self.new_orders,
            Look::OpenOrders => self.open_orders,
            Look::Products => self.products,
            Look::Parts => self.parts,
            Look::Campaigns => self.campaigns,
            Look::Media => self.media,
            Look::Profile => self.profile,
        }
    }
}

/// When each sweep is next due.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// In the order of [`Look::ALL`].
    due: [Duration; 7],
    intervals: [Duration; 7],
}

impl Schedule {
    /// Everything is due at once. Each store has its own pace, up to a tenth slower than it was told, so that a thousand
    /// stores do not ask in step.
    pub fn new(intervals: &Intervals, store: &StoreKey, now: Duration) -> Self {
        let paced = |look: Look| {
            let name = format!("{store}/{}", look.as_str());
            let lot = ContentHash::of(name.as_bytes()).as_i64().unsigned_abs() % 1_000;
            let interval = intervals.of(look);
            interval + interval.mul_f64(lot as f64 / 10_000.0)
        };
        Self { due: [now; 7], intervals: Look::ALL.map(paced) }
    }

    /// The sweep that is due first, and when.
    pub fn next(&self) -> (Look, Duration) {
        let first = Look::ALL.into_iter().zip(self.due).min_by_key(|(_, due)| *due);
        first.unwrap_or((Look::NewOrders, Duration::MAX))
    }

    /// A sweep has just run: it is due an interval after its end, so that a slow one does not follow itself.
    pub fn ran(&mut self, look: Look, now: Duration) {
        self.due[look as usize] = now + self.intervals[look as usize];
    }

    /// A sweep is wanted now.
    pub fn wake(&mut self, look: Look, now: Duration) {
        let due = &mut self.due[look as usize];
        *due = now.min(*due);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn intervals() -> Intervals {
        let [new_orders, open_orders, products, parts, campaigns, media, profile] =
            [60, 120, 60, 30, 900, 3_600, 3_600].map(Duration::from_secs);
        Intervals { new_orders, open_orders, products, parts, campaigns, media, profile }
    }

    fn schedule(store: &str) -> Schedule {
        Schedule::new(&intervals(), &StoreKey::new(store).unwrap(), Duration::ZERO)
    }

    #[test]
    fn everything_runs_at_once_and_then_as_often_as_it_was_told() {
        let mut schedule = schedule("loja-1");
        let mut runs: HashMap<Look, u32> = HashMap::new();
        loop {
            let (look, due) = schedule.next();
            if due > Duration::from_secs(7_200) {
                break;
            }
            *runs.entry(look).or_default() += 1;
            schedule.ran(look, due);
        }
        for look in Look::ALL {
            let most = 7_200 / intervals().of(look).as_secs() as u32 + 1;
            assert!((most * 9 / 10..=most).contains(&runs[&look]), "{look:?}: {} of {most}", runs[&look]);
        }
    }

    #[test]
    fn stores_do_not_ask_in_step() {
        let next = |store: &str| {
            let mut schedule = schedule(store);
            Look::ALL.into_iter().for_each(|look| schedule.ran(look, Duration::ZERO));
            schedule.next().1
        };
        let due: std::collections::HashSet<_> = (0..50).map(|n| next(&format!("loja-{n}"))).collect();
        assert!(due.len() > 40, "{due:?}");
        assert!(due.iter().all(|due| (30.0..33.0).contains(&due.as_secs_f64())), "{due:?}");
    }

    #[test]
    fn a_sweep_that_is_wanted_is_due_and_nothing_is_put_off_by_it() {
        let mut schedule = schedule("loja-1");
        Look::ALL.into_iter().for_each(|look| schedule.ran(look, Duration::ZERO));
        let now = Duration::from_secs(5);
        schedule.wake(Look::Media, now);
        assert_eq!(schedule.next(), (Look::Media, now));
        schedule.wake(Look::Media, Duration::from_secs(9));
        assert_eq!(schedule.next(), (Look::Media, now));
    }
}

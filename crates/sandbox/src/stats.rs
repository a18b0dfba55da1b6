//! Statistics: the numbers that tests and benchmarks check a client by.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use serde::Serialize;

/// The numbers of the server since its start, or since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Every request, refused ones too; the `/_sandbox/` routes are left out.
    pub requests: u64,
    /// Requests by route, such as `GET /api/v1/sellers/orders/{id}`; what no route matched is `unmatched`.
    pub by_route: BTreeMap<String, u64>,
    /// Answers by HTTP status; 0 stands for a connection that was closed without an answer.
    pub by_status: BTreeMap<u16, u64>,
    /// Successful logins.
    pub logins: u64,
    /// Requests that a token's limit or the login limit refused.
    pub rate_limited: u64,
    /// The largest number of counted requests of one token in any 60 s.
    pub max_in_60s: u32,
    /// Extra fetches of a listing with an identical query string by one store.
    pub repeated_list_pages: u64,
    /// Extra fetches of the same order or product detail by one store.
    pub repeated_details: u64,
}

const STATUSES: usize = 600;

/// How a second identical fetch by one store is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    Uncounted,
    ListPage,
    Detail,
}

/// The counters behind [`Stats`].
pub(crate) struct Counters {
    /// Each route's name, such as `GET /api/products/{id}`, and its requests.
    routes: Vec<(String, AtomicU64)>,
    unmatched: AtomicU64,
    statuses: Vec<AtomicU64>,
    logins: AtomicU64,
    rate_limited: AtomicU64,
    max_in_60s: AtomicU32,
    repeated_lists: AtomicU64,
    repeated_details: AtomicU64,
}

fn zeros(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

impl Counters {
    /// Zero everywhere. A request counts by the position of its route in `routes`.
    pub(crate) fn new(routes: Vec<String>) -> Self {
        Self {
            routes: routes.into_iter().map(|route| (route, AtomicU64::new(0))).collect(),
            unmatched: AtomicU64::new(0),
            statuses: zeros(STATUSES),
            logins: AtomicU64::new(0),
            rate_limited: AtomicU64::new(0),
            max_in_60s: AtomicU32::new(0),
            repeated_lists: AtomicU64::new(0),
            repeated_details: AtomicU64::new(0),
        }
    }

    /// Counts a request by the number of its route.
    pub(crate) fn request(&self, route: Option<usize>) {
        let counter = route.and_then(|number| self.routes.get(number)).map(|(_, counter)| counter);
        counter.unwrap_or(&self.unmatched).fetch_add(1, Relaxed);
    }

    /// Counts an answer; status 0 is a connection closed without one.
    pub(crate) fn answered(&self, status: u16) {
        if let Some(counter) = self.statuses.get(usize::from(status)) {
            counter.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn login(&self) {
        self.logins.fetch_add(1, Relaxed);
    }

    pub(crate) fn rate_limited(&self) {
        self.rate_limited.fetch_add(1, Relaxed);
    }

    pub(crate) fn in_last_minute(&self, count: u32) {
        self.max_in_60s.fetch_max(count, Relaxed);
    }

    pub(crate) fn repeated(&self, repeats: Repeats) {
        match repeats {
            Repeats::ListPage => &self.repeated_lists,
            Repeats::Detail => &self.repeated_details,
            Repeats::Uncounted => return,
        }
        .fetch_add(1, Relaxed);
    }

    pub(crate) fn reset(&self) {
        let singles = [&self.unmatched, &self.logins, &self.rate_limited, &self.repeated_lists];
        let routes = self.routes.iter().map(|(_, counter)| counter);
        for counter in routes.chain(&self.statuses).chain(singles) {
            counter.store(0, Relaxed);
        }
        self.repeated_details.store(0, Relaxed);
        self.max_in_60s.store(0, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let unmatched = ("unmatched".to_owned(), self.unmatched.load(Relaxed));
        let by_route: BTreeMap<String, u64> = self
            .routes
            .iter()
            .map(|(route, count)| (route.clone(), count.load(Relaxed)))
            .chain([unmatched])
            .filter(|(_, count)| *count > 0)
            .collect();
        let statuses = self.statuses.iter().map(|counter| counter.load(Relaxed));
        Stats {
            requests: by_route.values().sum(),
            by_route,
            by_status: (0_u16..).zip(statuses).filter(|(_, count)| *count > 0).collect(),
            logins: self.logins.load(Relaxed),
            rate_limited: self.rate_limited.load(Relaxed),
            max_in_60s: self.max_in_60s.load(Relaxed),
            repeated_list_pages: self.repeated_lists.load(Relaxed),
            repeated_details: self.repeated_details.load(Relaxed),
        }
    }
}

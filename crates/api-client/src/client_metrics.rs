//! What was sent, by route: counts for each store, durations and waits for all stores that share their connections.
//!
//! A store costs a few dozen bytes for each route that it has used; the buckets are shared, so that three thousand stores
//! have one set of them. Labels are bounded: routes are the document's templates, fields are ours.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use crate::{
    ApiRequest,
    contact::{self, Contact},
    error::Error,
    limit::Lane,
    token::LoginReason,
};

/// Upper bounds of the buckets, in seconds: of answers and of waits for the budget.
pub const BUCKETS: [f64; 7] = [0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 300.0];
/// Names of unexpected fields that are kept for a route.
const NAMED: usize = 10;

/// What became of a request, as far as its effect goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered, and the answer can be read.
    Ok,
    /// Refused, or never sent.
    NotApplied,
    /// Nobody knows: a time-out, a broken connection, a server error, a page instead of an answer.
    Ambiguous,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Ok, Self::NotApplied, Self::Ambiguous];

    /// The word in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotApplied => "not_applied",
            Self::Ambiguous => "ambiguous",
        }
    }

    pub(crate) fn of<T>(result: &Result<T, Error>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(Error::Refused { status, .. }) if *status < 500 => Self::NotApplied,
            Err(Error::Unreachable { .. } | Error::Setup(_)) => Self::NotApplied,
            Err(_) => Self::Ambiguous,
        }
    }
}

/// What a login was made for, or that none is made any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginCount {
    /// [`LoginReason::First`].
    First,
    /// [`LoginReason::Renewal`].
    Renewal,
    /// [`LoginReason::Forced`].
    Forced,
    /// Another program uses the credential: the login was not made.
    Foreign,
}

impl LoginCount {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::First, Self::Renewal, Self::Forced, Self::Foreign];

    /// The word in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => LoginReason::First.as_str(),
            Self::Renewal => LoginReason::Renewal.as_str(),
            Self::Forced => LoginReason::Forced.as_str(),
            Self::Foreign => "foreign",
        }
    }

    pub(crate) fn of(reason: LoginReason) -> Self {
        match reason {
            LoginReason::First => Self::First,
            LoginReason::Renewal => Self::Renewal,
            LoginReason::Forced => Self::Forced,
        }
    }
}

/// A route with its method.
pub type Route = (&'static str, &'static str);

/// What one store's client has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Requests, by route and method, in the order of [`Outcome::ALL`]. Logins are among them.
    pub requests: BTreeMap<Route, [u64; 3]>,
    /// Logins, in the order of [`LoginCount::ALL`].
    pub logins: [u64; 4],
    /// Values that the document does not list, by field.
    pub unknown_values: BTreeMap<&'static str, u64>,
    /// How many seconds the marketplace's clock was ahead of ours with its last answer.
    pub ahead_seconds: Option<i64>,
    /// When that was measured, by our clock: each answer that says its time renews it.
    pub ahead_measured_at: Option<DateTime<Utc>>,
    /// When the marketplace last answered usefully, and what has been wrong since.
    pub contact: Contact,
    /// How the shape of answers has drifted, by route.
    pub drift: BTreeMap<&'static str, Drift>,
}

/// How the answers of a route differ from the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Answers with a field that the document does not have.
    pub unknown: u64,
    /// Answers without a field that the document says is always there.
    pub missing: u64,
    /// Some of those fields, by name; a missing one begins with `-`.
    pub names: Vec<String>,
}

impl Drift {
    pub(crate) fn note(&mut self, unknown: Vec<String>, missing: &[&str]) {
        self.unknown += u64::from(!unknown.is_empty());
        self.missing += u64::from(!missing.is_empty());
        for name in unknown.into_iter().chain(missing.iter().map(|name| format!("-{name}"))) {
            if self.names.len() < NAMED && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}

/// Between two looks at the shape of a route's answers.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

/// Counts for one store.
#[derive(Debug, Default)]
pub struct ClientMetrics {
    counted: Mutex<Counted>,
    /// When the shape of a route's answers was last looked at.
    looked: Mutex<BTreeMap<&'static str, Duration>>,
    /// Told when an exchange has failed.
    lost: Notify,
}

impl ClientMetrics {
    /// What was counted so far.
    pub fn counted(&self) -> Counted {
        self.lock().clone()
    }

    /// Goes on from what an earlier client of the same store had counted: counters never go back.
    pub fn go_on_from(&self, earlier: &Counted) {
        let mut own = self.lock();
        if own.contact == Contact::default() {
            own.contact = earlier.contact.clone();
            (own.ahead_seconds, own.ahead_measured_at) = (earlier.ahead_seconds, earlier.ahead_measured_at);
            self.lost.notify_one();
        }
        for (route, counts) in &earlier.requests {
            let sums = own.requests.entry(*route).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        own.logins.iter_mut().zip(earlier.logins).for_each(|(sum, count)| *sum += count);
        for (field, count) in &earlier.unknown_values {
            *own.unknown_values.entry(field).or_default() += count;
        }
        for (route, drift) in &earlier.drift {
            let sum = own.drift.entry(route).or_default();
            (sum.unknown, sum.missing) = (sum.unknown + drift.unknown, sum.missing + drift.missing);
            sum.note_names(&drift.names);
        }
    }

    pub(crate) fn request<T>(&self, request: &ApiRequest, result: &Result<T, Error>) {
        let mut own = self.lock();
        own.requests.entry(request.route_and_method()).or_default()[Outcome::of(result) as usize] += 1;
    }

    pub(crate) fn clock_ahead(&self, server: DateTime<Utc>, now: DateTime<Utc>) {
        let mut own = self.lock();
        own.ahead_seconds = Some((server - now).num_seconds());
        own.ahead_measured_at = Some(now);
    }

    /// Notes the outcome of an exchange, where the marketplace was asked.
    pub(crate) fn contact(&self, outcome: Option<contact::Outcome>, at: DateTime<Utc>) {
        let Some(outcome) = outcome else { return };
        let is_lost = {
            let mut own = self.lock();
            own.contact.note(outcome, at);
            own.contact.is_lost()
        };
        if is_lost {
            self.lost.notify_one();
        }
    }

    /// When the marketplace last answered usefully.
    pub fn answered_at(&self) -> Option<DateTime<Utc>> {
        self.lock().contact.answered_at
    }

    /// Whether exchanges have failed since.
    pub fn is_lost(&self) -> bool {
        self.lock().contact.is_lost()
    }

    /// Since when exchanges have failed without a useful answer.
    pub fn lost_since(&self) -> Option<DateTime<Utc>> {
        self.lock().contact.transport().map(|trouble| trouble.since)
    }

    /// The abilities that the token lacks and calls have needed, sorted.
    pub fn missing_abilities(&self) -> Vec<String> {
        self.lock().contact.scope().map(|trouble| trouble.abilities).unwrap_or_default()
    }

    pub(crate) fn refused_read(&self, before: DateTime<Utc>) -> Option<ApiRequest> {
        self.lock().contact.refused_read(before)
    }

    /// Waits until exchanges fail; one waiter at a time.
    pub async fn lost(&self) {
        while !self.is_lost() {
            self.lost.notified().await;
        }
    }

    pub(crate) fn login(&self, what: LoginCount) {
        self.lock().logins[what as usize] += 1;
    }

    /// Counts a value that the document does not list for its field.
    pub(crate) fn value(&self, field: &'static str, value: Option<&str>, listed: &[&str]) {
        if value.is_some_and(|value| !listed.contains(&value)) {
            *self.lock().unknown_values.entry(field).or_default() += 1;
        }
    }

    /// Whether it is time to look at the shape of a route's answers.
    pub(crate) fn is_due(&self, route: &'static str, now: Duration) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.get(route).is_none_or(|at| now >= *at + LOOK_EVERY);
        if due {
            looked.insert(route, now);
        }
        due
    }

    pub(crate) fn drift(&self, route: &'static str, unknown: Vec<String>, missing: &[&str]) {
        self.lock().drift.entry(route).or_default().note(unknown, missing);
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drift {
    fn note_names(&mut self, names: &[String]) {
        for name in names {
            if self.names.len() < NAMED && !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
    }
}

/// How long things took: counts by bucket (the last has no bound), and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Histogram {
    /// One count for each of [`BUCKETS`], and one beyond them; not cumulated.
    pub counts: [u64; 8],
    /// Seconds in all.
    pub sum: f64,
}

impl Histogram {
    fn record(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BUCKETS.iter().position(|bound| seconds <= *bound).unwrap_or(BUCKETS.len());
        self.counts[bucket] += 1;
        self.sum += seconds;
    }
}

/// Durations of all stores that share their connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timed {
    /// From sending to the answer's end, by route.
    pub answers: BTreeMap<&'static str, Histogram>,
    /// Waits for the budget, in the order of [`Lane::ALL`].
    pub waits: [Histogram; 5],
}

/// Where durations are gathered.
#[derive(Clone, Debug, Default)]
pub struct Timings(Arc<Mutex<Timed>>);

impl Timings {
    /// What was gathered so far.
    pub fn timed(&self) -> Timed {
        self.lock().clone()
    }

    pub(crate) fn answered(&self, route: &'static str, duration: Duration) {
        self.lock().answers.entry(route).or_default().record(duration);
    }

    pub(crate) fn waited(&self, lane: Lane, duration: Duration) {
        self.lock().waits[lane as usize].record(duration);
    }

    fn lock(&self) -> MutexGuard<'_, Timed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::TroubleKind;

    #[test]
    fn a_duration_falls_into_the_first_bucket_that_holds_it() {
        let mut histogram = Histogram::default();
        for millis in [0, 50, 51, 1_000, 400_000] {
            histogram.record(Duration::from_millis(millis));
        }
        assert_eq!(histogram.counts, [2, 1, 0, 1, 0, 0, 0, 1]);
        assert!((histogram.sum - 401.101).abs() < 1e-9);
    }

    // withstands: F070
    #[test]
    fn only_values_that_the_document_does_not_list_are_counted() {
        let metrics = ClientMetrics::default();
        for value in [Some("paid"), None, Some("exploded"), Some("exploded")] {
            metrics.value("order.status", value, &["paid"]);
        }
        assert_eq!(metrics.counted().unknown_values, BTreeMap::from([("order.status", 2)]));
    }

    #[test]
    fn a_new_client_goes_on_counting_where_the_one_before_it_ended() {
        let (first, second) = (ClientMetrics::default(), ClientMetrics::default());
        for metrics in [&first, &second] {
            metrics.login(LoginCount::Renewal);
            metrics.request(&ApiRequest::get("/r", &[]), &Ok(()));
            metrics.request(&ApiRequest::get("/r", &[]), &Err::<(), _>(Error::Setup("x".into())));
            metrics.value("f", Some("x"), &[]);
            metrics.drift("/r", vec!["new".into()], &["old"]);
        }
        let (at, failed) =
            (DateTime::UNIX_EPOCH, contact::Outcome::Failed(TroubleKind::Errors, String::new()));
        first.contact(Some(failed), at);
        second.go_on_from(&first.counted());
        let counted = second.counted();
        assert!(counted.contact.is_lost(), "an outage outlives a client");
        assert_eq!(counted.requests[&("/r", "GET")], [2, 2, 0]);
        assert_eq!((counted.logins, counted.unknown_values["f"]), ([0, 2, 0, 0], 2));
        let names = ["new", "-old"].map(String::from).to_vec();
        assert_eq!(counted.drift["/r"], Drift { unknown: 2, missing: 2, names });
    }
}

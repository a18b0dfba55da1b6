//! Client metrics by route: counts for each store, durations and waits for all stores that share their connections.
//!
//! A store costs a few dozen bytes for each route that it has used. The buckets are shared, so three thousand stores
//! have one set of them. Labels are bounded: routes are the document's templates, and field names come from this
//! code.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::{
    ApiRequest,
    contact::{self, Contact},
    error::Error,
    limit::Lane,
    login_reason::LoginReason,
    route::Route,
    unreadable_values::{Object, UnreadableValues},
};

pub use crate::unreadable_values::UnreadableField;

/// Upper bounds of the histogram buckets, in seconds, for answers and for waits at the rate limiter.
pub const BUCKETS: [f64; 7] = [0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 300.0];
/// The most unexpected field names kept for a route.
const NAMED: usize = 10;

/// The outcome of a request with regard to its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The answer arrived and can be read.
    Ok,
    /// The request was refused, or was never sent.
    NotApplied,
    /// The effect is unknown: a time-out, a broken connection, a server error, or a web page instead of an answer.
    Ambiguous,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Ok, Self::NotApplied, Self::Ambiguous];

    /// Returns the word used in metrics.
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

/// The reason for a login, or that the login was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginCount {
    /// [`LoginReason::First`].
    First,
    /// [`LoginReason::Renewal`].
    Renewal,
    /// [`LoginReason::Forced`] or [`LoginReason::AfterOutage`].
    Forced,
    /// The login was blocked because another program uses the credential.
    Foreign,
}

impl LoginCount {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::First, Self::Renewal, Self::Forced, Self::Foreign];

    /// Returns the word used in metrics.
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
            LoginReason::Forced | LoginReason::AfterOutage => Self::Forced,
        }
    }
}

/// The metrics of one store's client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Requests by route and method. Includes logins.
    pub requests: RequestCounts,
    /// Logins, in the order of [`LoginCount::ALL`].
    pub logins: [u64; 4],
    /// Values that the document does not list, by field.
    pub unknown_values: BTreeMap<&'static str, u64>,
    /// How many seconds the marketplace's clock was ahead of ours in its last answer.
    pub ahead_seconds: Option<i64>,
    /// When that was measured, by our clock. Each answer with a `Date` renews it.
    pub ahead_measured_at: Option<DateTime<Utc>>,
    /// When the marketplace last answered usefully, and the trouble since.
    pub contact: Contact,
    /// The schema drift, by route.
    pub drift: BTreeMap<&'static str, Drift>,
}

/// The number of requests of each route, by outcome in the order of [`Outcome::ALL`]. It is sorted by route, in one piece:
/// thousands of clients use a dozen routes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts(Vec<(Route, [u64; 3])>);

impl RequestCounts {
    /// Returns the counts of a route, to add to.
    pub fn of(&mut self, route: Route) -> &mut [u64; 3] {
        let place = self.0.binary_search_by_key(&route, |(own, _)| *own).unwrap_or_else(|place| {
            self.0.reserve_exact(1);
            self.0.insert(place, (route, [0; 3]));
            place
        });
        &mut self.0[place].1
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        for (route, counts) in other.iter() {
            self.of(*route).iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Returns the counts of each route, sorted by route.
    pub fn iter(&self) -> impl Iterator<Item = &(Route, [u64; 3])> {
        self.0.iter()
    }
}

/// The schema drift of one route: how its answers differ from the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Answers with a field that the document does not have.
    pub unknown: u64,
    /// Answers without a field that the document guarantees.
    pub missing: u64,
    /// Some of those fields by name. The name of a missing field begins with `-`.
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

/// The interval between two schema drift checks of a route.
const DRIFT_CHECK_INTERVAL: Duration = Duration::from_secs(3_600);

/// The client metrics of one store.
#[derive(Debug, Default)]
pub struct ClientMetrics {
    counted: Mutex<Counted>,
    /// When each route was last checked for schema drift.
    looked: Mutex<BTreeMap<&'static str, Duration>>,
    /// The values that could not be read.
    unreadable: Mutex<UnreadableValues>,
    /// Notified when a call has failed, or any trouble has begun.
    troubled: Notify,
    /// Notified when trouble with the credential has begun, changed or ended.
    credential_news: OnceLock<Arc<Notify>>,
}

impl ClientMetrics {
    /// Returns the metrics so far.
    pub fn counted(&self) -> Counted {
        self.lock().clone()
    }

    /// Adds the metrics of an earlier client of the same store, so that counters never go back.
    pub fn go_on_from(&self, earlier: &Counted) {
        let mut own = self.lock();
        if own.contact == Contact::default() {
            own.contact = earlier.contact.clone();
            (own.ahead_seconds, own.ahead_measured_at) = (earlier.ahead_seconds, earlier.ahead_measured_at);
            self.troubled.notify_one();
        }
        own.requests.add(&earlier.requests);
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

    /// Adds the unreadable values that an earlier client of the same store has met.
    pub fn keep_unreadable_of(&self, earlier: &Self) {
        *self.unreadable.lock() = earlier.unreadable.lock().clone();
    }

    /// Returns the fields of which some values could not be read, those with the most first.
    pub fn unreadable_fields(&self) -> Vec<UnreadableField> {
        self.unreadable.lock().fields()
    }

    /// Forgets what was last unreadable before a complete pass began that did not meet it.
    pub fn forget_unreadable_before(&self, began: DateTime<Utc>) {
        self.unreadable.lock().forget_before(began);
    }

    /// Records which fields of an answer to a read could not be read.
    pub(crate) fn unreadable(
        &self,
        request: &ApiRequest,
        fields: impl Iterator<Item = &'static str>,
        at: DateTime<Utc>,
    ) {
        let object = || Object::of(&request.describe(), &request.describe_owner());
        self.unreadable.lock().note(request.route_and_method(), object, fields, at);
    }

    /// Forgets the unreadable values of an object that the marketplace does not have.
    pub(crate) fn absent(&self, request: &ApiRequest) {
        self.unreadable.lock().forget_object(&request.describe());
    }

    pub(crate) fn request<T>(&self, request: &ApiRequest, result: &Result<T, Error>) {
        let mut own = self.lock();
        own.requests.of(request.route_and_method())[Outcome::of(result) as usize] += 1;
    }

    pub(crate) fn clock_ahead(&self, server: DateTime<Utc>, now: DateTime<Utc>) {
        let mut own = self.lock();
        own.ahead_seconds = Some((server - now).num_seconds());
        own.ahead_measured_at = Some(now);
    }

    /// Records the outcome of a call; `None` means that the marketplace was not called.
    pub(crate) fn contact(&self, outcome: Option<contact::Outcome>, at: DateTime<Utc>) {
        let Some(outcome) = outcome else { return };
        let credential = |contact: &Contact| contact.credential().map(|trouble| trouble.kind);
        let (is_troubled, is_news) = {
            let mut own = self.lock();
            let trouble = |contact: &Contact| (contact.is_troubled(at), contact.is_doubtful(at));
            let (before, (was_troubled, was_doubtful)) = (credential(&own.contact), trouble(&own.contact));
            own.contact.note(outcome, at);
            let (is_troubled, is_doubtful) = trouble(&own.contact);
            let has_begun = (is_troubled && !was_troubled) || (is_doubtful && !was_doubtful);
            let is_troubled = own.contact.is_lost() || has_begun;
            (is_troubled, credential(&own.contact) != before)
        };
        if is_troubled {
            self.troubled.notify_one();
        }
        if is_news && let Some(news) = self.credential_news.get() {
            news.notify_one();
        }
    }

    /// Has `news` notified when trouble with the credential begins, changes or ends. The first one stays.
    pub fn tell_credential_news(&self, news: &Arc<Notify>) {
        let _ = self.credential_news.set(Arc::clone(news));
    }

    /// Shows the contact with the marketplace, and how many seconds its clock is ahead of ours.
    pub fn see_contact<R>(&self, see: impl FnOnce(&Contact, Option<i64>) -> R) -> R {
        let own = self.lock();
        see(&own.contact, own.ahead_seconds)
    }

    /// Returns when the marketplace last answered usefully.
    pub fn answered_at(&self) -> Option<DateTime<Utc>> {
        self.lock().contact.answered_at
    }

    /// Returns whether the latest call failed.
    pub fn is_lost(&self) -> bool {
        self.lock().contact.is_lost()
    }

    /// Returns whether the last login was refused because of the username or the password.
    pub fn is_credential_refused(&self) -> bool {
        self.lock().contact.is_credential_refused()
    }

    /// Returns the fields of a login that the marketplace refuses with 422 ([`Contact::refused_login_fields`]).
    pub fn refused_login_fields(&self) -> Option<String> {
        self.lock().contact.refused_login_fields().map(str::to_owned)
    }

    /// Returns whether another program may end the token that we have.
    pub fn is_token_contested(&self, at: DateTime<Utc>) -> bool {
        self.lock().contact.is_token_contested(at)
    }

    /// Returns whether the marketplace was out of reach since its last useful answer.
    pub(crate) fn was_out_of_reach(&self) -> bool {
        self.lock().contact.was_out_of_reach()
    }

    /// Returns since when calls have failed without a useful answer.
    pub fn lost_since(&self) -> Option<DateTime<Utc>> {
        self.lock().contact.transport().map(|trouble| trouble.since)
    }

    /// Returns the abilities that calls needed and the token lacks, sorted.
    pub fn missing_abilities(&self) -> Vec<String> {
        self.lock().contact.scope().map(|trouble| trouble.abilities).unwrap_or_default()
    }

    /// Returns the routes that fail while others work, each with its method, sorted.
    pub fn failing_routes(&self, at: DateTime<Utc>) -> Vec<String> {
        self.lock().contact.failing_routes(at, true).map(|failing| failing.routes).unwrap_or_default()
    }

    pub(crate) fn read_to_repeat(&self, before: DateTime<Utc>) -> Option<ApiRequest> {
        self.lock().contact.read_to_repeat(before)
    }

    /// Returns whether there is trouble whose end only further requests can show ([`Contact::is_doubtful`]).
    pub fn is_doubtful(&self, at: DateTime<Utc>) -> bool {
        self.lock().contact.is_doubtful(at)
    }

    /// Returns whether anything is in trouble.
    pub fn is_troubled(&self, at: DateTime<Utc>) -> bool {
        self.lock().contact.is_troubled(at)
    }

    /// Waits until a call fails, or any trouble begins; may return for trouble that is over. Supports one waiter at a time.
    pub async fn troubled(&self) {
        if !self.is_lost() {
            self.troubled.notified().await;
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

    /// Returns whether a schema drift check of a route is due, and records it if so.
    pub(crate) fn is_due(&self, route: &'static str, now: Duration) -> bool {
        let mut looked = self.looked.lock();
        let due = looked.get(route).is_none_or(|at| now >= *at + DRIFT_CHECK_INTERVAL);
        if due {
            looked.insert(route, now);
        }
        due
    }

    pub(crate) fn drift(&self, route: &'static str, unknown: Vec<String>, missing: &[&str]) {
        self.lock().drift.entry(route).or_default().note(unknown, missing);
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock()
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

/// A histogram of durations: counts by bucket (the last has no bound) and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Histogram {
    /// One count for each of [`BUCKETS`], and one for longer durations; not cumulative.
    pub counts: [u64; 8],
    /// The sum in seconds.
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

/// Durations over all stores that share their connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timed {
    /// From sending the request to the end of the answer, by route.
    pub answers: BTreeMap<&'static str, Histogram>,
    /// Waits at the rate limiter, in the order of [`Lane::ALL`].
    pub waits: [Histogram; 5],
}

/// The shared collector of durations.
#[derive(Clone, Debug, Default)]
pub struct Timings(Arc<Mutex<Timed>>);

impl Timings {
    /// Returns the durations so far.
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
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{LastToken, TroubleKind};

    #[test]
    fn a_duration_falls_into_the_first_bucket_that_holds_it() {
        let mut histogram = Histogram::default();
        for millis in [0, 50, 51, 1_000, 400_000] {
            histogram.record(Duration::from_millis(millis));
        }
        assert_eq!(histogram.counts, [2, 1, 0, 1, 0, 0, 0, 1]);
        assert!((histogram.sum - 401.101).abs() < 1e-9);
    }

    #[tokio::test]
    async fn a_refused_login_is_news_at_once_and_another_one_is_not() {
        let (metrics, news) = (ClientMetrics::default(), Arc::new(Notify::new()));
        metrics.tell_credential_news(&news);
        let refused = || {
            contact::Outcome::LoginRefused(
                TroubleKind::Credential,
                contact::Failure::default(),
                LastToken::Gone,
            )
        };
        for (outcome, is_news) in [
            (contact::Outcome::Useful(("/orders", "GET")), false),
            (refused(), true),
            (refused(), false),
            (contact::Outcome::LoginAccepted(LoginReason::First), true),
        ] {
            metrics.contact(Some(outcome.clone()), DateTime::UNIX_EPOCH);
            let told = futures_util::FutureExt::now_or_never(news.notified()).is_some();
            assert_eq!(told, is_news, "{outcome:?}");
        }
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
        let (at, failed) = (
            DateTime::UNIX_EPOCH,
            contact::Outcome::Failed {
                kind: TroubleKind::Errors,
                failure: contact::Failure::default(),
                route: None,
                read: None,
            },
        );
        first.contact(Some(failed), at);
        second.go_on_from(&first.counted());
        let mut counted = second.counted();
        assert!(counted.contact.is_lost(), "an outage outlives a client");
        assert_eq!(counted.requests.of(("/r", "GET")), &[2, 2, 0]);
        assert_eq!((counted.logins, counted.unknown_values["f"]), ([0, 2, 0, 0], 2));
        let names = ["new", "-old"].map(String::from).to_vec();
        assert_eq!(counted.drift["/r"], Drift { unknown: 2, missing: 2, names });
    }
}

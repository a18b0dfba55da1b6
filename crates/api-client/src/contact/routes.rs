//! The routes that fail while others work. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Contact, Failure, Trouble, TroubleKind, fail};
use crate::{
    ApiRequest,
    route::{ORDERS, Route, is_listing},
};

/// The time for which a route's errors count after its last failure. A read that fails is repeated meanwhile, so only a write that
/// nobody asks for any more is forgotten.
const ROUTE_ERRORS_COUNT_FOR: TimeDelta = TimeDelta::minutes(5);
/// A listing that no mirror can do without, and that has not answered for so long while others did, is in trouble however
/// rarely it is asked: a 429 may keep it waiting. It is longer than the wait after a 429 that names none.
const LISTING_ANSWERS_WITHIN: TimeDelta = TimeDelta::seconds(90);

/// The errors of one route since its last useful answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RouteErrors {
    pub(super) trouble: Trouble,
    /// True if it failed again after another route had answered: the trouble is this route's, not the marketplace's.
    pub(super) is_its_own: bool,
    /// When another route first answered after the first of them.
    pub(super) others_answered: Option<DateTime<Utc>>,
    /// The last read that failed, if it may be repeated at once.
    pub(super) read: Option<ApiRequest>,
}

impl RouteErrors {
    /// Returns whether they count at a time. The listing of orders is read by each sweep, and a listing whose read is
    /// known is repeated: their trouble lasts until they answer. While sweeps are suspended nobody asks for the others, and
    /// nobody knows how they are.
    pub(super) fn count_at(&self, route: &Route, at: DateTime<Utc>, do_sweeps_read: bool) -> bool {
        let is_recent = at - self.trouble.last <= ROUTE_ERRORS_COUNT_FOR;
        match (is_listing(route), &self.read) {
            (true, Some(_)) => true,
            (true, None) => do_sweeps_read && (route.0 == ORDERS || is_recent),
            (false, _) => is_recent,
        }
    }

    /// Returns whether they are this route's trouble at a time, not the marketplace's.
    pub(super) fn is_its_own_at(&self, route: &Route, at: DateTime<Utc>) -> bool {
        let is_unanswered = |since| at - since >= LISTING_ANSWERS_WITHIN;
        self.is_its_own || (is_listing(route) && self.others_answered.is_some_and(is_unanswered))
    }
}

/// The routes that answer with errors while others work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingRoutes {
    /// The first failure of any of them since its last useful answer.
    pub since: DateTime<Utc>,
    /// Each with its method first (`GET /orders`), sorted.
    pub routes: Vec<String>,
    /// The last failure.
    pub failure: Failure,
}

impl Contact {
    /// Returns the routes that answer with errors while others work, at the time `at`. A single failure between useful
    /// answers of other routes may pass and is not counted, nor is a listing that nobody asks for because sweeps are
    /// suspended.
    pub fn failing_routes(&self, at: DateTime<Utc>, do_sweeps_read: bool) -> Option<FailingRoutes> {
        let counts = |route: &Route, errors: &RouteErrors| {
            errors.count_at(route, at, do_sweeps_read) && errors.is_its_own_at(route, at)
        };
        let failing: Vec<_> = self.errors.iter().filter(|(route, errors)| counts(route, errors)).collect();
        let (_, latest) = failing.iter().max_by_key(|(_, errors)| errors.trouble.last)?;
        let since = failing.iter().map(|(_, errors)| errors.trouble.since).min()?;
        let mut routes: Vec<_> =
            failing.iter().map(|((route, method), _)| format!("{method} {route}")).collect();
        routes.sort_unstable();
        let Trouble { symptom, detail, .. } = latest.trouble.clone();
        Some(FailingRoutes { since, routes, failure: Failure { symptom, detail } })
    }

    /// Records that a route answered with an error. It comes before the failure counts as transport trouble.
    pub(super) fn route_failed(
        &mut self,
        (route, kind): (Route, TroubleKind),
        failure: &Failure,
        read: Option<ApiRequest>,
        at: DateTime<Utc>,
    ) {
        let known = self.errors.remove(&route).filter(|errors| errors.count_at(&route, at, true));
        let is_throttled = kind == TroubleKind::Throttled;
        // Without transport trouble, the latest answer of another route was useful. A route may have a limit of its own
        // that two requests meet at once: that passes.
        let is_its_own = known
            .as_ref()
            .is_some_and(|errors| errors.is_its_own || (!is_throttled && self.transport.is_none()));
        let others_answered = known.as_ref().and_then(|errors| errors.others_answered);
        // The caller waits for as long as the marketplace says, and repeats the read itself.
        let read = read.filter(|_| !is_throttled);
        let mut trouble = known.map(|errors| errors.trouble);
        fail(&mut trouble, TroubleKind::Errors, failure.clone(), at);
        let errors = trouble.map(|trouble| RouteErrors { trouble, is_its_own, others_answered, read });
        self.errors.extend(errors.map(|errors| (route, errors)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contact::Outcome, route::LISTINGS};

    const STOCK: Route = ("/stock", "GET");

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    // withstands: F094
    #[test]
    fn a_listing_that_gets_nothing_but_429s_is_in_trouble_when_it_has_not_answered_for_90_s_beside_others() {
        let [orders, products] = LISTINGS;
        let failed = |kind, route: Route| Outcome::Failed {
            kind,
            failure: Failure::default(),
            route: Some(route),
            read: Some(ApiRequest::get(route.0, &[])),
        };
        let throttled = |route| failed(TroubleKind::Throttled, route);
        let unreachable = |route| failed(TroubleKind::Unreachable, route);
        let erring = |route| failed(TroubleKind::Errors, route);
        let useful = Outcome::Useful;
        let once = || vec![(1, throttled(orders)), (2, useful(STOCK))];
        let with = |more: Vec<(i64, Outcome)>| once().into_iter().chain(more).collect::<Vec<_>>();
        for (outcomes, now, expected, why) in [
            (once(), 91, false, "it is asked again when its wait is over"),
            (once(), 92, true, "it waits longer than others"),
            (once(), 9_000, true, "it has not answered since"),
            (with(vec![(61, throttled(orders)), (62, useful(STOCK))]), 91, false, "a limit of its own"),
            (with(vec![(61, throttled(orders)), (62, useful(STOCK))]), 92, true, "it goes on"),
            (with(vec![(61, useful(orders))]), 200, false, "it has answered"),
            (vec![(1, throttled(STOCK)), (2, useful(orders))], 200, false, "one row's route"),
            (vec![(1, throttled(orders)), (2, throttled(STOCK))], 200, false, "all are throttled"),
            (
                vec![(1, throttled(orders)), (2, throttled(STOCK)), (190, useful(STOCK))],
                200,
                false,
                "all were throttled until a moment ago",
            ),
            (vec![(1, throttled(products)), (2, useful(STOCK))], 301, true, "the other listing"),
            (vec![(1, throttled(products)), (2, useful(STOCK))], 302, false, "nobody asks for it any more"),
            (vec![(1, unreachable(products)), (2, useful(STOCK))], 302, true, "its read is known"),
        ] {
            let mut contact = Contact::default();
            outcomes.into_iter().for_each(|(second, outcome)| contact.note(outcome, at(second)));
            let found = contact.failing_routes(at(now), true).map(|found| found.since);
            assert_eq!(found, expected.then(|| at(1)), "{why}");
        }
        // While sweeps are suspended, only what is asked all the same is known to fail.
        for (outcomes, expected, why) in [
            (once(), false, "nobody asks for it"),
            (with(vec![(61, unreachable(orders)), (62, useful(STOCK))]), true, "its read is repeated"),
            (with(vec![(3, throttled(products)), (4, useful(STOCK))]), false, "nor for the other listing"),
        ] {
            let mut contact = Contact::default();
            outcomes.into_iter().for_each(|(second, outcome)| contact.note(outcome, at(second)));
            let found = [true, false].map(|do_read| contact.failing_routes(at(200), do_read).is_some());
            assert_eq!(found, [true, expected], "{why}");
        }
        let mut contact = Contact::default();
        for (second, outcome) in (1..).zip([erring(STOCK), useful(orders), erring(STOCK), useful(orders)]) {
            contact.note(outcome, at(second));
        }
        assert!(contact.failing_routes(at(6), false).is_some(), "others ask for this route");
        for (outcome, expected) in
            [(throttled(products), None), (unreachable(products), Some(ApiRequest::get(products.0, &[])))]
        {
            let mut contact = Contact::default();
            [outcome, useful(STOCK)].into_iter().for_each(|outcome| contact.note(outcome, at(1)));
            assert_eq!(contact.read_to_repeat(at(90)), None);
            assert_eq!(contact.read_to_repeat(at(91)), expected, "who meets a 429 waits, and asks again");
        }
    }
}

//! Contact with the marketplace: when it last answered usefully, and the trouble since. Pure: the caller passes the
//! time.
//!
//! Four kinds of trouble begin and end independently:
//! - *Transport*: no connection, no readable answer, or a refusal to process the call. The next answer ends it.
//! - *Route*: one route answers with errors while others work; a listing that no mirror can do without, also if it does
//!   not answer, is refused, or gets nothing but 429s. The next useful answer of this route ends it.
//! - *Credential*: a refused login. The next accepted login ends it, because a token that is still valid says nothing
//!   about the password. Where another program ends our tokens, a login that a dead token forced ends nothing: a token
//!   has to live on for a while, the new one or the one before it.
//! - *Ability*: the token lacks one. The next accepted call that needs the ability ends it.

mod abilities;
mod outcome;
mod routes;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::symptom::Symptom;

use crate::{ApiRequest, login_budget::NAMED_WINDOW, login_reason::LoginReason, route::Route};
use outcome::is_of_route;
pub use outcome::{Failure, LastToken, Outcome};
pub use routes::FailingRoutes;
use routes::RouteErrors;

/// A token that is accepted for so long after the last sign of another program is ended by nobody any more: the alarm ends
/// within a minute of its cause.
const TOKEN_LIVES_ON: TimeDelta = TimeDelta::seconds(45);
/// For so long after a forced login the next end of a token is looked for: it would name another program.
const CONTESTED_FOR: TimeDelta = NAMED_WINDOW;

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TroubleKind {
    /// No connection, no answer in time, or no TLS.
    Unreachable,
    /// A server error, or an answer that cannot be read.
    Errors,
    /// A 429. The client stays within its budget, so it should not get one.
    Throttled,
    /// A login was refused.
    Credential,
    /// Another program logs in with the same credential.
    ForeignLogin,
    /// The token lacks abilities.
    Scope,
}

impl TroubleKind {
    /// Returns the word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Errors => "errors",
            Self::Throttled => "throttled",
            Self::Credential => "credential",
            Self::ForeignLogin => "foreign_login",
            Self::Scope => "scope",
        }
    }
}

/// A run of trouble that is still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The kind of its last failure.
    pub kind: TroubleKind,
    /// Its first failure.
    pub since: DateTime<Utc>,
    /// Its last failure.
    pub last: DateTime<Utc>,
    /// Failures so far.
    pub times: u64,
    /// The failure of the last call, for people.
    pub symptom: Symptom,
    /// The last failure in words: the call and its cause. Never contains a secret.
    pub detail: String,
    /// Abilities that the token lacks ([`TroubleKind::Scope`]), sorted.
    pub abilities: Vec<String>,
}

impl Trouble {
    fn begin(kind: TroubleKind, Failure { symptom, detail }: Failure, at: DateTime<Utc>) -> Self {
        Self { kind, since: at, last: at, times: 1, symptom, detail, abilities: Vec::new() }
    }
}

/// One store's contact with the marketplace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    /// When the marketplace last answered usefully: a 2xx, or a refusal for a business reason.
    pub answered_at: Option<DateTime<Utc>>,
    /// The failure of the latest call; a useful answer clears it.
    transport: Option<Trouble>,
    /// The errors of each route.
    errors: BTreeMap<Route, RouteErrors>,
    /// The failure of the latest login; an accepted login clears it.
    login: Option<Trouble>,
    /// When a login that a dead token had forced was accepted, if that is the latest news of logins.
    forced_at: Option<DateTime<Utc>>,
    /// True from a failed connection until the next useful answer.
    was_out_of_reach: bool,
    /// True from a refused login that left us no token, until a token of ours is accepted again.
    has_no_token: bool,
    /// The abilities (scopes) that the token lacks, by the route that refused it.
    scopes: BTreeMap<Route, Trouble>,
    /// The last read that each of those routes refused.
    refused_reads: BTreeMap<Route, ApiRequest>,
}

impl Contact {
    /// Records the outcome of a call that ended at `at`.
    pub fn note(&mut self, outcome: Outcome, at: DateTime<Utc>) {
        match outcome {
            Outcome::Useful(route) => {
                self.useful(at);
                self.accepted(&route, at);
            }
            Outcome::LoginAccepted(reason) => {
                self.forced_at = (reason == LoginReason::Forced).then_some(at);
                // Its token may end like the one before it.
                if self.forced_at.is_none() || !self.is_foreign() {
                    self.login = None;
                }
                self.useful(at);
            }
            // A token that should have been valid was refused, and others have used up the login limit.
            Outcome::LoginLimited(reason, failure) if reason == LoginReason::Forced || self.is_foreign() => {
                self.login_failed(TroubleKind::ForeignLogin, failure, at);
                // A login of our own accord leaves us the token that we have.
                self.has_no_token |= reason == LoginReason::Forced;
            }
            Outcome::LoginLimited(reason, failure) => {
                self.has_no_token |= reason == LoginReason::AfterOutage;
                fail(&mut self.transport, TroubleKind::Throttled, failure, at);
            }
            Outcome::Answered => self.transport = None,
            Outcome::Failed { kind, failure, route, read } => {
                if let Some(route) = route.filter(|route| is_of_route(kind, route)) {
                    self.route_failed((route, kind), &failure, read, at);
                }
                self.was_out_of_reach |= kind == TroubleKind::Unreachable;
                fail(&mut self.transport, kind, failure, at);
            }
            Outcome::ListingRefused { route, failure, read } => {
                self.useful(at);
                self.route_failed((route, TroubleKind::Errors), &failure, read, at);
            }
            Outcome::TokensEnded(failure) => self.login_failed(TroubleKind::ForeignLogin, failure, at),
            Outcome::LoginRefused(kind, failure, last) => {
                self.login_failed(kind, failure, at);
                self.has_no_token |= last == LastToken::Gone;
            }
            Outcome::MissingAbilities(route, abilities, read) => {
                self.useful(at);
                self.errors.remove(&route);
                self.refused_reads.extend(read.map(|read| (route, read)));
                let detail = format!("{} {}: {}", route.1, route.0, abilities.join(", "));
                let mut known = self.scopes.remove(&route);
                fail(&mut known, TroubleKind::Scope, Failure { detail, ..Failure::default() }, at);
                self.scopes.extend(known.map(|trouble| (route, Trouble { abilities, ..trouble })));
            }
        }
    }

    /// Returns the transport trouble if the last call failed: no connection, errors or throttling.
    pub fn transport(&self) -> Option<&Trouble> {
        self.transport.as_ref()
    }

    /// Returns the credential trouble if the last login failed.
    pub fn credential(&self) -> Option<&Trouble> {
        self.login.as_ref()
    }

    /// Returns whether the last login was refused because of the username or the password.
    pub fn is_credential_refused(&self) -> bool {
        self.login.as_ref().is_some_and(|trouble| trouble.kind == TroubleKind::Credential)
    }

    /// Returns the fields of a login that the marketplace refuses with 422, with commas between them; empty where it names
    /// none. `None` while it refuses no login so.
    pub fn refused_login_fields(&self) -> Option<&str> {
        let login = self.login.as_ref().filter(|trouble| trouble.kind == TroubleKind::Credential)?;
        (login.symptom == Symptom::Status(422)).then_some(login.detail.as_str())
    }

    /// Returns whether a refused login left us no token: the last one is dead.
    pub fn is_shut_out(&self) -> bool {
        self.login.is_some() && self.has_no_token
    }

    /// Returns whether the marketplace was out of reach since its last useful answer: a token that it refuses now may have
    /// ended there. Where another program is named, an outage explains nothing.
    pub(crate) fn was_out_of_reach(&self) -> bool {
        self.was_out_of_reach && !self.is_foreign()
    }

    /// Returns whether another program may end the token that we have: the next calls should find out soon whether it
    /// does.
    pub(crate) fn is_token_contested(&self, at: DateTime<Utc>) -> bool {
        // A login of the future is from before the clock was set back.
        self.forced_at.is_some_and(|forced| (at - forced).abs() < CONTESTED_FOR)
            || (self.is_foreign() && !self.has_no_token)
    }

    /// Returns whether anything is in trouble.
    pub fn is_troubled(&self, at: DateTime<Utc>) -> bool {
        self.is_lost() || self.login.is_some() || !self.scopes.is_empty() || self.is_doubtful(at)
    }

    /// Returns whether there is trouble of a token, a route or an ability, whose end only further requests can show.
    pub fn is_doubtful(&self, at: DateTime<Utc>) -> bool {
        let has_errors = || self.errors.iter().any(|(route, errors)| errors.count_at(route, at, true));
        self.is_token_contested(at) || !self.refused_reads.is_empty() || has_errors()
    }

    /// Returns the read to repeat, so that the end of a trouble is noticed: of those that were refused for lack of an
    /// ability, or that fail while other routes work, the one that was tried longest ago; `None` if one was tried since
    /// `before`.
    pub(crate) fn read_to_repeat(&self, before: DateTime<Utc>) -> Option<ApiRequest> {
        let of_scopes = self.refused_reads.iter();
        let of_scopes = of_scopes.filter_map(|(route, read)| Some((self.scopes.get(route)?.last, read)));
        let own = self.errors.iter().filter(|(route, errors)| errors.is_its_own_at(route, before));
        let of_errors = own.filter_map(|(_, errors)| Some((errors.trouble.last, errors.read.as_ref()?)));
        let is_recent = self.scopes.values().any(|trouble| trouble.last >= before);
        let reads: Vec<_> = of_scopes.chain(of_errors).collect();
        if is_recent || reads.iter().any(|(last, _)| *last >= before) {
            return None;
        }
        reads.into_iter().min_by_key(|(last, _)| *last).map(|(_, read)| read.clone())
    }

    /// Returns whether the latest call failed. The next call shows whether the marketplace works again.
    pub fn is_lost(&self) -> bool {
        self.transport.is_some()
    }

    /// Records that a route accepts calls. The token has the abilities that this route lacked, so they are removed
    /// from every other route too.
    fn accepted(&mut self, route: &Route, at: DateTime<Utc>) {
        self.errors.remove(route);
        for errors in self.errors.values_mut() {
            errors.others_answered.get_or_insert(at);
        }
        let Some(ended) = self.scopes.remove(route) else { return };
        for trouble in self.scopes.values_mut() {
            trouble.abilities.retain(|ability| !ended.abilities.contains(ability));
        }
        self.scopes.retain(|_, trouble| !trouble.abilities.is_empty());
        self.refused_reads.retain(|route, _| self.scopes.contains_key(route));
    }

    /// Records that a login failed, or was not made, and why. The marketplace has answered all the same.
    fn login_failed(&mut self, kind: TroubleKind, failure: Failure, at: DateTime<Utc>) {
        (self.transport, self.forced_at) = (None, None);
        // A password that was refused is the cause that a person can mend, until a login is accepted.
        if kind == TroubleKind::ForeignLogin && self.is_credential_refused() {
            return;
        }
        fail(&mut self.login, kind, failure, at);
    }

    fn is_foreign(&self) -> bool {
        self.login.as_ref().is_some_and(|trouble| trouble.kind == TroubleKind::ForeignLogin)
    }

    fn useful(&mut self, at: DateTime<Utc>) {
        self.answered_at = Some(at);
        (self.transport, self.has_no_token, self.was_out_of_reach) = (None, false, false);
        if self.is_foreign() && self.has_token_lived_on(at) {
            self.login = None;
        }
    }

    /// Returns whether a token that is accepted now has lived on since the last trouble with logins. Each call with a dead
    /// token is new trouble, so that it does not matter which login the token is from, nor whether it is this process's.
    fn has_token_lived_on(&self, at: DateTime<Utc>) -> bool {
        let last = self.login.as_ref().map(|trouble| trouble.last).max(self.forced_at);
        // Trouble of the future is from before the clock was set back.
        last.is_none_or(|last| (at - last).abs() >= TOKEN_LIVES_ON)
    }
}

/// Begins a run of trouble, or continues the open one.
fn fail(trouble: &mut Option<Trouble>, kind: TroubleKind, failure: Failure, at: DateTime<Utc>) {
    match trouble {
        Some(known) => {
            (known.kind, known.last) = (kind, at);
            (known.symptom, known.detail) = (failure.symptom, failure.detail);
            known.times += 1;
        }
        None => *trouble = Some(Trouble::begin(kind, failure, at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: Route = ("/orders", "GET");
    const STOCK: Route = ("/stock", "GET");
    const PRICES: Route = ("/prices", "GET");

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn failed(kind: TroubleKind) -> Outcome {
        Outcome::Failed { kind, failure: Failure::default(), route: Some(ORDERS), read: None }
    }

    /// Checks the open trouble at the end (kind, start in seconds, failures) and the time of the last useful answer.
    fn check(outcomes: Vec<(i64, Outcome)>, expected: &[(TroubleKind, i64, u64)], answered: Option<i64>) {
        let mut contact = Contact::default();
        let text = format!("{outcomes:?}");
        for (second, outcome) in outcomes {
            contact.note(outcome, at(second));
        }
        let open = [contact.transport().cloned(), contact.credential().cloned(), contact.scope()];
        let troubles: Vec<_> = open.iter().flatten().map(|t| (t.kind, t.since, t.times)).collect();
        let expected: Vec<_> =
            expected.iter().map(|(kind, since, times)| (*kind, at(*since), *times)).collect();
        assert_eq!((troubles, contact.answered_at), (expected, answered.map(at)), "{text}");
    }

    // withstands: F094
    #[test]
    fn trouble_begins_with_the_first_failure_since_the_last_useful_answer_and_ends_with_the_next() {
        use TroubleKind::{Credential, Errors, Scope, Throttled, Unreachable};
        let lacking = |route, names: &[&str]| {
            Outcome::MissingAbilities(route, names.iter().map(|name| (*name).to_owned()).collect(), None)
        };
        let missing = |names: &[&str]| lacking(STOCK, names);
        let refused = || Outcome::LoginRefused(Credential, Failure::default(), LastToken::Gone);
        check(vec![], &[], None);
        check(vec![(1, Outcome::Useful(ORDERS))], &[], Some(1));
        check(vec![(1, failed(Unreachable))], &[(Unreachable, 1, 1)], None);
        check(vec![(1, failed(Errors)), (2, Outcome::Useful(ORDERS))], &[], Some(2));
        let run = vec![(1, Outcome::Useful(ORDERS)), (5, failed(Unreachable)), (9, failed(Errors))];
        check(run, &[(Errors, 5, 2)], Some(1));
        let between = vec![(1, failed(Errors)), (2, Outcome::Useful(ORDERS)), (3, failed(Throttled))];
        check(between, &[(Throttled, 3, 1)], Some(2));
        check(vec![(1, failed(Unreachable)), (2, Outcome::Answered)], &[], None);
        // A refused login: the marketplace is reachable, and answers to the current token do not clear the trouble.
        check(vec![(1, failed(Unreachable)), (2, refused())], &[(Credential, 2, 1)], None);
        check(vec![(1, refused()), (2, Outcome::Useful(ORDERS))], &[(Credential, 1, 1)], Some(2));
        check(vec![(1, refused()), (2, Outcome::LoginAccepted(LoginReason::Renewal))], &[], Some(2));
        check(vec![(1, refused()), (2, Outcome::LoginAccepted(LoginReason::Forced))], &[], Some(2));
        // An ability counts as present again when the same route accepts a call, not when another does.
        check(vec![(1, missing(&["a"])), (2, Outcome::Useful(ORDERS))], &[(Scope, 1, 1)], Some(2));
        check(vec![(1, missing(&["a"])), (2, Outcome::Useful(STOCK))], &[], Some(2));
        check(vec![(1, missing(&["a"])), (9, missing(&["a"]))], &[(Scope, 1, 2)], Some(9));
        // The token has an ability for every route, or for none.
        let both = |last| vec![(1, missing(&["a"])), (2, lacking(PRICES, last)), (3, Outcome::Useful(STOCK))];
        check(both(&["a"]), &[], Some(3));
        check(both(&["a", "b"]), &[(Scope, 2, 1)], Some(3));
    }

    // withstands: F082
    #[test]
    fn another_program_is_named_until_a_token_of_ours_lives_on_or_a_login_of_our_own_accord_is_accepted() {
        use LoginReason::{First, Forced, Renewal};
        use TroubleKind::{ForeignLogin, Throttled};
        let accepted = Outcome::LoginAccepted;
        let limited = |reason| Outcome::LoginLimited(reason, Failure::default());
        let named = || Outcome::TokensEnded(Failure::default());
        let refused = || Outcome::LoginRefused(ForeignLogin, Failure::default(), LastToken::Gone);
        let useful = || Outcome::Useful(ORDERS);
        let foreign = |times| [(ForeignLogin, 1, times)];
        // A single token that ended, and a limit that no dead token of ours has met, name nobody.
        check(vec![(1, Outcome::Answered), (2, accepted(Forced)), (3, useful())], &[], Some(3));
        for reason in [First, Renewal] {
            check(vec![(1, limited(reason))], &[(Throttled, 1, 1)], None);
            check(vec![(1, limited(reason)), (2, accepted(reason))], &[], Some(2));
        }
        // Others have used up the logins while our token was dead.
        check(vec![(1, limited(Forced))], &foreign(1), None);
        check(vec![(1, limited(Forced)), (41, limited(Forced))], &foreign(2), None);
        check(vec![(1, limited(Forced)), (41, limited(Renewal))], &foreign(2), None);
        // A login every 5 s: whatever is accepted between, the trouble is one.
        let fought = vec![
            (1, limited(Forced)),
            (41, accepted(Forced)),
            (46, Outcome::Answered),
            (46, named()),
            (47, accepted(Forced)),
            (52, useful()),
            (57, named()),
        ];
        check(fought, &foreign(3), Some(52));
        // It ends with the proof that nobody ends our tokens any more.
        let forced = |last: i64| vec![(1, named()), (2, accepted(Forced)), (last, useful())];
        let password = || Outcome::LoginRefused(TroubleKind::Credential, Failure::default(), LastToken::Gone);
        let kept = [(TroubleKind::Credential, 1, 1)];
        check(vec![(1, password()), (2, refused()), (3, limited(Forced))], &kept, None);
        check(forced(46), &foreign(1), Some(46));
        check(forced(47), &[], Some(47));
        for reason in [First, Renewal] {
            check(vec![(1, named()), (2, accepted(reason))], &[], Some(2));
        }
        // Without a login since, a useful answer may be to a call from before, and 45 s of them are none: the kept token
        // works again, or another process has logged in.
        for named in [named(), refused(), limited(Forced)] {
            let kept = |last: i64| vec![(1, named.clone()), (last, useful())];
            check(kept(45), &foreign(1), Some(45));
            check(kept(46), &[], Some(46));
        }
        // Each call with a dead token begins the wait anew.
        let dead = |last: i64| vec![(1, refused()), (2, useful()), (41, refused()), (last, useful())];
        check(dead(85), &foreign(2), Some(85));
        check(dead(86), &[], Some(86));
        // So does a login after the last refusal: its token has lived for no time yet.
        let late = |last: i64| vec![(1, limited(Forced)), (42, accepted(Forced)), (last, useful())];
        check(late(86), &foreign(1), Some(86));
        check(late(87), &[], Some(87));
        // A test of the password that the limit refuses ends no token.
        let tested =
            |last: i64| vec![(1, named()), (2, accepted(Forced)), (9, limited(Renewal)), (last, useful())];
        check(tested(53), &foreign(2), Some(53));
        check(tested(54), &[], Some(54));
        // The clock was set back by two hours since.
        check(vec![(7_201, refused()), (2, useful())], &[], Some(2));
    }

    // withstands: F082
    #[test]
    fn we_are_shut_out_while_there_is_no_token_and_no_login() {
        use LoginReason::{Forced, Renewal};
        let limited = |reason| Outcome::LoginLimited(reason, Failure::default());
        let named = || Outcome::TokensEnded(Failure::default());
        let refused = |kind, last| Outcome::LoginRefused(kind, Failure::default(), last);
        let foreign = || refused(TroubleKind::ForeignLogin, LastToken::Gone);
        let wrong = |last| refused(TroubleKind::Credential, last);
        for (outcomes, expected, why) in [
            (vec![], false, "nothing was refused"),
            (vec![named()], false, "the login is made"),
            (vec![named(), Outcome::LoginAccepted(Forced)], false, "it has brought a token"),
            (vec![foreign()], true, "no login is made any more"),
            (vec![limited(Forced)], true, "the token is dead, and others have used up the logins"),
            (vec![foreign(), Outcome::Answered], true, "a 401"),
            (vec![foreign(), named()], true, "the next login is not made yet"),
            (vec![foreign(), Outcome::LoginAccepted(Forced)], false, "it may live for seconds"),
            (vec![foreign(), Outcome::Useful(ORDERS)], false, "the token works again"),
            (vec![limited(Forced), Outcome::Useful(ORDERS)], false, "the token works again"),
            (vec![limited(Renewal)], false, "throttled"),
            (vec![named(), Outcome::LoginAccepted(Forced), limited(Renewal)], false, "we have a token"),
            (vec![wrong(LastToken::Works)], false, "the token lives on"),
            (vec![wrong(LastToken::Gone)], true, "there is no token"),
            (
                vec![wrong(LastToken::Gone), wrong(LastToken::Works)],
                true,
                "a test of the password gives none",
            ),
            (vec![wrong(LastToken::Gone), Outcome::Useful(ORDERS)], false, "the token works again"),
        ] {
            let mut contact = Contact::default();
            outcomes.into_iter().zip(1..).for_each(|(outcome, second)| contact.note(outcome, at(second)));
            assert_eq!(contact.is_shut_out(), expected, "{why}");
        }
    }

    #[test]
    fn a_token_is_contested_for_three_minutes_after_a_forced_login_and_while_another_program_is_named() {
        let foreign = Outcome::LoginRefused(TroubleKind::ForeignLogin, Failure::default(), LastToken::Gone);
        for (outcome, second, expected) in [
            (Outcome::LoginAccepted(LoginReason::Forced), 1, true),
            (Outcome::LoginAccepted(LoginReason::Forced), 180, true),
            (Outcome::LoginAccepted(LoginReason::Forced), 181, false),
            (Outcome::LoginAccepted(LoginReason::Forced), -7_200, false),
            (Outcome::LoginAccepted(LoginReason::Renewal), 1, false),
            (Outcome::LoginLimited(LoginReason::Forced, Failure::default()), 1, false),
            (foreign, 1, false),
            (Outcome::TokensEnded(Failure::default()), 121, true),
        ] {
            let mut contact = Contact::default();
            contact.note(outcome.clone(), at(1));
            assert_eq!(contact.is_token_contested(at(second)), expected, "{outcome:?} {second}");
        }
    }

    #[test]
    fn a_contact_is_doubtful_while_requests_may_show_the_end_of_a_trouble() {
        let failed = |route| Outcome::Failed {
            kind: TroubleKind::Errors,
            failure: Failure::default(),
            route: Some(route),
            read: None,
        };
        let read = || ApiRequest::get(STOCK.0, &[]);
        let refused = || Outcome::LoginRefused(TroubleKind::Credential, Failure::default(), LastToken::Works);
        let missing = |read| Outcome::MissingAbilities(STOCK, vec!["stock".to_owned()], read);
        for (outcome, second, expected, why) in [
            (Outcome::Useful(ORDERS), 2, false, "it works"),
            (failed(STOCK), 2, true, "a route fails"),
            (failed(STOCK), 400, false, "nobody asks for it any more"),
            (missing(Some(read())), 400, true, "the read is repeated"),
            (missing(None), 2, false, "a write is not repeated"),
            (Outcome::LoginAccepted(LoginReason::Forced), 2, true, "the token may end again"),
            (refused(), 2, false, "only another password helps"),
        ] {
            let mut contact = Contact::default();
            contact.note(outcome.clone(), at(1));
            assert_eq!(contact.is_doubtful(at(second)), expected, "{why}");
            let is_well = matches!(outcome, Outcome::Useful(_));
            assert_eq!(contact.is_troubled(at(2)), !is_well, "{why}");
        }
    }

    #[test]
    fn a_marketplace_that_was_out_of_reach_may_have_ended_the_token_until_it_is_accepted() {
        let failed = |kind| Outcome::Failed { kind, failure: Failure::default(), route: None, read: None };
        let lost = || failed(TroubleKind::Unreachable);
        let refused =
            || Outcome::LoginRefused(TroubleKind::ForeignLogin, Failure::default(), LastToken::Gone);
        for (outcomes, expected, why) in [
            (vec![], false, "nothing happened"),
            (vec![lost()], true, "it is out of reach"),
            (vec![lost(), Outcome::Answered], true, "a 401"),
            (vec![lost(), failed(TroubleKind::Errors)], true, "it is still starting"),
            (vec![lost(), Outcome::Useful(ORDERS)], false, "the token has outlived it"),
            (vec![lost(), Outcome::LoginAccepted(LoginReason::AfterOutage)], false, "it is another token"),
            (vec![failed(TroubleKind::Errors)], false, "it was there"),
            (vec![refused(), lost(), Outcome::Answered], false, "another program is named"),
        ] {
            let mut contact = Contact::default();
            outcomes.into_iter().zip(1..).for_each(|(outcome, second)| contact.note(outcome, at(second)));
            assert_eq!(contact.was_out_of_reach(), expected, "{why}");
        }
    }

    // withstands: F094
    #[test]
    fn a_route_that_fails_while_others_answer_is_in_trouble_until_it_answers() {
        type Expected = Option<(i64, &'static [&'static str])>;
        let failed = |route: Route| Outcome::Failed {
            kind: TroubleKind::Errors,
            failure: Failure::default(),
            route: Some(route),
            read: (route == STOCK).then(|| ApiRequest::get(STOCK.0, &[])),
        };
        let useful = Outcome::Useful;
        let check = |outcomes: &[(i64, Outcome)], now: i64, expected: Expected| {
            let mut contact = Contact::default();
            for (second, outcome) in outcomes {
                contact.note(outcome.clone(), at(*second));
            }
            let found = contact.failing_routes(at(now), true).map(|found| (found.since, found.routes));
            let expected = expected
                .map(|(since, routes)| (at(since), routes.iter().map(|route| (*route).to_owned()).collect()));
            assert_eq!(found, expected, "{outcomes:?}");
        };
        check(&[], 1, None);
        check(&[(1, failed(STOCK))], 2, None);
        // An outage hits every route, and its end is not a trouble of any of them.
        check(&[(1, failed(STOCK)), (2, failed(ORDERS)), (3, failed(STOCK)), (4, useful(ORDERS))], 5, None);
        let dead = [(1, failed(STOCK)), (2, useful(ORDERS)), (3, failed(STOCK)), (4, useful(ORDERS))];
        check(&dead, 5, Some((1, &["GET /stock"])));
        check(&dead, 3 + 300, Some((1, &["GET /stock"])));
        check(&dead, 3 + 301, None);
        let with = |more: &[(i64, Outcome)]| [&dead[..], more].concat();
        check(&with(&[(5, useful(STOCK))]), 6, None);
        check(&with(&[(5, Outcome::MissingAbilities(STOCK, vec!["a".to_owned()], None))]), 6, None);
        check(&with(&[(5, Outcome::Answered)]), 6, Some((1, &["GET /stock"])));
        let two = with(&[(5, failed(PRICES)), (6, useful(ORDERS)), (7, failed(PRICES))]);
        check(&two, 8, Some((1, &["GET /prices", "GET /stock"])));
        // Two failures long apart are not one run.
        check(&[(1, failed(STOCK)), (2, useful(ORDERS)), (2_000, failed(STOCK))], 2_001, None);
        let of = |kind, route| Outcome::Failed { kind, failure: Failure::default(), route, read: None };
        for other in [of(TroubleKind::Unreachable, Some(STOCK)), of(TroubleKind::Errors, None)] {
            check(&[(1, other.clone()), (2, useful(ORDERS)), (3, other)], 4, None);
        }
        let mut contact = Contact::default();
        dead.iter().for_each(|(second, outcome)| contact.note(outcome.clone(), at(*second)));
        assert_eq!(contact.read_to_repeat(at(3)), None, "it was tried just now");
        assert_eq!(contact.read_to_repeat(at(4)), Some(ApiRequest::get(STOCK.0, &[])));
        contact.note(useful(STOCK), at(5));
        assert_eq!(contact.read_to_repeat(at(9)), None);
    }

    #[test]
    fn a_refused_read_is_due_again_after_a_while_until_its_ability_is_there() {
        let mut contact = Contact::default();
        let read = ApiRequest::get(STOCK.0, &[]);
        contact.note(Outcome::MissingAbilities(STOCK, vec!["a".into()], Some(read.clone())), at(10));
        assert_eq!(contact.read_to_repeat(at(10)), None);
        assert_eq!(contact.read_to_repeat(at(11)), Some(read.clone()));
        // Of several routes, the one refused longest ago comes first, and never two at once.
        let other = ApiRequest::get(PRICES.0, &[]);
        contact.note(Outcome::MissingAbilities(PRICES, vec!["b".into()], Some(other.clone())), at(12));
        assert_eq!((contact.read_to_repeat(at(12)), contact.read_to_repeat(at(13))), (None, Some(read)));
        contact.note(Outcome::Useful(STOCK), at(13));
        assert_eq!(contact.read_to_repeat(at(99)), Some(other));
        contact.note(Outcome::Useful(PRICES), at(14));
        assert_eq!(contact.read_to_repeat(at(99)), None);
    }
}

//! The outcome of one call: what its result proves about the marketplace. Pure.

use std::error::Error as _;

use espelho_model::symptom::Symptom;

use super::TroubleKind;
use crate::{
    ApiRequest,
    error::{Documented, Error, presentable},
    login_reason::LoginReason,
    route::{Route, is_listing},
};

/// The most characters of an error's message that are kept.
const DETAIL: usize = 200;

/// How a call failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The kind, for people.
    pub symptom: Symptom,
    /// The words of the library or of the marketplace, for logs and programs. They never contain a secret.
    pub detail: String,
}

impl Failure {
    /// Returns how an error came about.
    pub(crate) fn of(error: &Error) -> Self {
        Self { symptom: error.symptom(), detail: words(error) }
    }
}

/// The outcome of one call, as evidence that the marketplace works for this store or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted, or refused for a business reason.
    Useful(Route),
    /// The answer proves the connection and nothing else: a 401.
    Answered,
    /// No usable answer.
    Failed {
        /// The kind.
        kind: TroubleKind,
        /// The kind of failure, and its detail.
        failure: Failure,
        /// The route; `None` for a login, without which no route works.
        route: Option<Route>,
        /// The request, if it is a read: it can be repeated.
        read: Option<ApiRequest>,
    },
    /// A listing that no mirror can do without is refused, whatever the reason: the marketplace answers, and the mirror
    /// cannot follow it.
    ListingRefused {
        /// The route.
        route: Route,
        /// The kind of failure, and its detail.
        failure: Failure,
        /// The request, if it is a read: it can be repeated.
        read: Option<ApiRequest>,
    },
    /// Refused because the token lacks these abilities. A refused read is kept, so that it can be tried again.
    MissingAbilities(Route, Vec<String>, Option<ApiRequest>),
    /// A login returned a token. The reason tells what that proves: another program may end it like the one before.
    LoginAccepted(LoginReason),
    /// The marketplace's login limit is used up (429; API document, "Authentication" 7: 5 a minute for each address and
    /// username). The client makes four a minute at most, so others log in with this username. The 429 of a proxy or an
    /// overload guard, without the document's code, tells nothing of logins.
    LoginLimited(LoginReason, Failure),
    /// Another program ends our tokens; a login is made all the same.
    TokensEnded(Failure),
    /// A login was refused, or is not made because another program would end its token too
    /// ([`TroubleKind::ForeignLogin`]). The token from before works on, or there is none.
    LoginRefused(TroubleKind, Failure, LastToken),
}

/// The token that a failed login leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastToken {
    /// It has not expired, and nothing has refused it.
    Works,
    /// There is none, or it is dead.
    Gone,
}

impl Outcome {
    /// Returns the outcome of a call; `None` if the marketplace was not called.
    pub(crate) fn of<T>(request: &ApiRequest, result: &Result<T, Error>) -> Option<Self> {
        match result {
            Ok(_) => Some(Self::Useful(request.route_and_method())),
            Err(error) => Self::of_error(request, error),
        }
    }

    fn of_error(request: &ApiRequest, error: &Error) -> Option<Self> {
        let route = request.route_and_method();
        let read = || request.is_read().then(|| request.clone());
        if let Some(Documented::MissingAbilities(abilities)) = error.kind() {
            return Some(Self::MissingAbilities(route, abilities, read()));
        }
        let failed =
            |kind| Self::Failed { kind, failure: Failure::of(error), route: Some(route), read: read() };
        Some(match error {
            Error::Unreachable { .. } | Error::Interrupted { .. } => failed(TroubleKind::Unreachable),
            Error::Unreadable { .. } | Error::Unexpected { .. } | Error::TooLarge { .. } => {
                failed(TroubleKind::Errors)
            }
            Error::Refused { status: 401, .. } => Self::Answered,
            Error::Refused { status: 429, .. } => failed(TroubleKind::Throttled),
            Error::Refused { status: 300..=399 | 408 | 500.., .. } => failed(TroubleKind::Errors),
            // A refusal without the document's error envelope comes from a proxy or another server, not from the
            // marketplace.
            Error::Refused { status: 400.., refusal, .. } if refusal.is_silent() => {
                failed(TroubleKind::Errors)
            }
            Error::Refused { .. } if is_listing(&route) => {
                Self::ListingRefused { route, failure: Failure::of(error), read: read() }
            }
            Error::Refused { .. } => Self::Useful(route),
            _ => return None,
        })
    }

    /// Returns the outcome of a login; `None` if no login was sent.
    pub(crate) fn of_login<T>(
        request: &ApiRequest,
        result: &Result<T, Error>,
        reason: LoginReason,
        last: LastToken,
    ) -> Option<Self> {
        let error = match result {
            Ok(_) => return Some(Self::LoginAccepted(reason)),
            Err(Error::LoginFailed { source, .. }) if source.is_login_limit() => {
                return Some(Self::LoginLimited(reason, Failure::of(source)));
            }
            Err(Error::LoginFailed { source, .. }) => source,
            Err(error @ Error::LoginRefused { .. }) => {
                return Some(Self::LoginRefused(TroubleKind::Credential, Failure::of(error), last));
            }
            Err(_) => return None,
        };
        let kind = match Self::of_error(request, error)? {
            // Without a token nothing works, whatever the reason of the refusal.
            Self::Useful(_) | Self::Answered | Self::ListingRefused { .. } | Self::MissingAbilities(..) => {
                TroubleKind::Errors
            }
            Self::Failed { kind, .. } => kind,
            other @ (Self::LoginAccepted(_)
            | Self::LoginLimited(..)
            | Self::TokensEnded(_)
            | Self::LoginRefused(..)) => {
                return Some(other);
            }
        };
        Some(Self::Failed { kind, failure: Failure::of(error), route: None, read: None })
    }
}

/// Returns whether a failure may be the trouble of its route alone. A connection that fails, or a 429, says nothing of a
/// route that serves one row; a listing that is never answered while other routes are is dead.
pub(super) fn is_of_route(kind: TroubleKind, route: &Route) -> bool {
    kind == TroubleKind::Errors || is_listing(route)
}

/// Formats why a call failed, cut to [`DETAIL`] characters. The alarm beside it names the address; of a proxy's page, the
/// status says all.
fn words(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    let words = match (error, cause) {
        (Error::LoginRefused { status: 422, .. }, _) => error.refused_login_fields().unwrap_or_default(),
        (Error::Unreachable { .. } | Error::Interrupted { .. }, Some(cause)) => cause.to_string(),
        (Error::Refused { status, refusal, .. }, _) if refusal.is_silent() => format!("HTTP {status}"),
        (_, Some(cause)) => format!("{error}: {cause}"),
        (_, None) => error.to_string(),
    };
    presentable(&words).chars().take(DETAIL).collect()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::{contact::Contact, route::LISTINGS};

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    // withstands: F094
    #[test]
    fn a_login_that_fails_is_no_routes_trouble() {
        let outcome = refused_login(503, "", LoginReason::First).unwrap();
        assert!(
            matches!(outcome, Outcome::Failed { kind: TroubleKind::Errors, route: None, .. }),
            "{outcome:?}"
        );
    }

    // withstands: F082
    #[test]
    fn a_login_that_the_limit_refuses_keeps_its_reason() {
        let said = r#"{"success":false,"message_code":"TOO_MANY_REQUESTS","description":"palavras"}"#;
        for reason in [LoginReason::First, LoginReason::Renewal, LoginReason::Forced] {
            let outcome = refused_login(429, said, reason);
            assert!(
                matches!(&outcome, Some(Outcome::LoginLimited(of, failure))
                    if *of == reason && failure.symptom == Symptom::Status(429)),
                "{outcome:?}"
            );
        }
    }

    // withstands: F082
    #[test]
    fn a_429_without_the_documents_code_is_no_login_limit() {
        for body in ["", "{}", "<html>429 Too Many Requests</html>", r#"{"message":"Too Many Requests"}"#] {
            for reason in [LoginReason::First, LoginReason::Renewal, LoginReason::Forced] {
                let outcome = refused_login(429, body, reason);
                let kind = TroubleKind::Throttled;
                assert!(
                    matches!(&outcome, Some(Outcome::Failed { kind: of, route: None, .. }) if *of == kind),
                    "{body}: {outcome:?}"
                );
            }
        }
    }

    /// Returns the outcome of a login that is refused with this status and body.
    fn refused_login(status: u16, body: &str, reason: LoginReason) -> Option<Outcome> {
        let request = ApiRequest::post("/api/integration/auth", &[]);
        let source = Error::Refused {
            request: request.describe(),
            read: false,
            status,
            refusal: Box::new(crate::error::Refusal::parse(body.as_bytes())),
            after: None,
        };
        let failed = Err::<(), _>(Error::LoginFailed { username: "u".into(), source: Box::new(source) });
        Outcome::of_login(&request, &failed, reason, LastToken::Gone)
    }

    #[test]
    fn a_page_with_a_status_of_trouble_is_told_by_its_status() {
        for (status, expected) in
            [(200, Symptom::NotReadable), (500, Symptom::Status(500)), (502, Symptom::Status(502))]
        {
            let [request, content_type, problem] =
                ["GET /orders", "text/html", "expected value"].map(str::to_owned);
            let error = Error::Unreadable { request, read: true, status, content_type, problem };
            assert_eq!(error.symptom(), expected, "{status}");
        }
    }

    #[test]
    fn every_status_says_what_it_proves() {
        let request = ApiRequest::get("/orders", &[]);
        let outcome = |status: u16, body: &str| {
            let refusal = Box::new(crate::error::Refusal::parse(body.as_bytes()));
            let error =
                Error::Refused { request: request.describe(), read: true, status, refusal, after: None };
            Outcome::of(&request, &Err::<(), _>(error))
        };
        let said = r#"{"success":false,"message_code":"X","description":"palavras"}"#;
        let kind = |outcome: Option<Outcome>| match outcome {
            Some(Outcome::Failed { kind, .. }) => kind.as_str(),
            Some(Outcome::Useful(_)) => "useful",
            Some(Outcome::Answered) => "answered",
            Some(Outcome::MissingAbilities(..)) => "scope",
            _ => "other",
        };
        for (status, body, expected) in [
            (200, said, "useful"),
            (301, said, "errors"),
            (400, said, "useful"),
            (401, said, "answered"),
            (404, said, "useful"),
            (404, "<html>", "errors"),
            (408, said, "errors"),
            (422, said, "useful"),
            (429, said, "throttled"),
            (500, said, "errors"),
            (503, "", "errors"),
        ] {
            assert_eq!(kind(outcome(status, body)), expected, "{status} {body}");
        }
        let missing =
            r#"{"message_code":"FORBIDDEN","description":"Sem permissão","errors":["store_products_read"]}"#;
        assert_eq!(kind(outcome(403, missing)), "scope");
        for (route, status, expected) in [
            (crate::route::ORDERS, 400, true),
            (crate::route::ORDERS, 200, true),
            (crate::route::PRODUCTS, 422, true),
            (crate::route::ORDERS, 401, false),
            ("/orders", 400, false),
        ] {
            let request = ApiRequest::get(route, &[]);
            let refusal = Box::new(crate::error::Refusal::parse(said.as_bytes()));
            let error =
                Error::Refused { request: request.describe(), read: true, status, refusal, after: None };
            let outcome = Outcome::of(&request, &Err::<(), _>(error));
            let is_refused = matches!(outcome, Some(Outcome::ListingRefused { .. }));
            assert_eq!(is_refused, expected, "{route} {status}");
        }
        assert_eq!(Outcome::of(&request, &Err::<(), _>(Error::Setup(String::new()))), None);
    }

    // withstands: F094
    #[test]
    fn a_listing_that_no_mirror_can_do_without_is_in_trouble_whatever_keeps_it_from_being_read() {
        const STOCK: Route = ("/stock", "GET");
        let (listing, order) = (LISTINGS[0], ("/api/v1/sellers/orders/{id}", "GET"));
        let failed = |kind, route| Outcome::Failed {
            kind,
            failure: Failure::default(),
            route: Some(route),
            read: None,
        };
        let unreachable = |route| failed(TroubleKind::Unreachable, route);
        let refused = || Outcome::ListingRefused { route: listing, failure: Failure::default(), read: None };
        let useful = Outcome::Useful;
        for (outcomes, expected, why) in [
            (vec![unreachable(listing), useful(STOCK), unreachable(listing)], true, "it is never answered"),
            (vec![unreachable(order), useful(STOCK), unreachable(order)], false, "it may be this order's"),
            (vec![unreachable(listing), unreachable(STOCK), unreachable(listing)], false, "all is down"),
            (vec![refused(), useful(STOCK), refused()], true, "it is refused for ever"),
            (vec![refused(), refused(), useful(listing)], false, "it was asked for more simply"),
            (vec![refused(), unreachable(listing)], true, "it fails in one way and another"),
            (vec![refused()], false, "it may pass"),
        ] {
            let mut contact = Contact::default();
            outcomes.into_iter().zip(1..).for_each(|(outcome, second)| contact.note(outcome, at(second)));
            let found = contact.failing_routes(at(20), true).map(|found| (found.since, found.routes));
            let named = (at(1), vec!["GET /api/v1/sellers/orders".to_owned()]);
            assert_eq!(found, expected.then_some(named), "{why}");
        }
        let mut contact = Contact::default();
        contact.note(refused(), at(1));
        assert_eq!((contact.answered_at, contact.is_lost()), (Some(at(1)), false), "the marketplace answers");
    }

    #[test]
    fn a_listing_that_is_refused_without_a_name_of_an_ability_stands_for_it() {
        for (route, named, expected) in [
            (LISTINGS[0], &[][..], &["GET /api/v1/sellers/orders"][..]),
            (LISTINGS[1], &[], &["GET /api/products"]),
            (LISTINGS[1], &["store_products_read"], &["store_products_read"]),
            (("/api/products", "POST"), &[], &[]),
            (("/api/v1/sellers/orders/{id}/financial", "GET"), &[], &[]),
        ] {
            let mut contact = Contact::default();
            let named = named.iter().map(|name: &&str| (*name).to_owned()).collect();
            contact.note(Outcome::MissingAbilities(route, named, None), at(1));
            assert_eq!(contact.scope().unwrap().abilities, expected, "{route:?}");
            contact.note(Outcome::Useful(route), at(2));
            assert!(contact.scope().is_none(), "{route:?} is accepted");
        }
    }
}

//! The outcome of one call: what its result proves about the marketplace. Pure.

use std::error::Error as _;

use espelho_model::symptom::Symptom;

use super::TroubleKind;
use crate::{
    ApiRequest,
    error::{Documented, Error, presentable},
    login_reason::LoginReason,
    route::Route,
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
        Self { symptom: symptom(error), detail: words(error) }
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
        /// How.
        failure: Failure,
        /// The route; `None` for a login, without which no route works.
        route: Option<Route>,
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
    /// ([`TroubleKind::ForeignLogin`]).
    LoginRefused(TroubleKind, Failure),
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
            Error::Refused { .. } => Self::Useful(route),
            _ => return None,
        })
    }

    /// Returns the outcome of a login; `None` if no login was sent.
    pub(crate) fn of_login<T>(
        request: &ApiRequest,
        result: &Result<T, Error>,
        reason: LoginReason,
    ) -> Option<Self> {
        let error = match result {
            Ok(_) => return Some(Self::LoginAccepted(reason)),
            Err(Error::LoginFailed { source, .. }) if source.is_login_limit() => {
                return Some(Self::LoginLimited(reason, Failure::of(source)));
            }
            Err(Error::LoginFailed { source, .. }) => source,
            Err(error @ Error::LoginRefused { .. }) => {
                return Some(Self::LoginRefused(TroubleKind::Credential, Failure::of(error)));
            }
            Err(_) => return None,
        };
        let kind = match Self::of_error(request, error)? {
            // Without a token nothing works, whatever the reason of the refusal.
            Self::Useful(_) | Self::Answered | Self::MissingAbilities(..) => TroubleKind::Errors,
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

/// Tells how a call failed.
fn symptom(error: &Error) -> Symptom {
    match error {
        Error::Unreachable { source, .. } => of_connection(source, Symptom::NoConnection),
        Error::Interrupted { source, .. } => of_connection(source, Symptom::CutOff),
        Error::TooLarge { .. } => Symptom::TooLarge,
        // A status that says trouble says more than the page that comes with it.
        Error::Unreadable { status, .. } if !(200..=299).contains(status) => Symptom::Status(*status),
        Error::Unreadable { .. } | Error::Unexpected { .. } => Symptom::NotReadable,
        Error::Refused { status, .. } | Error::LoginRefused { status, .. } => Symptom::Status(*status),
        Error::LoginFailed { source, .. } => symptom(source),
        _ => Symptom::Other,
    }
}

/// Tells how a connection failed, as far as the system says it.
fn of_connection(error: &reqwest::Error, otherwise: Symptom) -> Symptom {
    match error.is_timeout() {
        true => Symptom::TimedOut,
        false => Symptom::of_connection(error).unwrap_or(otherwise),
    }
}

/// Formats why a call failed, cut to [`DETAIL`] characters. The alarm beside it names the address; of a proxy's page, the
/// status says all.
fn words(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    let words = match (error, cause) {
        (Error::Unreachable { .. } | Error::Interrupted { .. }, Some(cause)) => cause.to_string(),
        (Error::Refused { status, refusal, .. }, _) if refusal.is_silent() => format!("HTTP {status}"),
        (_, Some(cause)) => format!("{error}: {cause}"),
        (_, None) => error.to_string(),
    };
    presentable(&words).chars().take(DETAIL).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        Outcome::of_login(&request, &failed, reason)
    }

    #[test]
    fn a_page_with_a_status_of_trouble_is_told_by_its_status() {
        for (status, expected) in
            [(200, Symptom::NotReadable), (500, Symptom::Status(500)), (502, Symptom::Status(502))]
        {
            let [request, content_type, problem] =
                ["GET /orders", "text/html", "expected value"].map(str::to_owned);
            let error = Error::Unreadable { request, read: true, status, content_type, problem };
            assert_eq!(symptom(&error), expected, "{status}");
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
        assert_eq!(Outcome::of(&request, &Err::<(), _>(Error::Setup(String::new()))), None);
    }
}

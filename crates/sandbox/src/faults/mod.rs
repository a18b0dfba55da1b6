//! Fault injection: the faults that networks, proxies and servers cause in answers.

mod control;
pub(crate) mod control_endpoints;
pub(crate) mod injection;
pub(crate) mod rewrite;
mod rules;
mod spoil;

use std::time::Duration;

pub(crate) use self::rules::{ALWAYS, Rules, thousandths};
pub use self::spoil::Spoil;

/// A rule that spoils the answers of some requests.
///
/// The checks of token and limit come before the rules, so that a spoiled request counts like any other. On a path
/// without a route the rules come first, so that a rule can stand in for a missing route.
#[derive(Clone, Debug)]
pub struct FaultRule {
    /// A part of the path, or of the route's template (`GET /api/v1/sellers/orders/{id}`), that the rule applies to.
    pub route: String,
    /// How many requests it spoils before it is spent; `None` spoils until the rules are cleared. A lie
    /// ([`Fault::Spoil`]) counts the answers in which it finds its place.
    pub times: Option<u32>,
    /// The fault.
    pub kind: Fault,
}

/// A fault of a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answers with this status and body; the request has no effect.
    Status {
        /// The HTTP status.
        code: u16,
        /// The body, as it is.
        body: Vec<u8>,
        /// The media type of the body.
        content_type: String,
        /// Further headers.
        headers: Vec<(String, String)>,
    },
    /// Does the work, announces the whole body, sends half of it and closes the connection.
    TruncateBody,
    /// Closes the connection without an answer; the request has no effect.
    ResetBefore,
    /// Does the work, then closes the connection without an answer.
    ResetAfter,
    /// Waits in real time, then answers as usual.
    Stall(Duration),
    /// Answers 200 with an HTML page, as a login portal or a proxy would.
    Html200,
    /// Answers 200 with exactly this JSON.
    RawJson(String),
    /// Answers this status with an HTML page, as a proxy does for a server that is gone.
    Html(u16),
    /// Answers 429 with this number of seconds in `Retry-After`, below the limit too; the request has no effect.
    TooMany(u32),
    /// Ends the token silently, as a login of another program would: the answer is 401.
    KillToken,
    /// Answers as usual, after which a buyer places an order: what is on the next page has moved by one.
    PageShift,
    /// Answers as usual, but statuses, types and the like have unknown values.
    UnknownEnums,
    /// Answers as usual, but every object has unknown fields.
    ExtraFields,
    /// Answers as usual, but under another media type.
    ContentType(String),
    /// Answers as usual, but one field lies. Lies strike beside each other and beside another fault.
    Spoil(Spoil),
}

/// The rules about answers.
pub(crate) type Faults = Rules<Fault>;

impl Faults {
    /// The fault of the first rule that matches a path or its template, which is spent by one.
    pub(crate) fn of(&self, path: &str, template: impl Fn() -> String) -> Option<Fault> {
        self.take(|part, fault| !matches!(fault, Fault::Spoil(_)) && is_route(part, path, &template))
    }

    /// The body of an answer with every lie that finds its place in it; each is spent by one. `None` without any.
    pub(crate) fn spoiled(&self, path: &str, template: impl Fn() -> String, body: &[u8]) -> Option<Vec<u8>> {
        let mut spoiled: Option<Vec<u8>> = None;
        self.take_each(
            |part, fault| matches!(fault, Fault::Spoil(_)) && is_route(part, path, &template),
            |fault| {
                let Fault::Spoil(lie) = fault else { return false };
                let Some(body) = lie.applied(path, spoiled.as_deref().unwrap_or(body)) else { return false };
                spoiled = Some(body);
                true
            },
        );
        spoiled
    }
}

/// Tells whether a rule's route is a part of a path or of its template.
fn is_route(part: &str, path: &str, template: impl Fn() -> String) -> bool {
    path.contains(part) || template().contains(part)
}

//! Faults on demand: what a network, a proxy or a bad day does to an answer.

pub(crate) mod levers;
pub(crate) mod rewrite;
mod rules;
pub(crate) mod strike;

use std::time::Duration;

pub(crate) use self::rules::{ALWAYS, Rules, thousandths};
use crate::Control;

/// A rule that spoils the answers of some requests.
///
/// A rule is looked at after the token and the limit have been checked, so that a spoiled request counts like any other; on
/// a path that no route has, it is looked at first, so that a rule can stand in for a route that does not exist here.
#[derive(Clone, Debug)]
pub struct FaultRule {
    /// A part of the path, or of the route's template (`GET /api/v1/sellers/orders/{id}`), that the rule applies to.
    pub route: String,
    /// How many requests it spoils before it is spent; `None` spoils until the rules are cleared.
    pub times: Option<u32>,
    /// What happens to them.
    pub kind: Fault,
}

/// What happens to a request.
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
    /// Answers 429 with so many seconds in `Retry-After`, whatever the limit says; the request has no effect.
    TooMany(u32),
    /// Ends the token silently, as a login of another program would: the answer is 401.
    KillToken,
    /// Answers as usual, after which a buyer places an order: what is on the next page has moved by one.
    PageShift,
    /// Answers as usual, but statuses, types and the like have values that nobody has heard of.
    UnknownEnums,
    /// Answers as usual, but every object has fields that nobody has heard of.
    ExtraFields,
    /// Answers as usual, but under another media type.
    ContentType(String),
}

impl Control {
    /// Adds a rule that spoils answers.
    pub fn fault(&self, rule: FaultRule) {
        self.fault_sometimes(rule, ALWAYS);
    }

    /// Adds a rule that spoils an answer with a probability in thousandths, drawn from the seed.
    pub fn fault_sometimes(&self, rule: FaultRule, of_thousand: u32) {
        let FaultRule { route, times, kind } = rule;
        self.world().faults.add(route, times, of_thousand, kind);
    }

    /// Forgets every rule.
    pub fn clear_faults(&self) {
        self.world().faults.clear();
    }

    /// Whether any rule is in force.
    pub fn has_faults(&self) -> bool {
        !self.world().faults.is_empty()
    }
}

/// The rules about answers.
pub(crate) type Faults = Rules<Fault>;

impl Faults {
    /// The fault of the first rule that matches a path or its template, which is spent by one.
    pub(crate) fn of(&self, path: &str, template: impl Fn() -> String) -> Option<Fault> {
        self.take(|part| path.contains(part) || template().contains(part))
    }
}

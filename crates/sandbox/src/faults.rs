//! Faults on demand: what a network, a proxy or a bad day does to an answer.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

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
}

/// The rules in force, oldest first.
#[derive(Default)]
pub(crate) struct Faults {
    rules: Mutex<Vec<FaultRule>>,
    /// Spares the lock on the usual path: no rules.
    count: AtomicUsize,
}

impl Faults {
    pub(crate) fn add(&self, rule: FaultRule) {
        if rule.times == Some(0) {
            return;
        }
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.push(rule);
        self.count.store(rules.len(), Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.count.store(0, Relaxed);
    }

    /// The fault of the first rule that matches, which is spent by one.
    pub(crate) fn take(&self, path: &str, template: &str) -> Option<Fault> {
        if self.count.load(Relaxed) == 0 {
            return None;
        }
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let at =
            rules.iter().position(|rule| path.contains(&rule.route) || template.contains(&rule.route))?;
        let fault = rules[at].kind.clone();
        if let Some(times) = &mut rules[at].times {
            *times -= 1;
            if *times == 0 {
                rules.remove(at);
                self.count.store(rules.len(), Relaxed);
            }
        }
        Some(fault)
    }
}

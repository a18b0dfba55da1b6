//! A route: its path and method, its callers, and the function that does its work.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::{answer::Answer, auth, call::Call, refusal::Refusal, stats::Repeats};

/// The work of a route, for a request that passed every check.
pub(crate) type Work = fn(&Call) -> Result<Answer, Refusal>;

/// A route that the sandbox serves. Each area of the document lists its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// The path as the document writes it.
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) work: Work,
    /// Whether a client that asks twice is counted.
    pub(crate) repeats: Repeats,
    /// Whether the work takes so long that it must not hold up other requests: image conversion does.
    pub(crate) is_slow: bool,
}

/// The callers that a route accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Every caller; a token that comes along is counted nevertheless.
    Public,
    /// A token.
    Token,
    /// A token with this ability.
    Ability(&'static str),
    /// A token; with this ability where scopes are enforced strictly, because the document names none for the route.
    StrictAbility(&'static str),
    /// No integration token, unless the BETA is open ("Store page and rating").
    Beta,
}

impl Route {
    pub(crate) const fn get(path: &'static str, work: Work) -> Self {
        Self::of("GET", path, work)
    }

    pub(crate) const fn post(path: &'static str, work: Work) -> Self {
        Self::of("POST", path, work)
    }

    pub(crate) const fn put(path: &'static str, work: Work) -> Self {
        Self::of("PUT", path, work)
    }

    pub(crate) const fn delete(path: &'static str, work: Work) -> Self {
        Self::of("DELETE", path, work)
    }

    const fn of(method: &'static str, path: &'static str, work: Work) -> Self {
        Self { method, path, access: Access::Token, work, repeats: Repeats::Uncounted, is_slow: false }
    }

    pub(crate) const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    pub(crate) const fn counted(mut self, repeats: Repeats) -> Self {
        self.repeats = repeats;
        self
    }

    pub(crate) const fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// The name that statistics and fault rules use, such as `GET /api/products/{id}`.
    pub(crate) fn template(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether this is the token issue, which needs no token and has a limit of its own.
    pub(crate) fn is_login(&self) -> bool {
        self.path == auth::LOGIN
    }
}

/// The identifiers in a path, if it has the form of a template.
pub(crate) fn identifiers<'a>(template: &str, path: &'a str) -> Option<Vec<Cow<'a, str>>> {
    let (mut parts, mut ids) = (path.split('/'), Vec::new());
    for expected in template.split('/') {
        let part = parts.next()?;
        if expected.starts_with('{') {
            ids.push(percent_decode_str(part).decode_utf8_lossy());
        } else if expected != part {
            return None;
        }
    }
    parts.next().is_none().then_some(ids)
}

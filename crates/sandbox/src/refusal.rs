//! Refusals of requests, and the errors of their fields ("Errors" of the document).

use std::borrow::Cow;

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// 401: no usable token.
    Token,
    /// 401: a login that failed, without saying why.
    Login,
    /// 400, for a reason that the document gives.
    BadRequest(String),
    /// 403, with the missing abilities.
    Abilities(Vec<&'static str>),
    /// 403: the store does not have the feature.
    Feature(&'static str),
    /// 404: absent, or of another store.
    NotFound,
    /// 404: there is no such route.
    NoRoute,
    /// 405, with the methods that the path has.
    Method(String),
    /// 409, for a reason that the document gives.
    Conflict(String),
    /// 413: a body beyond anything the document describes.
    TooLarge,
    /// 422, by field.
    Invalid(FieldErrors),
    /// 422 with a code of its own.
    Rule(&'static str, String),
    /// 422 of a listing that is not ready: `data.reason` and `data.details`.
    Business { reason: &'static str, details: Vec<String> },
    /// 429, with the seconds to wait.
    TooMany(u32),
}

/// The most errors of one answer.
const MAX_ERRORS: usize = 200;

/// Errors by field, in the order they were found.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors(Vec<(Cow<'static, str>, String)>);

impl FieldErrors {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// One error.
    pub(crate) fn one(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self(vec![(field.into(), message.into())])
    }

    /// Notes an error, up to [`MAX_ERRORS`]: a hostile body could hold a hundred thousand.
    pub(crate) fn add(&mut self, field: impl Into<Cow<'static, str>>, message: impl Into<String>) {
        if self.0.len() < MAX_ERRORS {
            self.0.push((field.into(), message.into()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[(Cow<'static, str>, String)] {
        &self.0
    }

    /// The value, if nothing was wrong.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Refusal> {
        if self.is_empty() { Ok(value) } else { Err(Refusal::Invalid(self)) }
    }
}

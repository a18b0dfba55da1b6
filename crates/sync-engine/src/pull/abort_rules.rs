//! Decides which failures abort the reading of a resource: those that every row would meet, and many in a row that may concern
//! all rows. Pure.

use espelho_api_client::{Class, Error as ApiError};

/// After so many consecutive failures that may concern all rows, the rest of a page is left for another run.
pub(super) const FAILURES_TO_ABORT_PAGE: usize = 20;
/// After so many of them the pass itself is aborted.
pub(super) const FAILURES_TO_ABORT_PASS: usize = 3 * FAILURES_TO_ABORT_PAGE;

/// Says whether an error may concern one row or all: the marketplace is down, a proxy answers, or a scope is missing.
pub(super) fn may_concern_all(error: &ApiError) -> bool {
    error.is_foreign_denial()
        || matches!(error.class(), Class::Transient { .. })
        || matches!(error, ApiError::Refused { status: 403, .. })
}

/// Says whether an error would concern every row alike.
pub(super) fn concerns_all(error: &ApiError) -> bool {
    error.is_authentication()
        || error.is_not_ours()
        || matches!(
            error,
            ApiError::Unreachable { .. }
                | ApiError::TokenStore { .. }
                | ApiError::QuotaStore { .. }
                | ApiError::Setup(_)
                | ApiError::LoginFailed { .. }
                | ApiError::Refused { status: 429, .. }
        )
        || error.class() == Class::Ambiguous
}

#[cfg(test)]
mod tests {
    use espelho_api_client::error::Refusal;

    use super::*;

    /// A refusal of a read, with its code.
    fn refused(status: u16, code: &str) -> ApiError {
        let refusal = Box::new(Refusal { message_code: code.to_owned(), ..Refusal::default() });
        ApiError::Refused { request: "GET /x".into(), read: true, status, refusal, after: None }
    }

    fn unreadable(status: u16) -> ApiError {
        let (content_type, problem) = ("text/html".into(), "no JSON".into());
        ApiError::Unreadable { request: "GET /x".into(), read: true, status, content_type, problem }
    }

    #[test]
    fn an_error_concerns_its_row_or_perhaps_all_rows_or_all_of_them() {
        let (row, perhaps, all) = ((false, false), (true, false), (false, true));
        let lost = || ApiError::QuotaStore { action: "written", source: "disk full".into() };
        for (error, expected, why) in [
            (refused(404, "NOT_FOUND"), row, "the marketplace does not have it"),
            (refused(422, "VALIDATION_ERROR"), row, "the marketplace refuses it"),
            (refused(400, ""), row, "the marketplace refuses it"),
            (refused(409, ""), row, "the marketplace refuses it"),
            (refused(404, ""), perhaps, "a proxy answers"),
            (refused(410, ""), perhaps, "a proxy answers"),
            (refused(403, "FORBIDDEN"), perhaps, "a scope may be missing"),
            (refused(500, "ERROR"), perhaps, "it may be down"),
            (refused(503, ""), perhaps, "it may be down"),
            (unreadable(502), perhaps, "a proxy answers for it"),
            (unreadable(200), perhaps, "its answer may have been cut off"),
            (
                ApiError::TooLarge { request: "GET /x".into(), read: true, limit_mib: 32 },
                row,
                "this one is too large",
            ),
            (
                ApiError::Unexpected { request: "GET /x".into(), read: true, problem: "y".into() },
                row,
                "this one is odd",
            ),
            (
                ApiError::TokenStore { action: "read", source: "locked".into() },
                all,
                "nothing can be sent without a token",
            ),
            (ApiError::Setup("no address".into()), all, "nothing can be sent"),
            (
                ApiError::ForeignLogin { username: "u".into(), times: 3 },
                all,
                "another program has the credential",
            ),
            (
                ApiError::LoginRefused { username: "u".into(), status: 401, refusal: Box::default() },
                all,
                "the credential is refused",
            ),
        ] {
            assert_eq!((may_concern_all(&error), concerns_all(&error)), expected, "{error}: {why}");
        }
        for (error, why) in [
            (refused(401, "UNAUTHORIZED"), "the token is refused"),
            (refused(429, "TOO_MANY_REQUESTS"), "the budget is spent"),
            (lost(), "nothing can be sent without a record of the budget"),
            (ApiError::LoginFailed { username: "u".into(), source: Box::new(lost()) }, "nobody can log in"),
            (
                ApiError::NotOurs {
                    request: "GET /x".into(),
                    sent: false,
                    read: true,
                    source: "lease".into(),
                },
                "another process has the store",
            ),
        ] {
            assert!(concerns_all(&error), "{error}: {why}");
        }
    }
}

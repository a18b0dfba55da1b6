//! Which refusals of the marketplace end a row.

use espelho_api_client::{Class, Error as ApiError};

use crate::{
    Error,
    plan::push::{Message, Verdict},
};

/// Says whether an error goes away by itself.
pub(crate) fn is_temporary(error: &ApiError) -> bool {
    !error.is_authentication()
        && !error.is_not_ours()
        && (is_unanswered(error) || matches!(error.class(), Class::Transient { .. } | Class::Ambiguous))
}

/// Says whether somebody else than the marketplace answered a read.
fn is_unanswered(error: &ApiError) -> bool {
    error.is_foreign_denial() && matches!(error, ApiError::Refused { read: true, .. })
}

/// Turns a refusal into a verdict: the row fails, unless the error goes away by itself or ends the work on the store.
///
/// # Errors
/// The error itself, when it is no refusal of this row.
pub(crate) fn refused(error: ApiError) -> Result<Verdict, Error> {
    match is_temporary(&error) || error.is_authentication() || error.is_not_ours() {
        true => Err(Error::Api(error)),
        false => Ok(Verdict::Failed(Message::of(&error))),
    }
}

#[cfg(test)]
mod tests {
    use espelho_api_client::error::Refusal;

    use super::*;

    fn error(read: bool, status: u16, code: &str) -> ApiError {
        let refusal = Box::new(Refusal { message_code: code.to_owned(), ..Refusal::default() });
        ApiError::Refused { request: "GET /x".into(), read, status, refusal, after: None }
    }

    /// What becomes of a row: it fails, it is looked at again, or the work on the store ends.
    fn fate(error: ApiError) -> String {
        match refused(error) {
            Ok(Verdict::Failed(message)) => message.code,
            Ok(other) => panic!("{other:?}"),
            Err(error) if error.ends_all() => "ends all".to_owned(),
            Err(_) => "again".to_owned(),
        }
    }

    #[test]
    fn a_refusal_fails_the_row_and_what_goes_away_by_itself_does_not() {
        for (read, status, code, expected, why) in [
            (true, 404, "NOT_FOUND", "NOT_FOUND", "the marketplace does not have it"),
            (false, 404, "NOT_FOUND", "NOT_FOUND", "the marketplace does not have it"),
            (true, 403, "FORBIDDEN", "FORBIDDEN", "it is not for us"),
            (false, 409, "", "http_409", "it is in use"),
            (false, 422, "VALIDATION_ERROR", "VALIDATION_ERROR", "it is wrong"),
            (true, 400, "", "http_400", "it is wrong"),
            (true, 404, "", "again", "a proxy answered a reading"),
            (true, 410, "", "again", "a proxy answered a reading"),
            (false, 404, "", "http_404", "a proxy did not pass on a request: it did not happen"),
            (true, 429, "TOO_MANY_REQUESTS", "again", "the budget is spent"),
            (false, 429, "TOO_MANY_REQUESTS", "again", "the budget is spent"),
            (true, 500, "", "again", "it is down"),
            (false, 500, "", "again", "nobody knows whether it happened"),
            (false, 200, "", "again", "nobody knows whether it happened"),
            (true, 401, "UNAUTHORIZED", "ends all", "the token is refused"),
            (false, 401, "UNAUTHORIZED", "ends all", "the token is refused"),
        ] {
            assert_eq!(fate(error(read, status, code)), expected, "{status} {code}: {why}");
        }
        let lease =
            ApiError::NotOurs { request: "GET /x".into(), sent: false, read: true, source: "lease".into() };
        assert_eq!(fate(lease), "ends all", "another process has the store");
        let cut = ApiError::Unexpected { request: "POST /x".into(), read: false, problem: "y".into() };
        assert_eq!(fate(cut), "again", "a write whose answer nobody understands may have happened");
    }
}

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
        && matches!(error.class(), Class::Transient { .. } | Class::Ambiguous)
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

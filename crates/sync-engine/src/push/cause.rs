//! The cause of a failed job: an error of the marketplace or of the database.

use espelho_api_client::{Class, Error as ApiError};
use espelho_store::Error as StoreError;

use crate::plan::push::{Message, Verdict};

/// The error that ended a job.
#[derive(Debug)]
pub(crate) enum Cause {
    Api(ApiError),
    Store(StoreError),
}

impl From<ApiError> for Cause {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

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
pub(crate) fn refused(error: ApiError) -> Result<Verdict, Cause> {
    match is_temporary(&error) || error.is_authentication() || error.is_not_ours() {
        true => Err(Cause::Api(error)),
        false => Ok(Verdict::Failed(Message::of(&error))),
    }
}

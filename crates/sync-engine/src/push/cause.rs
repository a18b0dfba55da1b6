//! Why a job came to nothing: an error of the marketplace or of the database.

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

/// True for an error that passes by itself.
pub(crate) fn passes(error: &ApiError) -> bool {
    !error.is_authentication()
        && !error.is_not_ours()
        && matches!(error.class(), Class::Transient { .. } | Class::Ambiguous)
}

/// What a refusal makes of a row: it fails, unless the error passes or ends the work on the store.
///
/// # Errors
/// The error where it is no refusal of this row.
pub(crate) fn refused(error: ApiError) -> Result<Verdict, Cause> {
    match passes(&error) || error.is_authentication() || error.is_not_ours() {
        true => Err(Cause::Api(error)),
        false => Ok(Verdict::Failed(Message::of(&error))),
    }
}

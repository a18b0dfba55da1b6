//! What ends work of the engine, with its source.

use espelho_api_client::Error as ApiError;
use espelho_store::Error as StoreError;

use crate::report::{Problem, Trouble};

/// What ends the work on a row, a resource or a store.
///
/// `Display` and `source` are those of the error inside. People read [`Error::problem`], and only a report or a row has
/// that: inside the engine the error itself goes up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The marketplace refused, or did not answer.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The database refused, or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine itself ends the work: a guard, a stop, a listing that makes no sense.
    #[error("{}", .0.error)]
    Ended(Box<Problem>),
}

impl Error {
    /// Returns what a report says about it.
    pub fn problem(&self) -> Problem {
        match self {
            Self::Api(error) => Problem::from_api(error),
            Self::Store(error) => Problem::from_store(error),
            Self::Ended(problem) => (**problem).clone(),
        }
    }

    /// Returns its kind.
    pub fn trouble(&self) -> Trouble {
        match self {
            Self::Ended(problem) => problem.trouble,
            error => error.problem().trouble,
        }
    }

    /// Whether another owner has the store now.
    pub fn is_lost(&self) -> bool {
        self.trouble() == Trouble::Held
    }

    /// Whether nothing else would succeed either: the work on the store ends.
    pub fn ends_all(&self) -> bool {
        ends_all(self.trouble())
    }
}

/// Whether trouble of this kind ends all work on a store until it is woken.
pub(crate) fn ends_all(trouble: Trouble) -> bool {
    matches!(trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration)
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Ended(Box::new(problem))
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Ended(problem) => *problem,
            other => other.problem(),
        }
    }
}

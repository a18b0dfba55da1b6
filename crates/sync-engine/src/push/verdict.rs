//! What came of a look at something that is wanted, and the words for its row.

use std::time::Duration;

use espelho_api_client::{Class, Error as ApiError};
use espelho_model::{
    push::PushState,
    text::{Locale, Text},
};
use espelho_store::{Error as StoreError, Outcome};
use serde_json::Value;

/// What a row says: a stable code, the cause, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// A short stable code.
    pub code: String,
    /// The cause, and the next step.
    pub text: Text,
}

/// What came of a look at something that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The marketplace has it.
    Done(Option<Value>),
    /// The marketplace has it, and somebody should look at what is said.
    DoneBut(Said),
    /// The marketplace has taken it; what came of it is looked at next.
    Sent,
    /// It waits for what is said, and is looked at again after a while.
    Waiting(Said, Duration),
    /// It will not happen as it is.
    Failed(Said),
    /// A guard holds it.
    Held(Said),
    /// It was sent, and nothing proves what came of it.
    Doubtful(Said),
    /// It was sent, and what came of it is not known yet; it is looked at again after a while.
    Unsettled(Duration),
    /// It is not as it was wanted after all, and is brought about once more.
    Anew,
    /// Nothing is known yet; it is looked at again after a while.
    Again(Duration),
}

/// Why a look came to nothing.
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

impl Said {
    /// A message of the catalogue under a code. `row` in its next step is the row, as the command line takes it.
    pub fn new(code: &str, text: Text) -> Self {
        Self { code: code.to_owned(), text }
    }

    /// What the marketplace or the way to it said.
    pub fn of(error: &ApiError) -> Self {
        Self { code: error.code(), text: error.text() }
    }
}

impl Verdict {
    /// The words for a row, which is named as the command line takes it; `None` where it stays as it is.
    pub(crate) fn outcome(&self, row: &str, locale: Locale) -> Option<Outcome> {
        let said = |state, said: &Said| {
            let text = said.text.clone().with("row", row);
            let (error, hint) = (text.message(locale), text.next(locale));
            let code = Some(said.code.clone());
            Outcome { state, code, error: Some(error), hint, said: Some(text), result: None }
        };
        match self {
            Self::Done(result) => Some(Outcome {
                result: result.as_ref().map(Value::to_string),
                ..Outcome::plain(PushState::Done)
            }),
            Self::DoneBut(words) => Some(said(PushState::Done, words)),
            Self::Sent | Self::Unsettled(_) => Some(Outcome::plain(PushState::Sending)),
            Self::Anew => Some(Outcome::plain(PushState::New)),
            Self::Waiting(words, _) => Some(said(PushState::Waiting, words)),
            Self::Failed(words) => Some(said(PushState::Failed, words)),
            Self::Held(words) => Some(said(PushState::Held, words)),
            Self::Doubtful(words) => Some(said(PushState::Doubtful, words)),
            Self::Again(_) => None,
        }
    }

    /// When it is to be looked at again, if it is.
    pub(crate) fn again(&self) -> Option<Duration> {
        match self {
            Self::Sent | Self::Anew => Some(Duration::ZERO),
            Self::Waiting(_, wait) | Self::Unsettled(wait) | Self::Again(wait) => Some(*wait),
            _ => None,
        }
    }
}

/// Whether an error passes by itself.
pub(crate) fn passes(error: &ApiError) -> bool {
    !error.is_authentication()
        && !error.is_not_ours()
        && matches!(error.class(), Class::Transient { .. } | Class::Ambiguous)
}

#[cfg(test)]
mod tests {
    use espelho_model::{text, text::Language};

    use super::*;

    #[test]
    fn what_is_over_is_not_looked_at_again_and_what_is_said_reaches_the_row() {
        let said = Said::new("gave_up", text!("push-gave-up", attempts = 3));
        let hint = |language| {
            let held = Verdict::Held(said.clone()).outcome("stock A/1 --store loja", Locale::of(language));
            held.and_then(|held| held.hint).unwrap_or_default()
        };
        let [portuguese, english] = Language::ALL.map(hint);
        assert!(portuguese.ends_with("Depois: espelho retry stock A/1 --store loja"), "{portuguese}");
        assert!(english.ends_with("Then: espelho retry stock A/1 --store loja"), "{english}");
        let rows = [
            (Verdict::Done(None), Some(PushState::Done), None),
            (Verdict::DoneBut(said.clone()), Some(PushState::Done), None),
            (Verdict::Sent, Some(PushState::Sending), Some(0)),
            (Verdict::Waiting(said.clone(), Duration::from_secs(5)), Some(PushState::Waiting), Some(5)),
            (Verdict::Failed(said.clone()), Some(PushState::Failed), None),
            (Verdict::Held(said.clone()), Some(PushState::Held), None),
            (Verdict::Doubtful(said), Some(PushState::Doubtful), None),
            (Verdict::Unsettled(Duration::from_secs(2)), Some(PushState::Sending), Some(2)),
            (Verdict::Anew, Some(PushState::New), Some(0)),
            (Verdict::Again(Duration::from_secs(3)), None, Some(3)),
        ];
        for (verdict, state, again) in rows {
            assert_eq!(
                verdict.outcome("x", Locale::default()).map(|outcome| outcome.state),
                state,
                "{verdict:?}"
            );
            assert_eq!(verdict.again().map(|wait| wait.as_secs()), again, "{verdict:?}");
        }
    }
}

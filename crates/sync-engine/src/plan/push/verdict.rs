//! What became of a row of the ERP, and the words for it.

use std::time::Duration;

use espelho_api_client::Error as ApiError;
use espelho_model::{
    next_step::{RowAct, Rows, command_line},
    push::PushState,
    text::{Locale, Text},
};
use espelho_store::Outcome;
use serde_json::Value;

/// What a row says: a stable code, the cause, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// A short stable code.
    pub code: String,
    /// The cause, and the next step.
    pub text: Text,
}

/// The result of one attempt to carry out an intent, with the `state` that it writes to the intent's row.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// `done`: the marketplace has it. A command may have a result, as JSON.
    Done(Option<Value>),
    /// `done`, with a warning: the marketplace has it, and a person should read the message.
    DoneBut(Message),
    /// `sending`: the marketplace has taken it, or the mirror shows it already; a later reading decides.
    Sent,
    /// `waiting`: it waits for what the message names, and is tried again after this time.
    Waiting(Message, Duration),
    /// `failed`: it will not happen as it is.
    Failed(Message),
    /// `held`: a guard holds it until a person releases it.
    Held(Message),
    /// `doubtful`: it was sent, and nothing can prove whether it happened.
    Doubtful(Message),
    /// `sending`: it was sent, and nothing proves yet whether it happened; evidence is read again after this time.
    Unsettled(Duration),
    /// `new`: the marketplace does not have it after all, and it is carried out once more, at once.
    Requeue,
    /// The row stays as it is, and is tried again after this time.
    RetryAfter(Duration),
}

impl Message {
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
    /// Returns what is written to a row of a store; `None` where the row stays as it is. `row` is its name as the
    /// command line takes it.
    pub(crate) fn outcome(&self, row: &str, store: &str, locale: Locale) -> Option<Outcome> {
        let message = |state, message: &Message| {
            let all = command_line(RowAct::Release, Rows::OfCause(&message.code), Some(store));
            let text = message.text.clone().with("row", row).with("release_all", all);
            let (error, hint) = (text.message(locale), text.next(locale));
            let code = Some(message.code.clone());
            Outcome { state, code, error: Some(error), hint, message: Some(text), result: None }
        };
        match self {
            Self::Done(result) => Some(Outcome {
                result: result.as_ref().map(Value::to_string),
                ..Outcome::plain(PushState::Done)
            }),
            Self::DoneBut(words) => Some(message(PushState::Done, words)),
            Self::Sent | Self::Unsettled(_) => Some(Outcome::plain(PushState::Sending)),
            Self::Requeue => Some(Outcome::plain(PushState::New)),
            Self::Waiting(words, _) => Some(message(PushState::Waiting, words)),
            Self::Failed(words) => Some(message(PushState::Failed, words)),
            Self::Held(words) => Some(message(PushState::Held, words)),
            Self::Doubtful(words) => Some(message(PushState::Doubtful, words)),
            Self::RetryAfter(_) => None,
        }
    }

    /// Returns the wait until the intent is tried again; `None` where the verdict is final.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Sent | Self::Requeue => Some(Duration::ZERO),
            Self::Waiting(_, wait) | Self::Unsettled(wait) | Self::RetryAfter(wait) => Some(*wait),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{text, text::Language};

    use super::*;

    #[test]
    fn what_is_over_is_not_looked_at_again_and_what_is_said_reaches_the_row() {
        let message = Message::new("gave_up", text!("push-gave-up", attempts = 3));
        let hint = |language| {
            let held = Verdict::Held(message.clone()).outcome(
                "stock A/1 --store loja",
                "loja",
                Locale::of(language),
            );
            held.and_then(|held| held.hint).unwrap_or_default()
        };
        let [portuguese, english] = Language::ALL.map(hint);
        assert!(portuguese.ends_with("Depois: espelho retry stock A/1 --store loja"), "{portuguese}");
        assert!(english.ends_with("Then: espelho retry stock A/1 --store loja"), "{english}");
        let rows = [
            (Verdict::Done(None), Some(PushState::Done), None),
            (Verdict::DoneBut(message.clone()), Some(PushState::Done), None),
            (Verdict::Sent, Some(PushState::Sending), Some(0)),
            (Verdict::Waiting(message.clone(), Duration::from_secs(5)), Some(PushState::Waiting), Some(5)),
            (Verdict::Failed(message.clone()), Some(PushState::Failed), None),
            (Verdict::Held(message.clone()), Some(PushState::Held), None),
            (Verdict::Doubtful(message), Some(PushState::Doubtful), None),
            (Verdict::Unsettled(Duration::from_secs(2)), Some(PushState::Sending), Some(2)),
            (Verdict::Requeue, Some(PushState::New), Some(0)),
            (Verdict::RetryAfter(Duration::from_secs(3)), None, Some(3)),
        ];
        for (verdict, state, retry_after) in rows {
            assert_eq!(
                verdict.outcome("x", "loja", Locale::default()).map(|outcome| outcome.state),
                state,
                "{verdict:?}"
            );
            assert_eq!(verdict.retry_after().map(|wait| wait.as_secs()), retry_after, "{verdict:?}");
        }
    }
}

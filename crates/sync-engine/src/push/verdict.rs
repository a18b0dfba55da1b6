//! What came of a look at something that is wanted, and the words for its row: Portuguese first, English beside it.

use std::time::Duration;

use espelho_api_client::{Class, Documented, Error as ApiError};
use espelho_model::push::PushState;
use espelho_store::{Error as StoreError, Outcome};
use serde_json::Value;

use crate::report::with_causes;

/// What a row says: a stable code, the cause, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// A short stable code.
    pub code: String,
    /// The cause.
    pub error: String,
    /// The next step.
    pub hint: String,
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
    /// Words in both languages: `[cause, next step]` of each.
    pub fn new(code: &str, portuguese: [&str; 2], english: [&str; 2]) -> Self {
        let both = |at: usize| format!("{} / {}", portuguese[at], english[at]);
        Self { code: code.to_owned(), error: both(0), hint: both(1) }
    }

    /// With the row in the commands that it names: `{row}` stands for it.
    #[must_use]
    pub(crate) fn about(self, row: &str) -> Self {
        let fill = |text: String| text.replace("{row}", row);
        Self { code: self.code, error: fill(self.error), hint: fill(self.hint) }
    }

    /// What the marketplace or the way to it said.
    pub fn of(error: &ApiError) -> Self {
        let text = with_causes(error);
        let error_text = match error {
            ApiError::Refused { status, .. } => {
                format!("o marketplace recusou ({status}) / the marketplace refused: {text}")
            }
            _ => format!("sem resposta utilizável / no usable answer: {text}"),
        };
        Self {
            code: error.code(),
            error: error_text,
            hint: format!("{} / {}", portuguese_step(error), error.hint()),
        }
    }
}

/// The next step after a refusal, for people in the shop.
fn portuguese_step(error: &ApiError) -> &'static str {
    match error.kind() {
        Some(Documented::NotFound) => "confira o código: o marketplace não conhece este registro nesta loja",
        Some(Documented::MissingAbilities(_)) => {
            "peça ao portal uma credencial com esta permissão; depois espelho retry {row}"
        }
        Some(Documented::StorePageClosed) => {
            "altere a página da loja no portal: a API ainda não aceita integrações"
        }
        Some(Documented::ImpossibleTransition) => {
            "veja a situação atual do pedido e peça uma mudança que ela permita"
        }
        Some(Documented::InvalidFields) => "corrija os campos indicados e envie um novo comando",
        Some(Documented::CampaignOptInClosed) => "o prazo de adesão acabou: nada mais a fazer nesta campanha",
        Some(Documented::SubstoreCannotCreateSku) => "cadastre o produto na loja principal",
        Some(Documented::FiscalGate(_)) => "emita a NF-e ou a declaração de conteúdo",
        Some(Documented::ListingNotReady { .. }) => "corrija o anúncio como indicado e envie um novo comando",
        Some(Documented::TooManyRequests) => "espere: o limite de chamadas será liberado",
        _ if error.is_authentication() => "confira a credencial da loja com espelho doctor",
        _ => "leia a mensagem, corrija; depois espelho retry {row}",
    }
}

impl Verdict {
    /// The words for a row, which is named as the command line takes it; `None` where it stays as it is.
    pub(crate) fn outcome(&self, row: &str) -> Option<Outcome> {
        let said = |state, said: &Said| {
            let Said { code, error, hint } = said.clone().about(row);
            Outcome { state, code: Some(code), error: Some(error), hint: Some(hint), result: None }
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
    use super::*;

    #[test]
    fn what_is_over_is_not_looked_at_again_and_what_is_said_reaches_the_row() {
        let said = Said::new("x", ["causa", "passo {row}"], ["cause", "step"]);
        assert_eq!((said.error.as_str(), said.hint.as_str()), ("causa / cause", "passo {row} / step"));
        let held = Verdict::Held(said.clone()).outcome("stock A/1 --store loja");
        assert_eq!(held.and_then(|held| held.hint).as_deref(), Some("passo stock A/1 --store loja / step"));
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
            assert_eq!(verdict.outcome("x").map(|outcome| outcome.state), state, "{verdict:?}");
            assert_eq!(verdict.again().map(|wait| wait.as_secs()), again, "{verdict:?}");
        }
    }
}

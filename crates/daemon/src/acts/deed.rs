//! The acts on rows of the ERP: the states that each fits, its name, its question, and the command that does the same.
//! Pure.

use espelho_model::{next_step::RowAct, push::PushState, text, text::Text};

use crate::decisions::Decision;

/// An act on rows of the ERP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Tries them again.
    Retry,
    /// Lets them pass the guards, once.
    Release,
    /// Gives them up.
    Ignore,
    /// Ends one in doubt that a person has seen to have happened.
    Happened,
    /// Tries ignored ones again.
    BringBack,
}

impl Deed {
    /// All of them.
    const ALL: [Self; 5] = [Self::Retry, Self::Release, Self::Ignore, Self::Happened, Self::BringBack];

    /// The word in forms and in the record.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Release => "release",
            Self::Ignore => "ignore",
            Self::Happened => "happened",
            Self::BringBack => "bring_back",
        }
    }

    /// Returns the decision that it is.
    pub(super) fn decision(self) -> Decision {
        match self {
            Self::Retry => Decision::Retry,
            Self::Release => Decision::Release,
            Self::Ignore | Self::Happened => Decision::Ignore,
            Self::BringBack => Decision::BringBack,
        }
    }

    /// The command that does the same.
    pub(super) fn row_act(self) -> RowAct {
        self.decision().row_act()
    }

    /// Tells whether a row in this state is one to do this to.
    pub(super) fn fits(self, state: PushState) -> bool {
        match self {
            Self::Retry => matches!(state, PushState::Failed | PushState::Doubtful),
            Self::Release => state == PushState::Held,
            Self::Ignore => matches!(state, PushState::Failed | PushState::Held),
            Self::Happened => state == PushState::Doubtful,
            Self::BringBack => state == PushState::Ignored,
        }
    }

    /// Returns the deed for a row in this state that a rule of [`espelho_model::next_step::acts`] names.
    pub(crate) fn of(act: RowAct, state: PushState) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.row_act() == act && deed.fits(state))
    }

    /// Returns the deed that a decision is on record as: by the state of its row, if it is about a single one.
    pub(crate) fn on_record(decision: Decision, state: Option<PushState>) -> Self {
        let of_state = state.and_then(|state| Self::of(decision.row_act(), state));
        of_state.unwrap_or(match decision {
            Decision::Release => Self::Release,
            Decision::Retry => Self::Retry,
            Decision::BringBack => Self::BringBack,
            Decision::Ignore => Self::Ignore,
        })
    }

    /// Returns the name of the act.
    pub(crate) fn name(self) -> Text {
        match self {
            Self::Retry => text!("page-mend-retry"),
            Self::Release => text!("page-mend-release"),
            Self::Ignore => text!("page-mend-ignore"),
            Self::Happened => text!("page-mend-happened"),
            Self::BringBack => text!("page-mend-bring-back"),
        }
    }

    /// Reads a word.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.word() == word)
    }

    /// Returns the question before it, to which a button is the answer. What may have happened already is sent again
    /// only by somebody who has looked.
    pub(super) fn question(self, rows: usize, may_have_happened: bool) -> Text {
        match self {
            Self::Retry | Self::BringBack if may_have_happened => text!("page-act-resend", count = rows),
            Self::Retry => text!("page-act-retry", count = rows),
            Self::Release => text!("page-act-release", count = rows),
            Self::Ignore => text!("page-act-ignore", count = rows),
            Self::Happened => text!("page-act-happened", count = rows),
            Self::BringBack => text!("page-act-bring-back", count = rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    #[test]
    fn a_deed_is_for_rows_in_its_states_and_asks_its_own_question() {
        use PushState::{Doubtful, Failed, Held, Ignored, New, Waiting};
        for (deed, states) in [
            (Deed::Retry, &[Failed, Doubtful][..]),
            (Deed::Release, &[Held]),
            (Deed::Ignore, &[Failed, Held]),
            (Deed::Happened, &[Doubtful]),
            (Deed::BringBack, &[Ignored]),
        ] {
            for state in [New, Waiting, Failed, Held, Doubtful, Ignored] {
                assert_eq!(deed.fits(state), states.contains(&state), "{deed:?} {state}");
            }
            assert_eq!(Deed::parse(deed.word()), Some(deed));
        }
        let asks = |deed: Deed, is_in_doubt| deed.question(1, is_in_doubt).message(Locale::default());
        let mut questions: Vec<String> = Deed::ALL.into_iter().map(|deed| asks(deed, false)).collect();
        questions.push(asks(Deed::Retry, true));
        assert!(questions.iter().collect::<std::collections::BTreeSet<_>>().len() == 6, "{questions:?}");
        assert!(!asks(Deed::Happened, true).contains("Desistir"), "{questions:?}");
    }

    #[test]
    fn the_acts_of_a_row_are_those_of_the_one_rule() {
        for (state, act, expected) in [
            (PushState::Held, RowAct::Release, Some(Deed::Release)),
            (PushState::Failed, RowAct::Ignore, Some(Deed::Ignore)),
            (PushState::Doubtful, RowAct::Ignore, Some(Deed::Happened)),
            (PushState::Doubtful, RowAct::Retry, Some(Deed::Retry)),
            (PushState::Ignored, RowAct::Retry, Some(Deed::BringBack)),
            (PushState::New, RowAct::Retry, None),
        ] {
            assert_eq!(Deed::of(act, state), expected, "{state} {act:?}");
        }
    }

    #[test]
    fn a_decision_is_on_record_as_what_it_was_for_its_row() {
        use PushState::{Doubtful, Failed, Held, Ignored, New, Waiting};
        for (decision, state, expected) in [
            (Decision::Release, Some(Held), Deed::Release),
            (Decision::Release, Some(Failed), Deed::Release),
            (Decision::Retry, Some(Failed), Deed::Retry),
            (Decision::Retry, Some(Waiting), Deed::Retry),
            (Decision::Retry, Some(Ignored), Deed::BringBack),
            (Decision::BringBack, Some(Ignored), Deed::BringBack),
            (Decision::BringBack, None, Deed::BringBack),
            (Decision::Ignore, Some(New), Deed::Ignore),
            (Decision::Ignore, Some(Doubtful), Deed::Happened),
            (Decision::Ignore, None, Deed::Ignore),
        ] {
            assert_eq!(Deed::on_record(decision, state), expected, "{decision:?} {state:?}");
        }
    }

    #[test]
    fn what_may_have_happened_is_sent_again_by_a_question_of_its_own() {
        for (deed, may_have_happened, expected) in [
            (Deed::Retry, false, "Tentar de novo"),
            (Deed::Retry, true, "Enviar de novo"),
            (Deed::BringBack, false, "Trazer de volta"),
            (Deed::BringBack, true, "Enviar de novo"),
        ] {
            let question = deed.question(1, may_have_happened).message(Locale::default());
            assert!(question.starts_with(expected), "{question}");
        }
    }
}

//! Decides the push: the next request to the marketplace, and the outcome of a request whose answer was lost.
//!
//! A file knows one kind of effect: the evidence that the journal keeps with it ([`evidence`]), `decide` (from a reading and
//! an intent to the next step) and `settle` (from the evidence and a later reading to the outcome). Levels of stock have
//! several: [`stock_level`] decides, [`sent_level`] and [`unsent_level`] verify, [`lost_level`] settles, and
//! [`level_history`] is their memory. Everything here is pure; `push/` reads, calls and writes.

pub mod attempts;
pub mod campaign_opt_in;
pub mod dispatches;
pub mod doubts;
pub mod evidence;
pub mod in_doubt;
pub mod job_queue;
pub mod jobs;
pub mod labels;
pub mod late_effects;
pub mod level_evidence;
pub mod level_history;
pub mod lost_level;
pub mod media;
pub mod movement_evidence;
pub mod order_notes;
pub mod order_status;
pub mod own_writes;
pub mod price_rows;
pub mod price_step;
pub mod price_zero;
pub mod product;
pub mod read_after_write;
pub mod reported_changes;
pub mod sent_level;
pub mod stock_level;
pub mod stock_movement;
pub mod store_page;
pub mod units;
pub mod unsent_level;
mod verdict;
pub mod walks;

use std::time::Duration;

use espelho_model::{text, text::Text};

pub use verdict::{Message, Verdict};

/// What evidence says of an effect whose answer was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It happened.
    Happened {
        /// What the marketplace would have answered, as JSON, as far as it is known.
        answer: Option<String>,
        /// How it is known, for the journal.
        how: &'static str,
    },
    /// It did not happen.
    DidNotHappen {
        /// How it is known, for the journal.
        how: &'static str,
    },
    /// It does not show yet: read again after this time.
    NotYet(Duration),
    /// Nothing can prove either. Only a person decides.
    Unprovable(Message),
}

impl Settlement {
    /// Seen or not seen, with the words for both.
    fn of(is_there: bool, there: &'static str, missing: &'static str) -> Self {
        match is_there {
            true => Self::Happened { answer: None, how: there },
            false => Self::DidNotHappen { how: missing },
        }
    }

    /// The verdict on a row while its effect is not settled; `None` where the row may go on.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Self::NotYet(wait) => Some(Verdict::Unsettled(wait)),
            Self::Unprovable(message) => Some(Verdict::Doubtful(message)),
            Self::Happened { .. } | Self::DidNotHappen { .. } => None,
        }
    }
}

/// The words for what cannot be proved.
pub fn doubtful(code: &str) -> Message {
    Message::new(code, text!("push-doubtful"))
}

/// The words for a value that the marketplace would refuse.
pub fn invalid(why: Text) -> Message {
    Message::new("invalid_data", text!("push-invalid", why = why))
}

#[cfg(test)]
pub(crate) mod tests {
    use chrono::{DateTime, TimeDelta, Utc};
    use espelho_store::{Effect, EffectState};

    /// An effect that was sent at the epoch.
    pub(crate) fn effect(kind: &str, evidence: Option<&str>, state: EffectState) -> Effect {
        Effect {
            id: 1,
            key: "key".to_owned(),
            kind: kind.to_owned(),
            command_id: None,
            fingerprint: None,
            request: String::new(),
            evidence: evidence.map(str::to_owned),
            state,
            planned_at: DateTime::UNIX_EPOCH,
            sent_at: Some(DateTime::UNIX_EPOCH),
            code: None,
            note: None,
            answer: None,
        }
    }

    /// So many seconds after the epoch.
    pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }
}

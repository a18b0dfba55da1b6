//! Intents: `erp_stock`, `erp_prices` and `commands`. The ERP writes them at any time from another process. This
//! crate writes only the answer beside each, and only while the row still asks for the answered value.

pub(crate) mod answers;
pub(crate) mod campaign_candidates;
pub(crate) mod commands;
pub(crate) mod counts;
pub(crate) mod kind;
pub(crate) mod missed_changes;
pub(crate) mod open_pages;
pub(crate) mod outbox;
pub(crate) mod prices;
pub(crate) mod release;
pub(crate) mod stock;
pub(crate) mod unknown_skus;
pub(crate) mod unknown_stores;
pub(crate) mod unreadable;
pub(crate) mod write;

use std::sync::Arc;

use espelho_model::{
    Clock,
    push::PushState,
    text::{Locale, Text},
};

use crate::{driver::Database, mirror::page::LeaseTx, ownership::Leases};

/// The levels and prices that the ERP writes: reading, counting and answering them.
#[derive(Clone, Copy)]
pub struct Intents<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) leases: Leases<'s>,
    /// The language in which the words on rows are read.
    pub(crate) reader: Option<Locale>,
}

/// The commands of the ERP, a person or a policy.
#[derive(Clone, Copy)]
pub struct Commands<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Rows that need a person's decision, and these decisions.
#[derive(Clone, Copy)]
pub struct Releases<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    /// The language in which the words on rows are read.
    pub(crate) reader: Option<Locale>,
}

/// Writes answers onto the ERP's rows.
pub struct IntentWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

/// The outcome of an intent, for its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The state.
    pub state: PushState,
    /// A short stable code, if there is something to report.
    pub code: Option<String>,
    /// The cause, for people in the shop.
    pub error: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// The catalogue's message behind cause and next step, for other languages.
    pub message: Option<Text>,
    /// The result of a command, as JSON.
    pub result: Option<String>,
}

impl Outcome {
    /// An outcome with a state and no message.
    pub fn plain(state: PushState) -> Self {
        Self { state, code: None, error: None, hint: None, message: None, result: None }
    }

    /// The message, as JSON for its column.
    pub(crate) fn message_as_json(&self) -> Option<String> {
        self.message.as_ref().and_then(|message| serde_json::to_string(message).ok())
    }
}

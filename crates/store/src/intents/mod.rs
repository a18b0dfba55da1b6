//! What the ERP wants: `erp_stock`, `erp_prices` and `commands`. The ERP writes what it wants, at any time and from another process;
//! what is written here is the answer beside it, and only where the row still asks for what was answered.

pub(crate) mod commands;
pub(crate) mod counts;
pub(crate) mod joining;
pub(crate) mod lookups;
pub(crate) mod outbox;
pub(crate) mod prices;
pub(crate) mod release;
pub(crate) mod stock;
pub(crate) mod unknown_stores;
pub(crate) mod unreadable;
pub(crate) mod write;

use espelho_model::{push::PushState, text::Text};

/// What became of something that was wanted, for its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Where it is.
    pub state: PushState,
    /// A short stable code, where there is something to say.
    pub code: Option<String>,
    /// The cause, in words for people in the shop.
    pub error: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// The message that cause and next step were said by, for other languages.
    pub message: Option<Text>,
    /// What came of a command, as JSON.
    pub result: Option<String>,
}

impl Outcome {
    /// Nothing to say but where it is.
    pub fn plain(state: PushState) -> Self {
        Self { state, code: None, error: None, hint: None, message: None, result: None }
    }

    /// The message, as its column keeps it.
    pub(crate) fn message_as_json(&self) -> Option<String> {
        self.message.as_ref().and_then(|message| serde_json::to_string(message).ok())
    }
}

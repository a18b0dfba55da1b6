//! Commands that were refused for lack of a fiscal document, and what the mirror knew of documents then.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The fiscal documents in the mirror at the time of a refusal, and the time until which to wait for others.
pub(crate) type Documents = (Option<Vec<String>>, Duration);

/// What each waiting command waits for, by the command's number.
#[derive(Default)]
pub(crate) struct InvoiceWaits {
    documents: Mutex<HashMap<i64, Documents>>,
}

impl InvoiceWaits {
    fn documents(&self) -> MutexGuard<'_, HashMap<i64, Documents>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what was noted for a command.
    pub(super) fn of(&self, command: i64) -> Option<Documents> {
        self.documents().get(&command).cloned()
    }

    /// Notes the documents that were known, and until when (monotonic clock) others are awaited.
    pub(super) fn note(&self, command: i64, documents: Vec<String>, until: Duration) {
        self.documents().insert(command, (Some(documents), until));
    }

    /// Ends a command's wait.
    pub(super) fn end(&self, command: i64) {
        self.documents().remove(&command);
    }
}

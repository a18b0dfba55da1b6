//! Which store the marketplace says that the credential belongs to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use espelho_model::RawJson;

use crate::plan::sellers::Sellers;

/// The identifier of the store, as far as the marketplace reports it, and the sellers of its orders.
#[derive(Debug, Default)]
pub(super) struct StoreIdentity {
    answer: Mutex<Answer>,
}

#[derive(Debug, Default)]
struct Answer {
    id: Option<String>,
    is_final: bool,
    sellers: Sellers,
}

impl StoreIdentity {
    /// Returns an identity that was not asked for yet.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Records the marketplace's answer.
    pub(super) fn learn(&self, id: Option<String>) {
        let mut answer = self.answer();
        (answer.id, answer.is_final) = (id, true);
    }

    /// Records that the marketplace will not answer later either; what is known stays.
    pub(super) fn give_up(&self) {
        self.answer().is_final = true;
    }

    /// Whether there is nothing more to learn.
    pub(super) fn is_settled(&self) -> bool {
        self.answer().is_final
    }

    /// Returns the identifier, if the marketplace reports it.
    pub(super) fn id(&self) -> Option<String> {
        self.answer().id.clone()
    }

    /// Tells if webhooks of this store report changes of an order, by the order's object.
    pub(super) fn is_reported_here(&self, order: &RawJson) -> bool {
        let mut answer = self.answer();
        let Answer { id, sellers, .. } = &mut *answer;
        sellers.reports_here(order, id.as_deref())
    }

    fn answer(&self) -> MutexGuard<'_, Answer> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_settled_by_an_answer_or_by_a_final_refusal_which_takes_nothing_back() {
        let identity = StoreIdentity::new();
        assert_eq!((identity.is_settled(), identity.id()), (false, None));
        identity.give_up();
        assert_eq!((identity.is_settled(), identity.id()), (true, None));
        identity.learn(Some("7".to_owned()));
        identity.give_up();
        assert_eq!((identity.is_settled(), identity.id().as_deref()), (true, Some("7")));
    }
}

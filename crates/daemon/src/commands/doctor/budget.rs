//! Says how much of the budget of requests per minute is free. The service's own work may use all of it: that is what the
//! budget is for, and no fault. A 429, and another user of the login, are.

use espelho_model::text;
use espelho_sync_engine::plan::alarms::Code;

use super::{
    facts::StoreFacts,
    finding::Finding,
    marketplace::{is_alarmed, is_throttled},
};

/// The status of an answer that refuses too many requests.
const TOO_MANY_REQUESTS: u16 = 429;

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let per_minute = store.config.requests_per_minute.get();
    let Some(proof) = store.token.get() else { return Finding::skipped(store.no_token()) };
    let (told, key) = (store.all.status(), store.config.key.as_str());
    let spender = Spender {
        is_refused: store.reached.get().is_some_and(|reached| reached.status == TOO_MANY_REQUESTS)
            || is_throttled(told, key, &store.config.base_url),
        has_others: is_alarmed(told, Code::ForeignLogin, |alarm| alarm["store"] == key),
    };
    judge(key, per_minute, proof.held, spender)
}

/// The signs that others spend the budget too.
#[derive(Clone, Copy, Debug, Default)]
struct Spender {
    /// The marketplace answers 429.
    is_refused: bool,
    /// Another program uses the login.
    has_others: bool,
}

fn judge(store: &str, per_minute: u32, held: u32, spender: Spender) -> Finding {
    let free = per_minute.saturating_sub(held);
    match spender {
        Spender { has_others: true, .. } => {
            Finding::yellow(text!("doctor-budget-shared", limit = per_minute, store = store))
        }
        Spender { is_refused: true, .. } => {
            Finding::yellow(text!("doctor-budget-refused", free = free, limit = per_minute))
        }
        Spender { .. } => Finding::green(text!("doctor-budget", free = free, limit = per_minute)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    #[test]
    fn our_own_use_of_the_budget_is_no_fault_and_a_429_and_another_user_are() {
        for (per_minute, held, is_refused, has_others, state, text) in [
            (300, 0, false, false, State::Green, "doctor-budget"),
            (300, 300, false, false, State::Green, "doctor-budget"),
            (u32::MAX, u32::MAX, false, false, State::Green, "doctor-budget"),
            (300, 5, true, false, State::Yellow, "doctor-budget-refused"),
            (300, 5, false, true, State::Yellow, "doctor-budget-shared"),
            (300, 5, true, true, State::Yellow, "doctor-budget-shared"),
        ] {
            let finding = judge("loja-1", per_minute, held, Spender { is_refused, has_others });
            assert_eq!((finding.state, finding.found.id()), (state, text), "{held}");
            assert_eq!(finding.found.has_next(), state == State::Yellow);
        }
    }
}

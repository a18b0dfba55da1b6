//! Checks how much of the budget of requests per minute is free.

use espelho_model::text;

use super::{facts::StoreFacts, finding::Finding};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let per_minute = store.config.requests_per_minute.get();
    match store.token.get() {
        Some(proof) => judge(per_minute, proof.held),
        None => Finding::not_seen(text!("doctor-no-token")),
    }
}

fn judge(per_minute: u32, held: u32) -> Finding {
    let free = per_minute.saturating_sub(held);
    match u64::from(held) * 10 > u64::from(per_minute) * 9 {
        true => Finding::yellow(text!("doctor-budget-short", free = free, limit = per_minute)),
        false => Finding::green(text!("doctor-budget", free = free, limit = per_minute)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    #[test]
    fn a_budget_that_is_nearly_spent_is_yellow() {
        assert_eq!([judge(300, 270).state, judge(300, 271).state], [State::Green, State::Yellow]);
        assert_eq!(judge(u32::MAX, u32::MAX).state, State::Yellow);
    }
}

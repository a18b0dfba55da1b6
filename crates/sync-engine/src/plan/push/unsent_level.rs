//! Levels that were not sent, because the mirror showed them as asked (`stock_level::freshness`). The mirror's reading is
//! from before the intent, and the delivery of a change since then may have been lost: so the level is read once more,
//! after everything else that is open, and the row is done when that reading shows it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Arg, Text},
};
use espelho_store::{Effect, EffectState, StockIntent};
use rust_decimal::Decimal;

use super::{
    Message, Verdict,
    evidence::{Evidence as _, read},
    movement_evidence::MovementEvidence,
    own_writes::{LAG_RECHECK_INTERVAL, is_behind},
    sent_level::{Comparison, RECHECK_INTERVAL},
    stock_level::Basis,
};
use crate::plan::stock_balance::Dispatched;

/// Levels that are read again in a minute, at most: a fifth of the usual budget. An ERP that writes thousands of
/// unchanged levels at once writes them again soon, and a level that the mirror has otherwise by then is sent.
const CHECKS_PER_MINUTE: u32 = 60;
const MINUTE: Duration = Duration::from_secs(60);
/// A lower level is sent when it has differed for so long: the readings of the orders that may have taken goods off it may
/// be as far behind as any (`own_writes::READINGS_LAG`). The orders are read at the beginning of this time and at its end,
/// because each look may cost dozens of requests.
const DOUBTED_FOR: Duration = Duration::from_secs(120);

/// The checks that this minute still allows.
#[derive(Debug, Default)]
pub struct CheckAllowance {
    /// When the minute began.
    since: Option<Duration>,
    /// The checks since then.
    taken: u32,
}

impl CheckAllowance {
    /// Takes a check; returns false where the minute allows no more of them.
    pub fn take(&mut self, now: Duration) -> bool {
        if self.since.is_none_or(|since| now.saturating_sub(since) >= MINUTE) {
            (self.since, self.taken) = (Some(now), 0);
        }
        let is_allowed = self.taken < CHECKS_PER_MINUTE;
        self.taken += u32::from(is_allowed);
        is_allowed
    }
}

/// The quantity that the marketplace should show of a level that was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The quantity that the row asks for.
    desired: Decimal,
    /// The sum of our movements since.
    moved: Decimal,
    /// True while the answer of such a movement is not known.
    is_moving: bool,
    /// True if nobody will ever know whether such a movement happened, or how much it was.
    is_doubtful: bool,
}

impl Expected {
    /// Returns what is expected of a row that asks for `desired`. `effects` are those of the level.
    pub fn of(level: &StockIntent, desired: Decimal, effects: &[Effect]) -> Self {
        let is_later = |effect: &&Effect| level.updated_at.is_none_or(|at| effect.planned_at >= at);
        let is_movement = |effect: &&Effect| effect.kind == MovementEvidence::KIND;
        let (mut moved, mut is_moving, mut is_doubtful) = (Decimal::ZERO, false, false);
        for effect in effects.iter().filter(is_later).filter(is_movement) {
            match (effect.state, read::<MovementEvidence>(effect)) {
                (EffectState::Confirmed, Ok(movement)) => moved += movement.delta,
                (EffectState::Sent, _) => is_moving = true,
                (EffectState::Confirmed | EffectState::Doubtful, _) => is_doubtful = true,
                (EffectState::Planned | EffectState::Refuted, _) => (),
            }
        }
        Self { desired, moved, is_moving, is_doubtful }
    }

    /// Compares it with a reading. An available quantity is never taken from the mirror: that row begins anew.
    pub fn compare(
        self,
        basis: Basis,
        quantity: Decimal,
        effects: &[Effect],
        now: DateTime<Utc>,
    ) -> Comparison {
        let lower = self.desired + self.moved - quantity;
        if basis == Basis::Available {
            return Comparison::Answer(Verdict::Requeue);
        }
        if self.is_moving {
            return Comparison::Answer(Verdict::RetryAfter(RECHECK_INTERVAL));
        }
        match lower {
            lower if lower.is_zero() => Comparison::Answer(Verdict::Done(None)),
            _ if is_behind(quantity, effects, now) => {
                Comparison::Answer(Verdict::RetryAfter(LAG_RECHECK_INTERVAL))
            }
            // No sale makes a level higher, and to lower it sells nothing twice.
            lower if lower < Decimal::ZERO && self.moved.is_zero() => Comparison::Answer(Verdict::Requeue),
            lower => Comparison::Differs(lower),
        }
    }

    /// Decides about a level that is lower by `lower` (negative: higher). `sold` are the dispatches that may have come since
    /// the row was written as not sent, if they are known; `doubted_for` says how long ago the difference was first seen.
    /// The level is sent only where nothing left meanwhile, neither by a sale nor by a movement of ours: what is gone must
    /// not be put on sale again.
    pub fn after_comparing(
        self,
        quantity: Decimal,
        lower: Decimal,
        sold: Option<&Dispatched>,
        doubted_for: Duration,
    ) -> Verdict {
        match sold {
            Some(sold) if lower > Decimal::ZERO && sold.may_be(lower) => Verdict::Done(None),
            _ if doubted_for < DOUBTED_FOR => Verdict::RetryAfter(DOUBTED_FOR.saturating_sub(doubted_for)),
            Some(sold) if sold.is_nothing() && self.is_unmoved() => Verdict::Requeue,
            _ => Verdict::Failed(conflict(self.desired + self.moved, quantity)),
        }
    }

    /// Returns the verdict where the marketplace shows no quantity any more: nothing was sent that a later reading could
    /// show, so the row begins anew. `None` where a movement since asks for another quantity than the row.
    pub fn without_quantity(self) -> Option<Verdict> {
        self.is_unmoved().then_some(Verdict::Requeue)
    }

    fn is_unmoved(self) -> bool {
        self.moved.is_zero() && !self.is_moving && !self.is_doubtful
    }
}

fn conflict(desired: Decimal, quantity: Decimal) -> Message {
    let (wanted, quantity) = (Arg::Quantity(desired), Arg::Quantity(quantity));
    let text: Text = text!("push-stock-unsent-conflict", wanted = wanted, quantity = quantity);
    Message::new("stock_conflict", text)
}

#[cfg(test)]
mod tests {
    use espelho_model::{LocationId, ProductId, Sku, push::PushState};
    use serde_json::json;

    use super::{
        super::{
            own_writes::READINGS_LAG,
            tests::{at, effect},
        },
        *,
    };

    const CONFIRMED: EffectState = EffectState::Confirmed;

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    /// A row that asks for 7, and was written as not sent ten seconds after the epoch.
    fn level() -> StockIntent {
        StockIntent {
            sku: Sku::new("A"),
            location: LocationId::new("1"),
            written: "7".to_owned(),
            quantity: Some(whole(7)),
            state: Some(PushState::Sending),
            updated_at: Some(at(10)),
            product: Some(ProductId::new("P")),
            base_unit: Some("un".to_owned()),
            mirrored: Some(whole(7)),
            reserved: None,
            available: None,
            code: None,
            revision: 3,
        }
    }

    fn moved(delta: i64, second: i64, state: EffectState) -> Effect {
        let before = (7 - delta).to_string();
        let evidence = json!({"product": "P", "sku": "A", "location": "1", "delta": delta.to_string(),
            "before": before});
        let sent_at = Some(at(second));
        Effect {
            planned_at: at(second),
            sent_at,
            ..effect("stock.adjust", Some(&evidence.to_string()), state)
        }
    }

    /// These dispatches, beside an order that is listed and denied.
    fn denied(certain: &[i64]) -> Dispatched {
        Dispatched { is_incomplete: true, ..sold(certain, &[]) }
    }

    fn sold(certain: &[i64], possible: &[i64]) -> Dispatched {
        let all = |quantities: &[i64]| quantities.iter().copied().map(whole).collect();
        Dispatched { certain: all(certain), possible: all(possible), ..Dispatched::default() }
    }

    #[test]
    fn a_level_that_was_not_sent_is_done_by_a_reading_and_sent_where_the_reading_is_higher() {
        let again = |wait| Comparison::Answer(Verdict::RetryAfter(wait));
        let requeue = Comparison::Answer(Verdict::Requeue);
        let done = Comparison::Answer(Verdict::Done(None));
        let (physical, available) = (Basis::Physical, Basis::Available);
        let rows: [(Basis, i64, &[Effect], Comparison, &str); 10] = [
            (physical, 7, &[], done.clone(), "it is there"),
            (physical, 9, &[], requeue.clone(), "the delivery that told of two more was lost"),
            (physical, 5, &[], Comparison::Differs(whole(2)), "a sale, or a lost delivery"),
            (physical, 6, &[moved(-1, 20, CONFIRMED)], done.clone(), "our own movement since"),
            (physical, 7, &[moved(2, 5, CONFIRMED)], done, "a movement before it counts in the level"),
            (
                physical,
                5,
                &[moved(2, 5, CONFIRMED)],
                again(LAG_RECHECK_INTERVAL),
                "the reading may be behind it",
            ),
            (
                physical,
                9,
                &[moved(-1, 20, CONFIRMED)],
                Comparison::Differs(whole(-3)),
                "a movement, and more",
            ),
            (
                physical,
                9,
                &[moved(2, 20, EffectState::Sent)],
                again(RECHECK_INTERVAL),
                "a movement is under way",
            ),
            (physical, 9, &[moved(2, 20, EffectState::Refuted)], requeue.clone(), "it did not happen"),
            (available, 7, &[], requeue, "what is available is read, never trusted"),
        ];
        for (basis, quantity, effects, expected, why) in rows {
            let checked =
                Expected::of(&level(), whole(7), effects).compare(basis, whole(quantity), effects, at(60));
            assert_eq!(checked, expected, "{why}");
        }
    }

    #[test]
    fn a_lower_level_is_sent_only_where_nothing_was_sold_since() {
        let again = |seconds| Verdict::RetryAfter(Duration::from_secs(seconds));
        let failed = || Verdict::Failed(conflict(whole(7), whole(4)));
        let rows = [
            (Some(sold(&[3], &[])), 0, Verdict::Done(None), "three were sold"),
            (Some(sold(&[], &[3, 1])), 0, Verdict::Done(None), "they may have been sold"),
            (
                Some(sold(&[3], &[])),
                120,
                Verdict::Done(None),
                "their order was read from a replica that was behind",
            ),
            (Some(sold(&[], &[])), 0, again(120), "a sale may not show yet"),
            (Some(sold(&[], &[])), 119, again(1), "a sale may not show yet"),
            (Some(sold(&[], &[])), 120, Verdict::Requeue, "nothing left: it never was 7 after the intent"),
            (Some(sold(&[1], &[])), 119, again(1), "the other sales may not show yet"),
            (Some(sold(&[1], &[])), 120, failed(), "one was sold, and must not be put on sale again"),
            (Some(denied(&[3])), 0, Verdict::Done(None), "the others explain it, a denied one or not"),
            (Some(denied(&[])), 120, failed(), "it may have left with an order that is denied"),
            (None, 119, again(1), "the sales are not known"),
            (None, 120, failed(), "nobody knows what was sold"),
        ];
        let expected = Expected::of(&level(), whole(7), &[]);
        for (sold, seconds, verdict, why) in rows {
            let after =
                expected.after_comparing(whole(4), whole(3), sold.as_ref(), Duration::from_secs(seconds));
            assert_eq!(after, verdict, "{why}");
        }
        // A movement since then asks for another quantity than the row: sending the row would undo it.
        let moved = Expected::of(&level(), whole(7), &[moved(-1, 20, CONFIRMED)]);
        let after = moved.after_comparing(whole(4), whole(2), Some(&sold(&[], &[])), DOUBTED_FOR);
        assert_eq!(after, Verdict::Failed(conflict(whole(6), whole(4))));
        let patience = DOUBTED_FOR.as_secs();
        assert_eq!(
            u64::try_from(READINGS_LAG.num_seconds()).unwrap(),
            patience,
            "the orders' readings lag too"
        );
    }

    #[test]
    fn a_lower_level_is_not_sent_where_a_movement_since_may_have_lowered_it() {
        let failed = || Verdict::Failed(conflict(whole(7), whole(5)));
        let unreadable = |second, state| Effect { evidence: None, ..moved(-2, second, state) };
        let rows: [(Effect, Verdict, &str); 6] = [
            (moved(-2, 20, EffectState::Refuted), Verdict::Requeue, "it did not happen"),
            (moved(-2, 20, EffectState::Doubtful), failed(), "nobody knows whether it happened"),
            (moved(-2, 5, EffectState::Doubtful), Verdict::Requeue, "it was before the row was written"),
            (unreadable(20, CONFIRMED), failed(), "nobody knows how much it was"),
            (unreadable(20, EffectState::Refuted), Verdict::Requeue, "it did not happen"),
            (
                Effect { kind: "stock.set".to_owned(), ..unreadable(20, EffectState::Doubtful) },
                Verdict::Requeue,
                "it is no movement",
            ),
        ];
        for (effect, verdict, why) in rows {
            let expected = Expected::of(&level(), whole(7), &[effect]);
            let after = expected.after_comparing(whole(5), whole(2), Some(&sold(&[], &[])), DOUBTED_FOR);
            assert_eq!(after, verdict, "{why}");
        }
    }

    #[test]
    fn a_level_that_was_not_sent_begins_anew_where_no_quantity_is_told_unless_it_was_moved_since() {
        for (effects, expected, why) in [
            (vec![], Some(Verdict::Requeue), "nothing was sent that a reading could show"),
            (vec![moved(2, 5, CONFIRMED)], Some(Verdict::Requeue), "it was before the row was written"),
            (vec![moved(2, 20, EffectState::Refuted)], Some(Verdict::Requeue), "it did not happen"),
            (vec![moved(2, 20, CONFIRMED)], None, "sending the row would undo it"),
            (vec![moved(2, 20, EffectState::Sent)], None, "it is under way"),
            (vec![moved(2, 20, EffectState::Doubtful)], None, "nobody knows whether it happened"),
        ] {
            assert_eq!(Expected::of(&level(), whole(7), &effects).without_quantity(), expected, "{why}");
        }
    }

    #[test]
    fn a_minute_allows_only_so_many_checks() {
        let mut allowance = CheckAllowance::default();
        let mut taken = |second| (0..5_000).filter(|_| allowance.take(Duration::from_secs(second))).count();
        assert_eq!([5, 64, 65, 70, 200].map(&mut taken), [60, 0, 60, 0, 60]);
    }
}

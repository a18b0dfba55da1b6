//! Goods that were dispatched around an effect of ours: decides whether before the reading or after it, by the journal where we
//! dispatched them, else by the order's timeline.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    ProductId, Sku,
    order::{Order, OrderItem},
    timeline::OrderEvent,
};
use espelho_store::{Effect, EffectState};
use rust_decimal::Decimal;

use super::{
    evidence::{Evidence as _, read},
    order_status::TransitionEvidence,
};
use crate::plan::stock_balance::Dispatched;

/// Times of the marketplace have whole seconds, and its clock and ours differ.
pub const BLUR: TimeDelta = TimeDelta::seconds(2);

/// The place of an effect on stock among other effects, and the time of the reading before it.
#[derive(Clone, Copy, Debug)]
pub struct ReadingWindow {
    /// Its number in the journal: effects with a higher number began after the reading.
    pub effect: i64,
    /// The end of the journal before the reading: effects up to this number were not under way then. 0 where that is not
    /// known.
    pub journal_end: i64,
    /// When the reading began.
    pub from: DateTime<Utc>,
    /// When the reading ended.
    pub until: DateTime<Utc>,
}

impl ReadingWindow {
    /// A window around a reading at one moment.
    pub fn at(effect: i64, journal_end: i64, time: DateTime<Utc>) -> Self {
        Self { effect, journal_end, from: time, until: time }
    }
}

/// The time of a dispatch, relative to a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Before the reading.
    Before,
    /// After the reading.
    After,
    /// Too close to the reading to tell.
    Unclear,
}

/// Says whether an effect takes an order's goods off the shelf; `None` where its evidence cannot be read.
pub fn dispatches(effect: &Effect) -> Option<bool> {
    if effect.kind != TransitionEvidence::KIND {
        return Some(false);
    }
    Some(takes_off_the_shelf(&read::<TransitionEvidence>(effect).ok()?.target))
}

/// True for the statuses at which an order's goods leave (API document, "Order line stock status": `committed`).
pub fn takes_off_the_shelf(status: &str) -> bool {
    matches!(status, "shipped" | "picked_up")
}

/// How much of a SKU an order has taken off the shelf. A line without a SKU is of the product that it names (API
/// document, "Order": lines have a `product_id`).
pub fn dispatched(order: &Order, sku: &Sku, product: Option<&ProductId>) -> Decimal {
    let is_of_sku = |item: &&OrderItem| match &item.sku {
        Some(own) => own == sku.as_str(),
        None => product.is_some_and(|product| item.product_id.as_deref() == Some(product.as_str())),
    };
    let is_ours = |item: &&OrderItem| is_of_sku(item) && item.stock_status.as_deref() == Some("committed");
    order.items.iter().filter(is_ours).filter_map(|item| item.quantity).sum()
}

/// The first of our effects that may have dispatched an order; `effects` are those of the order, the newest first.
pub fn own_dispatch(effects: &[Effect]) -> Option<&Effect> {
    let may_have = |effect: &&Effect| matches!(effect.state, EffectState::Confirmed | EffectState::Sent);
    effects.iter().rev().filter(may_have).find(|effect| dispatches(effect) == Some(true))
}

/// Decides the timing of an order's dispatch. The journal alone tells that of one of ours that was answered (`events` are not
/// needed then); else our own attempt tells, or the timeline.
pub fn timing_of(
    own: Option<&Effect>,
    order: &Order,
    events: &[OrderEvent],
    window: ReadingWindow,
) -> Timing {
    if let Some(own) = own.filter(|own| own.answer.is_some()) {
        return by_journal(own.id, window);
    }
    // That it is dispatched proves that it was, not that we did it.
    own.and_then(|own| by_attempt(own, window)).unwrap_or_else(|| by_timeline(order, events, window))
}

/// Adds a dispatch to those that were found.
pub fn add(sold: &mut Dispatched, quantity: Decimal, timing: Timing) {
    match timing {
        Timing::Before => (),
        Timing::After => sold.certain.push(quantity),
        Timing::Unclear => sold.possible.push(quantity),
    }
}

fn by_journal(dispatch: i64, ReadingWindow { effect, journal_end, .. }: ReadingWindow) -> Timing {
    match dispatch {
        before if before <= journal_end => Timing::Before,
        after if after > effect => Timing::After,
        _ => Timing::Unclear,
    }
}

/// Decides the timing of a dispatch of which only an attempt of ours is known: it was not there when the attempt was planned,
/// and it was there when it was settled.
fn by_attempt(attempt: &Effect, ReadingWindow { effect, journal_end, .. }: ReadingWindow) -> Option<Timing> {
    if attempt.id <= journal_end && attempt.state == EffectState::Confirmed {
        return Some(Timing::Before);
    }
    (read::<TransitionEvidence>(attempt).ok()?.journal_end? >= effect).then_some(Timing::After)
}

fn by_timeline(order: &Order, events: &[OrderEvent], window: ReadingWindow) -> Timing {
    let leaves = |status: Option<&str>| matches!(status, Some("shipped" | "picked_up" | "delivered"));
    let left = events.iter().filter(|event| leaves(event.new_status.as_deref()));
    match (left.filter_map(|event| event.created_at).min(), order.updated_at) {
        (Some(at), _) => by_clock(at, window),
        // It happened before the order last changed.
        (None, Some(at)) if by_clock(at, window) == Timing::Before => Timing::Before,
        (None, _) => Timing::Unclear,
    }
}

fn by_clock(at: DateTime<Utc>, ReadingWindow { from, until, .. }: ReadingWindow) -> Timing {
    match at {
        before if before <= from - BLUR => Timing::Before,
        after if after >= until + BLUR => Timing::After,
        _ => Timing::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{OrderNumber, RawJson};

    use super::{
        super::tests::{at, effect},
        Timing::{After, Before, Unclear},
        *,
    };

    fn window() -> ReadingWindow {
        ReadingWindow { effect: 10, journal_end: 7, from: at(0), until: at(15) }
    }

    fn transition(id: i64, target: &str, state: EffectState, journal_end: i64) -> Effect {
        let evidence = format!(r#"{{"order":"1","target":"{target}","from":"x","mark":{journal_end}}}"#);
        Effect { id, ..effect("order.status", Some(&evidence), state) }
    }

    fn attempt(id: i64, state: EffectState, journal_end: i64) -> Effect {
        transition(id, "shipped", state, journal_end)
    }

    fn order(updated: Option<i64>) -> Order {
        Order { updated_at: updated.map(at), ..super::super::order_status::tests::order("shipped") }
    }

    fn event(status: &str, seconds: i64) -> OrderEvent {
        OrderEvent {
            id: "1".into(),
            event_type: None,
            description: None,
            old_status: None,
            new_status: Some(status.into()),
            author_type: None,
            author_name: None,
            metadata: None,
            created_at: Some(at(seconds)),
            raw: RawJson::new("{}"),
        }
    }

    #[test]
    fn a_dispatch_that_was_answered_is_placed_by_the_journal_and_another_by_the_clock() {
        let timings = [7, 8, 10, 11].map(|dispatch| by_journal(dispatch, window()));
        assert_eq!(timings, [Before, Unclear, Unclear, After]);
        let timings = [-2, -1, 5, 16, 17].map(|seconds| by_clock(at(seconds), window()));
        assert_eq!(timings, [Before, Unclear, Unclear, Unclear, After], "the reading lasted fifteen seconds");
    }

    // withstands: F001
    #[test]
    fn of_an_attempt_whose_answer_was_lost_only_what_was_seen_around_it_counts() {
        let timing = |id, state, journal_end| by_attempt(&attempt(id, state, journal_end), window());
        assert_eq!(timing(7, EffectState::Confirmed, 5), Some(Before), "settled before the reading");
        assert_eq!(timing(11, EffectState::Confirmed, 10), Some(After), "not there after the reading");
        assert_eq!(timing(11, EffectState::Confirmed, 6), None, "somebody else may have been before us");
        assert_eq!(timing(7, EffectState::Sent, 5), None);
    }

    #[test]
    fn the_journal_comes_before_the_attempt_and_the_attempt_before_the_timeline() {
        let events = [event("paid", -99), event("shipped", -5), event("delivered", 40)];
        let answered = Effect { answer: Some("{}".into()), ..attempt(11, EffectState::Confirmed, 3) };
        assert_eq!(timing_of(Some(&answered), &order(None), &[], window()), After);
        let lost = attempt(11, EffectState::Confirmed, 10);
        assert_eq!(timing_of(Some(&lost), &order(None), &events, window()), After);
        let unknown = attempt(11, EffectState::Sent, 3);
        assert_eq!(
            timing_of(Some(&unknown), &order(None), &events, window()),
            Before,
            "by the first event that leaves"
        );
        assert_eq!(timing_of(None, &order(None), &events, window()), Before);
        assert_eq!(timing_of(None, &order(Some(-5)), &[], window()), Before, "nothing happened to it since");
        assert_eq!(timing_of(None, &order(Some(5)), &[], window()), Unclear);
        assert_eq!(
            timing_of(None, &order(Some(99)), &[], window()),
            Unclear,
            "something happened to it since"
        );
        assert_eq!(timing_of(None, &order(None), &[event("preparing", -99)], window()), Unclear);
    }

    #[test]
    fn only_a_transition_that_dispatches_takes_goods_off_the_shelf() {
        let of = |target: &str| dispatches(&transition(1, target, EffectState::Sent, 0));
        assert_eq!(of("shipped"), Some(true));
        assert_eq!(of("picked_up"), Some(true));
        assert_eq!(of("preparing"), Some(false));
        assert_eq!(dispatches(&effect("stock.set", None, EffectState::Sent)), Some(false));
        assert_eq!(dispatches(&effect("order.status", Some("{}"), EffectState::Sent)), None, "nobody knows");
    }

    #[test]
    fn the_first_dispatch_that_may_have_happened_is_ours() {
        let (sent, refuted) = (EffectState::Sent, EffectState::Refuted);
        let effects = [
            attempt(9, sent, 0),
            transition(8, "preparing", sent, 0),
            attempt(7, EffectState::Confirmed, 0),
            attempt(6, refuted, 0),
        ];
        assert_eq!(own_dispatch(&effects).map(|effect| effect.id), Some(7));
        assert_eq!(own_dispatch(&effects[3..]), None);
    }

    #[test]
    fn only_committed_lines_of_the_sku_have_left() {
        let line = |sku: &str, status: &str, quantity: i64| {
            let mut item = super::super::order_status::tests::line(sku, quantity);
            item.stock_status = Some(status.to_owned());
            item
        };
        let mut sent = order(None);
        sent.number = OrderNumber::new("1");
        sent.items = vec![
            line("A", "committed", 2),
            line("A", "blocked", 4),
            line("B", "committed", 8),
            line("A", "committed", 1),
        ];
        assert_eq!(dispatched(&sent, &Sku::new("A"), None), Decimal::from(3));
        assert_eq!(dispatched(&sent, &Sku::new("C"), None), Decimal::ZERO);
        sent.items[0].sku = None;
        sent.items[0].product_id = Some("7".to_owned());
        let (of, other) = (ProductId::new("7"), ProductId::new("8"));
        assert_eq!(dispatched(&sent, &Sku::new("A"), Some(&of)), Decimal::from(3), "by its product");
        assert_eq!(dispatched(&sent, &Sku::new("A"), Some(&other)), Decimal::ONE);
        assert_eq!(dispatched(&sent, &Sku::new("A"), None), Decimal::ONE, "nobody knows its product");
        let mut sold = Dispatched::default();
        for (quantity, timing) in [(1, Before), (2, After), (4, Unclear)] {
            add(&mut sold, Decimal::from(quantity), timing);
        }
        assert_eq!((sold.certain, sold.possible), (vec![Decimal::from(2)], vec![Decimal::from(4)]));
    }
}

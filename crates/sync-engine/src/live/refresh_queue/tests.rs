use espelho_model::{OrderNumber, ProductId};
use espelho_store::Subresource;

use super::*;
use crate::live::test_clock::TestClock;

fn order(number: usize) -> Entity {
    Entity::Order(OrderNumber::new(number.to_string()))
}

fn swept() -> RefreshRequest {
    RefreshRequest::swept([Subresource::Order])
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fill(queue: &RefreshQueue<'_>, count: usize) {
    queue.push((0..count).map(|number| (order(number), swept())));
}

#[test]
fn what_is_pushed_for_later_is_due_then() {
    let clock = TestClock::default();
    let queue = RefreshQueue::new(&clock);
    queue.push_later(seconds(3), [(order(1), swept())]);
    assert_eq!(queue.next_due(Urgency::Swept), Some(seconds(3)));
    assert_eq!(queue.take(Urgency::Swept), None);
    assert!(queue.is_quiet() && queue.is_waiting(&order(1)));
    clock.advance(seconds(3));
    assert!(!queue.is_quiet());
    assert_eq!(queue.take(Urgency::Swept).map(|work| work.entity), Some(order(1)));
    clock.advance(seconds(2));
    assert_eq!(queue.oldest(), seconds(2), "it is still being read");
}

#[test]
fn rotation_work_waits_while_a_sweep_for_orders_runs_and_what_was_found_does_not() {
    let clock = TestClock::default();
    let queue = RefreshQueue::new(&clock);
    queue.push([(order(1), swept()), (order(2), RefreshRequest::found([Subresource::Order]))]);
    queue.keep_rotation_waiting(true);
    assert_eq!(queue.take(Urgency::Swept).map(|work| work.entity), Some(order(2)));
    assert_eq!(queue.next_due(Urgency::Swept), Some(LONGEST_ROTATION_WAIT));
    assert_eq!(queue.take(Urgency::Swept), None);
    queue.keep_rotation_waiting(false);
    assert_eq!(queue.next_due(Urgency::Swept), Some(seconds(0)));
    assert_eq!(queue.take(Urgency::Swept).map(|work| work.entity), Some(order(1)));
}

#[test]
fn rotation_work_does_not_wait_for_ever_for_a_sweep_that_does_not_end() {
    let clock = TestClock::default();
    let queue = RefreshQueue::new(&clock);
    queue.keep_rotation_waiting(true);
    assert_eq!(queue.next_due(Urgency::Swept), None, "there is none");
    queue.push([(order(1), swept())]);
    clock.advance(LONGEST_ROTATION_WAIT - seconds(1));
    assert_eq!(
        (queue.next_due(Urgency::Swept), queue.take(Urgency::Swept)),
        (Some(LONGEST_ROTATION_WAIT), None)
    );
    clock.advance(seconds(1));
    assert_eq!(queue.take(Urgency::Swept).map(|work| work.entity), Some(order(1)));
}

#[test]
fn a_queue_is_busy_before_it_is_crowded() {
    let clock = TestClock::default();
    for (waiting, is_busy, is_crowded) in
        [(0, false, false), (BUSY - 1, false, false), (BUSY, true, false), (CROWDED, true, true)]
    {
        let queue = RefreshQueue::new(&clock);
        fill(&queue, waiting);
        assert_eq!((queue.is_busy(), queue.is_crowded()), (is_busy, is_crowded), "{waiting}");
        assert_eq!(queue.has_room(), !is_crowded, "{waiting}");
    }
}

#[test]
fn what_is_read_again_after_minutes_crowds_no_sweep() {
    let clock = TestClock::default();
    let queue = RefreshQueue::new(&clock);
    queue.push_later(seconds(60), (0..CROWDED).map(|number| (order(number), swept())));
    assert!(!queue.is_busy() && !queue.is_crowded() && queue.has_room());
    clock.advance(seconds(60));
    assert!(queue.is_busy() && queue.is_crowded() && !queue.has_room());
}

#[test]
fn a_run_is_over_when_its_listing_was_answered_and_all_that_it_queued_was_read() {
    let clock = TestClock::default();
    let queue = RefreshQueue::new(&clock);
    let number = queue.begin_sweep(Sweep::NewOrders, clock.now());
    queue.push_swept([(order(1), swept()), (order(2), swept())]);
    assert_eq!(queue.end_listing(number, true), None, "two are left");
    assert!(queue.note_read(&order(1)).is_empty());
    let (failing, times) = queue.note_failed(&order(2));
    assert_eq!((failing.len(), times), (1, 1));
    assert_eq!(queue.note_failed(&order(2)), (Vec::new(), 2), "it is told once");
    let over = queue.note_read(&order(2));
    assert_eq!(
        over.iter().map(|run| (run.sweep, run.has_queued)).collect::<Vec<_>>(),
        [(Sweep::NewOrders, true)]
    );
}

#[test]
fn a_run_proves_nothing_if_its_listing_failed_or_if_it_found_no_room() {
    let clock = TestClock::default();
    for (waiting, is_answered, is_over) in [(0, true, true), (0, false, false), (CROWDED, true, false)] {
        let queue = RefreshQueue::new(&clock);
        fill(&queue, waiting);
        let number = queue.begin_sweep(Sweep::Products, clock.now());
        let _ = queue.is_crowded();
        assert_eq!(queue.end_listing(number, is_answered).is_some(), is_over, "{waiting} {is_answered}");
        let next = queue.begin_sweep(Sweep::Counts, clock.now());
        assert!(queue.end_listing(next, true).is_some(), "the next sweep is another one");
    }
}

#[test]
fn deliveries_wait_until_the_entity_is_read_and_only_so_many() {
    let clock = TestClock::default();
    let queue = RefreshQueue::new(&clock);
    let hinted = |id| RefreshRequest { ids: vec![id], ..RefreshRequest::hinted([]) };
    queue.push([
        (Entity::Product(ProductId::new("1")), hinted(7)),
        (Entity::Product(ProductId::new("1")), hinted(8)),
    ]);
    assert!(queue.has(7) && queue.has(8) && !queue.has(9));
    let work = queue.take(Urgency::Hinted).unwrap();
    assert_eq!(queue.done(&work.entity, Ended::Done), [7, 8]);
    assert!(!queue.has(7) && queue.takes_deliveries());
    let most = i64::try_from(MOST_DELIVERIES).unwrap();
    queue.push((0..most).map(|id| (order(1), hinted(id))));
    assert!(!queue.takes_deliveries());
}

#[test]
fn only_denials_of_new_orders_say_that_new_orders_are_denied() {
    let clock = TestClock::default();
    let new = || RefreshRequest { is_unknown: true, ..RefreshRequest::found([Subresource::Order]) };
    for (request, expected, why) in [
        (new(), true, "a listing shows it for the first time"),
        (RefreshRequest { urgency: Urgency::Swept, ..new() }, false, "its denial is on record"),
        (RefreshRequest { urgency: Urgency::Hinted, ..new() }, false, "a delivery reported it"),
        (RefreshRequest { is_unknown: false, ..new() }, false, "the mirror has it"),
    ] {
        let queue = RefreshQueue::new(&clock);
        let last = (0..20).fold(false, |_, _| queue.note_denied(&request));
        assert_eq!(last, expected, "{why}");
        assert_eq!(queue.note_denied(&new()), expected, "{why}: another new one");
    }
}

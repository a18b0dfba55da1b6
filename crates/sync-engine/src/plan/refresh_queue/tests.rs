use std::collections::{BTreeMap, BTreeSet};

use enumflags2::BitFlags;
use espelho_model::{OrderNumber, ProductId};
use proptest::prelude::*;

use super::*;

fn order(n: u8) -> Entity {
    Entity::Order(OrderNumber::new(n.to_string()))
}

fn product(n: u8) -> Entity {
    Entity::Product(ProductId::new(n.to_string()))
}

fn hint(id: i64) -> RefreshRequest {
    RefreshRequest { urgency: Urgency::Hinted, ids: vec![id], ..RefreshRequest::default() }
}

fn seconds(n: f64) -> Duration {
    Duration::from_secs_f64(n)
}

fn take(queue: &mut Queue, now: f64) -> Option<Work> {
    queue.take(seconds(now), Urgency::Hinted)
}

#[test]
fn the_queue_has_what_waits_and_what_is_being_read() {
    let mut queue = Queue::default();
    let has = |queue: &Queue| (queue.has_entity(&order(1)), queue.is_waiting(&order(1)));
    assert_eq!(has(&queue), (false, false));
    queue.push(seconds(0.0), order(1), hint(1));
    assert_eq!(has(&queue), (true, true));
    assert!(take(&mut queue, 0.0).is_some());
    assert_eq!(has(&queue), (true, false));
    queue.done(seconds(0.5), &order(1), Ended::Done);
    assert_eq!(has(&queue), (false, false));
}

// withstands: F031
#[test]
fn what_is_asked_for_often_is_read_once_and_gives_all_its_deliveries_back() {
    let mut queue = Queue::default();
    for id in 0..100 {
        queue.push(seconds(0.0), order(1), hint(id));
    }
    assert_eq!(queue.deliveries(), 100);
    assert!(take(&mut queue, 0.0).is_some() && take(&mut queue, 0.0).is_none());
    assert_eq!(queue.done(seconds(0.1), &order(1), Ended::Done).len(), 100);
    assert!(queue.deliveries() == 0 && queue.is_quiet(seconds(9.0)) && take(&mut queue, 9.0).is_none());
    assert!(queue.entries.is_empty(), "what is over is forgotten");
}

#[test]
fn what_is_asked_for_while_it_is_read_is_read_once_more_but_not_at_once() {
    let mut queue = Queue::default();
    queue.push(seconds(0.0), order(1), hint(1));
    take(&mut queue, 0.0).unwrap();
    queue.push(seconds(0.1), order(1), hint(2));
    assert_eq!(take(&mut queue, 5.0), None, "never twice at once");
    assert_eq!(queue.done(seconds(0.2), &order(1), Ended::Done), [1]);
    assert_eq!(take(&mut queue, 0.9), None, "not twice within a second");
    assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(1.0)));
    assert_eq!(take(&mut queue, 1.0).unwrap().request.ids, [2]);
}

// withstands: F034
#[test]
fn what_does_not_show_yet_is_read_again_after_2_10_60_and_300_seconds() {
    let mut queue = Queue::default();
    queue.push(seconds(0.0), order(1), hint(1));
    for (round, due) in [0.0, 2.0, 10.0, 60.0, 300.0].into_iter().enumerate() {
        assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(due)));
        let work = take(&mut queue, due).unwrap();
        assert_eq!((work.round, work.is_last), (round, due > 299.0));
        let over = queue.done(seconds(due + 0.1), &order(1), Ended::NotYet);
        assert_eq!(over, if due == 60.0 { vec![1] } else { vec![] }, "no delivery waits for 300 s");
    }
    assert_eq!(queue.next_due(Urgency::Hinted), None);
}

#[test]
fn a_new_hint_cuts_the_waiting_short_and_begins_it_anew() {
    let mut queue = Queue::default();
    queue.push(seconds(0.0), order(1), hint(1));
    for due in [0.0, 2.0, 10.0] {
        take(&mut queue, due).unwrap();
        queue.done(seconds(due), &order(1), Ended::NotYet);
    }
    queue.push(seconds(20.0), order(1), hint(2));
    assert_eq!(take(&mut queue, 20.0).unwrap().request.ids, [1, 2]);
    queue.done(seconds(20.0), &order(1), Ended::NotYet);
    assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(22.0)));
}

#[test]
fn a_product_is_read_again_after_every_first_reading_and_not_when_a_new_delivery_tells_of_it() {
    let mut queue = Queue::default();
    for (id, entity) in [(1, product(1)), (2, product(2)), (3, order(3))] {
        queue.push(seconds(0.0), entity.clone(), hint(id));
        assert_eq!(take(&mut queue, 0.0).unwrap().entity, entity);
        queue.done(seconds(0.0), &entity, Ended::NotYet);
    }
    queue.push(seconds(3.0), order(4), hint(4));
    queue.push(seconds(3.0), product(5), hint(5));
    // A later delivery tells of a product that is awaited.
    queue.push(seconds(3.0), product(2), hint(6));
    assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(2.0)));
    let read: Vec<_> = std::iter::from_fn(|| take(&mut queue, 3.0)).map(|work| work.entity).collect();
    assert_eq!(read, [product(2), order(3), order(4), product(5), product(1)]);
}

#[test]
fn of_many_products_that_do_not_show_their_values_a_hundred_are_read_again_and_all_orders() {
    let mut queue = Queue::default();
    let mut read_once = Vec::new();
    for n in 0..120 {
        for (id, entity) in [(i64::from(n), product(n)), (1_000 + i64::from(n), order(n))] {
            queue.push(seconds(0.0), entity.clone(), hint(id));
            take(&mut queue, 0.0).unwrap();
            read_once.extend(queue.done(seconds(0.0), &entity, Ended::NotYet));
        }
    }
    assert_eq!(read_once, (100..120).collect::<Vec<i64>>(), "their deliveries wait for nothing");
    let again = |queue: &mut Queue, now: f64, ended: Ended| -> (usize, usize) {
        let read: Vec<_> = std::iter::from_fn(|| take(queue, now)).map(|work| work.entity).collect();
        read.iter().for_each(|entity| drop(queue.done(seconds(now), entity, ended)));
        let products = read.iter().filter(|entity| matches!(entity, Entity::Product(_))).count();
        (products, read.len() - products)
    };
    assert_eq!(again(&mut queue, 2.0, Ended::NotYet), (100, 120), "what is awaited is awaited to its end");
    assert_eq!(again(&mut queue, 10.0, Ended::Done), (100, 120));
    queue.push(seconds(20.0), product(119), hint(9));
    assert_eq!(again(&mut queue, 20.0, Ended::NotYet), (1, 0));
    assert_eq!(again(&mut queue, 22.0, Ended::Done), (1, 0), "there is room again");
}

#[test]
fn what_fails_is_tried_less_and_less_often_and_never_given_up() {
    let mut queue = Queue::default();
    queue.push(seconds(0.0), order(1), hint(1));
    let mut now = 0.0;
    for wait in [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0, 20.0, 20.0] {
        take(&mut queue, now).unwrap();
        assert!(queue.done(seconds(now), &order(1), Ended::Failed { after: None }).is_empty());
        assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(now + wait)));
        now += wait;
    }
    take(&mut queue, now).unwrap();
    queue.done(seconds(now), &order(1), Ended::Failed { after: Some(seconds(90.0)) });
    assert_eq!(queue.next_due(Urgency::Hinted), Some(seconds(now + 90.0)));
}

#[test]
fn a_hint_makes_urgent_what_a_sweep_has_found() {
    let mut queue = Queue::default();
    queue.push(seconds(0.0), order(1), RefreshRequest::default());
    assert!(take(&mut queue, 0.0).is_none());
    queue.push(seconds(0.0), order(1), hint(1));
    assert!(queue.take(seconds(0.0), Urgency::Swept).is_none());
    assert!(take(&mut queue, 0.0).is_some());
}

#[test]
fn sides_that_a_sweep_wants_are_read_after_what_a_delivery_has_told_and_are_not_forgotten() {
    let mut queue = Queue::default();
    let fetched_subresources = BitFlags::from_iter([espelho_store::Subresource::Events]);
    queue.push(
        seconds(0.0),
        order(1),
        RefreshRequest { subresources: fetched_subresources, ..RefreshRequest::default() },
    );
    queue.push(seconds(0.0), order(1), hint(1));
    assert!(take(&mut queue, 0.0).unwrap().request.subresources.is_empty());
    assert_eq!(queue.done(seconds(0.1), &order(1), Ended::Done), [1]);
    assert_eq!(queue.next_due(Urgency::Swept), Some(seconds(1.0)));
    assert_eq!(queue.take(seconds(1.0), Urgency::Swept).unwrap().request.subresources, fetched_subresources);
    queue.done(seconds(1.1), &order(1), Ended::Done);
    assert!(queue.is_quiet(seconds(9.0)) && queue.next_due(Urgency::Swept).is_none());
}

#[test]
fn a_reading_of_a_sweep_that_gives_way_to_a_delivery_is_done_with_it_and_after_it() {
    let mut queue = Queue::default();
    let fetched_subresources = BitFlags::from_iter([espelho_store::Subresource::Events]);
    queue.push(
        seconds(0.0),
        order(1),
        RefreshRequest { subresources: fetched_subresources, ..RefreshRequest::default() },
    );
    queue.take(seconds(0.0), Urgency::Swept).unwrap();
    assert!(!queue.is_hinted(&order(1)));
    queue.push(seconds(5.0), order(1), hint(1));
    assert!(queue.is_hinted(&order(1)));
    assert!(queue.done(seconds(5.0), &order(1), Ended::Again).is_empty());
    assert_eq!(take(&mut queue, 5.0).unwrap().request.afterwards, fetched_subresources);
    assert_eq!(queue.done(seconds(5.1), &order(1), Ended::Done), [1]);
    assert_eq!(queue.take(seconds(6.0), Urgency::Swept).unwrap().request.subresources, fetched_subresources);
}

#[test]
fn a_change_that_a_sweep_has_found_is_read_before_all_whose_turn_has_come() {
    let mut queue = Queue::default();
    for n in 0..200 {
        queue.push(seconds(0.0), order(n), RefreshRequest::default());
    }
    queue.push(
        seconds(1.0),
        order(255),
        RefreshRequest { urgency: Urgency::Found, ..RefreshRequest::default() },
    );
    assert!(queue.has_soon(seconds(1.0), Urgency::Swept, 201));
    assert!(!queue.has_soon(seconds(1.0), Urgency::Swept, 202));
    assert_eq!(queue.take(seconds(1.0), Urgency::Swept).unwrap().entity, order(255));
    assert_eq!(queue.take(seconds(1.0), Urgency::Swept).unwrap().entity, order(0));
}

#[test]
fn what_is_read_again_after_minutes_keeps_nothing_waiting_and_what_failed_does() {
    let mut queue = Queue::default();
    queue.push(seconds(0.0), order(1), RefreshRequest::found([]));
    queue.push(seconds(0.0), order(2), RefreshRequest::found([]));
    for (now, is_first_there) in [(0.0, true), (2.0, true), (10.0, false), (60.0, false)] {
        while let Some(work) = queue.take(seconds(now), Urgency::Found) {
            let is_first = work.entity == order(1);
            let ended = if is_first { Ended::NotYet } else { Ended::Failed { after: None } };
            queue.done(seconds(now), &work.entity, ended);
        }
        assert!(queue.has_soon(seconds(now), Urgency::Found, 1), "{now}: the second failed");
        assert_eq!(queue.has_soon(seconds(now), Urgency::Found, 2), is_first_there, "{now}");
    }
    assert!(queue.has_soon(seconds(280.0), Urgency::Found, 2), "its next reading is near");
}

// A replay is a delivery like any other: the limit of one read of an entity per second bounds its cost.
// withstands: F038, F052
#[test]
fn ten_thousand_replays_cost_one_reading_of_each_entity_a_second() {
    let (mut queue, mut reads, mut given_back) = (Queue::default(), 0, 0);
    for id in 0..10_000 {
        let now = id as f64 / 1_000.0;
        queue.push(seconds(now), order((id % 4) as u8), hint(id));
        while let Some(work) = take(&mut queue, now) {
            reads += 1;
            given_back += queue.done(seconds(now), &work.entity, Ended::Done).len();
        }
    }
    assert_eq!(reads, 4 * 10, "four orders, ten seconds");
    while let Some(work) = take(&mut queue, 60.0) {
        given_back += queue.done(seconds(60.0), &work.entity, Ended::Done).len();
    }
    assert_eq!((given_back, queue.deliveries()), (10_000, 0));
}

proptest! {
    // withstands: F052
    #[test]
    fn whatever_is_asked_for_in_whatever_order_is_read_and_nothing_is_lost(
        hints in prop::collection::vec((0_u8..5, any::<bool>()), 1..60),
        reads_between in prop::collection::vec(0_usize..3, 60),
    ) {
        let mut queue = Queue::default();
        let (mut given_back, mut now) = (Vec::new(), 0.0);
        let mut read_at: BTreeMap<Entity, f64> = BTreeMap::new();
        let mut read = |queue: &mut Queue, now: f64, not_yet: bool| {
            let Some(work) = take(queue, now) else { return Vec::new() };
            if let Some(before) = read_at.insert(work.entity.clone(), now) {
                assert!(now >= before + 0.999, "read twice within a second");
            }
            let ended = if not_yet && !work.is_last { Ended::NotYet } else { Ended::Done };
            queue.done(seconds(now), &work.entity, ended)
        };
        for (id, (n, not_yet)) in hints.iter().enumerate() {
            queue.push(seconds(now), order(*n), hint(id as i64));
            for _ in 0..reads_between[id] {
                given_back.extend(read(&mut queue, now, *not_yet));
            }
            now += 0.25;
        }
        while let Some(due) = queue.next_due(Urgency::Hinted) {
            now = due.as_secs_f64().max(now);
            given_back.extend(read(&mut queue, now, false));
        }
        given_back.sort_unstable();
        prop_assert_eq!(given_back, (0..hints.len() as i64).collect::<Vec<_>>());
        let expected: BTreeSet<Entity> = hints.iter().map(|(n, _)| order(*n)).collect();
        prop_assert_eq!(read_at.into_keys().collect::<BTreeSet<_>>(), expected);
        prop_assert_eq!(queue.deliveries(), 0);
    }

    // withstands: F032
    #[test]
    fn any_permutation_of_hints_asks_for_the_same(
        hints in prop::collection::vec((0_u8..4, 0_usize..6), 1..20).prop_shuffle(),
    ) {
        let reads = |hints: &[(u8, usize)]| {
            let mut queue = Queue::default();
            for (n, subresource) in hints {
                let subresources = BitFlags::from_iter([espelho_store::Subresource::ALL[*subresource]]);
                queue.push(seconds(0.0), order(*n), RefreshRequest { subresources, ..hint(0) });
            }
            let mut reads = BTreeMap::new();
            while let Some(work) = take(&mut queue, 0.0) {
                reads.insert(work.entity, work.request.subresources);
            }
            reads
        };
        let mut sorted = hints.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(reads(&hints), reads(&sorted));
    }
}

//! Decides which sub-resources of orders a sweep queues: first those of open orders, then those of the latest changed
//! ones, then some of the backlog, which it walks from sweep to sweep. An order that cannot be read keeps its place, so
//! others would never be reached from the top alone.

use chrono::{DateTime, Utc};
use espelho_model::OrderNumber;
use espelho_store::UnreadOrder;

use super::first_read::Phase;

/// Sub-resources queued in one sweep. No look-up needs more orders.
pub const AT_ONCE: u32 = 100;
const MOST: usize = AT_ONCE as usize;

/// A place in the list of unread orders, the latest changed first.
pub type Place = (DateTime<Utc>, OrderNumber);

/// The part of the backlog that a sweep may queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The place below which it goes on.
    pub below: Place,
    /// The number of sub-resources.
    most: usize,
}

/// The walk over the backlog of a store.
#[derive(Debug, Default)]
pub struct UnreadWalk {
    /// The last order of the backlog that was queued. Boxed, because most stores have no backlog most of the time.
    after: Option<Box<Place>>,
}

impl UnreadWalk {
    /// Chooses among the open orders and the latest changed ones; returns them, and the backlog if there is any below
    /// them.
    pub fn latest(
        &self,
        open: Vec<UnreadOrder>,
        mut unread: Vec<UnreadOrder>,
        phase: Phase,
    ) -> (Vec<UnreadOrder>, Option<Backlog>) {
        let is_full = is_full(&unread);
        let (mut chosen, _) = take(open, phase.of_open(), false);
        let of_open = count(&chosen);
        unread.retain(|order| !chosen.iter().any(|open| open.number == order.number));
        let (latest, end) = take(unread, phase.of_latest(of_open), is_full);
        let backlog = end.map(|end| {
            // What is higher up was just chosen from the top.
            let after = self.after.as_deref().filter(|after| **after < end).cloned();
            Backlog { below: after.unwrap_or(end), most: phase.of_backlog(of_open, count(&latest)) }
        });
        chosen.extend(latest);
        (chosen, backlog)
    }

    /// Chooses among the orders of the backlog. At its end the walk begins again below the latest changed orders.
    pub fn backlog(&mut self, unread: Vec<UnreadOrder>, backlog: &Backlog) -> Vec<UnreadOrder> {
        let is_full = is_full(&unread);
        let (chosen, end) = take(unread, backlog.most, is_full);
        self.after = end.map(Box::new);
        chosen
    }

    /// Ends the walk: there is no backlog.
    pub fn end(&mut self) {
        self.after = None;
    }
}

/// Tells if the open orders are looked up beside the latest changed ones. An answer that is not full has them too, but a
/// first reading, or one of many stores at once, takes few orders of it.
pub fn needs_open(latest: &[UnreadOrder], phase: Phase) -> bool {
    matches!(phase, Phase::Reading | Phase::Crowded) || is_full(latest)
}

/// Takes orders until they have `most` sub-resources or more; returns them, and the place of the last one if others may
/// follow it: those that are left, and those that a full answer left out.
fn take(mut orders: Vec<UnreadOrder>, most: usize, is_full: bool) -> (Vec<UnreadOrder>, Option<Place>) {
    let (mut taken, mut sum) = (0, 0);
    while taken < orders.len() && sum < most {
        sum += orders[taken].subresources.len();
        taken += 1;
    }
    let has_more = is_full || taken < orders.len();
    orders.truncate(taken);
    let end = orders.last().filter(|_| has_more).map(|last| (last.since, last.number.clone()));
    (orders, end)
}

fn is_full(answer: &[UnreadOrder]) -> bool {
    answer.len() >= MOST
}

fn count(orders: &[UnreadOrder]) -> usize {
    orders.iter().map(|order| order.subresources.len()).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::TimeDelta;
    use espelho_store::Subresource;

    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
    }

    /// Orders that changed in these seconds, with that many sub-resources to read.
    fn unread(seconds: impl Iterator<Item = i64>, subresources: usize) -> Vec<UnreadOrder> {
        let of = |second: i64| UnreadOrder {
            number: OrderNumber::new(format!("N-{second}")),
            since: at(second),
            subresources: Subresource::BELOW_ORDER.into_iter().take(subresources).collect(),
        };
        seconds.map(of).collect()
    }

    /// The answer of a look-up.
    fn looked_up(all: &[UnreadOrder], below: Option<&Place>) -> Vec<UnreadOrder> {
        let is_below =
            |order: &&UnreadOrder| below.is_none_or(|place| (order.since, order.number.clone()) < *place);
        all.iter().filter(is_below).take(MOST).cloned().collect()
    }

    fn sweep(walk: &mut UnreadWalk, all: &[UnreadOrder]) -> Vec<i64> {
        let (mut chosen, backlog) = walk.latest(Vec::new(), looked_up(all, None), Phase::Mirrored);
        match backlog {
            Some(backlog) => {
                chosen.extend(walk.backlog(looked_up(all, Some(&backlog.below)), &backlog));
            }
            None => walk.end(),
        }
        assert!(count(&chosen) < MOST + 2 * Subresource::BELOW_ORDER.len());
        chosen.iter().map(|order| order.since.timestamp()).collect()
    }

    #[test]
    fn few_orders_are_queued_at_once_the_latest_changed_first() {
        let mut walk = UnreadWalk::default();
        assert!(sweep(&mut walk, &[]).is_empty());
        let all = unread((1..=10).rev(), 5);
        assert_eq!(sweep(&mut walk, &all), (1..=10).rev().collect::<Vec<_>>());
        let all = unread((1..=20).rev(), 5);
        assert_eq!(sweep(&mut walk, &all), (1..=20).rev().collect::<Vec<_>>());
    }

    #[test]
    fn orders_that_cannot_be_read_keep_no_other_waiting() {
        let (mut walk, all) = (UnreadWalk::default(), unread((1..=1_000).rev(), 5));
        let mut seen = BTreeSet::new();
        // 15 orders from the top, and 5 of the backlog in each sweep.
        for _ in 0..1_000 / 5 {
            let chosen = sweep(&mut walk, &all);
            assert_eq!((chosen.len(), chosen[0]), (20, 1_000));
            seen.extend(chosen);
        }
        assert_eq!(seen.len(), 1_000);
    }

    #[test]
    fn the_walk_begins_again_at_the_end() {
        let (mut walk, all) = (UnreadWalk::default(), unread((1..=25).rev(), 5));
        assert_eq!(sweep(&mut walk, &all)[15..], [10, 9, 8, 7, 6]);
        assert_eq!(sweep(&mut walk, &all)[15..], [5, 4, 3, 2, 1]);
        assert_eq!(sweep(&mut walk, &all)[15..], [10, 9, 8, 7, 6]);
    }

    #[test]
    fn what_changed_since_is_queued_before_the_backlog() {
        let mut walk = UnreadWalk::default();
        sweep(&mut walk, &unread((1..=25).rev(), 5));
        let all = unread((1..=30).rev(), 5);
        let chosen = sweep(&mut walk, &all);
        assert_eq!((chosen[0], &chosen[15..]), (30, &[5, 4, 3, 2, 1][..]), "the walk goes on where it was");
    }

    #[test]
    fn open_orders_are_queued_before_all_others_and_once() {
        let all = unread((1..=1_000).rev(), 5);
        let open = || unread([1, 3, 1_000].into_iter().chain(5..25), 5);
        for (phase, of_open, of_latest, below, of_backlog) in
            [(Phase::Mirrored, 10, 5, 995, 25), (Phase::Reading, 15, 1, 999, 5)]
        {
            let (chosen, backlog) = UnreadWalk::default().latest(open(), looked_up(&all, None), phase);
            let chosen: Vec<i64> = chosen.iter().map(|order| order.since.timestamp()).collect();
            assert_eq!(
                (chosen.len(), &chosen[..4]),
                (of_open + of_latest, &[1, 3, 1_000, 5][..]),
                "{phase:?}"
            );
            assert_eq!(chosen[of_open], 999, "{phase:?}: the open one of them is not queued twice");
            let place = (at(below), OrderNumber::new(format!("N-{below}")));
            assert_eq!(backlog, Some(Backlog { below: place, most: of_backlog }), "{phase:?}");
        }
        let (chosen, backlog) = UnreadWalk::default().latest(open(), looked_up(&all, None), Phase::HeadStart);
        assert_eq!((chosen, backlog), (Vec::new(), None), "the first reading has the budget alone");
    }

    #[test]
    fn open_orders_are_looked_up_where_the_latest_changed_ones_may_lack_some() {
        for (phase, latest, expected) in [
            (Phase::Mirrored, 0, false),
            (Phase::Mirrored, 99, false),
            (Phase::Mirrored, 100, true),
            (Phase::Reading, 0, true),
            (Phase::Reading, 100, true),
            (Phase::Crowded, 0, true),
        ] {
            assert_eq!(needs_open(&unread(1..=latest, 5), phase), expected, "{phase:?} {latest}");
        }
    }

    #[test]
    fn an_order_counts_with_its_sub_resources() {
        let mut walk = UnreadWalk::default();
        assert_eq!(sweep(&mut walk, &unread((1..=500).rev(), 1)).len(), MOST);
        assert_eq!(sweep(&mut walk, &unread((1..=500).rev(), 2)).len(), 38 + 12);
    }
}

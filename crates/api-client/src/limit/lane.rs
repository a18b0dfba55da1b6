//! The lanes that share one request budget, and the queue that orders them.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

/// The purpose of a request. The budget goes to live work before sweeps, and to sweeps before backfill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Somebody waits for the answer.
    Interactive,
    /// Reads triggered by a webhook.
    Refresh,
    /// Intents from the ERP.
    Push,
    /// Sweeps, which find what no webhook announced.
    Poll,
    /// The whole history.
    Backfill,
}

impl Lane {
    /// Every lane, the most urgent first.
    pub const ALL: [Self; 5] = [Self::Interactive, Self::Refresh, Self::Push, Self::Poll, Self::Backfill];

    /// Returns the name used in metrics and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Refresh => "refresh",
            Self::Push => "push",
            Self::Poll => "poll",
            Self::Backfill => "backfill",
        }
    }

    /// Returns whether the lane may burst and use the reserve. The other lanes go at an even pace, so that a live
    /// request never finds the whole minute spent.
    pub fn is_live(self) -> bool {
        self <= Self::Push
    }

    /// Returns the lane's share when every lane has work, out of 83, the sum of all. When sweeps and a backfill
    /// take all they can get, four of five requests remain for webhook refreshes: five events a second do not wait
    /// behind sweeps. Sweeps then have 46 requests a minute, so that they still find what no webhook announced.
    fn weight(self) -> u64 {
        [32, 32, 12, 6, 1][self as usize]
    }
}

/// Divisible by every weight, so that shares are exact.
const LAP: u64 = 96;

/// The queue before the rate limiter: it lets one request through at a time.
///
/// Each lane has a distance. It grows whenever one of the lane's requests is served, by a smaller step for a larger
/// share. The waiting lane with the smallest distance is next. So every lane gets its share, other lanes get what a
/// lane does not use, and none starves.
#[derive(Default)]
pub(crate) struct LaneQueues(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    taken: bool,
    lanes: [Waiting; 5],
    /// The distance of the lane served last. A lane that was idle does not get back what it did not use.
    reached: u64,
}

#[derive(Default)]
struct Waiting {
    requests: VecDeque<oneshot::Sender<QueueTicket>>,
    distance: u64,
}

/// The right to be next. Dropping it passes it to the next request. Without its queue it does nothing.
pub(crate) struct QueueTicket(Option<Arc<LaneQueues>>);

impl LaneQueues {
    /// Waits until a request of a lane is next.
    pub(crate) async fn take(self: &Arc<Self>, lane: Lane) -> QueueTicket {
        loop {
            let waiting = {
                let mut queue = self.queue();
                if !queue.taken {
                    queue.taken = true;
                    queue.serve(lane);
                    return QueueTicket(Some(Arc::clone(self)));
                }
                let (sender, receiver) = oneshot::channel();
                let reached = queue.reached;
                let own = &mut queue.lanes[lane as usize];
                if own.requests.is_empty() {
                    own.distance = own.distance.max(reached);
                }
                own.requests.push_back(sender);
                receiver
            };
            // The sender is dropped only together with the queue.
            if let Ok(ticket) = waiting.await {
                return ticket;
            }
        }
    }

    /// Returns how many requests of a lane wait.
    pub(crate) fn waiting(&self, lane: Lane) -> usize {
        self.queue().lanes[lane as usize].requests.len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock()
    }
}

impl Queue {
    /// Records that a request of a lane is served.
    fn serve(&mut self, lane: Lane) {
        let own = &mut self.lanes[lane as usize];
        own.distance = own.distance.max(self.reached);
        self.reached = own.distance;
        own.distance += LAP / lane.weight();
    }

    /// Removes and returns the next request.
    fn next(&mut self) -> Option<oneshot::Sender<QueueTicket>> {
        let waiting = Lane::ALL.into_iter().filter(|lane| !self.lanes[*lane as usize].requests.is_empty());
        let lane = waiting.min_by_key(|lane| self.lanes[*lane as usize].distance)?;
        let request = self.lanes[lane as usize].requests.pop_front();
        self.serve(lane);
        request
    }
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        let Some(queues) = self.0.take() else { return };
        loop {
            let next = {
                let mut queue = queues.queue();
                let next = queue.next();
                queue.taken = next.is_some();
                next
            };
            let Some(request) = next else { return };
            match request.send(Self(Some(Arc::clone(&queues)))) {
                Ok(()) => return,
                // The waiting request was cancelled, so its ticket comes back. Emptied, it does not run this `drop`
                // again.
                Err(mut given_back) => given_back.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves `count` tickets with these numbers of requests waiting in each lane; returns how many each lane got.
    async fn served(waiting: [usize; 5], count: usize) -> [usize; 5] {
        let queues = Arc::new(LaneQueues::default());
        let first = queues.take(Lane::Interactive).await;
        let (done, mut order) = tokio::sync::mpsc::unbounded_channel();
        for lane in Lane::ALL {
            for _ in 0..waiting[lane as usize] {
                let (queues, done) = (Arc::clone(&queues), done.clone());
                tokio::spawn(async move {
                    let ticket = queues.take(lane).await;
                    let _ = done.send((lane, ticket));
                });
            }
        }
        while Lane::ALL.iter().any(|lane| queues.waiting(*lane) < waiting[*lane as usize]) {
            tokio::task::yield_now().await;
        }
        drop(first);
        let mut counts = [0; 5];
        for _ in 0..count {
            let Some((lane, ticket)) = order.recv().await else { break };
            counts[lane as usize] += 1;
            drop(ticket);
        }
        counts
    }

    #[tokio::test]
    async fn every_lane_gets_its_share_when_all_have_work() {
        let counts = served([200; 5], 415).await;
        for (lane, count) in Lane::ALL.into_iter().zip(counts) {
            let share = usize::try_from(lane.weight()).unwrap() * 5;
            assert!(count.abs_diff(share) <= 2, "{}: {count} instead of {share}", lane.name());
        }
    }

    #[tokio::test]
    async fn what_one_lane_does_not_use_goes_to_the_others() {
        assert_eq!(served([0, 0, 0, 0, 50], 50).await, [0, 0, 0, 0, 50]);
        let counts = served([5, 0, 0, 100, 100], 95).await;
        assert_eq!(counts[0], 5);
        assert!(counts[3].abs_diff(77) <= 2 && counts[4].abs_diff(13) <= 2, "{counts:?}");
    }

    #[tokio::test]
    async fn a_lane_that_asks_for_one_at_a_time_gets_its_share_however_small_the_budget_is() {
        let queues = Arc::new(LaneQueues::default());
        let first = queues.take(Lane::Interactive).await;
        let (done, mut order) = tokio::sync::mpsc::unbounded_channel();
        let ask = |lane: Lane| {
            let (queues, done) = (Arc::clone(&queues), done.clone());
            tokio::spawn(async move {
                let ticket = queues.take(lane).await;
                let _ = done.send((lane, ticket));
            });
        };
        for lane in Lane::ALL {
            let count = if lane == Lane::Push { 1 } else { 200 };
            (0..count).for_each(|_| ask(lane));
        }
        while Lane::ALL.iter().map(|lane| queues.waiting(*lane)).sum::<usize>() < 801 {
            tokio::task::yield_now().await;
        }
        drop(first);
        let (mut since, mut pushes) = (0, 0);
        while pushes < 20 {
            let (lane, ticket) = order.recv().await.unwrap();
            since += 1;
            if lane == Lane::Push {
                // At one request a minute that is eight minutes beside everything else.
                assert!(since <= 8, "{since} requests until the {pushes}th push");
                (since, pushes) = (0, pushes + 1);
                ask(Lane::Push);
                while queues.waiting(Lane::Push) == 0 {
                    tokio::task::yield_now().await;
                }
            }
            drop(ticket);
        }
    }

    #[tokio::test]
    async fn a_live_request_is_next_however_many_wait_before_it() {
        let queues = Arc::new(LaneQueues::default());
        let current = queues.take(Lane::Backfill).await;
        let backfill: Vec<_> = (0..50)
            .map(|_| {
                let queues = Arc::clone(&queues);
                tokio::spawn(async move { drop(queues.take(Lane::Backfill).await) })
            })
            .collect();
        while queues.waiting(Lane::Backfill) < 50 {
            tokio::task::yield_now().await;
        }
        let live = queues.take(Lane::Interactive);
        let mut live = std::pin::pin!(live);
        assert!(futures_now(live.as_mut()).is_none());
        drop(current);
        let ticket = futures_now(live.as_mut());
        assert!(ticket.is_some());
        drop(ticket);
        for waiter in backfill {
            waiter.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_request_that_went_away_does_not_keep_the_turn() {
        let queues = Arc::new(LaneQueues::default());
        let current = queues.take(Lane::Poll).await;
        {
            let mut given_up = std::pin::pin!(queues.take(Lane::Poll));
            assert!(futures_now(given_up.as_mut()).is_none());
        }
        drop(current);
        drop(queues.take(Lane::Backfill).await);
    }

    /// Polls once.
    fn futures_now<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }
}

//! Work beside requests that are under way.

use std::{collections::VecDeque, pin::pin};

use futures_util::{StreamExt as _, stream::FuturesUnordered};

/// Requests that are made side by side.
pub(super) struct Requests<R: Future> {
    under_way: FuturesUnordered<R>,
    /// The answers that came while other work was done.
    arrived: VecDeque<R::Output>,
}

impl<R: Future> Requests<R> {
    /// Returns the number of requests that are under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Waits for an answer; `None` once all have been returned.
    pub(super) async fn next(&mut self) -> Option<R::Output> {
        match self.arrived.pop_front() {
            Some(answer) => Some(answer),
            None => self.under_way.next().await,
        }
    }

    /// Does work while the requests go on. One that stands still may hold what the work waits for: a connection of the
    /// database, which it was given while it noted a spent slot, or its turn at the limiter.
    pub(super) async fn beside<W: Future>(&mut self, work: W) -> W::Output {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(answer) = self.under_way.next() => self.arrived.push_back(answer),
            }
        }
    }
}

impl<R: Future> FromIterator<R> for Requests<R> {
    fn from_iter<I: IntoIterator<Item = R>>(requests: I) -> Self {
        Self { under_way: requests.into_iter().collect(), arrived: VecDeque::new() }
    }
}

impl<R: Future> Extend<R> for Requests<R> {
    fn extend<I: IntoIterator<Item = R>>(&mut self, requests: I) {
        self.under_way.extend(requests);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn work_waits_for_what_a_request_was_given_until_the_request_has_ended() {
        let connection = Semaphore::new(1);
        let held = connection.acquire().await.unwrap();
        let request = |n: usize| {
            let connection = &connection;
            async move { connection.acquire().await.map(|_| n).unwrap() }
        };
        let mut requests: Requests<_> = (0..3).map(request).collect();
        assert!(requests.next().now_or_never().is_none(), "all of them wait in line");
        drop(held);
        // The first request has the connection now, and nobody polls it.
        assert!(connection.try_acquire().is_err());
        let work = async { connection.acquire().await.map(drop).unwrap() };
        requests.beside(work).now_or_never().expect("nobody stands still");
        assert_eq!(requests.under_way(), 0);
        let mut answers = Vec::new();
        while let Some(answer) = requests.next().await {
            answers.push(answer);
        }
        assert_eq!(answers, [0, 1, 2]);
    }
}

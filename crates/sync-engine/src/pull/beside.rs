//! Work beside requests that are under way.

use std::{collections::VecDeque, pin::pin};

use futures_util::{StreamExt as _, stream::FuturesUnordered};

/// Does work while requests go on, and keeps what they return. A request that stands still may hold what the work waits
/// for: a connection of the database, which it was given while it noted a spent slot, or its turn at the limiter.
pub(super) async fn beside<W: Future, R: Future>(
    requests: &mut FuturesUnordered<R>,
    arrived: &mut VecDeque<R::Output>,
    work: W,
) -> W::Output {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(answer) = requests.next() => arrived.push_back(answer),
        }
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
        let mut requests: FuturesUnordered<_> = (0..3).map(request).collect();
        assert!(requests.next().now_or_never().is_none(), "all of them wait in line");
        drop(held);
        // The first request has the connection now, and nobody polls it.
        let mut arrived = VecDeque::new();
        assert!(connection.try_acquire().is_err());
        let work = async { connection.acquire().await.map(drop).unwrap() };
        beside(&mut requests, &mut arrived, work).now_or_never().expect("nobody stands still");
        assert_eq!((arrived, requests.len()), (VecDeque::from([0, 1, 2]), 0));
    }
}

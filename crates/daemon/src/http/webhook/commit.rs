//! Group commit: deliveries that arrive while one commit waits for the disk share the next one.
//!
//! Measured, a commit of one row takes as long as one of hundreds. The queue is bounded by number and by bytes: it
//! refuses what does not fit, and the marketplace sends it again.

use parking_lot::Mutex;
use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{StoreKey, watch};
use espelho_store::{Error, NewDelivery, Store};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::wakers::WakerRegistry;

/// The maximum number of deliveries in one commit.
const MOST_AT_ONCE: usize = 500;
/// The maximum bytes of bodies in one commit, so that a few large ones do not keep hundreds waiting.
const MOST_BYTES_AT_ONCE: usize = 2 << 20;
/// The number of remembered digests.
const MAX_DIGESTS: usize = 8_192;
/// At most this many deliveries with the same bytes are stored within [`COPIES_WINDOW`], so that endless replays of one
/// fill no disk.
const MAX_COPIES: u32 = 10;
const COPIES_WINDOW: TimeDelta = TimeDelta::minutes(1);

/// The queue in which deliveries wait for their commit.
#[derive(Clone)]
pub(super) struct Queue {
    waiting: mpsc::Sender<Waiting>,
    bytes: Arc<Semaphore>,
    refused: Refused,
}

/// The stores whose deliveries were refused since the last successful commit.
#[derive(Clone, Default)]
struct Refused(Arc<Mutex<BTreeSet<StoreKey>>>);

impl Refused {
    fn note(&self, store: &StoreKey) {
        self.0.lock().insert(store.clone());
    }

    fn take(&self) -> BTreeSet<StoreKey> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// A delivery on its way to the disk.
struct Waiting {
    delivery: NewDelivery,
    /// Its share of the memory for bodies, released when it is written.
    bytes: Bytes,
    answer: oneshot::Sender<Result<Kept, Overloaded>>,
}

/// A share of the memory for bodies.
#[derive(Default)]
pub(super) struct Bytes(Option<OwnedSemaphorePermit>);

/// A delivery is acknowledged: its row is durable, or that of an equal one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    New,
    /// The same bytes came recently. It may be a genuine repetition, so it is stored once more, except within one
    /// commit, and beyond [`MAX_COPIES`].
    Duplicate,
}

/// A delivery was not stored: the queue is full, or the database does not accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overloaded;

/// Returns a queue and the task that empties it. The task ends when all copies of the queue are dropped and everything
/// is written.
pub(super) fn queue(
    most: usize,
    most_bytes: usize,
    store: Store,
    wakers: Arc<WakerRegistry>,
) -> (Queue, impl Future<Output = ()> + Send) {
    let (waiting, arriving) = mpsc::channel(most);
    let bytes = Arc::new(Semaphore::new(most_bytes));
    let refused = Refused::default();
    let lately = RecentDigests::default();
    let writer = Writer { store, wakers, lately, failing: false, refused: refused.clone() };
    (Queue { waiting, bytes, refused }, writer.run(arriving))
}

impl Queue {
    /// Reserves more of the memory for bodies.
    pub(super) fn more_bytes(&self, held: &mut Bytes, more: usize) -> Result<(), Overloaded> {
        let more = u32::try_from(more).map_err(|_| Overloaded)?;
        let permit = Arc::clone(&self.bytes).try_acquire_many_owned(more).map_err(|_| Overloaded)?;
        match &mut held.0 {
            Some(held) => held.merge(permit),
            None => held.0 = Some(permit),
        }
        Ok(())
    }

    /// Notes that a delivery was refused because of a full queue or the database. The marketplace gives up after a few
    /// attempts, so the work on the store has to search for the reported changes as soon as a write succeeds again.
    pub(super) fn note_refused(&self, store: &StoreKey) {
        self.refused.note(store);
    }

    /// Resolves when the delivery is durable, or refuses it at once if the queue is full.
    pub(super) async fn keep(&self, delivery: NewDelivery, bytes: Bytes) -> Result<Kept, Overloaded> {
        let (answer, answered) = oneshot::channel();
        self.waiting.try_send(Waiting { delivery, bytes, answer }).map_err(|_| Overloaded)?;
        answered.await.unwrap_or(Err(Overloaded))
    }
}

struct Writer {
    store: Store,
    wakers: Arc<WakerRegistry>,
    lately: RecentDigests,
    failing: bool,
    refused: Refused,
}

impl Writer {
    async fn run(mut self, mut arriving: mpsc::Receiver<Waiting>) {
        let mut taken = Vec::new();
        loop {
            let waiting = watch::idle();
            let arrived = arriving.recv_many(&mut taken, MOST_AT_ONCE).await;
            drop(waiting);
            if arrived == 0 {
                return;
            }
            let mut rest = VecDeque::from(std::mem::take(&mut taken));
            while !rest.is_empty() {
                let batch = first_of(&mut rest);
                self.write(batch).await;
                watch::moved();
            }
        }
    }

    async fn write(&mut self, batch: Vec<Waiting>) {
        let mut deliveries = Vec::with_capacity(batch.len());
        let mut answers = Vec::with_capacity(batch.len());
        let mut held = Vec::with_capacity(batch.len());
        let mut digests = HashSet::new();
        for Waiting { delivery, bytes, answer } in batch {
            let (known, at) = (self.lately.knows(&delivery.digest), delivery.received_at);
            let (store, digest) = (delivery.store.clone(), delivery.digest.clone());
            held.push(bytes);
            // Nobody has processed the first one yet, so one row says as much as two.
            let repeated = !digests.insert((store.clone(), digest.clone()));
            if !repeated && self.lately.takes(&digest, at) {
                deliveries.push(delivery);
            }
            answers.push((
                answer,
                if known || repeated { Kept::Duplicate } else { Kept::New },
                store,
                (digest, at, !repeated),
            ));
        }
        let kept = match deliveries.is_empty() {
            true => Ok(()),
            false => self.store.inbox().keep_deliveries(deliveries).await,
        };
        drop(held);
        self.note(kept.as_ref().err());
        let mut stores = BTreeSet::new();
        for (answer, how, store, (digest, at, is_first)) in answers {
            if kept.is_ok() {
                if is_first {
                    self.lately.remember(digest, at);
                }
                stores.insert(store);
            }
            // The requester may have gone; the row stays, and a repeated delivery is harmless.
            let _ = answer.send(if kept.is_ok() { Ok(how) } else { Err(Overloaded) });
        }
        self.wakers.wake(&stores);
        if kept.is_ok() {
            self.wakers.wake_for_gap(&self.refused.take());
        }
    }

    /// Logs once that deliveries are refused, and once that they no longer are.
    fn note(&mut self, error: Option<&Error>) {
        match error {
            Some(error) if !self.failing => {
                let cause = std::error::Error::source(error).map(ToString::to_string);
                let (cause, next_step) = (cause.unwrap_or_default(), error.hint());
                tracing::error!(%error, cause, next_step, "deliveries are refused, and will be sent again");
            }
            None if self.failing => tracing::info!("deliveries are taken again"),
            _ => {}
        }
        self.failing = error.is_some();
    }
}

/// Takes as many deliveries from the front as fit into one commit, at least one.
fn first_of(waiting: &mut VecDeque<Waiting>) -> Vec<Waiting> {
    let mut bytes = 0;
    let fits = |next: &&Waiting| {
        bytes += next.delivery.body.len();
        bytes <= MOST_BYTES_AT_ONCE
    };
    let count = waiting.iter().take_while(fits).count().max(1);
    waiting.drain(..count).collect()
}

/// The digests of the latest deliveries, with how many of each are stored.
#[derive(Default)]
struct RecentDigests {
    known: HashMap<String, Stored>,
    order: VecDeque<String>,
}

/// The number of stored deliveries with one digest since a time.
struct Stored {
    since: DateTime<Utc>,
    count: u32,
}

impl Stored {
    /// Returns whether [`COPIES_WINDOW`] is over; it is when the clock was put back, too.
    fn is_over(&self, at: DateTime<Utc>) -> bool {
        !(self.since..self.since + COPIES_WINDOW).contains(&at)
    }
}

impl RecentDigests {
    fn knows(&self, digest: &str) -> bool {
        self.known.contains_key(digest)
    }

    /// Returns whether one more delivery with this digest is stored.
    fn takes(&self, digest: &str, at: DateTime<Utc>) -> bool {
        self.known.get(digest).is_none_or(|stored| stored.count < MAX_COPIES || stored.is_over(at))
    }

    fn remember(&mut self, digest: String, at: DateTime<Utc>) {
        if let Some(stored) = self.known.get_mut(&digest) {
            *stored = match stored.is_over(at) {
                true => Stored { since: at, count: 1 },
                false => Stored { since: stored.since, count: stored.count.saturating_add(1) },
            };
            return;
        }
        self.known.insert(digest.clone(), Stored { since: at, count: 1 });
        self.order.push_back(digest);
        if self.order.len() > MAX_DIGESTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::http::webhook::{
        StoreWakers,
        tests::{World, delivery, loja},
    };

    fn queue_of(world: &World, most: usize, most_bytes: usize) -> (Queue, impl Future<Output = ()> + Send) {
        queue(most, most_bytes, world.store.clone(), Arc::default())
    }

    // withstands: F044
    #[tokio::test]
    async fn what_waits_together_is_written_together_and_in_order() {
        let world = World::new().await;
        let (queue, writer) = queue_of(&world, 100, 1 << 20);
        // Nothing is written before all of them wait.
        let keep = |n: usize| {
            let queue = queue.clone();
            async move { queue.keep(delivery(&n.to_string()), Bytes::default()).await }
        };
        let waiting = futures_util::future::join_all((0..40).map(keep));
        drop(queue);
        let (kept, ()) = tokio::join!(waiting, writer);
        assert!(kept.iter().all(|kept| *kept == Ok(Kept::New)), "{kept:?}");
        let bodies: Vec<_> = world.inbox().await.into_iter().map(|row| row.body).collect();
        assert_eq!(bodies, (0..40).map(|n| n.to_string().into_bytes()).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn the_same_bytes_within_one_commit_are_one_row_and_later_another() {
        let world = World::new().await;
        let mut writer = writer_of(&world, Arc::default());
        let mut write = async |bodies: &[&str]| {
            let (batch, answers): (Vec<_>, Vec<_>) = bodies.iter().map(|body| waiting(body)).unzip();
            writer.write(batch).await;
            futures_util::future::join_all(answers).await.into_iter().map(Result::unwrap).collect::<Vec<_>>()
        };
        assert_eq!(write(&["a", "b", "a"]).await, [Ok(Kept::New), Ok(Kept::New), Ok(Kept::Duplicate)]);
        assert_eq!(world.inbox().await.len(), 2);
        // It may be a genuine repetition, and the first may have been handled meanwhile.
        assert_eq!(write(&["a"]).await, [Ok(Kept::Duplicate)]);
        assert_eq!(world.inbox().await.len(), 3);
    }

    // withstands: F116
    #[tokio::test]
    async fn a_delivery_that_is_replayed_without_end_is_acknowledged_and_fills_no_disk() {
        let world = World::new().await;
        let mut writer = writer_of(&world, Arc::default());
        let mut replay = async |seconds: i64| {
            let (mut again, answer) = waiting("a");
            again.delivery.received_at += TimeDelta::seconds(seconds);
            writer.write(vec![again]).await;
            assert!(answer.await.unwrap().is_ok());
        };
        for _ in 0..50 {
            replay(0).await;
        }
        assert_eq!(world.inbox().await.len(), MAX_COPIES as usize);
        replay(61).await;
        assert_eq!(world.inbox().await.len(), MAX_COPIES as usize + 1, "a minute later it is news again");
    }

    fn writer_of(world: &World, wakers: Arc<WakerRegistry>) -> Writer {
        let store = world.store.clone();
        Writer {
            store,
            wakers,
            lately: RecentDigests::default(),
            failing: false,
            refused: Refused::default(),
        }
    }

    // withstands: F046
    #[tokio::test]
    async fn a_store_whose_deliveries_were_refused_is_told_so_once_when_something_can_be_written_again() {
        let (world, broken) = (World::new().await, World::new().await);
        let (store_wakers, other) = (StoreWakers::default(), StoreWakers::default());
        let wakers = Arc::<WakerRegistry>::default();
        wakers.put(&loja(), &store_wakers);
        wakers.put(&StoreKey::new("outra").unwrap(), &other);
        broken.store.close().await;
        let mut writer = writer_of(&broken, wakers);
        let is_told = |store_wakers: &StoreWakers| store_wakers.gap.notified().now_or_never().is_some();
        let (batch, refused) = waiting("a");
        writer.write(vec![batch]).await;
        assert_eq!(refused.await.unwrap(), Err(Overloaded));
        // As the receiver does for each delivery that it answers with 503.
        writer.refused.note(&loja());
        assert!(!is_told(&store_wakers), "nothing can be written yet");
        writer.store = world.store.clone();
        for body in ["b", "c"] {
            let (batch, kept) = waiting(body);
            writer.write(vec![batch]).await;
            assert_eq!(kept.await.unwrap(), Ok(Kept::New));
            assert_eq!(is_told(&store_wakers), body == "b", "once, after {body}");
        }
        assert!(!is_told(&other), "nothing of it was refused");
    }

    fn waiting(body: &str) -> (Waiting, oneshot::Receiver<Result<Kept, Overloaded>>) {
        let (answer, answered) = oneshot::channel();
        (Waiting { delivery: delivery(body), bytes: Bytes::default(), answer }, answered)
    }

    // withstands: F044, F116
    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let world = World::new().await;
        let (queue, _nobody_writes) = queue_of(&world, 2, 100);
        let waiting: Vec<_> = (0..2)
            .map(|n| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.keep(delivery(&n.to_string()), Bytes::default()).await })
            })
            .collect();
        while queue.waiting.capacity() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.keep(delivery("3"), Bytes::default()).await, Err(Overloaded));
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
    }

    // withstands: F116
    #[tokio::test]
    async fn bodies_take_no_more_memory_than_they_may_and_give_it_back() {
        let world = World::new().await;
        let (queue, _nobody_writes) = queue_of(&world, 2, 100);
        let (mut one, mut other) = (Bytes::default(), Bytes::default());
        queue.more_bytes(&mut one, 40).unwrap();
        queue.more_bytes(&mut one, 40).unwrap();
        assert_eq!(queue.more_bytes(&mut other, 21), Err(Overloaded));
        queue.more_bytes(&mut other, 20).unwrap();
        drop(one);
        queue.more_bytes(&mut other, 80).unwrap();
        assert_eq!(queue.more_bytes(&mut other, usize::MAX), Err(Overloaded));
    }

    #[tokio::test]
    async fn a_database_that_refuses_sheds_the_whole_commit_and_wakes_nobody() {
        let world = World::new().await;
        let store_wakers = StoreWakers::default();
        let wakers = Arc::<WakerRegistry>::default();
        wakers.put(&loja(), &store_wakers);
        let mut writer = writer_of(&world, wakers);
        let (batch, answered) = waiting("a");
        writer.write(vec![batch]).await;
        assert_eq!(answered.await.unwrap(), Ok(Kept::New));
        // The signal was kept for the next waiter.
        store_wakers.inbox.notified().await;
        world.store.close().await;
        let (batch, answered) = waiting("b");
        writer.write(vec![batch]).await;
        assert_eq!(answered.await.unwrap(), Err(Overloaded));
        assert!(writer.failing);
        let woken = futures_util::poll!(std::pin::pin!(store_wakers.inbox.notified()));
        assert!(woken.is_pending(), "nothing was written, and somebody was woken");
    }

    #[test]
    fn a_commit_holds_two_mebibytes_or_one_delivery() {
        let large = |n: usize| (0..n).map(|_| waiting(&"x".repeat(700_000)).0).collect::<VecDeque<_>>();
        let mut five = large(5);
        assert_eq!(first_of(&mut five).len(), 2);
        assert_eq!(first_of(&mut five).len(), 2);
        assert_eq!(first_of(&mut five).len(), 1);
        let mut huge = VecDeque::from([waiting(&"x".repeat(3 << 20)).0]);
        assert_eq!(first_of(&mut huge).len(), 1);
    }

    #[test]
    fn only_the_last_digests_are_remembered() {
        let mut lately = RecentDigests::default();
        (0..=MAX_DIGESTS).for_each(|n| lately.remember(n.to_string(), DateTime::UNIX_EPOCH));
        assert!(!lately.knows("0") && lately.knows("1") && lately.knows(&MAX_DIGESTS.to_string()));
        assert_eq!(lately.known.len(), MAX_DIGESTS);
    }
}

//! Limits the memory that answers take, over all stores of a process: from a body's first large chunk to the moment
//! when its values are written.
//!
//! A usual answer takes a few KiB, and nobody waits. A marketplace that answers with megabytes makes its readers wait
//! for each other. What must hold so that they never wait for ever:
//!
//! - Whoever waits for a first answer holds nothing of the budget.
//! - Whoever holds an answer and waits for another one, as for the price tiers of a product, has at most to wait for
//!   the one such reader whose further answers are not counted.
//! - Whoever keeps answers without waiting writes them when others wait ([`AnswerMemory::shortage`]).

use std::sync::Arc;

use espelho_model::watch::idle;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The largest accepted body: an order of 100,000 lines.
pub(crate) const LARGEST_BODY: usize = 32 << 20;
/// The memory of all answers that are read, held or written, as [`BodySize::estimated`].
const BUDGET: usize = 48 << 20;
/// The most that one answer may take, as [`BodySize::estimated`]. An answer above the budget has all of it for itself.
const LARGEST_VALUES: usize = 256 << 20;
/// The largest body of objects above [`KIB`] on average: a page of long texts, which take more memory than many small
/// rows.
const LARGEST_TEXTS: usize = 8 << 20;
/// The largest body of objects above [`LONG`] on average: such a text is written as a whole, and takes fourteen times
/// its size until then.
const LARGEST_TEXT: usize = 4 << 20;
const LONG: usize = 64 << 10;
/// A body of at most this size is received without a permit: at most 256 calls are in flight.
const SMALL: usize = 32 << 10;
/// A larger body takes one of few permits, and one beyond this size the only one for such bodies.
const MEDIUM: usize = 512 << 10;
/// The bodies of up to [`MEDIUM`] bytes that are received at once.
const MEDIUM_BODIES: usize = 16;
/// Memory of a value beside the text of its strings.
const PER_OBJECT: usize = 1 << 10;
/// Copies of a body's text: the object as received, its fields, and what the database makes of both.
const COPIES: usize = 6;
/// The unit of the budget.
const KIB: usize = 1 << 10;

/// The memory budget of a process for answers.
#[derive(Debug)]
pub struct AnswerMemory {
    medium: Arc<Semaphore>,
    large: Arc<Semaphore>,
    values: Arc<Semaphore>,
    /// For further answers of a reader that holds one, when the budget is used up.
    further: Arc<Semaphore>,
    /// How many readers wait.
    waiting: watch::Sender<usize>,
}

/// The share of the memory budget that answers keep, until this is dropped with the last clone of their client.
#[derive(Clone, Debug, Default)]
pub struct HeldAnswers(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    values: Option<OwnedSemaphorePermit>,
    further: Option<OwnedSemaphorePermit>,
}

/// The permits of a body while it is received and read.
#[derive(Debug, Default)]
pub(crate) struct BodyPermits {
    medium: Option<OwnedSemaphorePermit>,
    large: Option<OwnedSemaphorePermit>,
}

/// The bytes of a body and the objects in it, counted once for each answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodySize {
    bytes: usize,
    objects: usize,
}

/// Counts a reader that waits.
struct Waiting<'m>(&'m AnswerMemory);

impl Default for AnswerMemory {
    fn default() -> Self {
        Self {
            medium: Arc::new(Semaphore::new(MEDIUM_BODIES)),
            large: Arc::new(Semaphore::new(1)),
            values: Arc::new(Semaphore::new(BUDGET / KIB)),
            further: Arc::new(Semaphore::new(1)),
            waiting: watch::Sender::new(0),
        }
    }
}

impl AnswerMemory {
    /// Resolves when somebody waits for memory: whoever holds answers should write them now.
    pub async fn shortage(&self) {
        // Never fails: the sender is borrowed.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting > 0).await;
    }

    /// Returns how many bytes of the budget are taken.
    pub fn taken(&self) -> usize {
        BUDGET - self.values.available_permits() * KIB
    }

    /// Waits for permission to receive a body further, until it has `length` bytes. Reserves its memory in few steps: a
    /// vector that doubles takes thrice its size.
    pub(crate) async fn receive(
        &self,
        permits: &mut BodyPermits,
        body: &mut Vec<u8>,
        length: usize,
        held: Option<&HeldAnswers>,
    ) {
        if length > SMALL && body.capacity() < MEDIUM {
            permits.medium = self.acquire_body(&self.medium, held).await;
            body.reserve_exact(MEDIUM - body.len());
        }
        if length > MEDIUM && body.capacity() < LARGEST_BODY {
            permits.large = self.acquire_body(&self.large, held).await;
            body.reserve_exact(LARGEST_BODY - body.len());
        }
    }

    async fn acquire_body(
        &self,
        semaphore: &Arc<Semaphore>,
        held: Option<&HeldAnswers>,
    ) -> Option<OwnedSemaphorePermit> {
        let Some(held) = held.filter(|held| !held.is_empty()) else {
            return self.acquire(semaphore, 1).await;
        };
        if let Ok(permit) = Arc::clone(semaphore).try_acquire_owned() {
            return Some(permit);
        }
        self.go_further(held).await;
        None
    }

    /// Waits for the memory of an answer's values. Returns the permit, unless `held` keeps it.
    pub(crate) async fn hold(
        &self,
        body: BodySize,
        held: Option<&HeldAnswers>,
    ) -> Option<OwnedSemaphorePermit> {
        let size = body.estimated().min(BUDGET).div_ceil(KIB);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        match held {
            // The answer to a write or a login never waits.
            None if body.bytes <= SMALL => None,
            None => self.acquire(&self.values, size).await,
            Some(held) => {
                self.keep(size, held).await;
                None
            }
        }
    }

    async fn keep(&self, size: u32, held: &HeldAnswers) {
        if held.is_empty() {
            let values = self.acquire(&self.values, size).await;
            held.0.lock().add(values);
        } else if let Ok(values) = Arc::clone(&self.values).try_acquire_many_owned(size) {
            held.0.lock().add(Some(values));
        } else {
            self.go_further(held).await;
        }
    }

    /// Lets a reader that holds an answer go on beyond the budget, one at a time.
    async fn go_further(&self, held: &HeldAnswers) {
        if held.0.lock().further.is_none() {
            let further = self.acquire(&self.further, 1).await;
            held.0.lock().further = further;
        }
    }

    async fn acquire(&self, semaphore: &Arc<Semaphore>, permits: u32) -> Option<OwnedSemaphorePermit> {
        let semaphore = Arc::clone(semaphore);
        if let Ok(permit) = Arc::clone(&semaphore).try_acquire_many_owned(permits) {
            return Some(permit);
        }
        let _waiting = (Waiting::begin(self), idle());
        // The semaphore is never closed.
        semaphore.acquire_many_owned(permits).await.ok()
    }
}

impl HeldAnswers {
    /// Returns whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        let held = self.0.lock();
        held.values.is_none() && held.further.is_none()
    }
}

impl Held {
    fn add(&mut self, more: Option<OwnedSemaphorePermit>) {
        match (&mut self.values, more) {
            (Some(values), Some(more)) => values.merge(more),
            (values @ None, more) => *values = more,
            (Some(_), None) => (),
        }
    }
}

impl<'m> Waiting<'m> {
    fn begin(memory: &'m AnswerMemory) -> Self {
        memory.waiting.send_modify(|waiting| *waiting += 1);
        Self(memory)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|waiting| *waiting -= 1);
    }
}

impl BodySize {
    pub(crate) fn of(body: &[u8]) -> Self {
        Self { bytes: body.len(), objects: memchr::memchr_iter(b'{', body).count() }
    }

    /// Returns the size in MiB that an answer exceeds, if its values need more memory than there is: the limit for its
    /// texts, or, of too many rows, its own size.
    pub(crate) fn exceeded(self) -> Option<usize> {
        let average = self.bytes / self.objects.max(1);
        let limit = match average {
            average if average > LONG => LARGEST_TEXT,
            average if average > KIB => LARGEST_TEXTS,
            _ => LARGEST_BODY,
        };
        if self.bytes > limit {
            return Some(limit >> 20);
        }
        (self.estimated() > LARGEST_VALUES).then_some(self.bytes >> 20)
    }

    /// Estimates the bytes that the values of an answer take until they are written. Each object may become a row, so
    /// that 8 MB of short order lines take 200 MB.
    fn estimated(self) -> usize {
        self.bytes * COPIES + self.objects * PER_OBJECT
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    /// A body whose values are estimated at this many KiB.
    fn body(kib: usize) -> BodySize {
        BodySize { bytes: kib * KIB / COPIES, objects: 0 }
    }

    fn exceeded(body: &[u8]) -> Option<usize> {
        BodySize::of(body).exceeded()
    }

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        future.now_or_never()
    }

    #[test]
    fn a_body_of_many_small_objects_counts_for_far_more_than_its_bytes() {
        let line = br#"{"id":1,"sku":"a","quantity":1},"#;
        for (lines, expected) in [(5_000, false), (100_000, false), (200_000, false), (400_000, true)] {
            let body = line.repeat(lines);
            assert_eq!(exceeded(&body), expected.then_some(body.len() >> 20), "{lines} lines");
        }
        let described = [b"{", &[b'a'; 60 << 10][..]].concat();
        assert_eq!(exceeded(&described.repeat(100)), None, "a page of long descriptions");
        assert_eq!(exceeded(&described.repeat(200)), Some(LARGEST_TEXTS >> 20));
        assert_eq!(exceeded(&vec![b'a'; LARGEST_TEXT]), None);
        assert_eq!(exceeded(&vec![b'a'; LARGEST_TEXT + 1]), Some(LARGEST_TEXT >> 20), "one long text");
    }

    #[test]
    fn every_object_of_a_body_counts_wherever_it_stands() {
        for length in (0_usize..70).chain(250..260).chain([4_096]) {
            for every in 1_usize..5 {
                let body: Vec<u8> = (0..length).map(|at| if at % every == 0 { b'{' } else { b'}' }).collect();
                let BodySize { bytes, objects } = BodySize::of(&body);
                assert_eq!((bytes, objects), (length, length.div_ceil(every)), "each {every}th of {length}");
            }
        }
    }

    // withstands: F076
    #[test]
    fn an_answer_above_the_budget_is_held_alone() {
        let memory = AnswerMemory::default();
        let (small, giant) = (body(1_024), body(4 * BUDGET / KIB));
        let held = now(memory.hold(small, None)).unwrap();
        let mut alone = Box::pin(memory.hold(giant, None));
        assert!((&mut alone).now_or_never().is_none(), "it waits for all others");
        drop(held);
        let held = (&mut alone).now_or_never().unwrap();
        assert!(now(memory.hold(small, None)).is_none(), "others wait for it");
        drop(held);
        assert!(now(memory.hold(small, None)).is_some());
    }

    // withstands: F116
    #[test]
    fn values_wait_when_the_budget_is_taken_and_the_shortage_is_told() {
        let memory = AnswerMemory::default();
        let (mib, mut held) = (body(1_024), Vec::new());
        while let Some(permit) = now(memory.hold(mib, None)) {
            held.push(permit);
            assert!(held.len() <= BUDGET >> 20, "more than the budget is given");
        }
        assert!(held.len() >= (BUDGET >> 20) - 1);
        assert!(memory.taken() <= BUDGET);
        assert!(now(memory.shortage()).is_none(), "nobody waits yet");
        let mut waiting = Box::pin(memory.hold(mib, None));
        assert!((&mut waiting).now_or_never().is_none());
        assert!(now(memory.shortage()).is_some());
        held.clear();
        assert!((&mut waiting).now_or_never().is_some());
        assert!(now(memory.shortage()).is_none());
    }

    #[test]
    fn readers_that_hold_one_answer_and_want_another_never_wait_for_each_other_for_ever() {
        let memory = AnswerMemory::default();
        let half = body(BUDGET / KIB / 2);
        let readers = [HeldAnswers::default(), HeldAnswers::default()];
        for reader in &readers {
            assert!(now(memory.hold(half, Some(reader))).is_some());
        }
        // The budget is taken, and both need more: one of them goes on, however much it needs.
        assert!(now(memory.hold(half, Some(&readers[0]))).is_some());
        assert!(now(memory.hold(half, Some(&readers[0]))).is_some());
        let mut other = Box::pin(memory.hold(half, Some(&readers[1])));
        assert!((&mut other).now_or_never().is_none());
        let [first, _second] = &readers;
        drop(std::mem::take(&mut *first.0.lock()));
        assert!((&mut other).now_or_never().is_some());
    }

    #[test]
    fn only_few_large_bodies_are_received_at_once() {
        let memory = AnswerMemory::default();
        let receive = |length| {
            let (mut permits, mut body) = (BodyPermits::default(), Vec::new());
            now(memory.receive(&mut permits, &mut body, length, None)).map(|()| permits)
        };
        assert!((0..300).map(|_| receive(SMALL)).all(|permits| permits.is_some()));
        let mut medium: Vec<_> = (1..MEDIUM_BODIES).map(|_| receive(MEDIUM).unwrap()).collect();
        medium.push(receive(LARGEST_BODY).unwrap());
        assert!(receive(SMALL + 1).is_none(), "no place for another one");
        medium.remove(0);
        assert!(receive(LARGEST_BODY).is_none(), "one large body at a time");
        let reader = HeldAnswers::default();
        assert!(now(memory.hold(BodySize::of(b"{}"), Some(&reader))).is_some());
        let (mut permits, mut body) = (BodyPermits::default(), Vec::new());
        let further = now(memory.receive(&mut permits, &mut body, LARGEST_BODY, Some(&reader)));
        assert!(further.is_some(), "whoever holds an answer already waits for nobody who may wait for it");
        drop(medium);
        assert!(receive(LARGEST_BODY).is_some());
    }
}

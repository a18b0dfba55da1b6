//! Attempts: the work on one input, so that an input that panics, or ends the process, costs one input.
//!
//! [`StoreContext::attempt`] notes the input in a file that outlives the process (`InFlight`), contains its panic, and
//! counts in the database how attempts ended badly. `plan::quarantine` decides; where nothing ever ended badly, an
//! attempt costs two writes into the kernel's memory each time it is polled, and a detail two in all.

use std::{future::poll_fn, pin::Pin, time::Duration};

use espelho_api_client::ListPage;
use espelho_model::containment::{self, Panicked, contained};
use espelho_store::{POISONED, Quarantined, Slot};

use crate::{
    StoreContext,
    plan::quarantine::{BadEnd, Standing, after_bad_end, isolation, standing, wait},
    quarantine::{Attempt, Input, Poison},
};

/// A suspect waits this long for its turn alone; then it is tried beside the others.
const ALONE_WITHIN: Duration = Duration::from_secs(10);

// The work is boxed, because each async function that takes a future by value has room for it twice: of a detail that was
// nested so, 13 kB were moved four times. What only suspects and failures need is boxed too: every attempt would have room
// for it, and thousands are under way at once.

/// The work of an attempt's first poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstPoll {
    /// It works on the input.
    Works,
    /// It builds and sends a request, and does nothing else: nothing of the input is here yet, and the client sees no
    /// answer in the poll that sent the request.
    Sends,
}

impl StoreContext {
    /// Works on an input, unless it is set aside. Its panic ends the attempt and nothing else. An attempt that ends well
    /// clears the input.
    pub(crate) fn attempt<T>(
        &self,
        input: Input,
        key: &str,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = Attempt<T>> {
        self.attempt_whole(input, key, FirstPoll::Works, Box::pin(work))
    }

    /// The same for a reading that sends its request first: its first poll is not noted.
    pub(crate) fn attempt_reading<T>(
        &self,
        input: Input,
        key: &str,
        reading: impl Future<Output = T>,
    ) -> impl Future<Output = Attempt<T>> {
        self.attempt_whole(input, key, FirstPoll::Sends, Box::pin(reading))
    }

    /// The same for a part of the work: that it ends well proves nothing of the rest.
    pub(crate) fn attempt_part<T>(
        &self,
        input: Input,
        key: &str,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = Attempt<T>> {
        self.attempt_from(input, key, FirstPoll::Works, Box::pin(work))
    }

    async fn attempt_whole<T>(
        &self,
        input: Input,
        key: &str,
        first: FirstPoll,
        work: impl Future<Output = T>,
    ) -> Attempt<T> {
        let was_suspected = self.quarantine.entry(input, key).is_some();
        let ended = self.attempt_from(input, key, first, work).await;
        if was_suspected && matches!(ended, Attempt::Ended(_)) {
            Box::pin(self.forget_attempts(input, key)).await;
        }
        ended
    }

    async fn attempt_from<T>(
        &self,
        input: Input,
        key: &str,
        first: FirstPoll,
        work: impl Future<Output = T>,
    ) -> Attempt<T> {
        let entry = match self.look_up(input, key).await {
            Ok(entry) => entry,
            Err(poison) => return Attempt::SetAside(poison),
        };
        let alone = match &entry {
            Some(entry) => Box::pin(self.alone(entry)).await,
            None => None,
        };
        let slot = self.begin(input, key, alone.is_some());
        let ended = noted(slot, first, contained(work)).await;
        drop(alone);
        match ended {
            Ok(ended) => Attempt::Ended(ended),
            Err(panicked) => Box::pin(self.after_panic(input, key, panicked)).await,
        }
    }

    /// The same for work that does not wait. What is suspected is tried beside the others.
    pub(crate) async fn attempt_now<T>(
        &self,
        input: Input,
        key: &str,
        work: impl FnOnce() -> T,
    ) -> Attempt<T> {
        let entry = match self.look_up(input, key).await {
            Ok(entry) => entry,
            Err(poison) => return Attempt::SetAside(poison),
        };
        // It does not wait, so that nothing but work on other threads is under way beside it.
        let mut slot = self.begin(input, key, true);
        let on_thread = slot.enter();
        let ended = containment::run(work);
        drop(on_thread);
        drop(slot);
        match ended {
            Ok(ended) => {
                if entry.is_some() {
                    Box::pin(self.forget_attempts(input, key)).await;
                }
                Attempt::Ended(ended)
            }
            Err(panicked) => Box::pin(self.after_panic(input, key, panicked)).await,
        }
    }

    /// Returns what is on record about an input that may be worked on.
    async fn look_up(&self, input: Input, key: &str) -> Result<Option<Quarantined>, Poison> {
        let Some(mut entry) = self.quarantine.entry(input, key) else { return Ok(None) };
        if entry.is_set_aside {
            // A person may have decided meanwhile.
            match Box::pin(self.store.quarantine().find(&self.key, input.as_str(), key)).await {
                Ok(Some(known)) => entry = known,
                Ok(None) => {
                    self.quarantine.keep(input, key, None);
                    return Ok(None);
                }
                Err(_) => (),
            }
        }
        match standing(Some((entry.attempts, entry.is_set_aside))) {
            Standing::SetAside => Err(Poison { place: entry.place }),
            Standing::Clear | Standing::Suspect | Standing::Probation => Ok(Some(entry)),
        }
    }

    fn begin(&self, input: Input, key: &str, is_alone: bool) -> Slot<'_> {
        let isolation = isolation(is_alone, self.clock.monotonic());
        self.quarantine.in_flight.begin(&self.key, input.as_str(), key, isolation)
    }

    /// Waits until no other suspect is under way, but not for ever: one may wait for a marketplace that is down. Before
    /// that, an input on probation waits until the process has run for a while.
    async fn alone(&self, entry: &Quarantined) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let probation = wait(standing(Some((entry.attempts, entry.is_set_aside))), self.clock.monotonic());
        tokio::select! {
            () = self.clock.sleep(probation) => (),
            () = self.stop.cancelled() => (),
        }
        tokio::select! {
            alone = self.quarantine.in_flight.alone() => Some(alone),
            () = self.clock.sleep(ALONE_WITHIN) => None,
        }
    }

    async fn after_panic<T>(&self, input: Input, key: &str, panicked: Panicked) -> Attempt<T> {
        let attempts = self.quarantine.entry(input, key).map_or(0, |entry| entry.attempts);
        let (attempts, is_set_aside) = after_bad_end(attempts, BadEnd::Panic);
        let (work, place) = (input.as_str(), panicked.place.clone());
        tracing::error!(store = %self.key, work, key, place, attempts, is_set_aside, "the work on one input has panicked");
        let place = Some(place).filter(|place| !place.is_empty());
        let entry = Quarantined {
            store: self.key.clone(),
            work: work.to_owned(),
            key: key.to_owned(),
            attempts,
            place: place.clone(),
            is_set_aside,
        };
        if let Err(error) = self.store.quarantine().put(&entry).await {
            tracing::warn!(store = %self.key, %error, "an attempt could not be counted");
        }
        self.quarantine.keep(input, key, Some(entry));
        match is_set_aside {
            true => Attempt::SetAside(Poison { place }),
            false => Attempt::Panicked(panicked),
        }
    }

    /// Forgets how attempts on an input ended: one ended well, or the input's own row says that it is set aside.
    pub(crate) async fn forget_attempts(&self, input: Input, key: &str) {
        self.quarantine.keep(input, key, None);
        if let Err(error) = self.store.quarantine().remove(&self.key, input.as_str(), key).await {
            tracing::warn!(store = %self.key, %error, "attempts could not be forgotten");
        }
        if let Err(error) = self.store.quarantine().hide(&self.key, input.as_str(), key, POISONED).await {
            tracing::warn!(store = %self.key, %error, "attempts could not be forgotten");
        }
    }

    /// Shows in `sync_failures` that an input is set aside.
    pub(crate) async fn show_poison(&self, input: Input, key: &str, poison: &Poison) {
        let name = (input, key.to_owned());
        if self.quarantine.shown().contains(&name) {
            return;
        }
        let failure = poison.failure(input, key, self.key.as_str(), self.locale);
        match self.store.quarantine().show(&self.key, input.as_str(), &failure).await {
            Ok(()) => drop(self.quarantine.shown().insert(name)),
            Err(error) => {
                tracing::warn!(store = %self.key, %error, "what is set aside could not be shown");
            }
        }
    }

    /// Shows in `sync_failures` the rows of a listing on which our own code panicked.
    pub(crate) async fn show_poisoned_rows(&self, input: Input, listing: &ListPage) {
        for row in &listing.poisoned {
            let poison = Poison { place: Some(row.place.clone()) };
            self.show_poison(input, &format!("listed-{:016x}", row.hash.as_i64()), &poison).await;
        }
    }
}

/// Polls work to its end, and notes that a thread is at it.
async fn noted<T>(mut slot: Slot<'_>, first: FirstPoll, mut work: impl Future<Output = T> + Unpin) -> T {
    let mut is_noted = first == FirstPoll::Works;
    poll_fn(|context| {
        let _on_thread = match std::mem::replace(&mut is_noted, true) {
            true => Some(slot.enter()),
            false => None,
        };
        Pin::new(&mut work).poll(context)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        task::{Context, Poll, Waker},
    };

    use espelho_model::StoreKey;
    use espelho_store::{InFlight, Isolation};

    use super::*;

    /// Returns whether each of three polls is noted, if the end of the process falls into it.
    fn noted_polls(folder: &Path, first: FirstPoll) -> Vec<bool> {
        let in_flight = InFlight::open(folder, "one").unwrap();
        let file = || std::fs::read(folder.join("one.units")).unwrap();
        // The flag of the first slot that an input has, and the name behind it.
        let is_noted = || file().get(1_024) == Some(&1) && file().ends_with(b"orders\x1f77");
        let mut polls = Vec::new();
        let work = poll_fn(|_| {
            polls.push(is_noted());
            if polls.len() < 3 { Poll::Pending } else { Poll::Ready(()) }
        });
        let slot = in_flight.begin(&StoreKey::new("loja").unwrap(), "orders", "77", Isolation::Shared);
        let mut attempt = Box::pin(noted(slot, first, work));
        let mut context = Context::from_waker(Waker::noop());
        while attempt.as_mut().poll(&mut context).is_pending() {
            assert!(!is_noted(), "it waits");
        }
        drop(attempt);
        assert!(!is_noted(), "it has ended");
        polls
    }

    #[test]
    fn each_poll_is_noted_but_the_one_that_only_sends() {
        for (first, expected) in
            [(FirstPoll::Works, [true, true, true]), (FirstPoll::Sends, [false, true, true])]
        {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(noted_polls(&folder.path().join("in-flight"), first), expected, "{first:?}");
        }
    }
}

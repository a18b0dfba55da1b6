//! Row counts for the snapshots. Counting reads all rows of the mirror, so a page never waits for it where it has an
//! earlier count: of this process, or the recorded one.

use std::{sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use espelho_store::{Error, Store};
use tokio::task::JoinHandle;

use crate::status::Counted;

/// How long a page waits for a new count where it has an earlier one that took long.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(15);

/// The counts of one store, or of all.
#[derive(Default)]
pub(super) struct RowCounts {
    known: Option<Arc<Counted>>,
    /// Until when, on the monotonic clock, the known counts need no new ones.
    valid_until: Duration,
    under_way: Option<JoinHandle<Result<Counted, Error>>>,
}

impl RowCounts {
    /// Returns the newest counts that are there, and starts to count where they are old. `valid_for` says how long
    /// counts stand that took so long.
    pub(super) async fn current(
        &mut self,
        (store, clock): (&Store, &Arc<dyn Clock>),
        of: Option<&StoreKey>,
        valid_for: fn(Duration) -> Duration,
    ) -> Result<Arc<Counted>, Error> {
        let begun = clock.monotonic();
        if let Some(known) = self.known.as_ref().filter(|_| begun < self.valid_until) {
            return Ok(Arc::clone(known));
        }
        if self.known.is_none() {
            self.known = Counted::recorded(store, of).await?.map(Arc::new);
        }
        let mut counting = self.under_way.take().unwrap_or_else(|| {
            let (store, clock, of) = (store.clone(), Arc::clone(clock), of.cloned());
            tokio::spawn(async move { Counted::take(&store, &*clock, of.as_ref()).await })
        });
        let counted = match &self.known {
            Some(known) if known.is_slow() => tokio::select! {
                counted = &mut counting => counted,
                () = clock.sleep(ANSWER_TIMEOUT) => {
                    self.under_way = Some(counting);
                    return Ok(Arc::clone(known));
                }
            },
            _ => (&mut counting).await,
        };
        // A count that panicked ends with nothing; the next page counts anew.
        let counted = Arc::new(counted.unwrap_or_else(|_| Ok(Counted::default()))?);
        self.valid_until = clock.monotonic() + valid_for(counted.took.unwrap_or_default());
        self.known = Some(Arc::clone(&counted));
        Ok(counted)
    }

    /// Tells whether these counts are needed at this time.
    pub(super) fn is_in_use(&self, now: Duration) -> bool {
        self.under_way.is_some() || now < self.valid_until
    }
}

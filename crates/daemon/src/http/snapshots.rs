//! Status snapshots, taken one at a time and kept for a moment. The verdict on them is always the latest.

use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey, text::Locale};
use espelho_store::{Error, Store};
use tokio::sync::Mutex as AsyncMutex;

use super::row_counts::RowCounts;
use crate::{
    alarms::Board,
    status::{self, Counted, Live, ShownStore, ShownStores, StatusSnapshot},
};

/// The minimum time for which a snapshot stays valid.
const MAX_AGE: Duration = Duration::from_secs(1);
/// A snapshot stays valid for this multiple of its own duration: taking snapshots needs at most a twentieth of the
/// time, however large the mirror is.
const SHARE: u32 = 20;
/// How long to wait for a new snapshot; if the database hangs, the last one stands, if somebody has asked in the minute
/// before ([`KEPT`]).
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Snapshots that nobody has asked for in this time are forgotten: one that shows three thousand stores takes some 30 MB.
const KEPT: Duration = Duration::from_secs(60);

/// Takes and keeps snapshots.
pub(crate) struct SnapshotCache {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shown: Arc<ShownStores>,
    pub(crate) live: Live,
    pub(crate) board: Arc<Board>,
    /// The installation's locale, for requests that ask for no language.
    pub(crate) locale: Locale,
    kept: Arc<AsyncMutex<Kept>>,
    last: Mutex<Last>,
    done: AsyncMutex<Option<(Duration, Done)>>,
}

/// The number of done rows in the ERP's tables: store, table, rows.
pub(super) type Done = Arc<[(String, String, u64)]>;

/// The last snapshot of each store and of all, however old, for as long as somebody asks for it. While the database does not
/// answer, nothing is forgotten: there is nothing newer.
#[derive(Default)]
struct Last {
    /// When each was asked for, and what it was.
    snapshots: HashMap<Option<StoreKey>, (Duration, Arc<StatusSnapshot>)>,
    /// True if the database has not answered the latest question.
    is_unanswered: bool,
    /// True while a task waits to forget what nobody asks for.
    is_forgetting: bool,
}

impl Last {
    /// Keeps a snapshot that somebody has asked for.
    fn keep(&mut self, of: Option<&StoreKey>, now: Duration, snapshot: &Arc<StatusSnapshot>) {
        self.is_unanswered = false;
        self.snapshots.insert(of.cloned(), (now, Arc::clone(snapshot)));
    }

    /// Returns the snapshot that somebody asks for.
    fn asked(&mut self, of: Option<&StoreKey>, now: Duration) -> Option<Arc<StatusSnapshot>> {
        let (asked, snapshot) = self.snapshots.get_mut(&of.cloned())?;
        *asked = now;
        Some(Arc::clone(snapshot))
    }

    /// Forgets what nobody has asked for in a while; returns whether anything is left.
    fn forget(&mut self, now: Duration) -> bool {
        self.snapshots.retain(|_, (asked, _)| self.is_unanswered || now.saturating_sub(*asked) < KEPT);
        !self.snapshots.is_empty()
    }
}

/// The latest snapshots, and until when they are valid.
#[derive(Default)]
struct Kept {
    /// The stores that the snapshots show.
    of: Arc<[ShownStore]>,
    pictures: HashMap<Option<StoreKey>, (Duration, Arc<StatusSnapshot>)>,
    counts: HashMap<Option<StoreKey>, RowCounts>,
}

impl Kept {
    /// Forgets everything if it does not show these stores.
    fn of(&mut self, shown: &Arc<[ShownStore]>) -> &mut Self {
        if !Arc::ptr_eq(&self.of, shown) {
            *self = Self { of: Arc::clone(shown), ..Self::default() };
        }
        self
    }
}

impl SnapshotCache {
    pub(crate) fn new(
        (store, clock): (Store, Arc<dyn Clock>),
        shown: Arc<ShownStores>,
        live: Live,
        board: Arc<Board>,
        locale: Locale,
    ) -> Self {
        let (kept, last, done) = (Arc::default(), Mutex::default(), AsyncMutex::default());
        Self { store, clock, shown, live, board, locale, kept, last, done }
    }

    /// Returns the state of everything in the words of a language; with `of`, of one store alone. A database that does
    /// not answer appears as an alarm on the snapshot, and never delays it.
    pub(crate) async fn snapshot(self: &Arc<Self>, of: Option<&StoreKey>, locale: Locale) -> StatusSnapshot {
        let taken = match self.fresh(of).await {
            Some(taken) => taken,
            None => self
                .last(of)
                .unwrap_or_else(|| Arc::new(StatusSnapshot::empty(self.clock.now(), self.live.service()))),
        };
        let mut snapshot = StatusSnapshot::clone(&taken);
        if let Some(posted) = self.board.latest() {
            snapshot.at = posted.seen.at.max(snapshot.at);
            snapshot.proof.database_at = posted.seen.written_at;
            // The verdict follows from these answers. A later one beside it would contradict it.
            snapshot.note_answers(&posted.answers());
            snapshot = snapshot.judged(posted.shown(locale));
        }
        snapshot
    }

    /// Returns a snapshot of this moment; `None` if the database does not answer in time.
    async fn fresh(self: &Arc<Self>, of: Option<&StoreKey>) -> Option<Arc<StatusSnapshot>> {
        let (snapshots, key) = (Arc::clone(self), of.cloned());
        // In a task of its own: a query that is dropped half-way would lose its connection.
        let taking = tokio::spawn(async move {
            let taken = snapshots.take(key.as_ref()).await;
            // One that comes too late is the last one, too.
            if let Ok(snapshot) = &taken {
                snapshots.last.lock().keep(key.as_ref(), snapshots.clock.monotonic(), snapshot);
            }
            taken
        });
        let taken = tokio::select! {
            taken = taking => taken.ok()?,
            () = self.clock.sleep(ANSWER_TIMEOUT) => {
                self.last.lock().is_unanswered = true;
                return None;
            }
        };
        match taken {
            Ok(snapshot) => Some(snapshot),
            Err(error) => {
                self.last.lock().is_unanswered = true;
                tracing::debug!(%error, "no new status snapshot; using the last one");
                None
            }
        }
    }

    /// Has the snapshots that are kept forgotten once nobody asks for them.
    fn forget_later(self: &Arc<Self>) {
        if !std::mem::replace(&mut self.last.lock().is_forgetting, true) {
            let cache = Arc::clone(self);
            tokio::spawn(async move { cache.forget_unasked().await });
        }
    }

    fn last(&self, of: Option<&StoreKey>) -> Option<Arc<StatusSnapshot>> {
        self.last.lock().asked(of, self.clock.monotonic())
    }

    /// Forgets what nobody asks for any more, until nothing is left.
    async fn forget_unasked(&self) {
        loop {
            self.clock.sleep(KEPT).await;
            let mut kept = self.kept.lock().await;
            let now = self.clock.monotonic();
            kept.pictures.retain(|_, (until, _)| now < *until);
            // Both are locked until it is clear that this task ends: the next snapshot begins another.
            let mut last = self.last.lock();
            last.is_forgetting = last.forget(now) || !kept.pictures.is_empty();
            if !last.is_forgetting {
                return;
            }
        }
    }

    /// Counts a large mirror before the first page asks for it. Takes no snapshot: it has 11 kB for each store.
    pub(super) async fn count_first(&self) {
        let mut kept = self.kept.lock().await;
        let counts = kept.of(&self.shown.get()).counts.entry(None).or_default();
        if let Err(error) = counts.current((&self.store, &self.clock), None, valid_for).await {
            tracing::debug!(%error, "cannot count the rows; the first page will");
        }
    }

    async fn take(self: &Arc<Self>, of: Option<&StoreKey>) -> Result<Arc<StatusSnapshot>, Error> {
        let mut kept = self.kept.lock().await;
        let begun = self.clock.monotonic();
        let shown = self.shown.get();
        let kept = kept.of(&shown);
        kept.pictures.retain(|_, (until, _)| begun < *until);
        if let Some((_, snapshot)) = kept.pictures.get(&of.cloned()) {
            return Ok(Arc::clone(snapshot));
        }
        kept.counts.retain(|_, counts| counts.is_in_use(begun));
        let counts = kept.counts.entry(of.cloned()).or_default();
        let counted = counts.current((&self.store, &self.clock), of, valid_for).await?;
        let snapshot = Arc::new(self.collect((&shown, of), &counted).await?);
        kept.pictures.insert(of.cloned(), (self.good_until(begun), Arc::clone(&snapshot)));
        self.forget_later();
        Ok(snapshot)
    }

    /// Returns the number of done intents, now or a moment ago: counting reads all rows.
    pub(super) async fn done(&self) -> Result<Done, Error> {
        let mut done = self.done.lock().await;
        let begun = self.clock.monotonic();
        if let Some((_, counts)) = done.as_ref().filter(|(until, _)| begun < *until) {
            return Ok(Arc::clone(counts));
        }
        let counts: Done = self.store.intents().done_counts().await?.into();
        *done = Some((self.good_until(begun), Arc::clone(&counts)));
        Ok(counts)
    }

    async fn collect(
        &self,
        shown: (&[ShownStore], Option<&StoreKey>),
        counted: &Counted,
    ) -> Result<StatusSnapshot, Error> {
        status::collect(&self.store, &*self.clock, shown, counted, Some(&self.live)).await
    }

    fn good_until(&self, begun: Duration) -> Duration {
        let ended = self.clock.monotonic();
        ended + valid_for(ended.saturating_sub(begun))
    }

    /// Returns the store of that name, if it is shown.
    pub(super) fn store_named(&self, name: &str) -> Option<StoreKey> {
        self.shown.get().iter().map(|shown| &shown.key).find(|key| key.as_str() == name).cloned()
    }
}

/// Returns how long a result stands that took so long to get.
fn valid_for(took: Duration) -> Duration {
    MAX_AGE.max(took * SHARE)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::status::ServiceState;

    #[test]
    fn a_snapshot_is_kept_for_as_long_as_somebody_asks() {
        let (mut last, store) = (Last::default(), StoreKey::new("a").unwrap());
        let at = |second: i64| DateTime::from_timestamp(second, 0).unwrap();
        let snapshot = |second| Arc::new(StatusSnapshot::empty(at(second), ServiceState::default()));
        let seconds = Duration::from_secs;
        last.keep(None, seconds(0), &snapshot(0));
        last.keep(Some(&store), seconds(0), &snapshot(1));
        assert_eq!(last.asked(Some(&store), seconds(40)).unwrap().at, at(1));
        assert!(last.forget(seconds(60)), "one was asked for");
        assert!(last.asked(None, seconds(60)).is_none());
        assert!(last.asked(Some(&store), seconds(99)).is_some());
        assert!(last.forget(seconds(158)));
        last.is_unanswered = true;
        assert!(last.forget(seconds(900)), "there is nothing newer");
        last.keep(None, seconds(900), &snapshot(2));
        assert!(last.forget(seconds(901)) && last.asked(Some(&store), seconds(901)).is_none());
        assert!(!last.forget(seconds(960)));
    }
}

//! The day's figures for the pages: counted in the background, one reading at a time, and kept for a while. A page waits
//! a moment for newer ones where those that are known are old.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, StoreKey, text::Locale};
use espelho_store::{Figures, Store};
use parking_lot::Mutex;

use crate::page::{bounds, end_of_day};

/// The minimum time for which figures stay valid.
const MAX_AGE: Duration = Duration::from_secs(3);
/// Figures stay valid for this multiple of the time that they took: counting needs at most a twentieth of the time.
const SHARE: u32 = 20;
/// Figures that nobody has asked for in this time are forgotten: nobody sees old ones as those of now.
const KEPT: Duration = Duration::from_secs(60);
/// How long a page waits for new figures. After that it shows the known ones, or says that there are none; it has the new
/// ones when it renews itself.
const WAIT: Duration = Duration::from_millis(25);

/// The figures of each store that somebody looks at, and of all.
pub(crate) struct FigureCache {
    store: Store,
    clock: Arc<dyn Clock>,
    locale: Locale,
    kept: Mutex<HashMap<Option<StoreKey>, Kept>>,
}

/// The newest figures of one store, or of all.
#[derive(Default)]
struct Kept {
    figures: Option<Arc<Figures>>,
    /// Until when, on the monotonic clock, they need no new ones.
    valid_until: Duration,
    asked_at: Duration,
    is_under_way: bool,
}

impl FigureCache {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>, locale: Locale) -> Self {
        Self { store, clock, locale, kept: Mutex::default() }
    }

    /// Returns the newest figures, and has new ones counted where they are old; `None` if the database has not told any.
    pub(super) async fn current(self: &Arc<Self>, of: Option<&StoreKey>) -> Option<Arc<Figures>> {
        let now = self.clock.monotonic();
        let (known, is_due) = self.look(of, now);
        if !is_due {
            return known;
        }
        let (cache, key) = (Arc::clone(self), of.cloned());
        let counting = tokio::spawn(async move { cache.count(key).await });
        let counted = tokio::select! {
            counted = counting => counted.ok().flatten(),
            () = self.clock.sleep(WAIT) => None,
        };
        counted.or(known)
    }

    /// Returns what is known, and whether the caller is to count.
    fn look(&self, of: Option<&StoreKey>, now: Duration) -> (Option<Arc<Figures>>, bool) {
        let mut all = self.kept.lock();
        all.retain(|_, kept| kept.is_under_way || now < kept.asked_at + KEPT);
        let kept = all.entry(of.cloned()).or_default();
        kept.asked_at = now;
        let is_due = !kept.is_under_way && (kept.figures.is_none() || now >= kept.valid_until);
        kept.is_under_way |= is_due;
        (kept.figures.clone(), is_due)
    }

    async fn count(&self, of: Option<StoreKey>) -> Option<Arc<Figures>> {
        let begun = self.clock.monotonic();
        let now: DateTime<Utc> = self.clock.now();
        let end = end_of_day(now, self.locale);
        let counted = self.store.overview().figures(of.as_ref(), end, &bounds(now)).await;
        let ended = self.clock.monotonic();
        let mut all = self.kept.lock();
        let kept = all.entry(of).or_default();
        kept.is_under_way = false;
        kept.valid_until = ended + MAX_AGE.max(ended.saturating_sub(begun) * SHARE);
        match counted {
            Ok(figures) => kept.figures = Some(Arc::new(figures)),
            Err(error) => tracing::debug!(%error, "cannot count the day's figures"),
        }
        kept.figures.clone()
    }
}

//! What the components of a store tell each other: flags and wake-ups, without data.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use crate::plan::schedule::Sweep;
use parking_lot::Mutex;
use tokio::sync::{Notify, futures::Notified};

/// The flags and wake-ups of one store. A flag stays raised until its reader takes it.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Whether the mirror was complete once: only then does a new row count as missed.
    mirrored: AtomicBool,
    /// Whether the marketplace counts more orders, so that the next sweep of new orders does not end at a page with
    /// nothing new.
    is_behind: AtomicBool,
    /// Whether a delivery named an unknown product.
    has_unknown_product: AtomicBool,
    /// Sweeps to run as soon as possible, in the order of [`Sweep::ALL`].
    woken: [AtomicBool; Sweep::COUNT],
    /// When something last changed in the store, as a monotonic time.
    changed_at: Mutex<Duration>,
    /// Notified when shipments were written.
    shipped: Notify,
    /// Notified when campaigns and their eligible listings were read.
    campaigns_read: Notify,
    /// Notified when the marketplace answers again after it did not.
    recovered: Notify,
}

impl Signals {
    /// Returns signals of which none is raised. Before `now`, a monotonic time, nobody has watched the store.
    pub(super) fn new(now: Duration) -> Self {
        Self { changed_at: Mutex::new(now), ..Self::default() }
    }

    /// Records that something has changed in the store, or may have: a reading found it, a delivery or a listing told it,
    /// an order or product could not be read, deliveries were refused, or an audit found a difference.
    pub(super) fn note_changed(&self, now: Duration) {
        let mut at = self.changed_at.lock();
        *at = now.max(*at);
    }

    /// Returns for how long nothing has changed in the store.
    pub(super) fn quiet_for(&self, now: Duration) -> Duration {
        now.saturating_sub(*self.changed_at.lock())
    }

    /// Whether the mirror was complete once.
    pub(super) fn is_mirrored(&self) -> bool {
        self.mirrored.load(Ordering::SeqCst)
    }

    /// Records that the mirror is complete, or was once.
    pub(super) fn note_mirrored(&self) {
        self.mirrored.store(true, Ordering::SeqCst);
    }

    /// Makes the next sweep of new orders read all its pages.
    pub(super) fn note_behind(&self) {
        self.is_behind.store(true, Ordering::SeqCst);
    }

    /// Takes whether the sweep of new orders must read all its pages.
    pub(super) fn take_behind(&self) -> bool {
        self.is_behind.swap(false, Ordering::SeqCst)
    }

    /// Makes the next sweep of products walk their listing.
    pub(super) fn note_unknown_product(&self) {
        self.has_unknown_product.store(true, Ordering::SeqCst);
    }

    /// Takes whether the listing of products must be walked.
    pub(super) fn take_unknown_product(&self) -> bool {
        self.has_unknown_product.swap(false, Ordering::SeqCst)
    }

    /// Makes a sweep due as soon as the sweeps are looked at again.
    pub(super) fn wake(&self, sweep: Sweep) {
        self.woken[sweep as usize].store(true, Ordering::SeqCst);
    }

    /// Takes the sweeps that are to run as soon as possible.
    pub(super) fn take_woken(&self) -> Vec<Sweep> {
        let is_woken = |sweep: &Sweep| self.woken[*sweep as usize].swap(false, Ordering::SeqCst);
        Sweep::ALL.into_iter().filter(is_woken).collect()
    }

    /// Wakes the label keeper: shipments were written.
    pub(super) fn note_shipped(&self) {
        self.shipped.notify_one();
    }

    /// Waits until shipments were written.
    pub(super) fn shipped(&self) -> Notified<'_> {
        self.shipped.notified()
    }

    /// Wakes the outbox: campaigns and their eligible listings were read.
    pub(super) fn note_campaigns_read(&self) {
        self.campaigns_read.notify_one();
    }

    /// Waits until campaigns were read.
    pub(super) fn campaigns_read(&self) -> Notified<'_> {
        self.campaigns_read.notified()
    }

    /// Wakes the sweeps and the reconciler: the marketplace answers again.
    pub(super) fn note_recovered(&self) {
        self.recovered.notify_waiters();
    }

    /// Waits until the marketplace answers again.
    pub(super) fn recovered(&self) -> Notified<'_> {
        self.recovered.notified()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_taken_once_and_sweeps_are_woken_in_the_order_of_their_urgency() {
        let signals = Signals::new(Duration::ZERO);
        assert!(!signals.take_behind() && !signals.take_unknown_product() && signals.take_woken().is_empty());
        signals.note_behind();
        signals.note_unknown_product();
        for sweep in [Sweep::Campaigns, Sweep::NewOrders, Sweep::Campaigns] {
            signals.wake(sweep);
        }
        assert!(signals.take_behind() && signals.take_unknown_product());
        assert_eq!(signals.take_woken(), [Sweep::NewOrders, Sweep::Campaigns]);
        assert!(!signals.take_behind() && !signals.take_unknown_product() && signals.take_woken().is_empty());
    }

    #[test]
    fn a_store_is_quiet_since_its_last_change_or_its_start() {
        let second = Duration::from_secs;
        let signals = Signals::new(second(100));
        assert_eq!(signals.quiet_for(second(160)), second(60), "the start of its watch");
        signals.note_changed(second(150));
        signals.note_changed(second(140));
        assert_eq!(signals.quiet_for(second(160)), second(10), "the latest change counts");
        assert_eq!(signals.quiet_for(second(149)), Duration::ZERO);
    }

    #[test]
    fn a_mirror_that_was_complete_once_stays_so() {
        let signals = Signals::new(Duration::ZERO);
        assert!(!signals.is_mirrored());
        signals.note_mirrored();
        assert!(signals.is_mirrored() && signals.is_mirrored());
    }
}

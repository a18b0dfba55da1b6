//! The outbox: deliveries on their way to the sender.

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};

use super::delivery::Delivery;

/// Deliveries that are to be attempted now.
pub(crate) struct Outbox {
    put: mpsc::UnboundedSender<Delivery>,
    take: Mutex<Option<mpsc::UnboundedReceiver<Delivery>>>,
    /// How many were put in and have not been dealt with.
    pending: watch::Sender<usize>,
}

impl Default for Outbox {
    fn default() -> Self {
        let (put, take) = mpsc::unbounded_channel();
        Self { put, take: Mutex::new(Some(take)), pending: watch::Sender::new(0) }
    }
}

impl Outbox {
    pub(super) fn put(&self, delivery: Delivery) {
        self.pending.send_modify(|pending| *pending += 1);
        if self.put.send(delivery).is_err() {
            self.done();
        }
    }

    /// Notes that one delivery has been dealt with.
    pub(super) fn done(&self) {
        // The end of the sandbox may have come first, and taken everything with it.
        self.pending.send_modify(|pending| *pending = pending.saturating_sub(1));
    }

    /// Waits until everything that was put in has been attempted.
    pub(super) async fn emptied(&self) {
        // It ends only with the sandbox, whose end is also the end of all deliveries.
        let _ = self.pending.subscribe().wait_for(|pending| *pending == 0).await;
    }

    /// The queue of deliveries, for the one sender; `None` for a second one.
    pub(super) fn take_queue(&self) -> Option<mpsc::UnboundedReceiver<Delivery>> {
        self.take.lock().take()
    }

    /// A guard that the sender holds: when it is dropped, nothing is pending any more.
    pub(super) fn end_with_sender(&self) -> Ended<'_> {
        Ended(self)
    }
}

/// Ends the pending count with the sender, so that nothing waits for deliveries that no task will send.
pub(super) struct Ended<'a>(&'a Outbox);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.pending.send_replace(0);
    }
}

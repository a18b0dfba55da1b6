//! Proves that webhooks arrive, or that they do not, as soon as a sweep finds what no delivery reported.

use std::time::Duration;

use espelho_model::watch;

use super::Live;
use crate::{Problem, plan::silence::silence};

/// How often a suspicion is checked.
const EVERY: Duration = Duration::from_secs(3);

impl Live<'_> {
    /// Settles every suspicion until the work stops.
    pub(super) async fn watch_webhooks(&self) -> Result<(), Problem> {
        while !self.is_stopping() {
            let waiting = watch::idle();
            tokio::select! {
                () = self.untold.notified() => (),
                () = self.context.stop.cancelled() => return Ok(()),
            }
            drop(waiting);
            while !self.is_stopping() && Box::pin(self.settle_suspicion()).await {
                tokio::select! {
                    () = self.context.clock.sleep(EVERY) => (),
                    () = self.context.stop.cancelled() => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Requests a test delivery if one is due, and records what is proved; returns whether something is left to settle.
    async fn settle_suspicion(&self) -> bool {
        if !self.options.receives || self.context.client.metrics().is_lost() {
            return self.options.receives;
        }
        let silence = silence(&self.webhook_watch(), self.context.clock.now());
        if silence.asks {
            // A marketplace in trouble proves nothing about its webhooks: the request is repeated.
            if let Err(problem) = self.sweep_webhook().await {
                tracing::debug!(store = %self.context.key, error = problem.error, "a test delivery could not be requested");
            }
        }
        self.note_silence(silence.proved_since);
        silence.is_suspected
    }
}

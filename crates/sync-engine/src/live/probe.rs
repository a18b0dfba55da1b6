//! Requests the session, lightly, when the marketplace has not answered for a while, so that an outage and its end are
//! noticed within seconds, however rare the sweeps are, and so is another program that ends our tokens. Notices the end
//! of a missing ability in the same way, by repeating a refused read.

use std::time::Duration;

use espelho_api_client::{Client, limit::Lane};
use espelho_model::{sync::Resource, watch};

use super::{
    refresh_queue::RefreshQueue, signals::Signals, sweep_record::SweepRecord, webhook_watch::WebhookWatch,
};
use crate::{
    Error, StoreContext,
    plan::probe::{ANSWERS_WITHIN, StoreTrouble, has_regained, interval, proves, silent_in},
    plan::refresh_request::{Entity, RefreshRequest},
};

/// How often what is in trouble is looked at.
const TICK: Duration = Duration::from_secs(5);
/// How many failed rows are read again at once; the next sweep reads the others.
const REREAD: usize = 500;

/// The probes of a store.
pub(super) struct Probe<'c> {
    context: &'c StoreContext,
    queue: &'c RefreshQueue<'c>,
    record: &'c SweepRecord<'c>,
    signals: &'c Signals,
    watch: &'c WebhookWatch<'c>,
}

impl<'c> Probe<'c> {
    /// Returns the probes of a store; what failed before is retried over `queue` and `signals`, and `watch` hears of
    /// outages.
    pub(super) fn new(
        context: &'c StoreContext,
        queue: &'c RefreshQueue<'c>,
        record: &'c SweepRecord<'c>,
        signals: &'c Signals,
        watch: &'c WebhookWatch<'c>,
    ) -> Self {
        Self { context, queue, record, signals, watch }
    }

    /// Probes whenever contact is lost or nothing was requested for a while, until the work stops.
    pub(super) async fn run(&self) -> Result<(), Error> {
        let mut lacked = Vec::new();
        while !self.context.stop.is_cancelled() {
            let waiting = watch::idle();
            tokio::select! {
                () = self.context.client.metrics().troubled() => (),
                () = self.context.clock.sleep(self.pause(&lacked)) => (),
                () = self.context.stop.cancelled() => return Ok(()),
            }
            drop(waiting);
            match self.context.client.metrics().is_lost() {
                true => Box::pin(self.probe_until_found()).await,
                false => {
                    Box::pin(self.probe_silence()).await;
                    Box::pin(self.probe_abilities(&mut lacked)).await;
                }
            }
        }
        Ok(())
    }

    /// Returns how long to wait before looking again: until the last answer proves nothing any more, unless trouble is to
    /// be watched.
    fn pause(&self, lacked: &[String]) -> Duration {
        let is_doubtful = self.context.client.metrics().is_doubtful(self.context.clock.now());
        let proved = self.silent_in().filter(|left| !left.is_zero() && !is_doubtful && lacked.is_empty());
        proved.unwrap_or(TICK)
    }

    /// Returns in how long the last answer will be too old to prove contact; `None` if there was none.
    fn silent_in(&self) -> Option<Duration> {
        let metrics = self.context.client.metrics();
        let answered_at = metrics.answered_at();
        let now = self.context.clock.now();
        let any = self.context.marketplace.note_answered(answered_at, now);
        let trouble = StoreTrouble::of(metrics.is_troubled(now), metrics.is_token_contested(now));
        silent_in(answered_at, any, now, self.context.client.limiter().per_minute(), trouble)
    }

    /// Requests the session if the last answer is too old.
    async fn probe_silence(&self) {
        if self.silent_in() == Some(Duration::ZERO) {
            let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
            self.ask_for_session(&client).await;
        }
    }

    /// Repeats a read that was refused for a missing ability, or that fails while other routes work. If an ability or a
    /// route in `lacked` is there again, retries what failed without it, even if another request found that out.
    async fn probe_abilities(&self, lacked: &mut Vec<String>) {
        let metrics = self.context.client.metrics();
        let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
        let before = self.context.clock.now() - proves(client.limiter().per_minute());
        tokio::select! {
            () = client.requests().repeat_failed_read(before) => (),
            () = self.context.stop.cancelled() => return,
        }
        let mut missing = metrics.missing_abilities();
        missing.extend(metrics.failing_routes(self.context.clock.now()));
        if has_regained(lacked, &missing) {
            self.retry_what_failed();
            self.retry_failed_rows().await;
        }
        *lacked = missing;
    }

    /// The client records the answer, whatever it is; the other workers report a rejected credential.
    async fn ask_for_session(&self, client: &Client) {
        tokio::select! {
            answer = client.auth().session_within(ANSWERS_WITHIN) => drop(answer),
            () = self.context.stop.cancelled() => (),
        }
    }

    async fn probe_until_found(&self) {
        let (clock, metrics) = (&self.context.clock, self.context.client.metrics());
        let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
        let began = metrics.lost_since().unwrap_or_else(|| clock.now());
        loop {
            tokio::select! {
                () = clock.sleep(interval(client.limiter().per_minute())) => (),
                () = self.context.stop.cancelled() => return,
            }
            if !metrics.is_lost() {
                break;
            }
            self.ask_for_session(&client).await;
        }
        self.watch.note_outage(began);
        self.retry_what_failed();
    }

    /// Reads failed rows again: what they lacked may exist by now.
    async fn retry_failed_rows(&self) {
        let (store, key) = (&self.context.store, &self.context.key);
        for resource in [Resource::Orders, Resource::Products] {
            let failures = match store.mirror().failures(key, resource).await {
                Ok(failures) => failures,
                Err(error) => {
                    tracing::warn!(store = %key, %error, "failed rows could not be read");
                    continue;
                }
            };
            let requests = failures
                .iter()
                .take(REREAD)
                .map(|failure| (Entity::of_row(resource, &failure.key), RefreshRequest::found([])));
            self.queue.push(requests.collect::<Vec<_>>());
        }
    }

    /// Handles the return of the marketplace: failed sweeps run at once, and so does a failed reconciliation.
    fn retry_what_failed(&self) {
        self.record.failing().into_iter().for_each(|sweep| self.signals.wake(sweep));
        self.signals.note_recovered();
    }
}

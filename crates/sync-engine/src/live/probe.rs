//! Requests the session, lightly, when the marketplace has not answered for a while, so that an outage and its end are
//! noticed within seconds, however rare the sweeps are. Notices the end of a missing ability in the same way, by
//! repeating a refused read.

use std::{num::NonZeroU32, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{Client, limit::Lane};
use espelho_model::{OrderNumber, ProductId, sync::Resource, watch};

use super::{Entity, Live, RefreshRequest, Urgency};
use crate::Problem;

/// Interval of the probes while the marketplace does not answer.
const EVERY: Duration = Duration::from_secs(10);
/// How often the age of the last answer is checked.
const TICK: Duration = Duration::from_secs(5);
/// The least time for which an answer proves contact.
const PROVES: TimeDelta = TimeDelta::seconds(15);
/// Probes cost at most a twentieth of the budget: at one request a minute, there is one in twenty minutes.
const PER_MINUTE: u32 = 20;
/// How many failed rows are read again at once; the next sweep reads the others.
const REREAD: usize = 500;
/// How long the marketplace may take to answer a probe.
const TIME_LIMIT: Duration = Duration::from_secs(10);

impl Live<'_> {
    /// Probes whenever contact is lost or nothing was requested for a while, until the work stops.
    pub(super) async fn probe(&self) -> Result<(), Problem> {
        let mut lacked = Vec::new();
        while !self.is_stopping() {
            let waiting = watch::idle();
            tokio::select! {
                () = self.context.client.metrics().lost() => (),
                () = self.context.clock.sleep(TICK) => (),
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

    /// Requests the session if the last answer is too old.
    async fn probe_silence(&self) {
        let answered = self.context.client.metrics().answered_at();
        let per_minute = self.context.client.limiter().per_minute();
        // A date in the future is from before the clock was set back.
        let age = |then: DateTime<Utc>| (self.context.clock.now() - then).abs();
        if answered.is_some_and(|then| age(then) >= proves(per_minute)) {
            let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
            self.ask_for_session(&client).await;
        }
    }

    /// Repeats a read that was refused for a missing ability. If an ability in `lacked` is no longer missing, retries
    /// what failed without it, even if another request found that out.
    async fn probe_abilities(&self, lacked: &mut Vec<String>) {
        let metrics = self.context.client.metrics();
        let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
        let before = self.context.clock.now() - proves(client.limiter().per_minute());
        tokio::select! {
            () = client.repeat_refused_read(before) => (),
            () = self.context.stop.cancelled() => return,
        }
        let missing = metrics.missing_abilities();
        if lacked.iter().any(|ability| !missing.contains(ability)) {
            self.retry_what_failed();
            self.retry_failed_rows().await;
        }
        *lacked = missing;
    }

    /// The client records the answer, whatever it is; the other workers report a rejected credential.
    async fn ask_for_session(&self, client: &Client) {
        tokio::select! {
            answer = client.session_within(TIME_LIMIT) => drop(answer),
            () = self.context.stop.cancelled() => (),
        }
    }

    async fn probe_until_found(&self) {
        let (clock, metrics) = (&self.context.clock, self.context.client.metrics());
        let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
        loop {
            tokio::select! {
                () = clock.sleep(EVERY.max(least_interval(client.limiter().per_minute()))) => (),
                () = self.context.stop.cancelled() => return,
            }
            if !metrics.is_lost() {
                break;
            }
            self.ask_for_session(&client).await;
        }
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
            let requests = failures.iter().take(REREAD).map(|failure| {
                let entity = match resource {
                    Resource::Orders => Entity::Order(OrderNumber::new(&failure.key)),
                    Resource::Products => Entity::Product(ProductId::new(&failure.key)),
                };
                (entity, RefreshRequest { urgency: Urgency::Found, ..RefreshRequest::default() })
            });
            self.push(requests.collect::<Vec<_>>());
        }
    }

    /// Handles the return of the marketplace: failed sweeps run at once, and so does a failed reconciliation.
    fn retry_what_failed(&self) {
        let failing = self.failing();
        self.known().woken.extend(failing);
        self.recovered.notify_waiters();
    }
}

/// Returns how long an answer proves contact: a small budget has better uses than probes.
fn proves(per_minute: NonZeroU32) -> TimeDelta {
    let least = least_interval(per_minute);
    PROVES.max(TimeDelta::from_std(least).unwrap_or(PROVES))
}

/// Returns the least time between two probes.
fn least_interval(per_minute: NonZeroU32) -> Duration {
    Duration::from_secs(u64::from(60 * PER_MINUTE / per_minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_cost_at_most_a_twentieth_of_the_budget() {
        for (per_minute, seconds) in [(300, 15), (60, 20), (30, 40), (10, 120), (1, 1_200), (1_000_000, 15)] {
            let per_minute = NonZeroU32::new(per_minute).unwrap();
            assert_eq!(proves(per_minute), TimeDelta::seconds(seconds), "{per_minute}");
        }
    }
}

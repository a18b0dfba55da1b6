//! Where the marketplace has not answered for a while it is asked for the session, lightly, so that an outage, and its end,
//! are noticed within seconds however rare the sweeps are. So is the end of a missing ability: what it refused is asked again.

use std::{num::NonZeroU32, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{Client, limit::Lane};
use espelho_model::{OrderNumber, ProductId, sync::Resource, watch};

use super::{Entity, Live, RefreshRequest, Urgency};
use crate::Problem;

/// Between two probes of a marketplace that does not answer.
const EVERY: Duration = Duration::from_secs(10);
/// How often the age of the last answer is looked at.
const TICK: Duration = Duration::from_secs(5);
/// An answer is proof of life for so long, at least.
const PROVES: TimeDelta = TimeDelta::seconds(15);
/// Probes cost at most a twentieth of the budget: with one request a minute there is one in twenty minutes.
const PER_MINUTE: u32 = 20;
/// How many failed rows are read again at once; the others have their turn in the next sweep.
const REREAD: usize = 500;
/// How long the marketplace may take to answer a probe.
const TIME_LIMIT: Duration = Duration::from_secs(10);

impl Live<'_> {
    /// Probes whenever the contact is lost or nothing was asked for a while, until the work stops.
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

    /// Asks where nobody else has for a while.
    async fn probe_silence(&self) {
        let answered = self.context.client.metrics().answered_at();
        let per_minute = self.context.client.limiter().per_minute();
        // An answer of the future was dated before the clock was set back.
        let age = |then: DateTime<Utc>| (self.context.clock.now() - then).abs();
        if answered.is_some_and(|then| age(then) >= proves(per_minute)) {
            let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
            self.ask_for_session(&client).await;
        }
    }

    /// Asks again what was refused for lack of an ability. Where one is there that `lacked` names, whoever has found it, what
    /// failed without it is tried again.
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
            self.reread_failures().await;
        }
        *lacked = missing;
    }

    /// The answer is noted by the client, whatever it is; a credential that is refused is the other workers' to tell.
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

    /// Rows that could not be read are read again: what they lacked may be there by now.
    async fn reread_failures(&self) {
        let (store, key) = (&self.context.store, &self.context.key);
        for resource in [Resource::Orders, Resource::Products] {
            let failures = match store.failures(key, resource).await {
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

    /// The marketplace answers again: sweeps that have failed run at once, and so does a reconciliation that did.
    fn retry_what_failed(&self) {
        let failing = self.failing();
        self.known().woken.extend(failing);
        self.recovered.notify_waiters();
    }
}

/// How long an answer is proof of life: a small budget has better uses than proofs.
fn proves(per_minute: NonZeroU32) -> TimeDelta {
    let least = least_interval(per_minute);
    PROVES.max(TimeDelta::from_std(least).unwrap_or(PROVES))
}

/// Between two probes at least.
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

//! Where the marketplace has not answered for a while it is asked for the session, lightly, so that an outage, and its end,
//! are noticed within seconds however rare the sweeps are.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_api_client::{Client, limit::Lane};
use espelho_model::watch;

use super::Live;
use crate::Problem;

/// Between two probes of a marketplace that does not answer.
const EVERY: Duration = Duration::from_secs(10);
/// An answer is proof of life for so long.
const PROVES: TimeDelta = TimeDelta::seconds(20);
/// How long a probe may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

impl Live<'_> {
    /// Probes whenever the contact is lost or nothing was asked for a while, until the work stops.
    pub(super) async fn probe(&self) -> Result<(), Problem> {
        while !self.is_stopping() {
            let waiting = watch::idle();
            tokio::select! {
                () = self.context.client.tally().lost() => (),
                () = self.context.clock.sleep(EVERY) => (),
                () = self.context.stop.cancelled() => return Ok(()),
            }
            drop(waiting);
            match self.context.client.tally().is_lost() {
                true => Box::pin(self.probe_until_found()).await,
                false => Box::pin(self.probe_silence()).await,
            }
        }
        Ok(())
    }

    /// Asks where nobody else has for a while.
    async fn probe_silence(&self) {
        let answered = self.context.client.tally().answered_at();
        if answered.is_some_and(|then| self.context.clock.now() - then >= PROVES) {
            let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
            self.ask_for_session(&client).await;
        }
    }

    /// The answer is noted by the client, whatever it is; a credential that is refused is the other workers' to tell.
    async fn ask_for_session(&self, client: &Client) {
        tokio::select! {
            answer = client.session() => drop(answer),
            () = self.context.clock.sleep(TIME_LIMIT) => {
                let detail = format!("no answer within {} s", TIME_LIMIT.as_secs());
                self.context.client.tally().unanswered(&detail, self.context.clock.now());
            }
            () = self.context.stop.cancelled() => (),
        }
    }

    async fn probe_until_found(&self) {
        let (clock, tally) = (&self.context.clock, self.context.client.tally());
        let client = self.context.client.in_lane(Lane::Interactive).with_attempts(1);
        loop {
            tokio::select! {
                () = clock.sleep(EVERY) => (),
                () = self.context.stop.cancelled() => return,
            }
            if !tally.is_lost() {
                break;
            }
            self.ask_for_session(&client).await;
        }
        self.retry_what_failed();
    }

    /// The marketplace answers again: sweeps that have failed run at once, and so does a reconciliation that did.
    fn retry_what_failed(&self) {
        let failing = self.failing();
        self.known().woken.extend(failing);
        self.recovered.notify_waiters();
    }
}

//! While the marketplace gives no useful answer it is asked for the session, lightly, so that the end of an outage is noticed
//! within seconds however rare the sweeps are.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::watch;

use super::Live;
use crate::Problem;

/// Between two probes.
const EVERY: Duration = Duration::from_secs(10);
/// How long a probe may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

impl Live<'_> {
    /// Probes whenever the contact is lost, until the work stops.
    pub(super) async fn probe(&self) -> Result<(), Problem> {
        while !self.is_stopping() {
            let waiting = watch::idle();
            tokio::select! {
                () = self.context.client.tally().lost() => (),
                () = self.context.stop.cancelled() => return Ok(()),
            }
            drop(waiting);
            Box::pin(self.probe_until_found()).await;
        }
        Ok(())
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
            // Its answer is noted by the client, whatever it is; a credential that is refused is the other workers' to tell.
            tokio::select! {
                answer = client.session() => drop(answer),
                () = clock.sleep(TIME_LIMIT) => (),
                () = self.context.stop.cancelled() => return,
            }
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

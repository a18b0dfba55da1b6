//! A small audit every day, so that a wrong mirror is noticed.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::{ContentHash, StoreKey, sync::Resource};
use espelho_store::AuditRecord;
use futures_util::future::BoxFuture;

use super::observer::Observer;
use crate::plan::pauses::Activity;
use crate::{
    Error, StoreContext,
    audit::{note_audits, on_record, spot},
    pull::{OrdersPull, ProductsPull},
};

/// Details read of each resource: forty requests a day and store, of 432,000.
const SAMPLE: usize = 20;
/// Interval between two audits.
const EVERY: Duration = Duration::from_secs(24 * 3_600);
/// Delay of the first audit after the start, when the catch-up is over.
const FIRST: Duration = Duration::from_secs(3_600);
/// The time after that over which all stores have their first audit: three thousand make six requests a second of it.
const SPREAD: Duration = Duration::from_secs(6 * 3_600);

/// The daily audit of a store.
pub(super) struct DailyAudit<'c> {
    context: &'c StoreContext,
    observer: &'c dyn Observer,
}

impl<'c> DailyAudit<'c> {
    /// Returns the audit of a store; `observer` hears what it compared.
    pub(super) fn new(context: &'c StoreContext, observer: &'c dyn Observer) -> Self {
        Self { context, observer }
    }

    /// Compares a sample with the marketplace, every day.
    pub(super) async fn run(&self) -> Result<(), Error> {
        let mut wait = first(&self.context.key);
        while !self.context.stop.is_cancelled() {
            tokio::select! {
                () = self.due(wait) => self.boxed_audit().await,
                () = self.context.stop.cancelled() => (),
            }
            wait = EVERY;
        }
        Ok(())
    }

    async fn due(&self, wait: Duration) {
        self.context.clock.sleep(wait).await;
        if self.context.holds(Activity::Pull) {
            Box::pin(self.context.released(Activity::Pull)).await;
        }
    }

    fn boxed_audit(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.audit_some())
    }

    /// Errors here occur elsewhere too, and are reported there.
    async fn audit_some(&self) {
        let (context, parameter) = (self.context, || self.context.page_parameter.clone());
        // Selects other rows each time.
        let seed = context.clock.now().timestamp().unsigned_abs();
        let client = || context.client.in_lane(Lane::Poll);
        let orders_at = context.clock.now();
        let orders = spot(context, OrdersPull::new(client(), None, parameter()), SAMPLE, seed).await;
        let locations = context.store.mirror().location_names(&context.key).await.unwrap_or_default();
        let products = ProductsPull::new(client(), locations, parameter());
        let products_at = context.clock.now();
        let products = spot(context, products, SAMPLE, seed).await;
        let (mut audits, mut differences) = (Vec::new(), Vec::new());
        for (resource, at, ended) in
            [(Resource::Orders, orders_at, orders), (Resource::Products, products_at, products)]
        {
            match ended {
                Ok((compared, found)) => {
                    let named = differences.len();
                    differences.extend(on_record(resource.into(), &found));
                    let differing = (differences.len() - named) as u64;
                    self.observer.audited(compared, differing);
                    audits.push(AuditRecord { resource: resource.to_string(), at, compared, differing });
                }
                Err(problem) => {
                    tracing::warn!(store = %context.key, error = problem.problem().error, "the daily audit ended early");
                }
            }
        }
        if let Err(problem) = note_audits(context, audits, differences, true).await {
            tracing::warn!(store = %context.key, error = problem.problem().error, "the result of the audit could not be recorded");
        }
    }
}

/// Returns when a store's first audit is due: stores that started together do not audit together.
fn first(store: &StoreKey) -> Duration {
    let lot = ContentHash::of(format!("{store}/audit").as_bytes()).as_i64().unsigned_abs() % 1_000;
    FIRST + SPREAD.mul_f64(lot as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_that_began_together_are_audited_all_over_the_hours_that_follow() {
        let firsts = (0..600).map(|n| first(&StoreKey::new(&format!("loja-{n}")).unwrap()));
        let mut hours = [0; 6];
        for due in firsts {
            hours[usize::try_from((due - FIRST).as_secs() / 3_600).unwrap()] += 1;
        }
        assert!(hours.iter().all(|count| (60..140).contains(count)), "{hours:?}");
    }
}

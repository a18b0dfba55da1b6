//! A small audit every day, so that a wrong mirror is noticed.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_api_client::limit::Lane;
use espelho_model::{ContentHash, StoreKey, sync::Resource};
use espelho_store::{AuditDifference, AuditRecord};
use futures_util::future::BoxFuture;

use super::{observer::Observer, signals::Signals};
use crate::plan::pauses::Activity;
use crate::{
    Error, StoreContext,
    audit::{Difference, note_audits, on_record, spot},
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
    signals: &'c Signals,
}

impl<'c> DailyAudit<'c> {
    /// Returns the audit of a store; `observer` hears what it compared.
    pub(super) fn new(context: &'c StoreContext, observer: &'c dyn Observer, signals: &'c Signals) -> Self {
        Self { context, observer, signals }
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
            match self.recorded(resource, at, ended).await {
                Ok((audit, named)) => {
                    audits.push(audit);
                    differences.extend(named);
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

    /// Returns the record of a sample with its differences. It read other rows than the one before: where it replaces that
    /// one's record, what is still open of it stays.
    async fn recorded(
        &self,
        resource: Resource,
        at: DateTime<Utc>,
        ended: Result<(u64, Vec<(String, Difference)>), Error>,
    ) -> Result<(AuditRecord, Vec<AuditDifference>), Error> {
        let (compared, found) = ended?;
        let mut named: Vec<AuditDifference> = on_record(resource.into(), &found).collect();
        self.observer.audited(compared, named.len() as u64);
        if !named.is_empty() {
            self.signals.note_changed(self.context.clock.monotonic());
            let (context, resource) = (self.context, resource.as_str());
            named = joined(named, context.store.runs().open_differences(&context.key, resource).await?);
        }
        let differing = named.len() as u64;
        Ok((AuditRecord { resource: resource.to_string(), at, compared, differing }, named))
    }
}

/// Returns differences of a sample and those of earlier ones, each once.
fn joined(mut found: Vec<AuditDifference>, open: Vec<AuditDifference>) -> Vec<AuditDifference> {
    let is_new =
        |of: &AuditDifference| !found.iter().any(|known| (&known.key, &known.part) == (&of.key, &of.part));
    let earlier: Vec<_> = open.into_iter().filter(is_new).collect();
    found.extend(earlier);
    found
}

/// Returns when a store's first audit is due: stores that started together do not audit together.
fn first(store: &StoreKey) -> Duration {
    let lot = ContentHash::of(format!("{store}/audit").as_bytes()).as_i64().unsigned_abs() % 1_000;
    FIRST + SPREAD.mul_f64(lot as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F134
    #[test]
    fn a_sample_with_differences_keeps_those_of_the_one_before() {
        let of = |key: &str, part: &str, is_edited| AuditDifference {
            resource: "orders".to_owned(),
            key: key.to_owned(),
            part: part.to_owned(),
            is_edited,
        };
        let (found, parts) = (of("1", "order", false), of("1", "events", true));
        let open = vec![of("1", "order", true), parts.clone(), of("2", "order", false)];
        let joined = joined(vec![found.clone()], open);
        assert_eq!(joined, [found, parts, of("2", "order", false)], "each once, as it was found last");
    }

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

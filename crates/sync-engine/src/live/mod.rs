//! Keeps a store in step while the service runs: deliveries become refreshes, sweeps find what no delivery reported,
//! and the complete reconciliation runs behind them.
//!
//! `run` assembles the components of a store and runs them side by side in one task. Each has its own state and gets
//! what it needs in its constructor; what one tells another goes over a method, or over one of the small shared types
//! `signals`, `identity` and `sold_products`.
//!
//! | component | does |
//! |---|---|
//! | `refresh_queue` | what is to be refreshed, and who waits: `plan::{refresh_queue, batches, refresh_request}` |
//! | `ingest` | the inbox into the queue: `inbox_sorting`, `plan::event_routing`, `event_only_data` |
//! | `worker_pool`, `refresher` | the queue into the mirror: `entity_reader` reads, `row_writer` writes, `unchanged_readings` collects what is only noted |
//! | `sweeps` | what no delivery reported; `plan::schedule` decides when, `sweep_record` keeps how they ended |
//! | `webhook_watch` | whether deliveries arrive |
//! | `reconciler`, `daily_audit` | complete reconciliations, admin requests, samples |
//! | `label_keeper` | label files |
//! | `outbox` | the ERP's intents, by `push` |
//! | `inquiries`, `probe` | questions of people; whether the marketplace answers again |

mod catch_up;
mod daily_audit;
mod denials;
mod entity_reader;
mod event_only_data;
pub(crate) mod full_listing;
mod identity;
mod inbox_sorting;
mod ingest;
mod inquiries;
mod label_files;
mod label_keeper;
mod lanes;
mod observer;
mod options;
mod outbox;
mod probe;
mod reconciler;
mod refresh_queue;
mod refresher;
mod row_writer;
mod run;
mod signals;
mod sold_products;
pub(crate) mod subresources;
mod sweep_log;
mod sweep_record;
mod sweeps;
mod unchanged_readings;
mod webhook_watch;
mod worker_pool;
mod write_if_changed;

#[cfg(test)]
mod test_clock;

pub use observer::{Handled, Observer, WebhookNews};
pub use options::{AdminRequest, AdminRequests, Inquiry, Options, Wakers};
pub use run::run;
pub(crate) use write_if_changed::write_if_changed;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreContext;

    /// The work on a store must be able to run as its own task. If it cannot, the reason is easier to find here than in
    /// the daemon.
    #[expect(dead_code, reason = "compiling it is the test")]
    fn the_work_on_a_store_may_be_a_task<'a>(
        context: &'a StoreContext,
        wakers: Wakers<'a>,
        options: &'a Options,
        observer: &'a dyn Observer,
    ) -> impl Future + Send {
        run(context, wakers, options, observer)
    }

    fn size_of_future<'a, F>(
        _: impl FnOnce(&'a StoreContext, Wakers<'a>, &'a Options, &'a dyn Observer) -> F,
    ) -> usize {
        size_of::<F>()
    }

    /// Thousands of stores wait in one process: what a store needs while it waits must stay small.
    #[test]
    fn a_store_that_waits_takes_four_kib() {
        let size = size_of_future(run);
        assert!(size <= 4_096, "{size} bytes");
    }

    fn size_of_reconciliation<'a, F>(_: impl FnOnce(&'a StoreContext, &'a crate::Options) -> F) -> usize {
        size_of::<F>()
    }

    /// Thousands of stores begin with one together, and most of them wait for the memory or the database.
    #[test]
    fn a_reconciliation_takes_twenty_four_kib() {
        let size = size_of_reconciliation(crate::reconcile);
        assert!(size <= 24 * 1_024, "{size} bytes");
    }
}

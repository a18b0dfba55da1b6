//! The sweeps of a store: one file for each, and what runs them when they are due, one after the other.

mod aged_orders;
mod campaigns;
mod changed_rows;
mod counts;
mod denied_orders;
mod enums;
mod media;
mod new_orders;
mod open_orders;
mod order_listing;
mod products;
pub(super) mod profile;
mod sold_products;
mod subresources;

use std::time::Duration;

use espelho_model::fault;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::{
    identity::StoreIdentity, observer::Observer, options::Options, refresh_queue::RefreshQueue,
    signals::Signals, sold_products::SoldProducts, sweep_record::SweepRecord, webhook_watch::WebhookWatch,
};
use crate::{
    Error, Input, StoreContext,
    memory_budget::Permit,
    plan::batches::Run,
    plan::pauses::Activity,
    plan::rotation,
    plan::schedule::{Moment, Schedule, Sweep, stretched},
    plan::sweep_throttle::SweepThrottle,
    quarantine::{Attempt, panicked_problem},
};
use campaigns::CampaignSweep;
use changed_rows::ChangedRows;
use products::ProductSweep;
use subresources::SubresourceSweep;

/// What sweeps read and tell beside their listings.
#[derive(Clone, Copy)]
pub(super) struct SweepSources<'c> {
    /// The queue that they fill.
    pub(super) queue: &'c RefreshQueue<'c>,
    /// Flags that make them read more.
    pub(super) signals: &'c Signals,
    /// The products of changed orders.
    pub(super) sold: &'c SoldProducts<'c>,
    /// The store's identity, which the profile tells.
    pub(super) identity: &'c StoreIdentity,
    /// The webhook that is tested.
    pub(super) watch: &'c WebhookWatch<'c>,
}

/// The sweeps of a store.
pub(super) struct Sweeps<'c> {
    context: &'c StoreContext,
    options: &'c Options,
    observer: &'c dyn Observer,
    record: &'c SweepRecord<'c>,
    sources: SweepSources<'c>,
    changed: ChangedRows<'c>,
    products: ProductSweep<'c>,
    subresources: SubresourceSweep,
    campaigns: CampaignSweep<'c>,
}

impl<'c> Sweeps<'c> {
    /// Returns the sweeps of a store, none of which has run; `record` keeps how they end.
    pub(super) fn new(
        context: &'c StoreContext,
        options: &'c Options,
        observer: &'c dyn Observer,
        record: &'c SweepRecord<'c>,
        sources: SweepSources<'c>,
    ) -> Self {
        let changed = ChangedRows::new(context, sources.queue, sources.signals);
        let products = ProductSweep::new(context, sources.queue, sources.signals);
        let subresources = SubresourceSweep::default();
        let campaigns = CampaignSweep::new(context, sources.signals);
        Self { context, options, observer, record, sources, changed, products, subresources, campaigns }
    }

    /// Runs the sweeps when they are due, one after the other; sweeps for orders also after a gap in the deliveries.
    pub(super) async fn run(&mut self, gap: &Notify) -> Result<(), Error> {
        let (context, signals) = (self.context, self.sources.signals);
        let clock = &context.clock;
        let mut schedule =
            Schedule::new(&self.options.intervals, &context.key, self.moment(), &self.record.succeeded());
        let mut after_gap = SweepThrottle::default();
        // The catch-up has just run these, or the first reconciliation is about to.
        for sweep in [Sweep::NewOrders, Sweep::OpenOrders] {
            schedule.ran(sweep, self.moment(), Duration::ZERO);
        }
        while !context.stop.is_cancelled() {
            let (sweep, due) = schedule.next();
            tokio::select! {
                () = self.due(due) => {
                    let started = clock.monotonic();
                    // Boxed, like everything large that rarely runs: most stores wait most of the time.
                    let requests = self.boxed_sweep(sweep).await?;
                    let now = self.moment();
                    match requests {
                        Some(requests) => {
                            schedule.ran(sweep, now, started + stretched(requests, self.options.per_minute));
                        }
                        None => schedule.failed(sweep, now),
                    }
                    wake(&mut schedule, signals.take_woken(), now.monotonic);
                }
                () = signals.recovered() => wake(&mut schedule, signals.take_woken(), clock.monotonic()),
                () = gap.notified() => {
                    self.sources.watch.note_refused();
                    signals.note_changed(clock.monotonic());
                    let at = after_gap.due(clock.monotonic());
                    tracing::info!(store = %context.key, "deliveries were refused; sweeping for what they reported");
                    wake(&mut schedule, [Sweep::NewOrders, Sweep::OpenOrders], at);
                }
                () = context.stop.cancelled() => (),
            }
        }
        // The next owner then knows what has just run; if this cannot be written, it is repeated.
        let _ = self.boxed_save().await;
        Ok(())
    }

    /// Waits until a time has come and no pause holds the sweeps.
    async fn due(&self, at: Duration) {
        let clock = &self.context.clock;
        clock.sleep(at.saturating_sub(clock.monotonic())).await;
        if self.context.holds(Activity::Pull) {
            Box::pin(self.context.released(Activity::Pull)).await;
        }
    }

    fn boxed_save(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.record.save())
    }

    /// Sweeps once; returns how many listing pages it requested, or `None` if it failed. Returns only a problem that
    /// ends all work; other problems are reported, and the sweep is retried when it is due.
    ///
    /// Not `async`, like the other boxes: the future of an `async` function would also reserve space for the boxed
    /// value.
    pub(super) fn boxed_sweep(&mut self, sweep: Sweep) -> BoxFuture<'_, Result<Option<u64>, Error>> {
        Box::pin(self.run_when_permitted(sweep))
    }

    /// Waits for the sweep's memory permit. Only then is there a sweep, in a large box of its own: thousands of stores
    /// wait here together.
    async fn run_when_permitted(&mut self, sweep: Sweep) -> Result<Option<u64>, Error> {
        let context = self.context;
        let run = Run { sweep, started_at: context.clock.now(), has_queued: false };
        let number = self.sources.queue.begin_sweep(sweep, run.started_at);
        let permit = context.memory_budget.sweep(sweep).await;
        self.boxed_run(number, run, permit).await
    }

    fn boxed_run<'s>(
        &'s mut self,
        number: u64,
        run: Run,
        permit: Permit<'s>,
    ) -> BoxFuture<'s, Result<Option<u64>, Error>> {
        Box::pin(self.run_one(number, run, permit))
    }

    async fn run_one(&mut self, number: u64, run: Run, permit: Permit<'_>) -> Result<Option<u64>, Error> {
        let (context, queue, sweep) = (self.context, self.sources.queue, run.sweep);
        queue.keep_rotation_waiting(matches!(sweep, Sweep::NewOrders | Sweep::OpenOrders));
        let ended = self.sweep_contained(sweep).await;
        queue.keep_rotation_waiting(false);
        drop(permit);
        self.record.note_run(number, run, ended.as_ref().err().map(Error::problem).as_ref()).await?;
        self.observer.waiting(queue.oldest());
        self.observer.stats(context.client.stats());
        match ended {
            Err(problem) if problem.ends_all() => Err(problem),
            Err(problem) => {
                let problem = problem.problem();
                let (error, next_step) = (&problem.error, problem.hint());
                tracing::warn!(store = %context.key, sweep = sweep.as_str(), error, next_step, "a sweep failed; will retry");
                Ok(None)
            }
            Ok(requests) => Ok(Some(requests)),
        }
    }

    /// Runs a sweep, unless it is set aside.
    async fn sweep_contained(&mut self, sweep: Sweep) -> Result<u64, Error> {
        let context = self.context;
        match context.attempt(Input::Sweep, sweep.as_str(), Box::pin(self.sweep(sweep))).await {
            Attempt::Ended(ended) => ended,
            Attempt::Panicked(panicked) => Err(panicked_problem(&panicked, &context.key).into()),
            Attempt::SetAside(poison) => {
                context.show_poison(Input::Sweep, sweep.as_str(), &poison).await;
                Err(poison.problem(Input::Sweep, sweep.as_str(), context.key.as_str()).into())
            }
        }
    }

    /// Runs a sweep's own calls; returns how many listing pages it requested, where that stretches its interval.
    async fn sweep(&mut self, sweep: Sweep) -> Result<u64, Error> {
        fault::point("sweep", sweep.as_str());
        let (context, changed) = (self.context, &self.changed);
        let SweepSources { queue, signals, sold, identity, watch } = self.sources;
        match sweep {
            Sweep::NewOrders => {
                let saved = self.record.save().await;
                let swept = new_orders::sweep_new_orders(context, signals, changed).await;
                let denied = match &swept {
                    Ok(_) => denied_orders::boxed_sweep_denied_orders(context, queue).await,
                    Err(_) => Ok(()),
                };
                saved.and(denied).and(swept)
            }
            Sweep::OpenOrders => open_orders::sweep_open_orders(context, queue, signals, changed).await,
            Sweep::Products => {
                let rest = self.rest();
                self.products.sweep(changed, rest).await.map(none)
            }
            Sweep::SoldProducts => {
                sold_products::sweep_sold_products(queue, signals, sold);
                Ok(0)
            }
            Sweep::AgedOrders => aged_orders::sweep_aged_orders(context, queue, signals).await.map(none),
            Sweep::Counts => counts::sweep_counts(context, signals).await.map(none),
            Sweep::Enums => enums::sweep_enums(context).await.map(none),
            Sweep::WebhookTest => watch.request_test().await.map(none),
            Sweep::Subresources => {
                let intervals = &self.options.intervals;
                let rest = self.rest();
                self.subresources.sweep(context, queue, signals, intervals, rest).await.map(none)
            }
            Sweep::Campaigns => self.campaigns.sweep().await.map(none),
            Sweep::Media => media::sweep_media(context).await.map(none),
            Sweep::Profile => {
                profile::prune(context).await.and(profile::sweep_profile(context, identity).await).map(none)
            }
        }
    }

    /// Returns how long rows rest between two readings in rotation. Where deliveries do not tell of what it reads, or
    /// are not looked at, a store is never quiet.
    fn rest(&self) -> Duration {
        let context = self.context;
        let is_told = self.sources.watch.tells_of_rotation() && !context.holds(Activity::Webhooks);
        let quiet = match is_told {
            true => self.sources.signals.quiet_for(context.clock.monotonic()),
            false => Duration::ZERO,
        };
        rotation::rest(quiet, context.memory_budget.is_crowded())
    }

    fn moment(&self) -> Moment {
        Moment { monotonic: self.context.clock.monotonic(), wall: self.context.clock.now() }
    }
}

/// Returns the number of listing pages of a sweep whose interval does not depend on it.
fn none((): ()) -> u64 {
    0
}

fn wake(schedule: &mut Schedule, woken: impl IntoIterator<Item = Sweep>, at: Duration) {
    woken.into_iter().for_each(|sweep| schedule.wake(sweep, at));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_while_waiting<'s, F>(_: impl FnOnce(&'s mut Sweeps<'s>, Sweep) -> F) -> usize {
        size_of::<F>()
    }

    fn size_while_sweeping<'s, F>(_: impl FnOnce(&'s mut Sweeps<'s>, u64, Run, Permit<'s>) -> F) -> usize {
        size_of::<F>()
    }

    /// When thousands of stores start together, a few sweep and all others wait.
    #[test]
    fn a_sweep_that_waits_takes_half_a_kib() {
        let size = size_while_waiting(Sweeps::run_when_permitted);
        assert!(size <= 512, "{size} bytes");
    }

    #[test]
    fn a_sweep_takes_twelve_kib() {
        let size = size_while_sweeping(Sweeps::run_one);
        assert!(size <= 12 * 1_024, "{size} bytes");
    }
}

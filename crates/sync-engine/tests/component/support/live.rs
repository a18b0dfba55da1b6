//! The live mirror in a test: all workers of a store, and what their observer was told.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::Stats;
use espelho_model::{StoreKey, sync::Resource};
use espelho_store::NewDelivery;
use espelho_sync_engine::{
    Problem, StoreContext, StoreReport,
    live::{self, AdminRequest, AdminRequests, Handled, Inquiry, Observer, Options, Wakers, WebhookNews},
    plan::schedule::{Cadence, Intervals, Sweep},
    push::PushOptions,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{Rig, STORE, engine::Engine};

/// Longer than any test lasts.
const NEVER: Duration = Duration::from_secs(30 * 86_400);

/// What the live mirror told about its work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) swept: Vec<Sweep>,
    pub(crate) failed: Vec<(Sweep, String)>,
    pub(crate) handled: Vec<Handled>,
    pub(crate) changed: Vec<Resource>,
    pub(crate) missed: Vec<&'static str>,
    pub(crate) webhook: Option<WebhookNews>,
    pub(crate) reconciled: usize,
}

/// The outside of a running live mirror.
#[derive(Default)]
pub(crate) struct Outside {
    told: Mutex<Told>,
    pub(crate) inbox: Arc<Notify>,
    pub(crate) gap: Notify,
    pub(crate) reconcile: Notify,
    outbox: Arc<Notify>,
}

impl Outside {
    pub(crate) fn told(&self) -> Told {
        self.told.lock().unwrap().clone()
    }

    fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told.lock().unwrap());
    }
}

impl Observer for Outside {
    fn reconciled(&self, _: &StoreReport) {
        self.tell(|told| told.reconciled += 1);
    }

    fn swept(&self, sweep: Sweep, _: DateTime<Utc>) {
        self.tell(|told| told.swept.push(sweep));
    }

    fn sweep_failed(&self, sweep: Sweep, problem: &Problem) {
        self.tell(|told| told.failed.push((sweep, problem.code.clone())));
    }

    fn handled(&self, what: Handled) {
        self.tell(|told| told.handled.push(what));
    }

    fn changed(&self, resource: Resource) {
        self.tell(|told| told.changed.push(resource));
    }

    fn missed(&self, event: &'static str) {
        self.tell(|told| told.missed.push(event));
    }

    fn webhook(&self, news: WebhookNews) {
        self.tell(|told| told.webhook = Some(news));
    }

    fn stats(&self, _: Stats) {}
}

/// Nobody asks for anything.
struct Nobody;

impl AdminRequests for Nobody {
    fn next(&self) -> BoxFuture<'_, AdminRequest> {
        Box::pin(std::future::pending())
    }

    fn next_inquiry(&self) -> BoxFuture<'_, Inquiry> {
        Box::pin(std::future::pending())
    }
}

/// Returns intervals at which only some sweeps run again.
pub(crate) fn only(sweeps: &[Sweep], every: Duration) -> Intervals {
    let of = |sweep| Cadence::Every(if sweeps.contains(&sweep) { every } else { NEVER });
    Intervals {
        new_orders: of(Sweep::NewOrders),
        open_orders: of(Sweep::OpenOrders),
        sold_products: of(Sweep::SoldProducts),
        products: of(Sweep::Products),
        subresources: of(Sweep::Subresources),
        aged_orders: of(Sweep::AgedOrders),
        counts: of(Sweep::Counts),
        campaigns: of(Sweep::Campaigns),
        media: of(Sweep::Media),
        profile: of(Sweep::Profile),
        enums: of(Sweep::Enums),
        webhook_test: of(Sweep::WebhookTest),
    }
}

async fn keep(context: StoreContext, options: Options, outside: Arc<Outside>) -> Option<Problem> {
    let Outside { inbox, gap, reconcile, outbox, .. } = &*outside;
    let wakers = Wakers { admin_requests: &Nobody, inbox, gap, outbox, reconcile };
    live::run(&context, wakers, &options, &*outside).await.map(Problem::from)
}

impl Rig {
    /// Starts the live mirror.
    pub(crate) async fn keep_in_step(&mut self, intervals: Intervals, receives: bool) -> Arc<Outside> {
        let context = self.parts.context(&self.sandbox).await;
        let outside = Arc::new(Outside { outbox: Arc::clone(&self.written), ..Outside::default() });
        let push = PushOptions { ..self.push.clone() };
        let options = Options { intervals, receives, per_minute: 60_000, last_seen: None, push };
        let stop = context.stop.clone();
        self.run(Engine::run(stop, keep(context, options, Arc::clone(&outside))));
        outside
    }

    /// The same, once it has caught up and every sweep has run.
    pub(crate) async fn kept_in_step(&mut self, intervals: Intervals, receives: bool) -> Arc<Outside> {
        let outside = self.keep_in_step(intervals, receives).await;
        self.until("every sweep has run", async || {
            let told = outside.told();
            let has_run = |sweep: &Sweep| *sweep == Sweep::WebhookTest || told.swept.contains(sweep);
            told.reconciled > 0 && Sweep::ALL.iter().all(has_run)
        })
        .await;
        outside
    }

    /// Puts a delivery into the inbox, as the receiver does after it has checked the signature.
    pub(crate) async fn deliver(&self, outside: &Outside, event: &str, data: &Value) {
        let now = self.parts.clock.now();
        let envelope =
            json!({"event": event, "data": data, "timestamp": now.to_rfc3339(), "webhook_id": "w-1"});
        self.deliver_bytes(outside, event, envelope.to_string().into_bytes()).await;
    }

    pub(crate) async fn deliver_bytes(&self, outside: &Outside, event: &str, body: Vec<u8>) {
        let number = self.journal.ask("SELECT CAST(count(*) AS TEXT) FROM webhook_inbox").await.remove(0);
        let delivery = NewDelivery {
            store: StoreKey::new(STORE).unwrap(),
            received_at: self.parts.clock.now(),
            event: Some(event.to_owned()),
            digest: format!("{number:0<64}"),
            body,
        };
        self.parts.store.inbox().keep_deliveries(vec![delivery]).await.unwrap();
        outside.inbox.notify_one();
    }
}

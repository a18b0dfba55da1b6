//! The live mirror in a test: all workers of a store, and what their observer was told.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::Stats;
use espelho_model::{StoreKey, sync::Resource};
use espelho_store::NewDelivery;
use espelho_sync_engine::{
    Audit, AuditOptions, Examination, Options as Reconcile, Problem, Question, StoreContext, StoreReport,
    live::{self, AdminRequest, AdminRequests, Handled, Inquiry, Observer, Options, Wakers, WebhookNews},
    plan::schedule::{Cadence, Intervals, Sweep},
    push::PushOptions,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use super::{Rig, STORE, engine::Engine};

/// Longer than any test lasts.
const NEVER: Duration = Duration::from_secs(30 * 86_400);

/// An answer that waits for nothing but the marketplace comes within this time.
const PROMPT: Duration = Duration::from_millis(500);

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
    pub(crate) audited: Vec<(u64, u64)>,
}

/// The outside of a running live mirror.
#[derive(Default)]
pub(crate) struct Outside {
    told: Mutex<Told>,
    pub(crate) inbox: Arc<Notify>,
    pub(crate) gap: Notify,
    pub(crate) reconcile: Notify,
    outbox: Arc<Notify>,
    asked: Asked,
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

    fn audited(&self, rows: u64, differing: u64) {
        self.tell(|told| told.audited.push((rows, differing)));
    }

    fn stats(&self, _: Stats) {}
}

/// What people ask of the running live mirror.
#[derive(Default)]
struct Asked {
    requests: Mutex<VecDeque<AdminRequest>>,
    inquiries: Mutex<VecDeque<Inquiry>>,
    came: Notify,
}

impl Asked {
    async fn next_of<T>(&self, waiting: &Mutex<VecDeque<T>>) -> T {
        loop {
            let came = self.came.notified();
            if let Some(first) = waiting.lock().unwrap().pop_front() {
                return first;
            }
            came.await;
        }
    }
}

impl AdminRequests for Asked {
    fn next(&self) -> BoxFuture<'_, AdminRequest> {
        Box::pin(self.next_of(&self.requests))
    }

    fn next_inquiry(&self) -> BoxFuture<'_, Inquiry> {
        Box::pin(self.next_of(&self.inquiries))
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
    let Outside { inbox, gap, reconcile, outbox, asked, .. } = &*outside;
    let wakers = Wakers { admin_requests: asked, inbox, gap, outbox, reconcile };
    live::run(&context, wakers, &options, &*outside).await.map(Problem::from)
}

impl Rig {
    /// Starts the live mirror.
    pub(crate) async fn keep_in_step(&mut self, intervals: Intervals, receives: bool) -> Arc<Outside> {
        let context = self.parts.context(&self.sandbox).await;
        let outside = Arc::new(Outside { outbox: Arc::clone(&self.written), ..Outside::default() });
        let push = PushOptions { ..self.push.clone() };
        let options = Options {
            intervals,
            receives,
            has_order_events: receives,
            has_rotation_events: receives,
            address_since: self.address_since,
            per_minute: 60_000,
            last_seen: None,
            push,
        };
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

    /// Reads the marketplace into the mirror between two engines that keep it in step.
    pub(crate) async fn mirror_again_in(&mut self, intervals: Intervals) -> Arc<Outside> {
        self.stop().await;
        self.reconcile(&Reconcile { deep: true, kind: "manual", ..Reconcile::default() }).await;
        let outside = self.keep_in_step(intervals, false).await;
        self.until("it has caught up", async || outside.told().reconciled > 0).await;
        outside
    }

    /// Asks the live mirror a question; `None` if it took longer than people wait.
    pub(crate) async fn inquire(&self, outside: &Outside, question: Question) -> Option<Examination> {
        let (answer, answered) = oneshot::channel();
        let answer: Box<dyn FnOnce(&Examination) + Send> =
            Box::new(move |found| drop(answer.send(found.clone())));
        outside.asked.inquiries.lock().unwrap().push_back(Inquiry { question, answer });
        outside.asked.came.notify_waiters();
        // People wait five seconds: none of them passes while the answer is on its way.
        let mut answered = answered;
        match tokio::time::timeout(PROMPT, &mut answered).await {
            Ok(answer) => answer.ok(),
            Err(_) => self.done(answered).await.ok(),
        }
    }

    /// Asks the live mirror to reconcile.
    pub(crate) async fn request_reconciliation(&self, outside: &Outside, options: Reconcile) -> StoreReport {
        let (answer, answered) = oneshot::channel();
        let done = Box::new(move |report: &StoreReport| drop(answer.send(report.clone())));
        outside.asked.requests.lock().unwrap().push_back(AdminRequest::Reconcile(options, done));
        outside.asked.came.notify_waiters();
        self.done(answered).await.unwrap()
    }

    /// Asks the live mirror to compare itself with the marketplace.
    pub(crate) async fn request_audit(&self, outside: &Outside, options: AuditOptions) -> Audit {
        let (answer, answered) = oneshot::channel();
        let done = Box::new(move |audit: &Audit| drop(answer.send(audit.clone())));
        outside.asked.requests.lock().unwrap().push_back(AdminRequest::Audit(options, done));
        outside.asked.came.notify_waiters();
        self.done(answered).await.unwrap()
    }

    /// Puts a delivery into the inbox, as the receiver does after it has checked the signature.
    pub(crate) async fn deliver(&self, outside: &Outside, event: &str, data: &Value) {
        let now = self.parts.clock.now();
        let envelope =
            json!({"event": event, "data": data, "timestamp": now.to_rfc3339(), "webhook_id": "w-1"});
        self.deliver_bytes(outside, event, envelope.to_string().into_bytes()).await;
    }

    /// Delivers an event that was received at a time before now.
    pub(crate) async fn deliver_from(&self, outside: &Outside, event: &str, data: &Value, at: DateTime<Utc>) {
        let envelope =
            json!({"event": event, "data": data, "timestamp": at.to_rfc3339(), "webhook_id": "w-1"});
        self.keep_delivery(outside, event, envelope.to_string().into_bytes(), at).await;
    }

    pub(crate) async fn deliver_bytes(&self, outside: &Outside, event: &str, body: Vec<u8>) {
        // It is under way for a moment: the time of its arrival, to the microsecond, is later than what caused it.
        self.leap(Duration::from_millis(1));
        self.keep_delivery(outside, event, body, self.parts.clock.now()).await;
    }

    async fn keep_delivery(&self, outside: &Outside, event: &str, body: Vec<u8>, at: DateTime<Utc>) {
        let number = self.journal.ask("SELECT CAST(count(*) AS TEXT) FROM webhook_inbox").await.remove(0);
        let delivery = NewDelivery {
            store: StoreKey::new(STORE).unwrap(),
            received_at: at,
            event: Some(event.to_owned()),
            digest: format!("{number:0>8}{:0<56}", ""),
            body,
        };
        self.parts.store.inbox().keep_deliveries(vec![delivery]).await.unwrap();
        outside.inbox.notify_one();
    }
}

//! The engine on a store: its context, and its future, which a test may drop at any await point.

use std::{future::poll_fn, num::NonZeroU32, path::Path, sync::Arc, task::Poll, time::Duration};

use chrono::FixedOffset;
use espelho_api_client::{Client, Http, Settings, limit::Quota};
use espelho_model::{
    Clock, StoreKey,
    text::{Language, Locale},
};
use espelho_sandbox::Sandbox;
use espelho_store::{InFlight, LabelFolder, Store};
use espelho_sync_engine::{
    BeingRead, ClientStorage, LeaseOwner, Marketplace, MemoryBudget, Problem, Quarantine, Silent,
    StoreContext,
    labels::Labels,
    plan::gone::GoneGuard,
    push::{NoopListener, PushOptions, Pusher},
};
use tokio::{sync::Notify, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::clock::TestClock;

/// The store's name.
pub(crate) const STORE: &str = "loja-1";

/// What every engine of a test is made of.
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) http: Http,
    /// Requests a minute.
    pub(crate) budget: u32,
    pub(crate) gone_guard: GoneGuard,
    /// The folder of the label files, if they are fetched.
    pub(crate) labels: Option<Labels>,
    /// The notes of the inputs under way; none, unless a test says where.
    pub(crate) in_flight: Arc<InFlight>,
    /// The budget of all engines of the test, as of all stores of a process.
    pub(crate) memory_budget: Arc<MemoryBudget>,
    /// The marketplace of all engines of the test.
    pub(crate) marketplace: Arc<Marketplace>,
}

/// A running engine.
pub(crate) struct Engine {
    stop: CancellationToken,
    task: JoinHandle<Option<Problem>>,
}

impl Parts {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        let http = Http::new(true, Duration::from_secs(30)).unwrap();
        Self {
            store,
            clock,
            http,
            budget: 60_000,
            gone_guard: GoneGuard::default(),
            labels: None,
            in_flight: Arc::default(),
            memory_budget: Arc::default(),
            marketplace: Arc::default(),
        }
    }

    /// Fetches label files of every format into a folder.
    pub(crate) fn fetch_labels(&mut self, folder: &Path) {
        let folder = LabelFolder::new(folder, "labels");
        self.labels =
            Some(Labels { folder, formats: Vec::new(), hosts: Vec::new(), days: 30, keep_days: None });
    }

    /// Takes the lease, and opens the client with what its predecessor left in the database.
    pub(crate) async fn context(&self, sandbox: &Sandbox) -> StoreContext {
        let key = StoreKey::new(STORE).unwrap();
        let lease = self.store.leases().acquire(&key, "component test").await.unwrap();
        self.store.mirror().identify(&key, "sandbox", &sandbox.base_url()).await.unwrap();
        let access = sandbox.stores().remove(0);
        let memory =
            ClientStorage::new(self.store.clone(), key.clone(), access.username.clone(), sandbox.base_url());
        let settings = Settings {
            base_url: sandbox.base_url(),
            username: access.username,
            password: Arc::new(secrecy::SecretString::from(access.password)),
            quota: Quota::per_minute(NonZeroU32::new(self.budget).unwrap()),
            http: self.http.clone(),
            naive_offset: FixedOffset::west_opt(3 * 3_600).unwrap(),
            attempts: 5,
            webhook: None,
        };
        let client = Client::open(settings, Arc::clone(&self.clock), memory.clone(), memory).await.unwrap();
        let stop = CancellationToken::new();
        let owner = LeaseOwner::of(&lease, stop.clone(), Arc::clone(&self.clock));
        let quarantine = Quarantine::load(&self.store, &key, Arc::clone(&self.in_flight)).await.unwrap();
        StoreContext {
            key,
            client: client.owned_by(owner),
            store: self.store.clone(),
            lease,
            locale: Locale::of(Language::Portuguese),
            clock: Arc::clone(&self.clock),
            progress: Arc::new(Silent),
            stop,
            gone_guard: self.gone_guard,
            retention: espelho_sync_engine::plan::retention::Retention::default(),
            page_parameter: "page".to_owned(),
            labels: self.labels.clone(),
            writing: Arc::default(),
            new_products: Arc::default(),
            memory_budget: Arc::clone(&self.memory_budget),
            marketplace: Arc::clone(&self.marketplace),
            suspension: espelho_sync_engine::WorkSuspension::default(),
            quarantine: Arc::new(quarantine),
            being_read: BeingRead::default(),
        }
    }
}

impl Engine {
    /// Runs a future that works on a store until its `stop` is cancelled.
    pub(crate) fn run(
        stop: CancellationToken,
        work: impl Future<Output = Option<Problem>> + Send + 'static,
    ) -> Self {
        Self { stop, task: tokio::spawn(work) }
    }

    /// Runs a future until the clock was read so often, and drops it at the await point that follows.
    pub(crate) fn mortal(
        clock: Arc<TestClock>,
        readings: u64,
        work: impl Future<Output = Option<Problem>> + Send + 'static,
    ) -> Self {
        let (last, mut work) = (clock.readings() + readings, Box::pin(work));
        Self::run(
            CancellationToken::new(),
            poll_fn(move |cx| {
                let polled = work.as_mut().poll(cx);
                if polled.is_pending() && clock.readings() >= last { Poll::Ready(None) } else { polled }
            }),
        )
    }

    /// Carries out the intents of the ERP, now and whenever `written` says that there are new ones.
    pub(crate) fn pushing(context: StoreContext, options: PushOptions, written: Arc<Notify>) -> Self {
        let stop = context.stop.clone();
        Self::run(stop, push_out(context, options, written))
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Asks it to end.
    pub(crate) fn ask_to_stop(&self) {
        self.stop.cancel();
    }

    /// Returns the problem that ended it.
    pub(crate) async fn ended(self) -> Option<Problem> {
        self.task.await.unwrap()
    }

    /// Drops its future wherever it waits. What it has not committed is gone, like after `kill -9`.
    pub(crate) async fn kill(self) {
        self.task.abort();
        if let Err(error) = self.task.await {
            assert!(error.is_cancelled(), "{error}");
        }
    }
}

/// Carries out the intents of the ERP until it is stopped, as the live mirror does.
pub(crate) async fn push_out(
    context: StoreContext,
    options: PushOptions,
    written: Arc<Notify>,
) -> Option<Problem> {
    let pusher = Pusher::new(&context, &options, &NoopListener);
    while !context.stop.is_cancelled() {
        match pusher.work(&written).await {
            Err(error) => return Some(error.into()),
            Ok(Some(wait)) => tokio::select! {
                () = context.clock.sleep(wait) => (),
                () = written.notified() => (),
                () = context.stop.cancelled() => (),
            },
            Ok(None) => tokio::select! {
                () = written.notified() => (),
                () = context.stop.cancelled() => (),
            },
        }
    }
    None
}

//! The queue of admin requests: they wait here for the store's own task, and receive its progress from here.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use espelho_model::{StoreKey, sync::Target};
use espelho_store::ReadSoFar;
use espelho_sync_engine::{
    Audit, AuditOptions, Examination, Options, Position, Progress, Question, StoreReport,
    live::{AdminRequest, AdminRequests, Inquiry},
};
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, mpsc};

use super::Event;

/// The maximum number of runs that wait for one store: more than one behind the one under way brings nothing.
const WAITING: usize = 4;

/// A task that can be requested.
pub(crate) enum Task {
    Resync(Options),
    Audit(AuditOptions),
}

/// A requested task, with the channel for its events.
pub(crate) struct Job {
    task: Task,
    told: mpsc::UnboundedSender<Event>,
}

/// The admin queue of one process.
pub(crate) struct AdminQueue {
    /// Receives all progress.
    inner: Arc<dyn Progress>,
    /// The positions of the passes under way: the checkpoints tell of whole pages, which take half a minute each.
    positions: Mutex<HashMap<StoreKey, BTreeMap<Target, Position>>>,
    stores: Mutex<HashMap<StoreKey, Waiting>>,
    closed: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    arrived: Arc<Notify>,
    /// Questions, which are answered beside the jobs.
    questions: Vec<(Question, mpsc::UnboundedSender<Event>)>,
    asked: Arc<Notify>,
    /// Receives the progress of the run under way, if it was requested.
    listening: Option<mpsc::UnboundedSender<Event>>,
}

impl AdminQueue {
    pub(crate) fn new(inner: Arc<dyn Progress>) -> Self {
        Self { inner, positions: Mutex::default(), stores: Mutex::default(), closed: AtomicBool::new(false) }
    }

    /// Returns how far the passes over listings are that are under way for a store.
    pub(crate) fn read_so_far(&self, store: &StoreKey) -> Vec<ReadSoFar> {
        let positions = self.positions.lock();
        let listed = positions.get(store).into_iter().flatten();
        let listed = listed.filter(|(target, _)| matches!(target, Target::Listed(_)));
        let so_far = |(target, at): (&Target, &Position)| ReadSoFar {
            resource: target.to_string(),
            seen: at.done,
            total: at.total,
        };
        listed.map(so_far).collect()
    }

    fn forget_position(&self, store: &StoreKey, resource: Target) {
        if let Some(positions) = self.positions.lock().get_mut(store) {
            positions.remove(&resource);
        }
    }

    /// Accepts no more requests, and drops those that wait. A run under way reports to its end.
    pub(crate) fn close(&self) {
        let mut stores = self.stores();
        self.closed.store(true, Ordering::Relaxed);
        for waiting in stores.values_mut() {
            waiting.jobs.clear();
            waiting.questions.clear();
        }
    }

    /// Asks a question; the answer is the only event. `None` if too many wait already.
    pub(crate) fn inquire(
        &self,
        store: &StoreKey,
        question: Question,
    ) -> Option<mpsc::UnboundedReceiver<Event>> {
        let (told, hears) = mpsc::unbounded_channel();
        let mut stores = self.stores();
        let waiting = stores.entry(store.clone()).or_default();
        waiting.questions.retain(|(_, told)| !told.is_closed());
        if waiting.questions.len() >= WAITING || self.closed.load(Ordering::Relaxed) {
            return None;
        }
        waiting.questions.push((question, told));
        waiting.asked.notify_one();
        Some(hears)
    }

    /// Returns the next question, for the task that holds the store.
    async fn next_inquiry(&self, store: &StoreKey) -> Inquiry {
        loop {
            let asked = {
                let mut stores = self.stores();
                let waiting = stores.entry(store.clone()).or_default();
                waiting.questions.retain(|(_, told)| !told.is_closed());
                if !waiting.questions.is_empty() {
                    let (question, told) = waiting.questions.remove(0);
                    let answer = move |found: &Examination| {
                        drop(told.send(Event::Examination { examination: Box::new(found.clone()) }));
                    };
                    return Inquiry { question, answer: Box::new(answer) };
                }
                Arc::clone(&waiting.asked)
            };
            asked.notified().await;
        }
    }

    /// Requests a run; the channel carries its events, the report last. `None` if too many wait already.
    pub(crate) fn ask(&self, store: &StoreKey, task: Task) -> Option<mpsc::UnboundedReceiver<Event>> {
        let (told, hears) = mpsc::unbounded_channel();
        let mut stores = self.stores();
        let waiting = stores.entry(store.clone()).or_default();
        // Requests whose requester has gone no longer count.
        waiting.jobs.retain(|job| !job.told.is_closed());
        if waiting.jobs.len() >= WAITING || self.closed.load(Ordering::Relaxed) {
            return None;
        }
        waiting.jobs.push(Job { task, told });
        waiting.arrived.notify_one();
        Some(hears)
    }

    /// Returns the next requested run, for the task that holds the store.
    pub(crate) async fn next(&self, store: &StoreKey) -> Job {
        loop {
            let arrived = {
                let mut stores = self.stores();
                let waiting = stores.entry(store.clone()).or_default();
                waiting.jobs.retain(|job| !job.told.is_closed());
                if !waiting.jobs.is_empty() {
                    return waiting.jobs.remove(0);
                }
                Arc::clone(&waiting.arrived)
            };
            arrived.notified().await;
        }
    }

    /// Returns the requests for one store, for the task that holds it.
    pub(crate) fn of_store(self: &Arc<Self>, store: &StoreKey) -> StoreAdminQueue {
        StoreAdminQueue { admin_queue: Arc::clone(self), store: store.clone() }
    }

    fn listen(&self, store: &StoreKey, told: Option<mpsc::UnboundedSender<Event>>) {
        self.stores().entry(store.clone()).or_default().listening = told;
    }

    fn tell(&self, store: &StoreKey, event: impl FnOnce() -> Event) {
        if let Some(told) = self.stores().get(store).and_then(|waiting| waiting.listening.as_ref()) {
            let _ = told.send(event());
        }
    }

    fn stores(&self) -> MutexGuard<'_, HashMap<StoreKey, Waiting>> {
        self.stores.lock()
    }
}

/// The admin queue of one store.
pub(crate) struct StoreAdminQueue {
    admin_queue: Arc<AdminQueue>,
    store: StoreKey,
}

impl AdminRequests for StoreAdminQueue {
    fn next(&self) -> BoxFuture<'_, AdminRequest> {
        Box::pin(async {
            let Job { task, told } = self.admin_queue.next(&self.store).await;
            let options = match task {
                Task::Resync(options) => options,
                Task::Audit(options) => {
                    let done = move |audit: &Audit| drop(told.send(Event::of_audit(audit)));
                    return AdminRequest::Audit(options, Box::new(done));
                }
            };
            self.admin_queue.listen(&self.store, Some(told.clone()));
            let (admin_queue, store) = (Arc::clone(&self.admin_queue), self.store.clone());
            let done = move |report: &StoreReport| {
                admin_queue.listen(&store, None);
                // The requester may have gone; the mirrored data stays.
                let _ = told.send(Event::of_report(report));
            };
            AdminRequest::Reconcile(options, Box::new(done))
        })
    }

    fn next_inquiry(&self) -> BoxFuture<'_, Inquiry> {
        Box::pin(self.admin_queue.next_inquiry(&self.store))
    }
}

impl Progress for AdminQueue {
    fn begin(&self, store: &StoreKey, resource: Target, resumed: u64) {
        self.inner.begin(store, resource, resumed);
        // A pass that was dropped has told no end.
        self.forget_position(store, resource);
        self.tell(store, || Event::Begin { resource: resource.to_string(), resumed });
    }

    fn advance(&self, store: &StoreKey, resource: Target, position: Position) {
        self.inner.advance(store, resource, position);
        self.positions.lock().entry(store.clone()).or_default().insert(resource, position);
        let Position { done, total, requests_left } = position;
        self.tell(store, || Event::Advance { resource: resource.to_string(), done, total, requests_left });
    }

    fn end(&self, store: &StoreKey, resource: Target) {
        self.inner.end(store, resource);
        self.forget_position(store, resource);
        self.tell(store, || Event::End { resource: resource.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::sync::Resource;
    use espelho_sync_engine::Silent;

    use super::*;

    fn resync() -> Task {
        Task::Resync(Options::default())
    }

    fn key() -> StoreKey {
        StoreKey::new("loja-1").unwrap()
    }

    #[tokio::test]
    async fn a_run_that_is_asked_for_reaches_the_task_that_waits_for_it_and_that_one_only() {
        let admin_queue = Arc::new(AdminQueue::new(Arc::new(Silent)));
        let task = tokio::spawn({
            let admin_queue = Arc::clone(&admin_queue);
            async move { admin_queue.next(&key()).await }
        });
        let _other = admin_queue.ask(&StoreKey::new("loja-2").unwrap(), resync()).unwrap();
        let _hears =
            admin_queue.ask(&key(), Task::Resync(Options { deep: true, ..Options::default() })).unwrap();
        assert!(matches!(task.await.unwrap().task, Task::Resync(options) if options.deep));
    }

    #[tokio::test]
    async fn who_went_away_leaves_its_place() {
        let admin_queue = AdminQueue::new(Arc::new(Silent));
        for _ in 0..20 {
            drop(admin_queue.ask(&key(), resync()).unwrap());
        }
        let held: Vec<_> = (0..WAITING).map(|_| admin_queue.ask(&key(), resync()).unwrap()).collect();
        assert!(admin_queue.ask(&key(), resync()).is_none());
        drop(held);
        assert!(admin_queue.ask(&key(), resync()).is_some());
    }

    #[tokio::test]
    async fn a_closed_desk_sends_away_whoever_waits() {
        let admin_queue = AdminQueue::new(Arc::new(Silent));
        let mut hears = admin_queue.ask(&key(), resync()).unwrap();
        admin_queue.close();
        assert!(hears.recv().await.is_none());
        assert!(admin_queue.ask(&key(), resync()).is_none());
    }

    #[tokio::test]
    async fn a_question_is_answered_though_a_run_waits_before_it() {
        let admin_queue = Arc::new(AdminQueue::new(Arc::new(Silent)));
        let _run = admin_queue.ask(&key(), resync()).unwrap();
        let mut hears = admin_queue.inquire(&key(), Question::Token).unwrap();
        let Inquiry { question, answer } = admin_queue.next_inquiry(&key()).await;
        assert_eq!(question, Question::Token);
        answer(&Examination::Password);
        assert!(matches!(hears.recv().await, Some(Event::Examination { .. })));
        assert!(hears.recv().await.is_none());
    }

    #[test]
    fn how_far_a_listing_is_read_is_known_until_its_pass_ends() {
        let admin_queue = AdminQueue::new(Arc::new(Silent));
        let at = |done| Position { done, total: Some(10), requests_left: None };
        admin_queue.begin(&key(), Resource::Orders.into(), 0);
        assert!(admin_queue.read_so_far(&key()).is_empty(), "no row was read");
        admin_queue.advance(&key(), Resource::Orders.into(), at(5));
        admin_queue.advance(&key(), Resource::Orders.into(), at(6));
        admin_queue.advance(&key(), Target::Shipments, at(1));
        admin_queue.advance(&StoreKey::new("loja-2").unwrap(), Resource::Products.into(), at(2));
        let orders = ReadSoFar { resource: "orders".into(), seen: 6, total: Some(10) };
        assert_eq!(admin_queue.read_so_far(&key()), [orders]);
        admin_queue.end(&key(), Resource::Orders.into());
        assert!(admin_queue.read_so_far(&key()).is_empty());
    }

    #[tokio::test]
    async fn only_who_asked_hears_of_progress() {
        let admin_queue = AdminQueue::new(Arc::new(Silent));
        let mut hears = admin_queue.ask(&key(), resync()).unwrap();
        admin_queue.begin(&key(), Resource::Orders.into(), 0);
        let job = admin_queue.next(&key()).await;
        admin_queue.listen(&key(), Some(job.told.clone()));
        admin_queue.advance(
            &key(),
            Resource::Orders.into(),
            Position { done: 5, total: Some(10), requests_left: None },
        );
        admin_queue.listen(&key(), None);
        admin_queue.end(&key(), Resource::Orders.into());
        drop(job);
        assert!(matches!(hears.recv().await, Some(Event::Advance { done: 5, total: Some(10), .. })));
        assert!(hears.try_recv().is_err());
    }
}

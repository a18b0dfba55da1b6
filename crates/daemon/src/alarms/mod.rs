//! The alarms of the running service (PRODUCT contract 4): observed every few seconds, decided in one place
//! ([`espelho_sync_engine::plan::alarms`]), recorded for `v_alarms`, and shown by every surface from one board.

mod database;
mod observe;
mod shown;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use espelho_model::{Clock, text::Locale};
use espelho_store::{AlarmRow, ServiceInstance, Store};
use espelho_sync_engine::plan::alarms::{Observations, Verdict, decide};
use tokio_util::sync::CancellationToken;

pub(crate) use observe::offline;
use observe::Facts;
pub(crate) use shown::{ShownAlarm, ShownVerdict};

use self::database::Prober;
use crate::status::{Live, ShownStores};

/// How often everything is observed. An alarm is raised within a minute of its cause, the cause's own rule included.
const EVERY: Duration = Duration::from_secs(3);

/// The latest verdict, with what it was made from.
#[derive(Default)]
pub(crate) struct Board(Mutex<Option<Arc<Posted>>>);

/// A verdict and its observations.
pub(crate) struct Posted {
    pub(crate) seen: Observations,
    pub(crate) verdict: Verdict,
}

impl Board {
    /// The latest verdict; `None` until everything was observed for the first time.
    pub(crate) fn latest(&self) -> Option<Arc<Posted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn post(&self, seen: Observations, verdict: Verdict) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Posted { seen, verdict }));
    }
}

/// Observes and decides, until the service stops.
pub(crate) struct Keeper {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shown: Arc<ShownStores>,
    pub(crate) live: Live,
    /// The name of this process among those that share the database.
    pub(crate) instance: String,
    /// The language of what is recorded.
    pub(crate) locale: Locale,
    pub(crate) board: Arc<Board>,
    pub(crate) stop: CancellationToken,
}

impl Keeper {
    /// Runs until the service stops, then takes this process's alarms off the record.
    pub(crate) async fn run(self) {
        self.write_words().await;
        let mut prober = Prober::new(self.store.clone(), Arc::clone(&self.clock));
        let mut facts = Facts::default();
        while !self.stop.is_cancelled() {
            let record = self.board.latest().map(|posted| self.record(&posted.verdict));
            let database = prober.probe(record).await;
            facts.refresh(&self.store, &self.clock).await;
            let seen = facts.observations(&self.shown.get(), &self.live, database, self.clock.now());
            let verdict = decide(&seen);
            self.board.post(seen, verdict);
            tokio::select! { () = self.clock.sleep(EVERY) => {}, () = self.stop.cancelled() => {} }
        }
        if let Err(error) = self.store.end_service(&self.instance).await {
            tracing::debug!(%error, "the service's sign of life stays on record");
        }
    }

    fn record(&self, verdict: &Verdict) -> (ServiceInstance, Vec<AlarmRow>) {
        let service = ServiceInstance {
            instance: self.instance.clone(),
            process: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.live.started_at,
            state: verdict.state.as_str().to_owned(),
        };
        (service, verdict.alarms.iter().map(|alarm| shown::row(alarm, self.locale)).collect())
    }

    /// The sentences that views say where no service can.
    async fn write_words(&self) {
        if let Err(error) = self.store.keep_service_words(self.locale).await {
            tracing::warn!(%error, "the words of the views are not in the installation's language");
        }
    }
}

//! Reads from the database the state of each store.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, StoreKey, time::past};
use espelho_store::{Error, Overview, Store, TableState, TableStates};

use super::{
    Holder, Inbox, Live, Proof, ServiceState, ShownStore, StatusSnapshot, StoreSnapshot, resources, sweeps,
    wanted,
};

/// Counts that took longer are recorded for the next start, and nobody waits for the next ones.
const SLOW: Duration = Duration::from_millis(100);

/// The row counts of the mirror. Counting reads all rows, so frequent readers keep the counts for a while.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    states: TableStates,
    open_orders: BTreeMap<String, u64>,
    /// The time that counting took; `None` of recorded counts, which took long.
    pub(crate) took: Option<Duration>,
}

impl Counted {
    /// Counts the rows of one store, or of every store. Records counts of all stores if that took long.
    pub(crate) async fn take(store: &Store, clock: &dyn Clock, of: Option<&StoreKey>) -> Result<Self, Error> {
        let begun = clock.monotonic();
        let states = store.overview().table_states(of).await?;
        let open_orders = store.runs().open_order_counts(of).await?;
        let took = clock.monotonic().saturating_sub(begun);
        if took > SLOW
            && of.is_none()
            && let Err(error) = store.overview().record_table_states(of, &states).await
        {
            tracing::debug!(%error, "cannot record the row counts");
        }
        Ok(Self { states, open_orders, took: Some(took) })
    }

    /// Counts the rows of every store if no counts are on record, so that the first page of a service on this mirror
    /// need not wait for them. A small mirror is counted while a page waits, and has none on record.
    pub(crate) async fn record_first(store: &Store, clock: &dyn Clock) -> Result<(), Error> {
        match Self::recorded(store, None).await? {
            Some(_) => Ok(()),
            None => Self::take(store, clock, None).await.map(drop),
        }
    }

    /// Tells whether each of these stores was counted: one without rows has no counts.
    pub(crate) fn has_all_of(&self, shown: &[ShownStore]) -> bool {
        shown.iter().all(|shown| self.states.tables.contains_key(shown.key.as_str()))
    }

    /// Tells whether counting anew would make a page wait.
    pub(crate) fn is_slow(&self) -> bool {
        self.took.is_none_or(|took| took > SLOW)
    }

    /// Returns the recorded counts of one store, or of every store; `None` if there are none.
    pub(crate) async fn recorded(store: &Store, of: Option<&StoreKey>) -> Result<Option<Self>, Error> {
        let states = store.overview().recorded_table_states(of).await?;
        if states.tables.is_empty() {
            return Ok(None);
        }
        let open_orders = store.runs().open_order_counts(of).await?;
        Ok(Some(Self { states, open_orders, took: None }))
    }
}

/// Takes the snapshot of one store, or of every shown store. `live` is present if the service itself takes it.
pub(crate) async fn collect(
    store: &Store,
    clock: &dyn Clock,
    (shown, of): (&[ShownStore], Option<&StoreKey>),
    counted: &Counted,
    live: Option<&Live>,
) -> Result<StatusSnapshot, Error> {
    let at = clock.now();
    let (mut overviews, held) = (store.overview().overview(of).await?, store.leases().held_stores().await?);
    let (mut swept, mut undone) = (store.runs().sweep_overview(of).await?, store.intents().undone(of).await?);
    let health = live.map(|live| live.health.snapshot()).unwrap_or_default();
    let mut stores = Vec::new();
    for ShownStore { key, per_minute, plan, .. } in
        shown.iter().filter(|shown| of.is_none_or(|of| *of == shown.key))
    {
        let name = key.as_str();
        let overview = overviews.remove(name).unwrap_or_default();
        let held = held.as_ref().map(|held| held.contains(name));
        let tables = counted.states.tables.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut snapshot = of_store(key.to_string(), overview, tables, held, at);
        if let Some(live) = live {
            live.add(key, *per_minute, health.get(key), &mut snapshot);
        }
        let open = counted.open_orders.get(name).copied().unwrap_or_default();
        let swept = swept.remove(name).unwrap_or_default();
        snapshot.sweeps = sweeps::of_store(&snapshot, *per_minute, plan, (&swept, open), at);
        let arriving = health.get(key).and_then(|health| health.webhook);
        if let (Some(webhook), Some(arriving)) = (&mut snapshot.sweeps.webhook, arriving) {
            webhook.note_heard(&arriving, at);
        }
        snapshot.wanted = wanted::of_store(undone.remove(name).unwrap_or_default(), at);
        snapshot.resources = resources::of_store(&snapshot, &swept.audits, open, at);
        snapshot.counted_at = counted.states.counted_at;
        snapshot.lag_seconds = lag(&snapshot, at);
        stores.push(snapshot);
    }
    let service = live.map_or_else(not_running, Live::service);
    let heard = stores.iter().filter_map(|store| store.sweeps.webhook.as_ref()?.heard_at);
    // The alarms' observations tell when the marketplace answered and the database took a write.
    let proof = Proof { webhook_at: heard.max(), ..Proof::default() };
    let (state, alarms, unproved) = ("unknown".to_owned(), Vec::new(), Vec::new());
    Ok(StatusSnapshot { state, at, proof, service, stores, alarms, unproved })
}

/// Returns how old the mirror may be: the age of the oldest unread delivery, else the time since the last read of
/// changed orders.
fn lag(store: &StoreSnapshot, at: DateTime<Utc>) -> Option<i64> {
    let orders =
        store.resources.iter().filter(|row| matches!(row.resource.as_str(), "orders" | "open_orders"));
    let read = orders.filter_map(|row| row.last_success).max();
    let read = read.map(|then| (at - then).num_seconds().max(0));
    store.inbox.oldest_age_seconds.or(read)
}

fn not_running() -> ServiceState {
    ServiceState {
        running: false,
        version: env!("CARGO_PKG_VERSION").into(),
        process: None,
        started_at: None,
        installation: None,
        file: None,
        webhook_socket: None,
        reload: None,
    }
}

fn of_store(
    store: String,
    overview: Overview,
    tables: &[TableState],
    held: Option<bool>,
    at: DateTime<Utc>,
) -> StoreSnapshot {
    let seconds_since = |time: DateTime<Utc>| (at - time).num_seconds().max(0);
    let oldest_age_seconds = overview.backlog.map(|(_, oldest)| seconds_since(oldest));
    StoreSnapshot {
        store,
        holder: overview.holder.map(|(owner, since)| Holder { owner, since, held }),
        ours: None,
        last_run: overview.last_run,
        last_success: past(overview.last_success, at),
        tables: tables
            .iter()
            .map(|table| TableState { last_mirrored: past(table.last_mirrored, at), ..table.clone() })
            .collect(),
        counted_at: None,
        failures: overview.failures,
        inbox: Inbox { backlog: overview.backlog.map_or(0, |(rows, _)| rows), oldest_age_seconds },
        token_expires_at: overview.token_expires_at,
        budget: None,
        lag_seconds: None,
        answered_at: None,
        sweeps: sweeps::Sweeps::default(),
        resources: Vec::new(),
        unverified: 0,
        wanted: Vec::new(),
        first_reading_ended: overview.first_reading_ended,
        reading: overview.reading,
    }
}

//! What the database says about each store.

use chrono::{DateTime, Utc};
use espelho_model::Clock;
use espelho_store::{Error, Overview, RunOnRecord, Store};

use super::{
    Failures, Health, Holder, Inbox, Live, Picture, Run, ServiceState, Shown, StorePicture, TableCounts,
    judge, sweeps,
};

/// Takes the picture. With `live`, of the service that takes it itself.
pub(crate) async fn collect(
    store: &Store,
    clock: &dyn Clock,
    shown: &[Shown],
    live: Option<&Live>,
) -> Result<Picture, Error> {
    let at = clock.now();
    let (mut overviews, held) = (store.overview().await?, store.held_stores().await?);
    let swept = store.sweep_overview().await?;
    let health = live.map(|live| live.health.snapshot()).unwrap_or_default();
    let mut stores = Vec::with_capacity(shown.len());
    for (key, per_minute, plan) in shown {
        let overview = overviews.remove(key.as_str()).unwrap_or_default();
        let held = held.as_ref().map(|held| held.contains(key.as_str()));
        let mut picture = of_store(key.to_string(), overview, held, at);
        if let Some(live) = live {
            live.add(key, *per_minute, health.get(key), &mut picture);
        }
        picture.sweeps = sweeps::of_store(&picture, *per_minute, plan, &swept, at);
        stores.push(picture);
    }
    let service = live.map_or_else(not_running, Live::service);
    let mut picture = Picture { state: Health::Ok, at, service, stores, alarms: Vec::new() };
    judge::judge(&mut picture);
    Ok(picture)
}

fn not_running() -> ServiceState {
    ServiceState {
        running: false,
        version: env!("CARGO_PKG_VERSION").into(),
        process: None,
        started_at: None,
    }
}

fn of_store(store: String, overview: Overview, held: Option<bool>, at: DateTime<Utc>) -> StorePicture {
    let seconds_since = |time: DateTime<Utc>| (at - time).num_seconds().max(0);
    let oldest_age_seconds = overview.backlog.map(|(_, oldest)| seconds_since(oldest));
    let tables = overview.tables.into_iter().map(|t| TableCounts {
        table: t.table,
        live: t.live,
        gone: t.gone,
        last_mirrored: t.last_mirrored,
    });
    let failures = overview.failures.into_iter().map(|f| Failures {
        entity: f.entity,
        code: f.code,
        rows: f.rows,
        error: f.error,
        hint: f.hint,
    });
    StorePicture {
        store,
        holder: overview.holder.map(|(owner, since)| Holder { owner, since, held }),
        ours: None,
        last_run: overview.last_run.map(run),
        last_success: overview.last_success,
        tables: tables.collect(),
        failures: failures.collect(),
        inbox: Inbox { backlog: overview.backlog.map_or(0, |(rows, _)| rows), oldest_age_seconds },
        token_expires_at: overview.token_expires_at,
        budget: None,
        lag_seconds: oldest_age_seconds.or(overview.last_success.map(seconds_since)),
        problem: None,
        sweeps: sweeps::Sweeps::default(),
        foreign_login: false,
        unverified: 0,
    }
}

fn run(run: RunOnRecord) -> Run {
    Run {
        kind: run.kind,
        state: run.state,
        started_at: run.started_at,
        finished_at: run.finished_at,
        requests: run.requests,
        seen: run.counts.seen,
        changed: run.counts.changed,
        gone: run.counts.gone,
        failed: run.counts.failed,
        error: run.error,
    }
}

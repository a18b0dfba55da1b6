//! Follows the pauses in the database: any process may begin or end one, and none announces it.

use std::{sync::Arc, time::Duration};

use espelho_model::{Clock, pause::Pause};
use espelho_store::{Error, Store};
use espelho_sync_engine::WorkSuspension;
use tokio_util::sync::CancellationToken;

use crate::http::webhook::WakerRegistry;

/// How often the pauses are read: one small table.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reads the pauses once.
pub(crate) async fn read(store: &Store, suspension: &WorkSuspension) -> Result<Vec<Pause>, Error> {
    let pauses = store.pauses().recent().await?;
    suspension.set_pauses(pauses.clone());
    Ok(pauses)
}

/// Follows the pauses until the service stops, and wakes the stores when one ends: what waited is made up at once.
pub(crate) async fn follow(
    store: Store,
    clock: Arc<dyn Clock>,
    suspension: WorkSuspension,
    wakers: Arc<WakerRegistry>,
    stop: CancellationToken,
) {
    let following = async {
        let mut standing: Vec<Pause> = Vec::new();
        loop {
            match read(&store, &suspension).await {
                Ok(pauses) => {
                    let now = clock.now();
                    let lasting: Vec<Pause> = pauses.into_iter().filter(|pause| pause.lasts(now)).collect();
                    report(&standing, &lasting, &wakers);
                    standing = lasting;
                }
                // The pauses that were read last stay in force until their end.
                Err(error) => tracing::debug!(%error, "cannot read the pauses; will retry"),
            }
            clock.sleep(INTERVAL).await;
        }
    };
    tokio::select! { () = following => (), () = stop.cancelled() => () }
}

fn report(before: &[Pause], now: &[Pause], wakers: &WakerRegistry) {
    let is_in = |pauses: &[Pause], pause: &Pause| {
        pauses.iter().any(|other| (&other.store, other.scope) == (&pause.store, pause.scope))
    };
    for Pause { store, scope, until, paused_by, .. } in now.iter().filter(|pause| !is_in(before, pause)) {
        tracing::warn!(%store, scope = scope.as_str(), %until, paused_by, "paused");
    }
    let ended: Vec<&Pause> = before.iter().filter(|pause| !is_in(now, pause)).collect();
    for Pause { store, scope, .. } in &ended {
        tracing::info!(%store, scope = scope.as_str(), "the pause is over; making up for it");
    }
    wakers.wake(ended.iter().map(|pause| &pause.store));
    wakers.wake_pushers(ended.iter().map(|pause| &pause.store));
}

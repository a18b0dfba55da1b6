//! Opens the database for work, which migrates it: a backup comes first, and systemd hears that the start goes on.

use std::{convert::Infallible, sync::Arc, time::Duration};

use espelho_model::Clock;
use espelho_store::Store;
use espelho_sync_engine::Problem;
use sd_notify::NotifyState;

use crate::{config::Configuration, place::Place};

/// How often systemd is told, and for how long each word holds.
const TELL_EVERY: Duration = Duration::from_secs(20);
const HOLDS: Duration = Duration::from_secs(90);

/// Opens the database. A SQLite mirror with rows is backed up before it is migrated, unless the configuration says not to.
pub(crate) async fn open(
    configuration: &Configuration,
    place: &Place,
    clock: &Arc<dyn Clock>,
) -> Result<Store, Problem> {
    let opening = async {
        if !configuration.installation.database.backup_before_migration {
            return Store::open(&place.url, Arc::clone(clock)).await;
        }
        let (store, backup) = Store::open_after_backup(&place.url, Arc::clone(clock), &|_, _, _| {}).await?;
        if let Some(path) = backup {
            tracing::info!(path = %path.display(), "made a backup before the migration");
        }
        Ok(store)
    };
    tokio::select! {
        opened = opening => opened.map_err(Problem::from),
        never = extend_start(clock) => match never {},
    }
}

/// Asks systemd for more time, for ever: a large database may take longer than a start usually may.
async fn extend_start(clock: &Arc<dyn Clock>) -> Infallible {
    let micros = u32::try_from(HOLDS.as_micros()).unwrap_or(u32::MAX);
    loop {
        // Without systemd there is nobody to tell.
        let _ = sd_notify::notify(&[NotifyState::ExtendTimeoutUsec(micros)]);
        clock.sleep(TELL_EVERY).await;
    }
}

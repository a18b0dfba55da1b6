//! Pauses: what operators have stopped for a while. They are rows, so that they last over restarts and reach every
//! process of the service.

use std::{str::FromStr as _, sync::Once};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    StoreKey,
    pause::{Pause, PauseScope},
};

use crate::{
    Error,
    driver::{Row, Value},
    operations::Pauses,
};

pub(crate) const RECENT: &str =
    "SELECT store, scope, since, until, paused_by FROM pauses WHERE until > $1 ORDER BY store, scope";
/// The beginning of a pause that lasts already stays.
pub(crate) const BEGIN: &str = "INSERT INTO pauses (store, scope, since, until, paused_by) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (store, scope) DO UPDATE SET \
    since = CASE WHEN pauses.until > excluded.since THEN pauses.since ELSE excluded.since END, \
    until = excluded.until, paused_by = excluded.paused_by";
pub(crate) const END: &str = "UPDATE pauses SET until = $1 WHERE store = $2 AND until > $1 AND scope";
pub(crate) const FORGET: &str = "DELETE FROM pauses WHERE until < $1";

/// How long a pause that is over is kept.
const KEPT: TimeDelta = TimeDelta::days(1);

impl Pauses<'_> {
    /// The pauses that last, and those that ended within the last day.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recent(self) -> Result<Vec<Pause>, Error> {
        let since = self.clock.now() - KEPT;
        let rows = self.database.fetch("read the pauses", RECENT, vec![since.into()]).await?;
        // A later version may know more scopes; it obeys them itself.
        Ok(rows.iter().filter_map(|row| readable(pause(row))).collect())
    }

    /// Begins pauses, all or none; one of the same store and scope gets the new end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin(self, pauses: &[Pause]) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute("forget old pauses", FORGET, vec![(self.clock.now() - KEPT).into()]).await?;
        for Pause { store, scope, since, until, paused_by } in pauses {
            let values: Vec<Value> = vec![
                store.as_str().into(),
                scope.as_str().into(),
                (*since).into(),
                (*until).into(),
                paused_by.as_str().into(),
            ];
            tx.execute("begin a pause", BEGIN, values).await?;
        }
        tx.commit().await
    }

    /// Ends the pauses of these stores and scopes now; returns how many lasted.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end(self, stores: &[StoreKey], scopes: &[PauseScope]) -> Result<u64, Error> {
        let now: DateTime<Utc> = self.clock.now();
        let scopes: Vec<String> = scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        let mut ended = 0;
        let mut tx = self.database.begin().await?;
        for store in stores {
            let first = [now.into(), store.as_str().into()];
            ended += tx.execute_in("end pauses", END, &first, scopes.clone()).await?;
        }
        tx.commit().await?;
        Ok(ended)
    }
}

/// Leaves out a row that somebody has written by hand and that says no time: the other pauses hold all the same.
fn readable(pause: Result<Option<Pause>, Error>) -> Option<Pause> {
    static TOLD: Once = Once::new();
    pause.unwrap_or_else(|error| {
        TOLD.call_once(
            || tracing::warn!(%error, "a row of the table pauses cannot be read and pauses nothing"),
        );
        None
    })
}

fn pause(row: &Row) -> Result<Option<Pause>, Error> {
    let (Ok(store), Ok(scope)) =
        (StoreKey::new(&row.text("store")?), PauseScope::from_str(&row.text("scope")?))
    else {
        return Ok(None);
    };
    let (since, until) = (row.time("since")?, row.time("until")?);
    Ok(Some(Pause { store, scope, since, until, paused_by: row.text("paused_by")? }))
}

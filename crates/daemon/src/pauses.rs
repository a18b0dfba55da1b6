//! Pauses as people begin and end them: the command and the page do it in the same way, with the same words on record.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    StoreKey,
    next_step::quoted,
    pause::{Pause, PauseScope},
    program,
    time::fixed_width,
};
use espelho_store::{Error, Store};

/// A pause of stores that is to begin.
pub(crate) struct NewPause<'p> {
    pub(crate) stores: &'p [StoreKey],
    pub(crate) scope: PauseScope,
    pub(crate) since: DateTime<Utc>,
    pub(crate) span: TimeDelta,
    /// The operator who begins it.
    pub(crate) by: &'p str,
}

impl NewPause<'_> {
    /// Returns the pause of each store.
    pub(crate) fn pauses(&self) -> Vec<Pause> {
        let Self { stores, scope, since, .. } = *self;
        let pause = |store: &StoreKey| Pause {
            store: store.clone(),
            scope,
            since,
            until: self.until(),
            paused_by: self.by.to_owned(),
        };
        stores.iter().map(pause).collect()
    }

    /// Begins it; returns for how many stores, and the outcome on record.
    pub(crate) async fn begin(&self, store: &Store) -> Result<(u64, String), Error> {
        store.pauses().begin(&self.pauses()).await?;
        Ok((self.stores.len() as u64, format!("paused until {}", fixed_width(self.until()))))
    }

    fn until(&self) -> DateTime<Utc> {
        self.since + self.span
    }
}

/// Ends pauses; returns how many, and the outcome on record.
pub(crate) async fn end(
    store: &Store,
    stores: &[StoreKey],
    scopes: &[PauseScope],
) -> Result<(u64, String), Error> {
    Ok((store.pauses().end(stores, scopes).await?, "resumed".to_owned()))
}

/// Returns the pauses of these stores and scopes that last.
pub(crate) async fn lasting(
    store: &Store,
    stores: &[StoreKey],
    scopes: &[PauseScope],
    now: DateTime<Utc>,
) -> Result<Vec<Pause>, Error> {
    let mut pauses = store.pauses().recent().await?;
    pauses.retain(|pause| pause.lasts(now) && stores.contains(&pause.store) && scopes.contains(&pause.scope));
    Ok(pauses)
}

/// Returns a pause as the record of its end names it.
pub(crate) fn name(pause: &Pause) -> String {
    format!("{} {}", pause.store, pause.scope.as_str())
}

/// Returns the command line that begins or ends pauses (`act`): of a scope or of all, of these stores or of all.
pub(crate) fn command_line<'s>(
    act: &str,
    only: Option<&str>,
    span: Option<&str>,
    stores: impl IntoIterator<Item = &'s str>,
) -> String {
    let option = |name: &str, value: &str| format!(" --{name} {}", quoted(value));
    let only = only.map(|only| option("only", only)).unwrap_or_default();
    let span = span.map(|span| option("for", span)).unwrap_or_default();
    let stores: String = stores.into_iter().map(|store| option("store", store)).collect();
    format!("{} {act}{only}{span}{stores}", program::call())
}

//! Hearing that the change feed has grown, where the database can say so.

use sqlx::postgres::PgListener;

use crate::{CHANNEL, Error, Store, driver::Database};

/// Hears of new rows of the change feed. A signal may be missed when a connection breaks, so whoever listens also looks
/// by itself now and then.
pub struct ChangeWatch(Option<PgListener>);

impl Store {
    /// Begins to listen: on PostgreSQL to `NOTIFY`; SQLite tells nobody.
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn watch_changes(&self) -> Result<ChangeWatch, Error> {
        let Database::Postgres(pool) = &self.database else { return Ok(ChangeWatch(None)) };
        let failed = |source| Error::Statement { operation: "listen to the change feed", source };
        let mut listener = PgListener::connect_with(pool).await.map_err(failed)?;
        listener.listen(CHANNEL).await.map_err(failed)?;
        Ok(ChangeWatch(Some(listener)))
    }
}

impl ChangeWatch {
    /// Whether it can hear at all.
    pub fn hears(&self) -> bool {
        self.0.is_some()
    }

    /// Waits for the next signal; for ever where there is none to come.
    pub async fn changed(&mut self) {
        if let Some(listener) = &mut self.0
            && listener.recv().await.is_ok()
        {
            return;
        }
        self.0 = None;
        std::future::pending::<()>().await;
    }
}

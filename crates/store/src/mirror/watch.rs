//! Notifications of new rows in the change feed, on PostgreSQL.

use sqlx::postgres::PgListener;

use crate::{CHANNEL, Error, driver::Database, mirror::Changes};

/// A listener for new rows of the change feed. A broken connection loses notifications, so the caller also polls now
/// and then.
pub struct ChangeWatch(Option<PgListener>);

impl Changes<'_> {
    /// Starts a listener: `NOTIFY` on PostgreSQL; SQLite has no notifications.
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn watch_changes(self) -> Result<ChangeWatch, Error> {
        let Database::Postgres(pool) = self.database else { return Ok(ChangeWatch(None)) };
        let failed = |source| Error::Statement { operation: "listen to the change feed", source };
        let mut listener = PgListener::connect_with(&pool.pool()).await.map_err(failed)?;
        listener.listen(CHANNEL).await.map_err(failed)?;
        Ok(ChangeWatch(Some(listener)))
    }
}

impl ChangeWatch {
    /// Whether notifications can arrive at all.
    pub fn hears(&self) -> bool {
        self.0.is_some()
    }

    /// Waits for the next notification; for ever if none can arrive.
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

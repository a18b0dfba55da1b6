//! Listens for deliveries that other processes write to a shared database.

use espelho_model::StoreKey;
use sqlx::postgres::{PgListener, PgPoolOptions};

use crate::{Error, driver::Database, inbox::Inbox};

/// The channel on which PostgreSQL announces deliveries; the payload is the store's key.
pub(crate) const CHANNEL: &str = "espelho_inbox";

/// A listener for deliveries. Notifications are lost while its connection is down.
pub struct InboxWatch(PgListener);

/// A notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The inbox has a new delivery of this store.
    Deliveries(StoreKey),
    /// The connection was down: any store may have something new.
    Gap,
}

impl Inbox<'_> {
    /// Starts a listener; `None` on SQLite, where no other process shares the inbox.
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn watch_inbox(self) -> Result<Option<InboxWatch>, Error> {
        let Database::Postgres(line) = self.inbox else { return Ok(None) };
        // A connection of its own: those of the pool serve acknowledgements.
        let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let own = own.connect_with((*line.pool().connect_options()).clone()).await.map_err(failed)?;
        let mut listener = PgListener::connect_with(&own).await.map_err(failed)?;
        listener.listen(CHANNEL).await.map_err(failed)?;
        Ok(Some(InboxWatch(listener)))
    }
}

impl InboxWatch {
    /// Waits for the next notification.
    ///
    /// # Errors
    /// When the connection fails and cannot be restored.
    pub async fn next(&mut self) -> Result<Heard, Error> {
        let heard = self.0.try_recv().await.map_err(failed)?;
        let store = heard.and_then(|sent| StoreKey::new(sent.payload()).ok());
        Ok(store.map_or(Heard::Gap, Heard::Deliveries))
    }
}

fn failed(source: sqlx::Error) -> Error {
    Error::Statement { operation: "listen to the inbox", source }
}

//! Listens for deliveries and intents that other processes write to a shared database.

use espelho_model::StoreKey;
use sqlx::postgres::{PgListener, PgPoolOptions};

use crate::{Error, driver::Database, inbox::Inbox};

const CHANNEL: &str = "espelho_inbox";
/// The channel of the triggers on the ERP's tables.
const OUTBOX: &str = "espelho_outbox";

/// A listener for deliveries. Notifications are lost while its connection is down.
pub struct InboxWatch(PgListener);

/// A notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The inbox has a new delivery of this store.
    Deliveries(StoreKey),
    /// The ERP has written an intent of this store.
    IntentKind(StoreKey),
    /// The connection was down: any store may have something new.
    Gap,
}

impl Inbox<'_> {
    /// Starts a listener; `None` on SQLite, where no other process shares the inbox.
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn watch_inbox(self) -> Result<Option<InboxWatch>, Error> {
        let Database::Postgres(pool) = self.inbox else { return Ok(None) };
        // A connection of its own: those of the pool serve acknowledgements.
        let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let own = own.connect_with((*pool.connect_options()).clone()).await.map_err(failed)?;
        let mut listener = PgListener::connect_with(&own).await.map_err(failed)?;
        listener.listen_all([CHANNEL, OUTBOX]).await.map_err(failed)?;
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
        let notification =
            heard.and_then(|sent| Some((sent.channel() == OUTBOX, StoreKey::new(sent.payload()).ok()?)));
        Ok(match notification {
            Some((true, store)) => Heard::IntentKind(store),
            Some((false, store)) => Heard::Deliveries(store),
            None => Heard::Gap,
        })
    }
}

fn failed(source: sqlx::Error) -> Error {
    Error::Statement { operation: "listen to the inbox", source }
}

//! Hearing that another process has put deliveries into the inbox, where several share a database.

use espelho_model::StoreKey;
use sqlx::postgres::{PgListener, PgPoolOptions};

use crate::{Error, Store, driver::Database};

const CHANNEL: &str = "espelho_inbox";
/// Told by the triggers of what the ERP writes.
const OUTBOX: &str = "espelho_outbox";

/// Hears of deliveries. What comes while the connection is away is not told again.
pub struct InboxWatch(PgListener);

/// What was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something is in the inbox of this store.
    Deliveries(StoreKey),
    /// The ERP wants something of this store.
    IntentKind(StoreKey),
    /// The connection was away: something may be in any.
    Gap,
}

impl Store {
    /// Begins to listen; `None` where nobody else can be at the inbox.
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn watch_inbox(&self) -> Result<Option<InboxWatch>, Error> {
        let Database::Postgres(pool) = &self.inbox else { return Ok(None) };
        // A connection of its own: the pool's are for acknowledgements.
        let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let own = own.connect_with((*pool.connect_options()).clone()).await.map_err(failed)?;
        let mut listener = PgListener::connect_with(&own).await.map_err(failed)?;
        listener.listen_all([CHANNEL, OUTBOX]).await.map_err(failed)?;
        Ok(Some(InboxWatch(listener)))
    }
}

impl InboxWatch {
    /// The next thing to hear.
    ///
    /// # Errors
    /// When the connection is away and does not come back.
    pub async fn next(&mut self) -> Result<Heard, Error> {
        let heard = self.0.try_recv().await.map_err(failed)?;
        let told =
            heard.and_then(|told| Some((told.channel() == OUTBOX, StoreKey::new(told.payload()).ok()?)));
        Ok(match told {
            Some((true, store)) => Heard::IntentKind(store),
            Some((false, store)) => Heard::Deliveries(store),
            None => Heard::Gap,
        })
    }
}

fn failed(source: sqlx::Error) -> Error {
    Error::Statement { operation: "listen to the inbox", source }
}

//! The secrets that sign a store's deliveries (API document, "Authentication" 9 and 10).

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::StoreKey;

use crate::{Error, inbox::Inbox};

/// How long a retired secret is still accepted: deliveries signed with it may be on their way, and the last attempt
/// comes 36 minutes after the first.
pub const SECRET_GRACE: TimeDelta = TimeDelta::hours(24);
pub(crate) const RETIRE: &str = "UPDATE webhook_secrets SET retired_at = $2 \
    WHERE store = $1 AND secret <> $3 AND retired_at IS NULL";
pub(crate) const FORGET: &str = "DELETE FROM webhook_secrets WHERE store = $1 AND retired_at <= $2";
pub(crate) const SAVE: &str = "INSERT INTO webhook_secrets (store, secret, obtained_at) VALUES ($1, $2, $3) \
    ON CONFLICT (store, secret) DO UPDATE SET retired_at = NULL";
pub(crate) const LOAD: &str = "SELECT secret, obtained_at, retired_at FROM webhook_secrets \
    WHERE store = $1 AND (retired_at IS NULL OR retired_at > $2) ORDER BY obtained_at DESC, secret";

/// A signing secret. The marketplace shows it once; it is never logged, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptSecret {
    /// `whsec_…`
    pub secret: String,
    /// When it was issued.
    pub obtained_at: DateTime<Utc>,
    /// When another secret replaced it.
    pub retired_at: Option<DateTime<Utc>>,
}

impl KeptSecret {
    /// Whether a delivery that arrives at `now` may be signed with this secret.
    pub fn is_accepted(&self, now: DateTime<Utc>) -> bool {
        self.retired_at.is_none_or(|retired| now < retired + SECRET_GRACE)
    }
}

impl std::fmt::Debug for KeptSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { obtained_at, retired_at, .. } = self;
        f.debug_struct("KeptSecret")
            .field("obtained_at", obtained_at)
            .field("retired_at", retired_at)
            .finish_non_exhaustive()
    }
}

impl Inbox<'_> {
    /// Records a store's signing secret and retires the previous one; durable when this returns. Recording the same
    /// secret again changes nothing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_secret(self, store: &StoreKey, secret: &str) -> Result<(), Error> {
        let (key, now) = (store.as_str(), self.clock.now());
        let mut tx = self.inbox.begin().await?;
        let values = vec![key.into(), (now - SECRET_GRACE).into()];
        tx.execute("forget old webhook secrets", FORGET, values).await?;
        let values = vec![key.into(), now.into(), secret.into()];
        tx.execute("retire a webhook secret", RETIRE, values).await?;
        let values = vec![key.into(), secret.into(), now.into()];
        tx.execute("keep a webhook secret", SAVE, values).await?;
        tx.commit().await
    }

    /// The secrets that are valid for deliveries to a store at `now`, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn secrets(self, store: &StoreKey, now: DateTime<Utc>) -> Result<Vec<KeptSecret>, Error> {
        let values = vec![store.as_str().into(), (now - SECRET_GRACE).into()];
        let rows = self.inbox.fetch("read the webhook secrets", LOAD, values).await?;
        let secret = |row: &crate::driver::Row| {
            Ok(KeptSecret {
                secret: row.text("secret")?,
                obtained_at: row.time("obtained_at")?,
                retired_at: row.optional_time("retired_at")?,
            })
        };
        rows.iter().map(secret).collect()
    }
}

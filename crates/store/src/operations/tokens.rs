//! The token of a store, and the logins made for it.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{Error, operations::Tokens};

pub(crate) const LOAD: &str =
    "SELECT token, expires_at, obtained_at, username, base_url, password_check FROM tokens WHERE store = $1";
pub(crate) const SAVE: &str = "INSERT INTO tokens (store, token, expires_at, obtained_at, username, base_url, \
    password_check) VALUES ($1, $2, $3, $4, $5, $6, $7) \
    ON CONFLICT (store) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at, \
    obtained_at = excluded.obtained_at, username = excluded.username, base_url = excluded.base_url, \
    password_check = excluded.password_check";
pub(crate) const LOGINS: &str = "SELECT at, reason FROM logins WHERE store = $1 AND at >= $2 ORDER BY at";
pub(crate) const RECORD: &str = "INSERT INTO logins (store, at, reason) VALUES ($1, $2, $3) \
    ON CONFLICT (store, at) DO UPDATE SET reason = excluded.reason";
pub(crate) const FORGET: &str = "DELETE FROM logins WHERE store = $1 AND at < $2";

/// A recorded token. The text is a secret: it is never logged, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptToken {
    /// The bearer token.
    pub token: String,
    /// When it expires.
    pub expires_at: DateTime<Utc>,
    /// When it was issued.
    pub obtained_at: DateTime<Utc>,
    /// The credential that obtained it.
    pub username: String,
    /// The marketplace that issued it.
    pub base_url: String,
    /// A few bits of the password that obtained it, to tell another one; `None` if they are not on record.
    pub password_check: Option<i64>,
}

impl std::fmt::Debug for KeptToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptToken").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// A recorded login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginOnRecord {
    /// When.
    pub at: DateTime<Utc>,
    /// Why.
    pub reason: String,
}

impl Tokens<'_> {
    /// The recorded token.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn token(self, store: &StoreKey) -> Result<Option<KeptToken>, Error> {
        let rows = self.private.fetch("read the token", LOAD, vec![store.as_str().into()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(KeptToken {
            token: row.text("token")?,
            expires_at: row.time("expires_at")?,
            obtained_at: row.time("obtained_at")?,
            username: row.text("username")?,
            base_url: row.text("base_url")?,
            password_check: row.optional_int("password_check")?,
        }))
    }

    /// Records a token; durable when this returns.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_token(self, store: &StoreKey, token: KeptToken) -> Result<(), Error> {
        let KeptToken { token, expires_at, obtained_at, username, base_url, password_check } = token;
        let key = store.as_str().into();
        let values = vec![
            key,
            token.into(),
            expires_at.into(),
            obtained_at.into(),
            username.into(),
            base_url.into(),
            password_check.into(),
        ];
        self.private.execute("keep the token", SAVE, values).await.map(drop)
    }

    /// The logins since `since`, oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn logins_since(
        self,
        store: &StoreKey,
        since: DateTime<Utc>,
    ) -> Result<Vec<LoginOnRecord>, Error> {
        let rows =
            self.database.fetch("read the logins", LOGINS, vec![store.as_str().into(), since.into()]).await?;
        rows.iter()
            .map(|row| Ok(LoginOnRecord { at: row.time("at")?, reason: row.text("reason")? }))
            .collect()
    }

    /// Records a login, replacing one of the same instant, and deletes those older than a week.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn record_login(self, store: &StoreKey, login: &LoginOnRecord) -> Result<(), Error> {
        let week_ago = login.at - chrono::TimeDelta::days(7);
        let mut tx = self.database.begin().await?;
        tx.execute("forget old logins", FORGET, vec![store.as_str().into(), week_ago.into()]).await?;
        let values = vec![store.as_str().into(), login.at.into(), login.reason.as_str().into()];
        tx.execute("record a login", RECORD, values).await?;
        tx.commit().await
    }
}

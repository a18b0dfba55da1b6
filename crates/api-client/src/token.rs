//! The token of one store: kept, renewed before it expires, never fought over.
//!
//! Each login ends the previous token (API document, "Authentication" 3), so the token is a shared thing:
//! it lives in the [`TokenStore`], is written there before it is used, and a 401 reads the vault again before
//! it logs in. Two logins forced by 401s within an hour mean that another program uses the credential.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{Clock, ContentHash, watch};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    client_metrics::{ClientMetrics, LoginCount},
    contact::{self, TroubleKind},
    error::{BoxedError, Class, Error},
    limit::BoxFuture,
    retry::Attempts,
};

/// Logins forced by 401s that we accept within [`FORCED_WINDOW`].
const FORCED_LOGINS: usize = 2;
const FORCED_WINDOW: TimeDelta = TimeDelta::hours(1);
/// How long a failed renewal waits before the next one, while the old token works.
const RENEWAL_RETRY: TimeDelta = TimeDelta::minutes(15);
/// The document allows 5 a minute per (IP, username); one is left for a person who tries the password.
const LOGINS_A_MINUTE: usize = 4;
/// Between two attempts at a login that had no usable answer, after the first two.
const LOGIN_RETRY: Duration = Duration::from_secs(7);

/// A token as it is kept.
#[derive(Clone, Debug)]
pub struct TokenRecord {
    /// The bearer token, `sk_live_…`.
    pub token: SecretString,
    /// When the marketplace will refuse it.
    pub expires_at: DateTime<Utc>,
    /// When we got it.
    pub obtained_at: DateTime<Utc>,
}

/// What is on record of a login that is being made: it counts against the login limit, and a login that failed has
/// ended nobody's token.
const ATTEMPT: &str = "attempt";
/// What becomes of that when there was no connection: the marketplace counts nothing it never saw.
const UNSENT: &str = "unsent";

/// Why a login was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginReason {
    /// No token was known.
    First,
    /// The token is about to expire, or has.
    Renewal,
    /// The marketplace refused a token that should have been good.
    Forced,
}

impl LoginReason {
    /// The word kept in the vault.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Renewal => "renewal",
            Self::Forced => "401",
        }
    }
}

/// When a login was made, and why ([`LoginReason::as_str`]).
pub type PastLogin = (DateTime<Utc>, String);

/// Durable memory for the token and for the logins made.
pub trait TokenStore: Send + Sync {
    /// The token on record.
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>>;
    /// Puts a token on record. Durable when it returns.
    fn save(&self, record: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Times and reasons of the logins since `since`, oldest first.
    fn logins_since(&self, since: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>>;
    /// Puts a login on record: first that it is being made at `at`, then, replacing that, why it was.
    fn record_login(&self, at: DateTime<Utc>, what: &'static str) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Puts the signing secret of the webhook on record, when a login's answer carries it. It may be shown once only,
    /// so it must be durable when this returns: the token of the same answer is not used before. Does nothing unless
    /// it is overridden.
    fn keep_webhook_secret(&self, secret: SecretString) -> BoxFuture<'_, Result<(), BoxedError>> {
        drop(secret);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What a login gives.
pub(crate) struct Issued {
    pub(crate) record: TokenRecord,
    /// The signing secret of the webhook that the login asked for, if the answer carries it.
    pub(crate) webhook_secret: Option<SecretString>,
}

/// Makes the call that issues a token.
pub(crate) trait Login: Send + Sync {
    fn login(&self) -> BoxFuture<'_, Result<Issued, Error>>;
}

/// Gives out the token, and renews it with one login at a time.
pub(crate) struct TokenKeeper {
    username: String,
    clock: Arc<dyn Clock>,
    token_store: Arc<dyn TokenStore>,
    login: Arc<dyn Login>,
    /// Logins that are tried before the error of the last is given back.
    attempts: u32,
    metrics: Arc<ClientMetrics>,
    current: RwLock<Option<Arc<TokenRecord>>>,
    /// After a failed renewal: not before this is another one tried while the token still works.
    renew_not_before: RwLock<DateTime<Utc>>,
    renewing: tokio::sync::Mutex<()>,
}

impl TokenKeeper {
    pub(crate) fn new(
        username: String,
        clock: Arc<dyn Clock>,
        token_store: Arc<dyn TokenStore>,
        login: Arc<dyn Login>,
        attempts: u32,
        metrics: Arc<ClientMetrics>,
    ) -> Self {
        Self {
            username,
            clock,
            token_store,
            login,
            attempts,
            metrics,
            current: RwLock::default(),
            renew_not_before: RwLock::default(),
            renewing: tokio::sync::Mutex::default(),
        }
    }

    /// A token that should be good, logging in when there is none.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<Arc<TokenRecord>, Error> {
        match self.cached() {
            Some(record) if !self.is_due(&record) => Ok(record),
            _ => self.in_own_task(None).await,
        }
    }

    /// A token other than `refused`, which the marketplace answered with 401.
    pub(crate) async fn after_refusal(
        self: &Arc<Self>,
        refused: &Arc<TokenRecord>,
    ) -> Result<Arc<TokenRecord>, Error> {
        self.in_own_task(Some(Arc::clone(refused))).await
    }

    /// A new token, whatever the one before is good for.
    pub(crate) async fn log_in_again(self: &Arc<Self>) -> Result<(), Error> {
        let keeper = Arc::clone(self);
        let task = tokio::spawn(watch::inherited(async move {
            let waiting = watch::idle();
            let _one_at_a_time = keeper.renewing.lock().await;
            drop(waiting);
            let issued = keeper.try_to_log_in(LoginReason::Renewal).await?;
            keeper.keep(issued).await.map(drop)
        }));
        task.await.unwrap_or_else(|gone| Err(Error::TokenStore { action: "read", source: gone.into() }))
    }

    /// Ends when no login is under way.
    pub(crate) async fn logins_ended(&self) {
        drop(self.renewing.lock().await);
    }

    /// Runs the renewal where a cancelled caller cannot cut it in half: a login that was sent has already
    /// ended the old token, so its answer must reach the vault.
    async fn in_own_task(
        self: &Arc<Self>,
        refused: Option<Arc<TokenRecord>>,
    ) -> Result<Arc<TokenRecord>, Error> {
        let keeper = Arc::clone(self);
        let task = tokio::spawn(watch::inherited(async move { keeper.renew(refused.as_deref()).await }));
        task.await.unwrap_or_else(|gone| Err(Error::TokenStore { action: "read", source: gone.into() }))
    }

    async fn renew(&self, refused: Option<&TokenRecord>) -> Result<Arc<TokenRecord>, Error> {
        let waiting = watch::idle();
        let _one_at_a_time = self.renewing.lock().await;
        drop(waiting);
        let usable = |record: &TokenRecord| !self.is_due(record) && !refused.is_some_and(|r| same(r, record));
        if let Some(record) = self.cached().filter(|record| usable(record)) {
            return Ok(record);
        }
        let kept =
            self.token_store.load().await.map_err(|source| Error::TokenStore { action: "read", source })?;
        let reason = match &kept {
            Some(record) if usable(record) => return Ok(self.cache(record.clone())),
            None => LoginReason::First,
            Some(record) if refused.is_some_and(|r| same(r, record)) && !self.has_expired(record) => {
                LoginReason::Forced
            }
            Some(_) => LoginReason::Renewal,
        };
        self.log_in(reason, kept).await
    }

    async fn log_in(
        &self,
        reason: LoginReason,
        kept: Option<TokenRecord>,
    ) -> Result<Arc<TokenRecord>, Error> {
        self.refuse_login_war(reason).await?;
        let error = match self.try_to_log_in(reason).await {
            Ok(issued) => return self.keep(issued).await,
            Err(error) => error,
        };
        // A renewal that fails leaves the old token good until it expires: keep working, say it loudly.
        match kept.filter(|record| reason == LoginReason::Renewal && !self.has_expired(record)) {
            Some(record) => {
                let again = self.clock.now() + RENEWAL_RETRY;
                *self.renew_not_before.write().unwrap_or_else(PoisonError::into_inner) = again;
                tracing::warn!(%error, expires_at = %record.expires_at, "the token could not be renewed");
                Ok(self.cache(record))
            }
            None => Err(error),
        }
    }

    /// Writes down what a login gave, before anything uses it.
    async fn keep(&self, issued: Issued) -> Result<Arc<TokenRecord>, Error> {
        let Issued { record, webhook_secret } = issued;
        // The secret goes first: a token that is lost costs a login, a secret that is lost is gone.
        if let Some(secret) = webhook_secret {
            self.token_store.keep_webhook_secret(secret).await.map_err(unwritten)?;
        }
        self.token_store.save(record.clone()).await.map_err(unwritten)?;
        Ok(self.cache(record))
    }

    /// Each attempt is on record before it is made, so that a crash loop cannot burn the login limit; what it came to
    /// is recorded after it.
    async fn try_to_log_in(&self, reason: LoginReason) -> Result<Issued, Error> {
        let (mut attempts, mut has_retried) = (Attempts::new(self.attempts), false);
        loop {
            self.wait_for_login_budget().await?;
            let at = self.clock.now();
            self.token_store.record_login(at, ATTEMPT).await.map_err(unwritten)?;
            tracing::info!(username = self.username, reason = reason.as_str(), "logging in");
            let error = match self.login.login().await {
                Ok(issued) => {
                    self.token_store.record_login(at, reason.as_str()).await.map_err(unwritten)?;
                    self.metrics.login(LoginCount::of(reason));
                    return Ok(issued);
                }
                Err(error) => error,
            };
            if error.was_never_sent() {
                self.token_store.record_login(at, UNSENT).await.map_err(unwritten)?;
            }
            let Class::Transient { after } = error.class() else { return Err(error) };
            let Some(delay) = attempts.next_delay(after) else { return Err(error) };
            // After the second attempt evenly, so that the login limit is never waited for in one piece.
            let least = if has_retried { LOGIN_RETRY } else { Duration::ZERO };
            has_retried = true;
            self.clock.sleep(delay.max(least)).await;
        }
    }

    async fn refuse_login_war(&self, reason: LoginReason) -> Result<(), Error> {
        if reason != LoginReason::Forced {
            return Ok(());
        }
        let logins = self.logins_since(FORCED_WINDOW).await?;
        let forced = logins.iter().filter(|(_, reason)| reason == LoginReason::Forced.as_str()).count();
        if forced >= FORCED_LOGINS {
            self.metrics.login(LoginCount::Foreign);
            let error = Error::ForeignLogin { username: self.username.clone(), times: forced + 1 };
            let refused = contact::Outcome::LoginRefused(TroubleKind::ForeignLogin, contact::words(&error));
            self.metrics.contact(Some(refused), self.clock.now());
            return Err(error);
        }
        Ok(())
    }

    async fn wait_for_login_budget(&self) -> Result<(), Error> {
        loop {
            let recent = self.logins_since(TimeDelta::minutes(1)).await?;
            let Some(excess) = recent.len().checked_sub(LOGINS_A_MINUTE) else { return Ok(()) };
            let wait = recent[excess].0 + TimeDelta::seconds(61) - self.clock.now();
            let wait =
                wait.to_std().unwrap_or_default().clamp(Duration::from_millis(100), Duration::from_secs(61));
            tracing::warn!(
                wait_seconds = wait.as_secs(),
                "waiting: the marketplace allows five logins a minute"
            );
            self.clock.sleep(wait).await;
        }
    }

    async fn logins_since(&self, ago: TimeDelta) -> Result<Vec<PastLogin>, Error> {
        let now = self.clock.now();
        let logins = self.token_store.logins_since(now - ago).await;
        let logins = logins.map_err(|source| Error::TokenStore { action: "read", source })?;
        // A login "in the future" was recorded by a clock that was wrong then; it says nothing about now.
        Ok(logins.into_iter().filter(|(at, reason)| *at <= now && reason != UNSENT).collect())
    }

    fn cached(&self) -> Option<Arc<TokenRecord>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn cache(&self, record: TokenRecord) -> Arc<TokenRecord> {
        let record = Arc::new(record);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&record));
        record
    }

    fn has_expired(&self, record: &TokenRecord) -> bool {
        record.expires_at <= self.clock.now()
    }

    fn is_due(&self, record: &TokenRecord) -> bool {
        let now = self.clock.now();
        let postponed = *self.renew_not_before.read().unwrap_or_else(PoisonError::into_inner) > now;
        // A token that lives shorter than the document says is renewed at half its life, not at every request.
        let half = (record.expires_at - record.obtained_at) / 2;
        let margin = if postponed { TimeDelta::zero() } else { renewal_margin(&self.username).min(half) };
        record.expires_at - margin <= now
    }
}

/// 24 to 48 hours before expiry (API document, "Authentication" 3), spread by the credential's name so
/// that a thousand stores do not log in together.
fn renewal_margin(username: &str) -> TimeDelta {
    let spread = ContentHash::of(username.as_bytes()).as_i64().rem_euclid(24 * 60);
    TimeDelta::hours(24) + TimeDelta::minutes(spread)
}

fn unwritten(source: BoxedError) -> Error {
    Error::TokenStore { action: "written", source }
}

fn same(a: &TokenRecord, b: &TokenRecord) -> bool {
    a.token.expose_secret() == b.token.expose_secret()
}

/// The token's text, for the one place that must write it down: a [`TokenStore`].
pub fn expose(token: &SecretString) -> &str {
    token.expose_secret()
}

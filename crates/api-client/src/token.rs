//! The token of one store: stored, renewed before it expires, never contested.
//!
//! Each login ends the previous token (API document, "Authentication" 3), so the token is a shared resource. It is
//! kept in the [`TokenStore`] and written there before use, and after a 401 the token store is read again before a
//! login. A second login forced by a 401 within minutes means that another program uses the credential: it is named. A
//! third within an hour is not made.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    Clock, ContentHash,
    containment::{self, contained},
    watch,
};
use parking_lot::RwLock;
use secrecy::{ExposeSecret, SecretString};

use crate::{
    client_metrics::{ClientMetrics, LoginCount},
    contact::{self, LastToken, TroubleKind},
    error::{BoxedError, Class, Error, Refusal},
    limit::BoxFuture,
    login_budget::{self, ATTEMPT, FORCED_WINDOW, ForcedLogin, LIMIT_WINDOW, REFUSED, UNSENT},
    password_check::PasswordCheck,
    retry::Attempts,
};
pub use crate::{login_budget::PastLogin, login_reason::LoginReason};

/// The wait after a failed renewal before the next one, while the old token works.
const RENEWAL_RETRY: TimeDelta = TimeDelta::minutes(15);
/// The shortest wait between login attempts without a usable answer, after the first two.
const LOGIN_RETRY: Duration = Duration::from_secs(7);

/// A token whose stated life is shorter is used until it is refused: to renew it would take the whole login limit.
const SHORTEST_LIFE: TimeDelta = TimeDelta::minutes(1);

/// A stored token.
#[derive(Clone, Debug)]
pub struct TokenRecord {
    /// The bearer token, `sk_live_…`.
    pub token: SecretString,
    /// When the marketplace starts to refuse it.
    pub expires_at: DateTime<Utc>,
    /// When it was obtained.
    pub obtained_at: DateTime<Utc>,
    /// The check value of the password that obtained it; `None` if that is not on record.
    pub password_check: Option<PasswordCheck>,
}

/// Durable storage for the token and the logins.
pub trait TokenStore: Send + Sync {
    /// Returns the stored token.
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>>;
    /// Stores a token. Durable on return.
    fn save(&self, record: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Returns times and reasons of the logins since `since`, oldest first.
    fn logins_since(&self, since: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>>;
    /// Records a login: first that one is in progress at `at`, then its reason, which replaces the first record.
    fn record_login(&self, at: DateTime<Utc>, what: &'static str) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Stores the signing secret of the webhook, if a login's answer contains it. The secret may be shown only once,
    /// so it must be durable on return: the token of the same answer is not used earlier. The default does nothing.
    fn keep_webhook_secret(&self, secret: SecretString) -> BoxFuture<'_, Result<(), BoxedError>> {
        drop(secret);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The result of a login.
pub(crate) struct Issued {
    pub(crate) record: TokenRecord,
    /// The signing secret of the requested webhook, if the answer contains it.
    pub(crate) webhook_secret: Option<SecretString>,
}

/// Makes the call that issues a token.
pub(crate) trait Login: Send + Sync {
    fn login(&self, reason: LoginReason, last: LastToken) -> BoxFuture<'_, Result<Issued, Error>>;

    /// Resolves when a login that waits must be cancelled.
    fn closing(&self) -> BoxFuture<'_, ()>;
}

/// Hands out the token, and renews it with one login at a time.
pub(crate) struct TokenKeeper {
    username: String,
    clock: Arc<dyn Clock>,
    token_store: Arc<dyn TokenStore>,
    login: Arc<dyn Login>,
    /// How many logins are attempted before the last error is returned.
    attempts: u32,
    metrics: Arc<ClientMetrics>,
    current: RwLock<Option<Arc<TokenRecord>>>,
    /// After a failed renewal: no further renewal before this time, while the token still works.
    renew_not_before: RwLock<DateTime<Utc>>,
    renewing: tokio::sync::Mutex<()>,
    /// The last refusal of the credential. Callers that waited for that login take it as their answer.
    refused: RwLock<Refused>,
}

/// The number of times that the marketplace refused the credential, and its last answer.
#[derive(Default)]
struct Refused {
    times: u64,
    last: Option<(u16, Box<Refusal>)>,
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
            refused: RwLock::default(),
        }
    }

    /// Returns a token that should be valid. Logs in if there is none.
    pub(crate) async fn current(self: &Arc<Self>) -> Result<Arc<TokenRecord>, Error> {
        match self.cached() {
            Some(record) if !self.is_due(&record) => Ok(record),
            _ => Box::pin(self.in_own_task(None)).await,
        }
    }

    /// Returns a token other than `refused`, which the marketplace answered with 401.
    pub(crate) async fn after_refusal(
        self: &Arc<Self>,
        refused: &Arc<TokenRecord>,
    ) -> Result<Arc<TokenRecord>, Error> {
        Box::pin(self.in_own_task(Some(Arc::clone(refused)))).await
    }

    /// Obtains a new token, even if the current one is valid. One that was obtained at `since` or later is new enough: another
    /// login brought it while this one waited for its turn.
    pub(crate) async fn log_in_again(self: &Arc<Self>, since: Option<DateTime<Utc>>) -> Result<(), Error> {
        let keeper = Arc::clone(self);
        own_task(async move {
            let waiting = watch::idle();
            let _one_at_a_time = keeper.renewing.lock().await;
            drop(waiting);
            if since.is_some_and(|since| keeper.cached().is_some_and(|record| record.obtained_at >= since)) {
                return Ok(());
            }
            let reason = keeper.take_stored().await;
            let last = match keeper.cached().is_some_and(|record| !keeper.has_expired(&record)) {
                true => LastToken::Works,
                false => LastToken::Gone,
            };
            let issued = keeper.try_to_log_in(reason, last).await?;
            keeper.keep(issued).await.map(drop)
        })
        .await
    }

    /// Takes the stored token where none is known: others go on with it, however long a login takes. Returns the reason of a
    /// login now.
    async fn take_stored(&self) -> LoginReason {
        if self.cached().is_some() {
            return LoginReason::Renewal;
        }
        let (stored, reason) = match self.token_store.load().await {
            // The first load leaves a token out where only a login would register the webhook: it works all the same.
            Ok(None) => (self.token_store.load().await, LoginReason::First),
            stored => (stored, LoginReason::Renewal),
        };
        if let Ok(Some(record)) = stored
            && !self.has_expired(&record)
        {
            self.cache(record);
        }
        reason
    }

    /// Resolves when no login is running.
    pub(crate) async fn logins_ended(&self) {
        drop(self.renewing.lock().await);
    }

    /// Runs the renewal in its own task, so that a cancelled caller cannot interrupt it. A login that was sent has
    /// already ended the old token, so its answer must reach the token store.
    async fn in_own_task(
        self: &Arc<Self>,
        refused: Option<Arc<TokenRecord>>,
    ) -> Result<Arc<TokenRecord>, Error> {
        let keeper = Arc::clone(self);
        own_task(async move { keeper.renew(refused.as_deref()).await }).await
    }

    async fn renew(&self, refused: Option<&TokenRecord>) -> Result<Arc<TokenRecord>, Error> {
        let refusals = self.refused.read().times;
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
                let logins = self.logins_since(FORCED_WINDOW, self.clock.now()).await?;
                login_budget::reason_of_refusal(self.metrics.was_out_of_reach(), &logins)
            }
            Some(_) => LoginReason::Renewal,
        };
        if let Some(error) = self.refused_since(refusals) {
            return self.or_kept(error, reason, kept);
        }
        self.log_in(reason, kept).await
    }

    /// Returns the refusal that another caller's login got meanwhile: the same credential would get it again, and the
    /// marketplace counts logins.
    fn refused_since(&self, refusals: u64) -> Option<Error> {
        let refused = self.refused.read();
        let (status, refusal) = refused.last.clone().filter(|_| refused.times > refusals)?;
        Some(Error::LoginRefused { username: self.username.clone(), status, refusal })
    }

    async fn log_in(
        &self,
        reason: LoginReason,
        kept: Option<TokenRecord>,
    ) -> Result<Arc<TokenRecord>, Error> {
        self.check_foreign_login(reason).await?;
        let works = |record: &TokenRecord| reason == LoginReason::Renewal && !self.has_expired(record);
        let last = if kept.as_ref().is_some_and(works) { LastToken::Works } else { LastToken::Gone };
        let error = match self.try_to_log_in(reason, last).await {
            Ok(issued) => return self.keep(issued).await,
            Err(error) => error,
        };
        self.or_kept(error, reason, kept)
    }

    /// Returns the old token after a failed renewal, as long as it is valid: the work goes on, and the log has a warning.
    fn or_kept(
        &self,
        error: Error,
        reason: LoginReason,
        kept: Option<TokenRecord>,
    ) -> Result<Arc<TokenRecord>, Error> {
        match kept.filter(|record| reason == LoginReason::Renewal && !self.has_expired(record)) {
            Some(record) => {
                let again = self.clock.now() + RENEWAL_RETRY;
                *self.renew_not_before.write() = again;
                tracing::warn!(%error, expires_at = %record.expires_at, "token renewal failed; will retry");
                Ok(self.cache(record))
            }
            None => Err(error),
        }
    }

    /// Stores the result of a login before anything uses it.
    async fn keep(&self, issued: Issued) -> Result<Arc<TokenRecord>, Error> {
        let Issued { record, webhook_secret } = issued;
        // The secret goes first: a lost token costs a login, a lost secret cannot be recovered.
        if let Some(secret) = webhook_secret {
            self.token_store.keep_webhook_secret(secret).await.map_err(unwritten)?;
        }
        self.token_store.save(record.clone()).await.map_err(unwritten)?;
        Ok(self.cache(record))
    }

    /// Logs in with retries. Each attempt is recorded before it is made, so that a crash loop cannot exhaust the
    /// login limit; its result is recorded afterwards.
    async fn try_to_log_in(&self, reason: LoginReason, last: LastToken) -> Result<Issued, Error> {
        let (mut attempts, mut has_retried) = (Attempts::new(self.attempts), false);
        loop {
            self.wait_for_login_budget().await?;
            let at = self.clock.now();
            self.token_store.record_login(at, ATTEMPT).await.map_err(unwritten)?;
            tracing::info!(username = self.username, reason = reason.as_str(), "logging in");
            let error = match self.login.login(reason, last).await {
                Ok(issued) => {
                    self.token_store.record_login(at, reason.as_str()).await.map_err(unwritten)?;
                    self.metrics.login(LoginCount::of(reason));
                    return Ok(issued);
                }
                Err(error) => error,
            };
            if let Error::LoginRefused { status, refusal, .. } = &error {
                self.note_refusal(*status, refusal);
                // The caller gets the refusal, whether or not it can be recorded.
                if let Err(error) = self.token_store.record_login(at, REFUSED).await {
                    tracing::warn!(%error, "a refused login was not recorded");
                }
            }
            if error.was_never_sent() {
                self.token_store.record_login(at, UNSENT).await.map_err(unwritten)?;
            }
            let Class::Transient { after } = error.class() else { return Err(error) };
            let Some(delay) = attempts.next_delay(after) else { return Err(error) };
            // After the second attempt the waits are even, so that a caller never waits for the login limit in one
            // piece.
            let least = if has_retried { LOGIN_RETRY } else { Duration::ZERO };
            has_retried = true;
            self.wait_for_login(delay.max(least)).await?;
        }
    }

    fn note_refusal(&self, status: u16, refusal: &Refusal) {
        let mut refused = self.refused.write();
        *refused = Refused { times: refused.times + 1, last: Some((status, Box::new(refusal.clone()))) };
    }

    /// Waits before a login. No login is sent meanwhile, so the wait ends when the work stops.
    async fn wait_for_login(&self, wait: Duration) -> Result<(), Error> {
        tokio::select! {
            biased;
            () = self.clock.sleep(wait) => Ok(()),
            () = self.login.closing() => Err(Error::Stopped { request: "POST /api/integration/auth".to_owned() }),
        }
    }

    /// Names another program that ends our tokens, and refuses a login that would only fight it.
    async fn check_foreign_login(&self, reason: LoginReason) -> Result<(), Error> {
        if reason != LoginReason::Forced {
            return Ok(());
        }
        let now = self.clock.now();
        let forced = login_budget::forced(&self.logins_since(FORCED_WINDOW, now).await?, now);
        let judged = login_budget::judge_forced(&forced, now);
        if judged == ForcedLogin::Usual {
            return Ok(());
        }
        let error = Error::ForeignLogin { username: self.username.clone(), times: forced.len() + 1 };
        let (failure, is_made) = (contact::Failure::of(&error), judged == ForcedLogin::Named);
        let named = match is_made {
            true => contact::Outcome::TokensEnded(failure),
            false => contact::Outcome::LoginRefused(TroubleKind::ForeignLogin, failure, LastToken::Gone),
        };
        self.metrics.contact(Some(named), now);
        if is_made {
            tracing::warn!(username = self.username, "another program ends our tokens; logging in once more");
            return Ok(());
        }
        self.metrics.login(LoginCount::Foreign);
        Err(error)
    }

    async fn wait_for_login_budget(&self) -> Result<(), Error> {
        loop {
            let now = self.clock.now();
            let recent = self.logins_since(LIMIT_WINDOW, now).await?;
            let Some(at) = login_budget::allowed_at(recent, now) else { return Ok(()) };
            let wait = (at - now)
                .to_std()
                .unwrap_or_default()
                .clamp(Duration::from_millis(100), Duration::from_secs(61));
            tracing::warn!(
                wait_seconds = wait.as_secs(),
                "waiting: the marketplace's login limit is five a minute"
            );
            self.wait_for_login(wait).await?;
        }
    }

    async fn logins_since(&self, ago: TimeDelta, now: DateTime<Utc>) -> Result<Vec<PastLogin>, Error> {
        let logins = self.token_store.logins_since(now - ago).await;
        let logins = logins.map_err(|source| Error::TokenStore { action: "read", source })?;
        Ok(login_budget::counted(logins, now))
    }

    fn cached(&self) -> Option<Arc<TokenRecord>> {
        self.current.read().clone()
    }

    fn cache(&self, record: TokenRecord) -> Arc<TokenRecord> {
        let record = Arc::new(record);
        *self.current.write() = Some(Arc::clone(&record));
        record
    }

    fn has_expired(&self, record: &TokenRecord) -> bool {
        record.expires_at <= self.clock.now()
    }

    fn is_due(&self, record: &TokenRecord) -> bool {
        let now = self.clock.now();
        let postponed = *self.renew_not_before.read() > now;
        let margin = if postponed { TimeDelta::zero() } else { renewal_margin(&self.username) };
        renewed_at(record, margin).is_some_and(|at| at <= now)
    }
}

/// Returns when a token is renewed, at most so long before it expires; `None`: only when it is refused. A token with a
/// shorter life than the document says is renewed at half its life, not at every request.
fn renewed_at(record: &TokenRecord, margin: TimeDelta) -> Option<DateTime<Utc>> {
    let life = record.expires_at - record.obtained_at;
    let is_fleeting = life > TimeDelta::zero() && life < SHORTEST_LIFE;
    (!is_fleeting).then(|| record.expires_at - margin.min(life / 2))
}

/// Returns the renewal margin: 24 to 48 hours before expiry (API document, "Authentication" 3), spread by the
/// credential's name so that a thousand stores do not log in together.
fn renewal_margin(username: &str) -> TimeDelta {
    let spread = ContentHash::of(username.as_bytes()).as_i64().rem_euclid(24 * 60);
    TimeDelta::hours(24) + TimeDelta::minutes(spread)
}

fn unwritten(source: BoxedError) -> Error {
    Error::TokenStore { action: "written", source }
}

/// Runs work in a task of its own; its panic is the caller's.
async fn own_task<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    match tokio::spawn(watch::inherited(contained(work))).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(panicked)) => containment::resume(panicked),
        Err(gone) => Err(Error::TokenStore { action: "read", source: gone.into() }),
    }
}

fn same(a: &TokenRecord, b: &TokenRecord) -> bool {
    a.token.expose_secret() == b.token.expose_secret()
}

/// Returns the token's text, for the one caller that must write it: a [`TokenStore`].
pub fn expose(token: &SecretString) -> &str {
    token.expose_secret()
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F086
    #[test]
    fn a_token_is_renewed_before_it_expires_and_one_that_hardly_lives_is_used_until_it_is_refused() {
        let obtained_at = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let day = 24 * 3_600;
        for (life, margin, expected, why) in [
            (30 * day, 36 * 3_600, Some(30 * day - 36 * 3_600), "the document's life"),
            (30 * day, 0, Some(30 * day), "a renewal has failed"),
            (day, 36 * 3_600, Some(day / 2), "a short life"),
            (60, 36 * 3_600, Some(30), "the shortest life"),
            (59, 36 * 3_600, None, "no life to go by"),
            (1, 36 * 3_600, None, "five logins a minute would leave no time for calls"),
            (-day, 36 * 3_600, Some(-day / 2), "somebody has ended it in the record"),
        ] {
            let expires_at = obtained_at + TimeDelta::seconds(life);
            let record =
                TokenRecord { token: "sk_live_1".into(), expires_at, obtained_at, password_check: None };
            let at = renewed_at(&record, TimeDelta::seconds(margin));
            assert_eq!(at.map(|at| (at - obtained_at).num_seconds()), expected, "{why}");
        }
    }
}

//! Keeps a client's token, logins and spent budget in the database.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chrono::{DateTime, Utc};
use espelho_api_client::{
    PasswordCheck,
    error::BoxedError,
    limit::{BoxFuture, QuotaStore, Spent},
    token::{PastLogin, TokenRecord, TokenStore},
};
use espelho_model::StoreKey;
use espelho_store::{KeptToken, LoginOnRecord, RateBlock, Store, WebhookOwner};
use secrecy::{ExposeSecret as _, SecretString};

/// One store's token and budget, kept in the mirror's database.
#[derive(Clone)]
pub struct ClientStorage {
    store: Store,
    key: StoreKey,
    username: String,
    base_url: String,
    /// The address that each login assigns to the webhook.
    webhook: Option<String>,
    /// Whether the next load checks if the webhook needs a login. Only the first load does.
    wants_webhook: Arc<AtomicBool>,
}

impl ClientStorage {
    /// Returns the storage of store `key` in `store`, for this credential at this address. It ignores a token that was
    /// issued to another credential or by another address: such a token must not be sent there.
    pub fn new(store: Store, key: StoreKey, username: String, base_url: String) -> Arc<Self> {
        Arc::new(Self { store, key, username, base_url, webhook: None, wants_webhook: Arc::default() })
    }

    /// Returns the same storage for logins that assign this address to the webhook; each login records it. The first
    /// load returns no token if no signing secret is on record, or another address: only a login creates or moves the
    /// webhook, and a store would wait for that until its token expires.
    #[must_use]
    pub fn with_webhook(&self, url: String) -> Arc<Self> {
        let (webhook, wants_webhook) = (Some(url), Arc::new(AtomicBool::new(true)));
        Arc::new(Self { webhook, wants_webhook, ..self.clone() })
    }

    fn owner(&self) -> WebhookOwner<'_> {
        WebhookOwner { store: &self.key, username: &self.username, base_url: &self.base_url }
    }

    async fn has_webhook(&self) -> Result<bool, espelho_store::Error> {
        let secrets = self.store.inbox().secrets(&self.key, DateTime::UNIX_EPOCH).await?;
        let address = self.store.inbox().webhook_address(self.owner()).await?;
        Ok(secrets.iter().any(|secret| secret.retired_at.is_none())
            && address.map(|address| address.url) == self.webhook)
    }
}

impl TokenStore for ClientStorage {
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>> {
        Box::pin(async {
            if self.wants_webhook.swap(false, Ordering::Relaxed) && !self.has_webhook().await? {
                return Ok(None);
            }
            let kept = self.store.tokens().token(&self.key).await?;
            let ours = kept.filter(|kept| kept.username == self.username && kept.base_url == self.base_url);
            Ok(ours.map(|kept| TokenRecord {
                token: kept.token.into(),
                expires_at: kept.expires_at,
                obtained_at: kept.obtained_at,
                password_check: kept.password_check.and_then(PasswordCheck::from_number),
            }))
        })
    }

    fn save(&self, record: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async move {
            let kept = KeptToken {
                token: espelho_api_client::token::expose(&record.token).to_owned(),
                expires_at: record.expires_at,
                obtained_at: record.obtained_at,
                username: self.username.clone(),
                base_url: self.base_url.clone(),
                password_check: record.password_check.map(PasswordCheck::number),
            };
            // The login that issued this token has also moved the webhook.
            if let Some(url) = &self.webhook {
                self.store.inbox().keep_webhook_address(self.owner(), url).await?;
            }
            Ok(self.store.tokens().keep_token(&self.key, kept).await?)
        })
    }

    fn logins_since(&self, since: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>> {
        Box::pin(async move {
            let logins = self.store.tokens().logins_since(&self.key, since).await?;
            Ok(logins.into_iter().map(|login| (login.at, login.reason)).collect())
        })
    }

    fn record_login(&self, at: DateTime<Utc>, what: &'static str) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async move {
            let login = LoginOnRecord { at, reason: what.to_owned() };
            Ok(self.store.tokens().record_login(&self.key, &login).await?)
        })
    }

    fn keep_webhook_secret(&self, secret: SecretString) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async move { Ok(self.store.inbox().keep_secret(&self.key, secret.expose_secret()).await?) })
    }
}

impl QuotaStore for ClientStorage {
    fn load(&self) -> BoxFuture<'_, Result<Vec<Spent>, BoxedError>> {
        Box::pin(async {
            let blocks = self.store.tokens().rate_blocks(&self.key).await?;
            let spent = |b: RateBlock| Spent {
                block: b.block,
                requests: u32::try_from(b.requests).unwrap_or(u32::MAX),
                free_at: b.free_at,
            };
            Ok(blocks.into_iter().map(spent).collect())
        })
    }

    fn keep(&self, blocks: Vec<Spent>, now: DateTime<Utc>) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async move {
            let kept =
                |s: Spent| RateBlock { block: s.block, requests: i64::from(s.requests), free_at: s.free_at };
            let blocks: Vec<RateBlock> = blocks.into_iter().map(kept).collect();
            Ok(self.store.tokens().keep_rate_blocks(&self.key, &blocks, now).await?)
        })
    }
}

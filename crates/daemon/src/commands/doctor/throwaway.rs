//! A client without a database: its token is stored nowhere, and discarded with the client.

use parking_lot::Mutex;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use espelho_api_client::{
    Client, Error, Settings,
    error::BoxedError,
    limit::{BoxFuture, NoQuotaStore, Quota},
    token::{PastLogin, TokenRecord, TokenStore},
};

use super::facts::StoreFacts;

/// Holds the token as long as the client lives.
#[derive(Default)]
struct Memory(Mutex<Option<TokenRecord>>);

impl TokenStore for Memory {
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>> {
        let token = self.0.lock().clone();
        Box::pin(std::future::ready(Ok(token)))
    }

    fn save(&self, record: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>> {
        *self.0.lock() = Some(record);
        Box::pin(std::future::ready(Ok(())))
    }

    fn logins_since(&self, _: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn record_login(&self, _: DateTime<Utc>, _: &'static str) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Returns a client that logs in on first use, and asks for no webhook.
pub(super) async fn client(store: &StoreFacts<'_>) -> Result<Client, Error> {
    let config = store.config;
    let settings = Settings {
        base_url: config.base_url.clone(),
        username: config.username.clone(),
        password: Arc::new(config.password.clone()),
        quota: Quota::per_minute(config.requests_per_minute),
        http: store.http()?,
        naive_offset: config.naive_offset,
        attempts: 1,
        webhook: None,
    };
    Client::open(settings, Arc::clone(&store.all.clock), Arc::new(Memory::default()), Arc::new(NoQuotaStore))
        .await
}

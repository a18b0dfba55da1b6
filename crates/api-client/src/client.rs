//! The client of one store.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use chrono::FixedOffset;
use espelho_model::Clock;
use parking_lot::Mutex;
use reqwest::Url;

use crate::{
    answer_memory::{AnswerMemory, HeldAnswers},
    client_metrics::ClientMetrics,
    error::{Error, conceal},
    http::Http,
    limit::{Lane, Permit, Quota, QuotaStore, RateLimiter},
    owner::Owner,
    resources::auth::{Credential, PasswordSource, WebhookBlock},
    send::{Counters, Transport},
    token::{TokenKeeper, TokenStore},
};

/// The settings of one store's client.
#[derive(Clone)]
pub struct Settings {
    /// `{base_url}` of the document.
    pub base_url: String,
    /// The credential's username.
    pub username: String,
    /// The credential's password.
    pub password: Arc<dyn PasswordSource>,
    /// The request budget.
    pub quota: Quota,
    /// The shared HTTP connections.
    pub http: Http,
    /// The offset for timestamps that carry none.
    pub naive_offset: FixedOffset,
    /// How many times a read is attempted before its error is returned.
    pub attempts: u32,
    /// The webhook that each login registers, if any.
    pub webhook: Option<WebhookBlock>,
}

/// What the client has sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests sent with the token. Logins do not count against the token's budget and are not included.
    pub requests: u64,
    /// 429 answers.
    pub rate_limited: u64,
    /// Logins made.
    pub logins: u64,
}

/// The client for one store's Seller Integration API. Cheap to clone; all clones share the request budget and the
/// token.
#[derive(Clone)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
    pub(crate) limiter: Arc<RateLimiter>,
    pub(crate) tokens: Arc<TokenKeeper>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) naive_offset: FixedOffset,
    pub(crate) attempts: u32,
    pub(crate) lane: Lane,
    /// A permit reserved for the next request.
    pub(crate) slot: Option<Arc<Mutex<Option<Permit>>>>,
    /// The share of the memory budget that answers keep beyond the call.
    pub(crate) held: Option<HeldAnswers>,
}

impl Client {
    /// Opens a client that keeps its token in `token_store` and its request budget in `quota_store`.
    ///
    /// # Errors
    /// When the base address is invalid, or the quota store cannot be read.
    pub async fn open(
        settings: Settings,
        clock: Arc<dyn Clock>,
        token_store: Arc<dyn TokenStore>,
        quota_store: Arc<dyn QuotaStore>,
    ) -> Result<Self, Error> {
        conceal(&settings.password.password());
        let base = parse_base(&settings.base_url, settings.http.allows_http())?;
        let limiter = RateLimiter::open(settings.quota, Arc::clone(&clock), quota_store).await?;
        let transport = Arc::new(Transport::new(base, settings.http, Arc::clone(&clock)));
        let login = Credential {
            username: settings.username.clone(),
            password: settings.password,
            transport: Arc::clone(&transport),
            clock: Arc::clone(&clock),
            naive_offset: settings.naive_offset,
            webhook: settings.webhook,
        };
        let tokens = Arc::new(TokenKeeper::new(
            settings.username,
            Arc::clone(&clock),
            token_store,
            Arc::new(login),
            settings.attempts,
            Arc::clone(&transport.metrics),
        ));
        let (naive_offset, attempts) = (settings.naive_offset, settings.attempts);
        Ok(Self {
            transport,
            limiter,
            tokens,
            clock,
            naive_offset,
            attempts,
            lane: Lane::Interactive,
            slot: None,
            held: None,
        })
    }

    /// Returns the same client with its requests in another lane. A new client uses [`Lane::Interactive`].
    #[must_use]
    pub fn in_lane(&self, lane: Lane) -> Self {
        Self { lane, ..self.clone() }
    }

    /// Returns the same client, and what its answers occupy of the memory budget: the caller drops it when it has
    /// written them. A client that keeps its answers already shares what it holds.
    #[must_use]
    pub fn holding(&self) -> (Self, HeldAnswers) {
        let held = self.held.clone().unwrap_or_default();
        (Self { held: Some(held.clone()), ..self.clone() }, held)
    }

    /// Returns the memory budget for answers.
    pub fn memory(&self) -> &AnswerMemory {
        self.transport.http.memory()
    }

    /// Returns the same client with this number of attempts for a read.
    #[must_use]
    pub fn with_attempts(&self, attempts: u32) -> Self {
        Self { attempts, ..self.clone() }
    }

    /// Makes every call of this client and all its clones ask this owner first. A later owner does not replace the
    /// first.
    #[must_use]
    pub fn owned_by(self, owner: Arc<dyn Owner>) -> Self {
        self.transport.owner.set(owner);
        self
    }

    /// Returns what was sent so far.
    pub fn stats(&self) -> Stats {
        let Counters { requests, rate_limited, logins } = &self.transport.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats { requests: get(requests), rate_limited: get(rate_limited), logins: get(logins) }
    }

    /// Returns the client metrics, by route.
    pub fn metrics(&self) -> &Arc<ClientMetrics> {
        &self.transport.metrics
    }

    /// Returns the offset for timestamps that carry none.
    pub fn naive_offset(&self) -> FixedOffset {
        self.naive_offset
    }

    /// Returns the store's rate limiter.
    pub fn limiter(&self) -> &Arc<RateLimiter> {
        &self.limiter
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.transport.base.as_str()).finish_non_exhaustive()
    }
}

/// Parses a base address: `https://host[:port][/path]`, without credentials, query or fragment.
pub(crate) fn parse_base(text: &str, allow_http: bool) -> Result<Url, Error> {
    let refuse = |why: &str| Error::Setup(format!("base_url {text:?} {why}"));
    let url = Url::parse(text).map_err(|e| refuse(&format!("is not an address: {e}")))?;
    match url.scheme() {
        "https" => (),
        "http" if allow_http => (),
        _ => return Err(refuse("must begin with https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("must not carry credentials; they belong in [credentials]"));
    }
    if url.query().is_some() || url.fragment().is_some() || !url.has_host() {
        return Err(refuse("must be host and optional path, nothing more"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::parse_base;

    // withstands: F130
    #[test]
    fn only_plain_addresses_are_base_addresses_and_http_only_where_allowed() {
        assert!(parse_base("https://m.example", false).is_ok());
        assert!(parse_base("http://127.0.0.1:1", true).is_ok());
        for bad in [
            "http://m.example",
            "m.example",
            "ftp://m.example",
            "https://u:p@m.example",
            "https://m.example?x=1",
        ] {
            assert!(parse_base(bad, false).is_err(), "{bad}");
        }
    }
}

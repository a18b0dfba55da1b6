//! A seller's program in the test's own process: the real client on the sandbox, and a receiver for its webhooks.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, FixedOffset, Utc};
use espelho_api_client::{
    Client, Http, Settings, WebhookBlock,
    error::BoxedError,
    limit::{BoxFuture, NoQuotaStore, Quota},
    token::{PastLogin, TokenRecord, TokenStore},
    webhook::{Delivery, SIGNATURE_HEADER, verify},
};
use espelho_model::{OrderNumber, clock::SystemClock};
use espelho_sandbox::{Sandbox, StoreAccess};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{
    shop::{Reply, Shop},
    until,
};

const HOOK: &str = "/webhooks/loja-1";

/// The program of the sandbox's first store.
pub struct Seller {
    /// Its client.
    pub client: Client,
    memory: Arc<Memory>,
    receiver: Shop,
    received: Mutex<Vec<Delivery>>,
}

/// Token and secret, kept for the duration of the test.
#[derive(Default)]
struct Memory {
    token: Mutex<Option<TokenRecord>>,
    logins: Mutex<Vec<PastLogin>>,
    secret: Mutex<Option<SecretString>>,
}

impl Seller {
    /// Opens the client, and logs in with a webhook block for every event.
    ///
    /// # Panics
    /// When the sandbox refuses the login.
    pub async fn join(sandbox: &Sandbox) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let receiver = Shop::with_rule(Vec::new(), |call| {
            (call.path == HOOK).then(|| Reply::success(&json!({"received": true})))
        })
        .await;
        let memory = Arc::new(Memory::default());
        let webhook =
            WebhookBlock { url: format!("{}{HOOK}", receiver.base_url()), events: vec!["*".to_owned()] };
        let settings = settings(sandbox, Some(webhook));
        let client =
            Client::open(settings, SystemClock::shared(), memory.clone(), Arc::new(NoQuotaStore)).await;
        let client = client.expect("a client of the sandbox");
        client.auth().session().await.expect("the sandbox lets its own store in");
        Self { client, memory, receiver, received: Mutex::default() }
    }

    /// Returns every delivery so far, and verifies its signature.
    ///
    /// # Panics
    /// When one is not signed with the webhook's secret.
    pub fn deliveries(&self) -> Vec<Delivery> {
        let secret =
            lock(&self.memory.secret).clone().expect("the login that created the webhook told its secret");
        let mut received = lock(&self.received);
        for call in self.receiver.take_calls() {
            let header = &call.headers[&SIGNATURE_HEADER.to_ascii_lowercase()];
            assert!(
                verify(&secret, call.body.as_bytes(), header),
                "a delivery with a wrong signature: {}",
                call.body
            );
            let delivery =
                Delivery::parse(call.body.as_bytes(), utc()).expect("a delivery in the documented envelope");
            assert!(delivery.unreadable.is_empty(), "{:?} of {}", delivery.unreadable, call.body);
            received.push(delivery);
        }
        received.clone()
    }

    /// Waits until exactly these events of an order have arrived, in any order. Each is written as `event`, or as
    /// `event old→new` for a change of status.
    ///
    /// # Panics
    /// When they do not arrive, or others do.
    pub async fn told(&self, order: &OrderNumber, expected: &[&str]) {
        self.hears(order, expected, |_| true).await;
    }

    /// Waits until exactly these events of the order itself have arrived, without those of its shipments.
    ///
    /// # Panics
    /// When they do not arrive, or others do.
    pub async fn told_of_the_order(&self, order: &OrderNumber, expected: &[&str]) {
        self.hears(order, expected, |event| event.starts_with("order.")).await;
    }

    async fn hears(&self, order: &OrderNumber, expected: &[&str], counts: impl Fn(&str) -> bool) {
        let mut expected: Vec<String> = expected.iter().map(|event| (*event).to_owned()).collect();
        expected.sort();
        let story = || {
            let deliveries = self.deliveries();
            let own = deliveries.iter().filter(|d| d.order_number().as_ref() == Some(order));
            let mut story: Vec<String> = own.filter(|d| counts(d.event.as_str())).map(in_words).collect();
            story.sort();
            story
        };
        until("every event has arrived", async || story().len() >= expected.len()).await;
        assert_eq!(story(), expected);
    }

    /// Returns the payload of the only delivery of an event about an order.
    ///
    /// # Panics
    /// When there is none, or more than one.
    pub fn payload(&self, order: &OrderNumber, event: &str) -> BTreeMap<String, Value> {
        let deliveries = self.deliveries();
        let mut found = deliveries
            .iter()
            .filter(|d| d.order_number().as_ref() == Some(order) && d.event.as_str() == event);
        let one = found.next().unwrap_or_else(|| panic!("no {event} about {order}"));
        assert!(found.next().is_none(), "more than one {event} about {order}");
        serde_json::from_str(one.data.as_str()).expect("an object")
    }
}

/// Opens only the client of the sandbox's first store, without a webhook.
///
/// # Panics
/// When it cannot be opened.
pub async fn visitor(sandbox: &Sandbox) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (memory, ledger) = (Arc::new(Memory::default()), Arc::new(NoQuotaStore));
    let client = Client::open(settings(sandbox, None), SystemClock::shared(), memory, ledger).await;
    client.expect("a client of the sandbox")
}

/// Returns the settings for a client of the sandbox's first store.
pub fn settings(sandbox: &Sandbox, webhook: Option<WebhookBlock>) -> Settings {
    let StoreAccess { username, password, .. } = sandbox.stores().remove(0);
    let http = Http::new(true, Duration::from_secs(30)).expect("an HTTP client");
    Settings {
        base_url: sandbox.base_url(),
        username,
        password: Arc::new(SecretString::from(password)),
        quota: Quota::per_minute(std::num::NonZeroU32::MAX),
        http,
        naive_offset: utc(),
        attempts: 1,
        webhook,
    }
}

fn utc() -> FixedOffset {
    FixedOffset::east_opt(0).expect("zero is an offset")
}

/// Formats an event as one word, or three.
fn in_words(delivery: &Delivery) -> String {
    let data: Value = serde_json::from_str(delivery.data.as_str()).unwrap_or_default();
    let name = delivery.event.as_str();
    let change = |from: &str, to: &str| {
        let word = |field: &str| data[field].as_str().unwrap_or("?").to_owned();
        format!("{name} {}→{}", word(from), word(to))
    };
    match name {
        "order.status_changed" => change("old_status", "new_status"),
        "order.item_stock_status_changed" => change("old_stock_status", "new_stock_status"),
        "shipment.status_changed" => change("from", "to"),
        _ => name.to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test panics while it holds this")
}

impl TokenStore for Memory {
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>> {
        Box::pin(async { Ok(lock(&self.token).clone()) })
    }

    fn save(&self, record: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async {
            *lock(&self.token) = Some(record);
            Ok(())
        })
    }

    fn logins_since(&self, since: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>> {
        Box::pin(
            async move { Ok(lock(&self.logins).iter().filter(|(at, _)| *at >= since).cloned().collect()) },
        )
    }

    fn record_login(&self, at: DateTime<Utc>, what: &'static str) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async move {
            let mut logins = lock(&self.logins);
            logins.retain(|(known, _)| *known != at);
            logins.push((at, what.to_owned()));
            Ok(())
        })
    }

    fn keep_webhook_secret(&self, secret: SecretString) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async {
            *lock(&self.secret) = Some(secret);
            Ok(())
        })
    }
}

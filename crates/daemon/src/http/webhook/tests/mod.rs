//! The receiver over real sockets, with its own database.

mod answers;
mod time_outs;

use std::{net::SocketAddr, time::Duration};

use espelho_model::clock::SystemClock;
use espelho_store::{NewDelivery, StoredDelivery};
use hmac::{Hmac, KeyInit as _, Mac as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

pub(super) const SECRET: &str = "whsec_primeiro";

/// A database without a receiver.
pub(super) struct World {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    _dir: tempfile::TempDir,
}

impl World {
    pub(super) async fn new() -> Self {
        let (dir, clock) = (tempfile::tempdir().unwrap(), SystemClock::shared());
        let url = format!("sqlite:{}", dir.path().join("espelho.db").display());
        let store = Store::open(&url, Arc::clone(&clock)).await.unwrap();
        Self { store, clock, _dir: dir }
    }

    pub(super) async fn inbox(&self) -> Vec<StoredDelivery> {
        self.store.inbox().unhandled(&loja(), 0, 10_000).await.unwrap()
    }
}

pub(super) fn loja() -> StoreKey {
    StoreKey::new("loja").unwrap()
}

pub(super) fn delivery(body: &str) -> NewDelivery {
    NewDelivery {
        store: loja(),
        received_at: chrono::DateTime::UNIX_EPOCH,
        event: None,
        digest: format!("digest of {body}"),
        body: body.into(),
    }
}

/// Limits that a test reaches only on purpose.
fn wide() -> Limits {
    Limits {
        connections: 100,
        connections_per_address: 10,
        header: Duration::from_secs(60),
        request: Duration::from_secs(60),
        idle: Duration::from_secs(60),
        queue: 1_000,
        queue_bytes: 16 << 20,
    }
}

/// A receiver for `loja`, whose secret is configured, and `outra`, whose secrets are in the database.
struct Receiving {
    world: World,
    address: SocketAddr,
    webhooks: Webhooks,
    store_wakers: StoreWakers,
    health: Arc<Health>,
}

impl Receiving {
    async fn with(limits: Limits) -> Self {
        let world = World::new().await;
        let listener = listen(([127, 0, 0, 1], 0).into()).unwrap();
        let address = listener.local_addr().unwrap();
        let outra = StoreKey::new("outra").unwrap();
        let store_wakers = StoreWakers::default();
        let wakers = Arc::<WakerRegistry>::default();
        wakers.put(&loja(), &store_wakers);
        let on = (world.store.clone(), Arc::clone(&world.clock));
        let stores = vec![(loja(), Some(SECRET.into())), (outra, None)];
        let health = Arc::<Health>::default();
        health.add(&loja());
        let tell = (wakers, Arc::clone(&health));
        let webhooks = Webhooks::start(listener, None, limits, stores, tell, on);
        Self { world, address, webhooks, store_wakers, health }
    }

    async fn connect(&self) -> Talk {
        Talk(TcpStream::connect(self.address).await.unwrap())
    }

    /// Returns the status of one request on its own connection.
    async fn status(&self, request: impl AsRef<[u8]>) -> u16 {
        self.connect().await.ask(request).await.0
    }
}

/// A connection of the test.
struct Talk(TcpStream);

impl Talk {
    async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Sends a request; returns the status and the head of its answer, which never has a body.
    async fn ask(&mut self, request: impl AsRef<[u8]>) -> (u16, String) {
        self.say(request).await;
        self.answer().await
    }

    async fn answer(&mut self) -> (u16, String) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        (head[9..12].parse().unwrap(), head)
    }

    /// Waits until the peer closes, without another byte.
    async fn comes_to_its_end(mut self) {
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read_u8()).await;
        assert!(read.expect("the connection stays open").is_err(), "a byte came");
    }
}

fn signature(secret: &str, body: &[u8]) -> String {
    let mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// Returns a request with headers of the test's choice.
fn request(line: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{line} HTTP/1.1\r\nHost: erp.example\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !headers.iter().any(|(name, _)| ["Transfer-Encoding", "Content-Length"].contains(name)) {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

/// Returns a delivery to `loja` with a valid signature.
fn signed(body: &[u8]) -> Vec<u8> {
    request("POST /webhooks/loja", &[("X-Webhook-Signature", &signature(SECRET, body))], body)
}

//! A page whose connections say half of a request, or nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::{Router, middleware::from_fn, routing::get};
use espelho_model::clock::SystemClock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

/// A clock that the test puts forward; it sleeps as the system's does.
struct HandClock(Arc<dyn Clock>, AtomicU64);

impl Clock for HandClock {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.0.now()
    }

    fn monotonic(&self) -> Duration {
        self.0.monotonic() + Duration::from_secs(self.1.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> espelho_model::clock::Sleep {
        self.0.sleep(duration)
    }
}

async fn page() -> (SocketAddr, Arc<HandClock>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clock = Arc::new(HandClock(SystemClock::shared(), AtomicU64::new(0)));
    let shown: Arc<dyn Clock> = Arc::<HandClock>::clone(&clock);
    let bounded = BoundedListener::new(listener, shown, CancellationToken::new());
    let address = bounded.local_addr().unwrap();
    let routes = Router::new()
        .route("/livez", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }))
        .route("/run", get(std::future::pending::<()>))
        .layer(from_fn(timed))
        .into_make_service_with_connect_info::<Peer>();
    tokio::spawn(async move { axum::serve(bounded, routes).await });
    (address, clock)
}

async fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(text.as_bytes()).await.unwrap();
    socket
}

/// Returns what comes until the connection ends.
async fn rest(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let _ = socket.read_to_end(&mut text).await;
    String::from_utf8(text).unwrap()
}

async fn is_alive(address: SocketAddr) -> bool {
    let mut socket = send(address, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    rest(&mut socket).await.starts_with("HTTP/1.1 200")
}

// withstands: F043
#[tokio::test]
async fn a_half_request_ends_after_its_time_and_an_answer_under_way_does_not() {
    let (address, clock) = page().await;
    let mut half = send(address, "GET /livez HT").await;
    let mut running = send(address, "GET /run HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(is_alive(address).await);
    clock.1.store(3_600, Ordering::SeqCst);
    assert_eq!(rest(&mut half).await, "");
    let more = tokio::time::timeout(Duration::from_millis(500), running.read_u8()).await;
    assert!(more.is_err(), "it is still answered");
    assert!(is_alive(address).await);
}

// withstands: F043
#[tokio::test]
async fn thousands_of_half_requests_take_no_more_than_the_limit_and_the_page_answers() {
    let (address, _clock) = page().await;
    let mut half = Vec::new();
    for _ in 0..LIMITS.connections + 200 {
        half.push(send(address, "GET /livez HT").await);
    }
    assert!(is_alive(address).await);
    for socket in &mut half[..200] {
        assert_eq!(rest(socket).await, "", "the oldest had to go");
    }
}

#[tokio::test]
async fn when_every_connection_is_answered_another_one_hears_that_there_are_too_many() {
    let (address, _clock) = page().await;
    let mut runs = Vec::new();
    for _ in 0..LIMITS.connections {
        runs.push(send(address, "GET /run HTTP/1.1\r\nHost: x\r\n\r\n").await);
    }
    // A request that the page has not read yet may have to go, so the sentence comes once all are being answered.
    let refused = loop {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let read = tokio::time::timeout(Duration::from_millis(300), rest(&mut socket)).await;
        match read {
            Ok(text) if !text.is_empty() => break text,
            _ => runs.push(send(address, "GET /run HTTP/1.1\r\nHost: x\r\n\r\n").await),
        }
    };
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("too many connections"), "{refused}");
}

//! A client against a plain TCP socket that sends what a test scripts, with a clock whose sleeps end at once.
#![allow(dead_code, reason = "each test file is a crate of its own and uses a part")]

use std::{
    collections::VecDeque,
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use espelho_api_client::{
    Client, Error, Http, Settings, WebhookBlock,
    error::BoxedError,
    limit::{BoxFuture, NoQuotaStore, Quota},
    token::{PastLogin, TokenRecord, TokenStore, expose},
};
use espelho_model::{Clock, OrderNumber, clock::Sleep};
use secrecy::SecretString;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The start time of every bench.
const START: &str = "2026-11-20T12:00:00Z";

/// A clock for use with real sockets: its sleeps end at once and are only recorded.
pub(crate) struct NotingClock {
    pub(crate) now: Mutex<DateTime<Utc>>,
    pub(crate) slept: Mutex<Vec<Duration>>,
    /// If true, every later sleep is endless.
    pub(crate) stands_still: AtomicBool,
}

impl Clock for NotingClock {
    fn now(&self) -> DateTime<Utc> {
        // Two readings of a real clock are never equal either.
        let mut now = self.now.lock().unwrap();
        *now += TimeDelta::microseconds(1);
        *now
    }

    fn monotonic(&self) -> Duration {
        // Counted from long before the start, so that a test may set the clock back at the beginning.
        let base = START.parse::<DateTime<Utc>>().unwrap() - TimeDelta::days(365 * 20);
        (self.now() - base).to_std().unwrap()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        if self.stands_still.load(Ordering::SeqCst) {
            return Box::pin(std::future::pending());
        }
        *self.now.lock().unwrap() += TimeDelta::from_std(duration).unwrap();
        self.slept.lock().unwrap().push(duration);
        Box::pin(std::future::ready(()))
    }
}

/// A token store that records what was saved, and in which order.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) token: Mutex<Option<TokenRecord>>,
    pub(crate) logins: Mutex<Vec<PastLogin>>,
    pub(crate) kept: Mutex<Vec<String>>,
    /// Whether it fails to store a secret.
    pub(crate) loses_secrets: Mutex<bool>,
}

impl TokenStore for Memory {
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>> {
        Box::pin(async { Ok(self.token.lock().unwrap().clone()) })
    }

    fn save(&self, record: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>> {
        self.kept.lock().unwrap().push(expose(&record.token).to_owned());
        *self.token.lock().unwrap() = Some(record);
        Box::pin(async { Ok(()) })
    }

    fn logins_since(&self, since: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>> {
        let logins = self.logins.lock().unwrap().iter().filter(|(at, _)| *at >= since).cloned().collect();
        Box::pin(async { Ok(logins) })
    }

    fn record_login(&self, at: DateTime<Utc>, what: &'static str) -> BoxFuture<'_, Result<(), BoxedError>> {
        let mut logins = self.logins.lock().unwrap();
        logins.retain(|(known, _)| *known != at);
        logins.push((at, what.to_owned()));
        Box::pin(async { Ok(()) })
    }

    fn keep_webhook_secret(&self, secret: SecretString) -> BoxFuture<'_, Result<(), BoxedError>> {
        let loses = *self.loses_secrets.lock().unwrap();
        if !loses {
            self.kept.lock().unwrap().push(expose(&secret).to_owned());
        }
        Box::pin(async move { if loses { Err("disk full".into()) } else { Ok(()) } })
    }
}

/// A server that returns the scripted answers to everything but logins, one for each request; each login returns a
/// new token.
#[derive(Clone, Default)]
pub(crate) struct Script {
    pub(crate) answers: Arc<Mutex<VecDeque<Vec<u8>>>>,
    /// The requests except logins: head, an empty line, body.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    pub(crate) login: Arc<Mutex<Vec<u8>>>,
    /// The answers to the next logins, before [`Script::login`] is used.
    pub(crate) login_faults: Arc<Mutex<VecDeque<Vec<u8>>>>,
    /// The logins as received.
    pub(crate) logins: Arc<Mutex<Vec<String>>>,
}

pub(crate) fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
}

pub(crate) fn json(body: &str) -> Vec<u8> {
    answer("200 OK", body)
}

pub(crate) fn answer(status: &str, body: &str) -> Vec<u8> {
    http(status, "Content-Type: application/json\r\n", body)
}

pub(crate) const ORDER: &str =
    r#"{"success":true,"message_code":"SUCCESS","data":{"order_number":"1","status":"paid"}}"#;

/// Reads one request with its body; `None` when the connection is closed.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(length) = length_of(buffer).filter(|&length| buffer.len() >= length) {
            let rest = buffer.split_off(length);
            let request = std::mem::replace(buffer, rest);
            return Some(String::from_utf8_lossy(&request).into_owned());
        }
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => buffer.extend_from_slice(&part[..n]),
        }
    }
}

/// Returns the length of head and body, once the head is complete.
fn length_of(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
    let body = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some(head + body.unwrap_or(0))
}

impl Script {
    fn answer_to(&self, request: String) -> Vec<u8> {
        if !request.starts_with("POST /api/integration/auth") {
            self.requests.lock().unwrap().push(request);
            return self.answers.lock().unwrap().pop_front().unwrap_or_else(|| json(ORDER));
        }
        let mut logins = self.logins.lock().unwrap();
        logins.push(request);
        if let Some(fault) = self.login_faults.lock().unwrap().pop_front() {
            return fault;
        }
        let login = String::from_utf8(self.login.lock().unwrap().clone()).unwrap();
        login.replace("TOKN", &format!("{:04}", logins.len())).into_bytes()
    }
}

async fn serve(stream: TcpStream, script: Script) {
    let (mut stream, mut buffer) = (stream, Vec::new());
    while let Some(request) = read_request(&mut stream, &mut buffer).await {
        let answer = script.answer_to(request);
        let close = answer.is_empty() || answer.ends_with(b"CUT");
        let answer = answer.strip_suffix(b"CUT").unwrap_or(&answer);
        if stream.write_all(answer).await.is_err() || close {
            return;
        }
    }
}

pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) base_url: String,
    pub(crate) script: Script,
    pub(crate) clock: Arc<NotingClock>,
    pub(crate) memory: Arc<Memory>,
}

pub(crate) async fn bench(answers: Vec<Vec<u8>>) -> Bench {
    bench_with(answers, None).await
}

pub(crate) async fn bench_with(answers: Vec<Vec<u8>>, webhook: Option<WebhookBlock>) -> Bench {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let script = Script { answers: Arc::new(Mutex::new(answers.into())), ..Script::default() };
    *script.login.lock().unwrap() =
        json(r#"{"success":true,"data":{"token":"sk_live_TOKN","expires_at":"2026-12-20T12:00:00Z"}}"#);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let served = script.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, served.clone()));
        }
    });
    let now = START.parse().unwrap();
    let clock = Arc::new(NotingClock {
        now: Mutex::new(now),
        slept: Mutex::default(),
        stands_still: AtomicBool::new(false),
    });
    let memory = Arc::new(Memory::default());
    let client = open_with(&base_url, &clock, &memory, webhook).await;
    Bench { client, base_url, script, clock, memory }
}

pub(crate) async fn open(base_url: &str, clock: &Arc<NotingClock>, memory: &Arc<Memory>) -> Client {
    open_with(base_url, clock, memory, None).await
}

async fn open_with(
    base_url: &str,
    clock: &Arc<NotingClock>,
    memory: &Arc<Memory>,
    webhook: Option<WebhookBlock>,
) -> Client {
    open_as(settings(base_url, webhook), clock, memory).await
}

pub(crate) async fn open_as(settings: Settings, clock: &Arc<NotingClock>, memory: &Arc<Memory>) -> Client {
    Client::open(settings, clock.clone(), memory.clone(), Arc::new(NoQuotaStore)).await.unwrap()
}

pub(crate) fn settings(base_url: &str, webhook: Option<WebhookBlock>) -> Settings {
    Settings {
        base_url: base_url.to_owned(),
        username: "loja@a1b2c3d4".into(),
        password: Arc::new(SecretString::from("segredo")),
        quota: Quota::per_minute(NonZeroU32::new(6_000).unwrap()),
        http: Http::new(base_url.starts_with("http:"), Duration::from_secs(5)).unwrap(),
        naive_offset: FixedOffset::east_opt(0).unwrap(),
        attempts: 4,
        webhook,
    }
}

impl Bench {
    pub(crate) async fn order(&self) -> Result<String, Error> {
        self.client
            .orders()
            .get(&OrderNumber::new("1"))
            .await
            .map(|read| read.value.status.unwrap_or_default())
    }

    pub(crate) fn sent(&self) -> usize {
        self.script.requests.lock().unwrap().len()
    }

    /// Returns the request lines sent so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |request: &String| request.lines().next().unwrap_or_default().to_owned();
        self.script.requests.lock().unwrap().iter().map(line).collect()
    }

    /// Returns the sleeps, without the rate limiter's own pacing.
    pub(crate) fn waits(&self) -> Vec<u64> {
        let slept = self.clock.slept.lock().unwrap();
        slept.iter().map(|slept| slept.as_secs_f64().round() as u64).filter(|&seconds| seconds > 0).collect()
    }
}

/// Returns a header of a recorded request, by its name in lower case.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let line = request.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

/// Returns the body of a recorded request.
pub(crate) fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

//! A server that records each complete request and returns scripted answers, one for each request; and a client with
//! a token.

use std::{
    collections::VecDeque,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use espelho_api_client::{
    Client, Http, Settings,
    error::BoxedError,
    limit::{BoxFuture, NoQuotaStore, Quota},
    token::{PastLogin, TokenRecord, TokenStore},
};
use espelho_model::{Clock, clock::Sleep};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A clock that advances only when a task sleeps.
struct SteppingClock(Mutex<DateTime<Utc>>);

impl Clock for SteppingClock {
    fn now(&self) -> DateTime<Utc> {
        let mut now = self.0.lock().unwrap();
        *now += TimeDelta::microseconds(1);
        *now
    }

    fn monotonic(&self) -> Duration {
        (self.now() - DateTime::<Utc>::UNIX_EPOCH).to_std().unwrap()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        *self.0.lock().unwrap() += TimeDelta::from_std(duration).unwrap();
        Box::pin(std::future::ready(()))
    }
}

/// A token store that always has a token, so that no test begins with a login.
struct FullVault(TokenRecord);

impl TokenStore for FullVault {
    fn load(&self) -> BoxFuture<'_, Result<Option<TokenRecord>, BoxedError>> {
        Box::pin(async { Ok(Some(self.0.clone())) })
    }

    fn save(&self, _: TokenRecord) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(()) })
    }

    fn logins_since(&self, _: DateTime<Utc>) -> BoxFuture<'_, Result<Vec<PastLogin>, BoxedError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn record_login(&self, _: DateTime<Utc>, _: &'static str) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(()) })
    }
}

#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<(u16, String)>>,
    requests: Mutex<Vec<(String, String)>>,
}

/// A client and its server.
pub(crate) struct Bench {
    pub(crate) client: Client,
    script: Arc<Script>,
}

pub(crate) async fn bench() -> Bench {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let script = Arc::new(Script::default());
    let served = Arc::clone(&script);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&served)));
        }
    });
    Bench { client: open(base_url).await, script }
}

async fn open(base_url: String) -> Client {
    let now = "2026-11-20T12:00:00Z".parse().unwrap();
    let settings = Settings {
        base_url,
        username: "loja@a1b2c3d4".into(),
        password: Arc::new(secrecy::SecretString::from("segredo")),
        quota: Quota::per_minute(NonZeroU32::new(60_000).unwrap()),
        http: Http::new(true, Duration::from_secs(5)).unwrap(),
        naive_offset: FixedOffset::east_opt(0).unwrap(),
        attempts: 2,
        webhook: None,
    };
    let token = TokenRecord {
        token: "sk_live_0001".into(),
        expires_at: now + TimeDelta::days(20),
        obtained_at: now,
        password_check: None,
    };
    let clock = Arc::new(SteppingClock(Mutex::new(now)));
    Client::open(settings, clock, Arc::new(FullVault(token)), Arc::new(NoQuotaStore)).await.unwrap()
}

async fn serve(mut stream: TcpStream, script: Arc<Script>) {
    let mut buffer = Vec::new();
    while let Some((head, body)) = next_request(&mut stream, &mut buffer).await {
        script.requests.lock().unwrap().push((head, body));
        let (status, answer) = script.answers.lock().unwrap().pop_front().unwrap_or((500, "{}".into()));
        let length =
            if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", answer.len()) };
        let answer = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{length}\r\n{answer}");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads the next request's head and body.
async fn next_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(String, String)> {
    loop {
        if let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
            if buffer.len() >= end + 4 + length {
                let body = String::from_utf8_lossy(&buffer[end + 4..end + 4 + length]).into_owned();
                buffer.drain(..end + 4 + length);
                return Some((head, body));
            }
        }
        let mut part = [0; 8192];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => buffer.extend_from_slice(&part[..read]),
        }
    }
}

fn header(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

impl Bench {
    /// Scripts the answer to the next request without one.
    pub(crate) fn will_answer(&self, status: u16, body: &str) {
        self.script.answers.lock().unwrap().push_back((status, body.to_owned()));
    }

    /// The same, with a payload in the success envelope.
    pub(crate) fn will_give(&self, status: u16, payload: &str) {
        self.will_answer(status, &format!(r#"{{"success":true,"message_code":"SUCCESS","data":{payload}}}"#));
    }

    /// The same, with the error envelope.
    pub(crate) fn will_refuse(&self, status: u16, message_code: &str, errors: &str) {
        self.will_answer(
            status,
            &format!(
                r#"{{"success":false,"code":{status},"message_code":"{message_code}","description":"Recusado.","data":[],"errors":{errors},"meta":[]}}"#
            ),
        );
    }

    /// Returns the request since the last call: method, path, query and body. Panics unless there was exactly one.
    pub(crate) fn request(&self) -> String {
        let requests: Vec<_> = self.script.requests.lock().unwrap().drain(..).collect();
        let [(head, body)] = requests.as_slice() else { panic!("not one request: {requests:?}") };
        let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
        assert!(!line.starts_with("GET") || body.is_empty(), "{line} has a body");
        match body.is_empty() {
            true => line.to_owned(),
            false => format!("{line} {body}"),
        }
    }

    /// Returns a header of the request that [`Bench::request`] will return.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        header(&self.script.requests.lock().unwrap().last().unwrap().0, name)
    }

    /// Forgets the requests so far, and returns their number.
    pub(crate) fn forget(&self) -> usize {
        self.script.requests.lock().unwrap().drain(..).count()
    }
}

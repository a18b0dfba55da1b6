//! What the tests share: a sandbox in this process, a clock that they drive, and a plain client.

pub(crate) mod contract;
pub(crate) mod receiver;

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::SeqCst},
};

use espelho_sandbox::{Control, ListShape, Now, Options, Sandbox, StoreAccess, start};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// 2026-04-01 12:00:30 in Brasília: half a minute into a minute of the clock.
pub(crate) const NOON: i64 = 1_775_055_630_000;

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub(crate) struct Hands(Arc<AtomicI64>);

impl Hands {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(NOON)))
    }

    pub(crate) fn now(&self) -> Now {
        let hands = self.0.clone();
        Arc::new(move || chrono::DateTime::from_timestamp_millis(hands.load(SeqCst)).unwrap())
    }

    pub(crate) fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, SeqCst);
    }

    pub(crate) fn forward_millis(&self, millis: i64) {
        self.0.fetch_add(millis, SeqCst);
    }
}

/// A served sandbox and a client that is logged in to its first store.
pub(crate) struct Bench {
    pub(crate) sandbox: Sandbox,
    pub(crate) hands: Hands,
    pub(crate) http: reqwest::Client,
    pub(crate) token: String,
    /// Whether every answer is held to the published description, which is one of the default options.
    pub(crate) is_described: bool,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) async fn read(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.bytes));
        self.json()["data"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<i64> {
        self.headers.get(name).map(|value| value.to_str().unwrap().parse().unwrap())
    }

    /// Checks the whole error envelope; its `errors` come back.
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!(self.status, status, "{body}");
        assert_eq!(body["success"], json!(false));
        assert_eq!(body["code"], json!(status));
        assert_eq!(body["message_code"], json!(code));
        assert!(!body["description"].as_str().unwrap().is_empty());
        assert_eq!(body["data"], json!([]));
        assert_eq!(body["meta"], json!([]));
        body["errors"].clone()
    }
}

pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

impl Bench {
    /// Starts a sandbox on the driven clock, whatever clock the options name.
    pub(crate) async fn start(options: Options) -> Self {
        let hands = Hands::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let options = Options { now: Some(hands.now()), ..options };
        let is_described = options.list_shape == ListShape::Flat && !options.numbers_as_strings;
        let sandbox = start(listener, options).await.unwrap();
        let mut bench = Self { sandbox, hands, http: client(), token: String::new(), is_described };
        bench.token = bench.login().await;
        bench
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    pub(crate) fn access(&self) -> StoreAccess {
        self.sandbox.stores().remove(0)
    }

    /// Logs in to the first store; its new token.
    pub(crate) async fn login(&self) -> String {
        self.login_to(&self.access()).await
    }

    pub(crate) async fn login_to(&self, access: &StoreAccess) -> String {
        let reply = self.auth(&json!({"username": access.username, "password": access.password})).await;
        reply.data()["token"].as_str().unwrap().to_owned()
    }

    /// POSTs a body to the login.
    pub(crate) async fn auth(&self, body: &Value) -> Reply {
        let request = self.http.post(self.url("/api/integration/auth"));
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.sent(Method::POST, "/api/integration/auth", request).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.sandbox.base_url())
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.get_with(&format!("Bearer {}", self.token), path).await
    }

    pub(crate) async fn get_with(&self, authorization: &str, path: &str) -> Reply {
        let request = self.http.get(self.url(path)).header("authorization", authorization);
        self.sent(Method::GET, path, request).await
    }

    /// Sends a JSON body with the token.
    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Reply {
        let request = self.http.request(method.clone(), self.url(path)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.sent(method, path, request).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(Method::POST, path, body).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Reply {
        self.send(Method::PUT, path, body).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        let request = self.http.delete(self.url(path)).bearer_auth(&self.token);
        self.sent(Method::DELETE, path, request).await
    }

    /// Asks without a token.
    pub(crate) async fn plain(&self, method: Method, path: &str, body: &str) -> Reply {
        let request = self.http.request(method.clone(), self.url(path)).body(body.to_owned());
        self.sent(method, path, request).await
    }

    /// The answer, which is what the description says unless a fault has a hand in it.
    async fn sent(&self, method: Method, path: &str, request: reqwest::RequestBuilder) -> Reply {
        let is_described = self.is_described && !self.control().faults().has_any();
        let reply = Reply::read(request.send().await.unwrap()).await;
        if is_described {
            contract::check(method.as_str(), path, reply.status, &reply.bytes);
        }
        reply
    }

    /// Pulls a endpoint with a JSON body.
    pub(crate) async fn pull(&self, method: Method, endpoint: &str, body: &Value) -> Reply {
        self.plain(method, &format!("/_sandbox/{endpoint}"), &body.to_string()).await
    }

    /// Logs in with a webhook block; the webhook of the answer.
    pub(crate) async fn login_with_webhook(&mut self, url: &str, events: &[&str]) -> Value {
        let access = self.access();
        let webhook = json!({"url": url, "events": events});
        let body = json!({"username": access.username, "password": access.password, "webhook": webhook});
        let data = self.auth(&body).await.data();
        self.token = data["token"].as_str().unwrap().to_owned();
        data["webhook"].clone()
    }

    /// Every row of the order listing under a query, page by page.
    pub(crate) async fn orders(&self, query: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        for page in 1.. {
            let reply = self.get(&format!("/api/v1/sellers/orders?limit=100&page={page}&{query}")).await;
            let mut data = reply.data();
            let found = data.as_array_mut().unwrap();
            if found.is_empty() {
                let total = reply.json()["meta"]["total"].as_u64().unwrap();
                assert_eq!(rows.len() as u64, total, "{query}");
                break;
            }
            rows.append(found);
        }
        rows
    }

    /// Asks for a status of an order; `data` goes along unless it is null.
    pub(crate) async fn ask(&self, number: &str, status: &str, data: Value) -> Reply {
        let body =
            if data.is_null() { json!({"status": status}) } else { json!({"status": status, "data": data}) };
        self.post(&format!("/api/v1/sellers/orders/{number}/status"), &body).await
    }

    /// Takes an order through statuses, each of which must be granted; the order as it is then.
    pub(crate) async fn walk(&self, number: &str, statuses: &[&str]) -> Value {
        for status in statuses {
            let reply = self.ask(number, status, Value::Null).await;
            assert_eq!(reply.status, 200, "{status}: {}", String::from_utf8_lossy(&reply.bytes));
        }
        self.order(number).await
    }

    pub(crate) async fn order(&self, number: &str) -> Value {
        self.get(&format!("/api/v1/sellers/orders/{number}")).await.data()
    }
}

/// No limit: for tests that ask a lot and care for something else.
pub(crate) fn unlimited() -> Options {
    Options { rate: None, ..Options::default() }
}

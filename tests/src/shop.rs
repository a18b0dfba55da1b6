//! A marketplace written by hand from the API document, which gives any answer that a test needs.
//!
//! It shares nothing with the sandbox, so that a wrong assumption of one cannot cancel out with the other's. It has
//! orders and no products, speaks HTTP/1.1 over plain sockets, and records every call.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
    time::Instant,
};

use crate::{
    callers,
    installation::{Installation, STORE},
};

/// The credential's password.
pub const PASSWORD: &str = "s3nha-da-loja-feita-a-mao";
/// Another password, which the marketplace accepts too.
pub const NEW_PASSWORD: &str = "s3nha-nova-feita-a-mao";
/// The credential's username.
pub const USERNAME: &str = "loja-1@a1b2c3d4";
/// The login.
pub const LOGIN: &str = "/api/integration/auth";
/// The order listing; with `/NUMBER` behind it, one order.
pub const ORDERS: &str = "/api/v1/sellers/orders";
/// The product listing.
pub const PRODUCTS: &str = "/api/products";

/// A received call.
#[derive(Clone, Debug)]
pub struct Call {
    /// `GET` or `POST`.
    pub method: String,
    /// The path, as sent.
    pub path: String,
    /// The query, decoded as far as these tests need it.
    pub query: BTreeMap<String, String>,
    /// The bearer token.
    pub token: Option<String>,
    /// Every header, by its name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
    /// The time of the call.
    pub at: Instant,
    /// The process of this machine that made it, if it could be found.
    pub process: Option<u32>,
}

/// An answer to send.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
    held: bool,
    raw: Option<Raw>,
}

/// Bytes that are sent as they are, instead of an answer; the connection ends with them.
#[derive(Clone, Debug)]
struct Raw {
    first: Vec<u8>,
    /// Follows again and again, for so many times.
    then: Vec<u8>,
    times: usize,
}

/// An order: its listing row and its detail.
#[derive(Clone, Debug)]
pub struct Order {
    /// Its number.
    pub number: String,
    /// Its row in the listing.
    pub row: Value,
    /// The answer of the detail route.
    pub detail: Value,
}

type Rule = dyn Fn(&Call) -> Option<Reply> + Send + Sync;

/// The marketplace. Dropping it stops it.
pub struct Shop {
    address: SocketAddr,
    world: Arc<World>,
    open: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

struct World {
    orders: Mutex<Vec<Order>>,
    calls: Mutex<Vec<Call>>,
    tokens: Mutex<Vec<String>>,
    rule: Mutex<Arc<Rule>>,
}

impl Call {
    /// Returns whether it requested this page of the order listing.
    pub fn is_order_page(&self, page: u64) -> bool {
        self.path == ORDERS && self.query.get("page").is_some_and(|asked| *asked == page.to_string())
    }

    /// Returns whether it requested one order.
    pub fn is_order(&self) -> bool {
        self.path.starts_with(&format!("{ORDERS}/"))
    }
}

impl Reply {
    /// Builds a JSON answer with a status.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    /// Builds any text answer with a status.
    pub fn text(status: u16, content_type: &'static str, body: &str) -> Self {
        Self { status, content_type, headers: Vec::new(), body: body.to_owned(), held: false, raw: None }
    }

    /// Builds what is no answer: these bytes, then the others so many times, then the end of the connection.
    pub fn raw(first: impl Into<Vec<u8>>, then: impl Into<Vec<u8>>, times: usize) -> Self {
        let raw = Raw { first: first.into(), then: then.into(), times };
        Self { raw: Some(raw), ..Self::text(200, "text/plain", "") }
    }

    /// Builds the success envelope of the document.
    pub fn success(data: &Value) -> Self {
        Self::json(200, &json!({"success": true, "message_code": "SUCCESS", "data": data}))
    }

    /// Builds the error envelope of the document.
    pub fn refusal(status: u16, code: &str, description: &str, errors: &Value) -> Self {
        Self::json(
            status,
            &json!({"success": false, "code": status, "message_code": code, "description": description,
                "data": [], "errors": errors, "meta": []}),
        )
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Holds the answer until [`Shop::release`] is called.
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { status, content_type, headers, body, .. } = self;
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        head.into_bytes()
    }
}

impl Order {
    /// Builds an ordinary paid order with one line.
    pub fn ordinary(number: &str) -> Self {
        let shared = json!({
            "order_number": number, "status": "paid", "workflow_type": "standard", "type": "standard",
            "channel": "marketplace", "delivery_method": "shipping", "customer": {"id": 7, "name": "Zoë d'Ávila"},
            "totals": {"products": 19.90, "shipping": 5.10, "discounts": 0.00, "order": 25.00},
            "items_count": 1, "lines_count": 1, "payment_method": "pix", "payment_status": "approved",
            "is_collective": false, "is_awaiting_campaign": false, "release_at": null,
            "created_at": "2026-03-01T10:00:00-03:00", "updated_at": "2026-03-01T10:05:00-03:00",
        });
        let mut detail = shared.clone();
        detail["items"] = json!([{
            "id": 1, "product_id": "01HZY0000000000000000000AA", "sku": "CAN-01", "quantity": 1,
            "unit_price": 19.9, "net_value": 19.90, "price_scale": 2, "stock_status": "sold_reserved",
            "is_blocking_stock": false,
        }]);
        Self { number: number.to_owned(), row: shared, detail }
    }

    /// Builds `count` ordinary orders, numbered from 1.
    pub fn many(count: usize) -> Vec<Self> {
        (1..=count).map(|n| Self::ordinary(&format!("P{n:05}"))).collect()
    }
}

impl Shop {
    /// Opens a marketplace that behaves as the document says.
    pub async fn open(orders: Vec<Order>) -> Self {
        Self::with_rule(orders, |_| None).await
    }

    /// Opens a marketplace in which `rule` answers first; all other calls are answered as the document says.
    ///
    /// # Panics
    /// When there is no free port.
    pub async fn with_rule(
        orders: Vec<Order>,
        rule: impl Fn(&Call) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let world = Arc::new(World {
            orders: Mutex::new(orders),
            calls: Mutex::default(),
            tokens: Mutex::default(),
            rule: Mutex::new(Arc::new(rule)),
        });
        let (open, gate) = watch::channel(false);
        let serving = tokio::spawn(accept(listener, Arc::clone(&world), gate));
        Self { address, world, open, serving }
    }

    /// Returns the base address.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes the store's file into an installation.
    pub fn join(&self, installation: &Installation) {
        self.join_as(installation, STORE);
    }

    /// The same as a store of another name.
    pub fn join_as(&self, installation: &Installation, key: &str) {
        installation.write_store(key, &self.base_url(), USERNAME, PASSWORD);
    }

    /// Replaces the rule.
    pub fn rule(&self, rule: impl Fn(&Call) -> Option<Reply> + Send + Sync + 'static) {
        *lock(&self.world.rule) = Arc::new(rule);
    }

    /// Changes the orders.
    pub fn change(&self, change: impl FnOnce(&mut Vec<Order>)) {
        change(&mut lock(&self.world.orders));
    }

    /// Returns the calls since the last call of this function.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut lock(&self.world.calls))
    }

    /// Returns how many calls match.
    pub fn count(&self, like: impl Fn(&Call) -> bool) -> usize {
        lock(&self.world.calls).iter().filter(|call| like(call)).count()
    }

    /// Sends the held answers, and holds no further ones.
    pub fn release(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test panics while it holds this")
}

async fn accept(listener: TcpListener, world: Arc<World>, gate: watch::Receiver<bool>) {
    // Connections end with this task.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                connections.spawn(connection(stream, Arc::clone(&world), gate.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers calls until the client disconnects, which is no error.
async fn connection(stream: TcpStream, world: Arc<World>, mut gate: watch::Receiver<bool>) {
    let ports = [stream.peer_addr(), stream.local_addr()].map(|address| address.map_or(0, |end| end.port()));
    let mut stream = BufReader::new(stream);
    let mut process = None;
    while let Some(mut call) = read_call(&mut stream).await {
        // A client that waits for an answer keeps its end of the connection open.
        process = process.or_else(|| callers::process_at(ports));
        call.process = process;
        let reply = world.answer(&call);
        if reply.held && gate.wait_for(|open| *open).await.is_err() {
            return;
        }
        let Some(raw) = &reply.raw else {
            match stream.write_all(&reply.bytes()).await {
                Ok(()) => continue,
                Err(_) => return,
            }
        };
        let mut is_read = stream.write_all(&raw.first).await.is_ok();
        for _ in 0..raw.times {
            is_read = is_read && stream.write_all(&raw.then).await.is_ok();
        }
        return;
    }
}

async fn read_call(stream: &mut BufReader<TcpStream>) -> Option<Call> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let token = headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let length = headers.get("content-length").map_or(Ok(0), |value| value.parse()).ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    Some(Call {
        method,
        path: path.to_owned(),
        query: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        token: token.map(str::to_owned),
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
        at: Instant::now(),
        process: None,
    })
}

impl World {
    fn answer(&self, call: &Call) -> Reply {
        lock(&self.calls).push(call.clone());
        let rule = Arc::clone(&lock(&self.rule));
        rule(call).unwrap_or_else(|| self.as_documented(call))
    }

    fn as_documented(&self, call: &Call) -> Reply {
        if call.path == LOGIN {
            return self.log_in(call);
        }
        let current = lock(&self.tokens).last().cloned();
        if current.is_none() || call.token != current {
            return Reply::refusal(401, "UNAUTHORIZED", "Token inválido.", &json!([]));
        }
        match call.path.strip_prefix(ORDERS) {
            Some("") => self.list(call),
            Some(number) => self.show(number.trim_start_matches('/')),
            None if call.path == PRODUCTS => listing(&[], call),
            None => not_found(),
        }
    }

    fn log_in(&self, call: &Call) -> Reply {
        let body: Value = serde_json::from_str(&call.body).unwrap_or_default();
        let is_known = body["password"] == PASSWORD || body["password"] == NEW_PASSWORD;
        if body["username"] != USERNAME || !is_known {
            return Reply::refusal(401, "UNAUTHORIZED", "Credenciais inválidas.", &json!([]));
        }
        let mut tokens = lock(&self.tokens);
        let token = format!("sk_live_{}", tokens.len() + 1);
        tokens.push(token.clone());
        Reply::success(&json!({"token": token, "expires_at": "2099-12-31T23:59:59-03:00"}))
    }

    fn list(&self, call: &Call) -> Reply {
        let mut rows: Vec<Value> = lock(&self.orders).iter().map(|order| order.row.clone()).collect();
        // "default newest first"; the orders are stored in the order of their creation.
        if call.query.get("sort").map(String::as_str) != Some("created_at") {
            rows.reverse();
        }
        listing(&rows, call)
    }

    fn show(&self, number: &str) -> Reply {
        let orders = lock(&self.orders);
        orders
            .iter()
            .find(|order| order.number == number)
            .map_or_else(not_found, |o| Reply::success(&o.detail))
    }
}

fn not_found() -> Reply {
    Reply::refusal(404, "NOT_FOUND", "Recurso não encontrado.", &json!([]))
}

/// Builds `data[]` plus `meta`, 20 rows a page by default.
fn listing(rows: &[Value], call: &Call) -> Reply {
    let number = |name: &str| call.query.get(name).and_then(|text| text.parse::<usize>().ok());
    let (page, limit) = (number("page").unwrap_or(1), number("limit").unwrap_or(20));
    let on_page: Vec<&Value> = rows.iter().skip((page - 1) * limit).take(limit).collect();
    let last_page = rows.len().div_ceil(limit).max(1);
    Reply::json(
        200,
        &json!({"success": true, "message_code": "SUCCESS", "data": on_page,
            "meta": {"page": page, "limit": limit, "last_page": last_page, "total": rows.len()}}),
    )
}

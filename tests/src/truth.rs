//! The marketplace's contents, read by a client that shares nothing with espelho's.

use std::collections::BTreeMap;

use espelho_sandbox::{Sandbox, StoreAccess};
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// The expected contents of a store's mirror, by key, as the API sends them.
#[derive(Debug, Default)]
pub struct Truth {
    /// Orders by number.
    pub orders: BTreeMap<String, Value>,
    /// `{product, prices, stock}` by identifier.
    pub products: BTreeMap<String, Value>,
    /// Stock locations by identifier.
    pub locations: BTreeMap<String, Value>,
}

/// A client that is logged in to a store.
#[derive(Debug)]
pub struct Reader {
    http: reqwest::Client,
    base_url: String,
    token: String,
}

impl Truth {
    /// Reads the first store of a sandbox. This logs in, which ends espelho's token.
    ///
    /// # Panics
    /// When the sandbox does not answer as its document says.
    pub async fn of(sandbox: &Sandbox) -> Self {
        let reader = Reader::log_in(sandbox).await;
        let mut truth = Self::default();
        for row in reader.all("/api/v1/sellers/orders?limit=100").await {
            let number = text(&row["order_number"]);
            let order = reader.data(&format!("/api/v1/sellers/orders/{number}")).await;
            truth.orders.insert(number, order);
        }
        for row in reader.all("/api/products?per_page=100").await {
            let id = text(&row["id"]);
            let product = reader.data(&format!("/api/products/{id}")).await;
            let stock = reader.data(&format!("/api/products/{id}/stock")).await;
            for location in stock["locations"].as_array().expect("locations") {
                truth.locations.insert(text(&location["location_id"]), location.clone());
            }
            truth.products.insert(id, product);
        }
        truth
    }
}

impl Reader {
    /// Logs in to the first store.
    ///
    /// # Panics
    /// When that fails.
    pub async fn log_in(sandbox: &Sandbox) -> Self {
        Self::log_in_with(sandbox, &sandbox.stores().remove(0)).await
    }

    /// Logs in with a credential, which ends its previous token.
    ///
    /// # Panics
    /// When that fails.
    pub async fn log_in_with(sandbox: &Sandbox, access: &StoreAccess) -> Self {
        Self::answered(sandbox, access).await.unwrap_or_else(|refused| panic!("{refused}"))
    }

    /// Logs in with the first credential of the sandbox; `None` if it is refused.
    pub async fn try_log_in(sandbox: &Sandbox) -> Option<Self> {
        Self::answered(sandbox, &sandbox.stores().remove(0)).await.ok()
    }

    async fn answered(sandbox: &Sandbox, access: &StoreAccess) -> Result<Self, Value> {
        let mut reader = Self { http: client(), base_url: sandbox.base_url(), token: String::new() };
        let request = reader.http.post(format!("{}/api/integration/auth", reader.base_url));
        let body = json!({"username": access.username, "password": access.password});
        let (status, answer) = answer_to(request.json(&body)).await;
        if status != 200 {
            return Err(answer);
        }
        reader.token = text(&answer["data"]["token"]);
        Ok(reader)
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        let (status, answer) = answer_to(request).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Returns the `data` of an answer.
    ///
    /// # Panics
    /// When there is none.
    pub async fn data(&self, path: &str) -> Value {
        self.get(path).await["data"].take()
    }

    /// Returns the `data` of an answer; `None` if the call is refused.
    pub async fn try_data(&self, path: &str) -> Option<Value> {
        let request = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        let (status, mut answer) = answer_to(request).await;
        (status == 200).then(|| answer["data"].take())
    }

    /// POSTs a body; returns the status of the answer.
    pub async fn post(&self, path: &str, body: &Value) -> u16 {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        answer_to(request.json(body)).await.0
    }

    /// Returns all rows of a listing, page by page.
    ///
    /// # Panics
    /// When a page is refused.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        for page in 1.. {
            let mut answer = self.get(&format!("{path}&page={page}")).await;
            let list =
                if answer["data"].is_array() { &mut answer["data"] } else { &mut answer["data"]["data"] };
            let found = list.as_array_mut().expect("a listing has rows");
            if found.is_empty() {
                break;
            }
            rows.append(found);
        }
        rows
    }
}

/// GETs an address without a token; returns status and text.
///
/// # Panics
/// When there is no answer.
pub async fn get(url: &str) -> (u16, String) {
    let request = client().get(url);
    #[expect(clippy::disallowed_methods, reason = "this is no call of the marketplace's API")]
    let response = request.send().await.unwrap_or_else(|error| panic!("{url}: {error}"));
    (response.status().as_u16(), response.text().await.expect("a whole answer"))
}

fn client() -> reqwest::Client {
    // Another test of this process may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

async fn answer_to(request: reqwest::RequestBuilder) -> (u16, Value) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the independent client is not held to espelho's one way out"
    )]
    let response = request.send().await.expect("the marketplace answers");
    (response.status().as_u16(), response.json().await.expect("the marketplace answers JSON"))
}

/// Returns an identifier or a text, which the API may send as a number.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a number, exactly as it was written; the API may send it as a text.
///
/// # Panics
/// When it is neither a number nor null.
pub fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Null => None,
        // The shortest text of a double reproduces up to 15 written digits unchanged.
        other => Some(text(other).parse().unwrap_or_else(|_| panic!("{other} is no number"))),
    }
}

/// Returns a time in the mirror's form.
///
/// # Panics
/// When it is neither a time nor null.
pub fn time(value: &Value) -> Option<String> {
    let instant = chrono::DateTime::parse_from_rfc3339(value.as_str()?).expect("a date-time");
    Some(instant.to_utc().to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
}

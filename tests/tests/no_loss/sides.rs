//! A sandbox with two readers: the real client, and a plain one that parses bodies without any types.

use std::{collections::BTreeMap, sync::Arc};

use espelho_api_client::{Client, resources::Read};
use espelho_model::RawJson;
use espelho_sandbox::{Fault, FaultRule, Options, Sandbox, StoreAccess};
use espelho_tests::{sandbox_of, seller};
use serde_json::{Value, json, value::RawValue};

/// The fixed time of these tests: 2026-04-01 12:00:30 in Brasília. Nothing changes by itself while both readers read.
const NOW: i64 = 1_775_055_630;

/// The store that is read.
pub(crate) const STORE: &str = "loja-1";

pub(crate) struct Sides {
    pub(crate) sandbox: Sandbox,
    pub(crate) client: Client,
    http: reqwest::Client,
    token: String,
}

impl Sides {
    /// Opens both readers, each with a credential of its own: a login would end the other's token.
    pub(crate) async fn open(options: Options) -> Self {
        let now = chrono::DateTime::from_timestamp(NOW, 0).unwrap();
        let sandbox = sandbox_of(Options { now: Some(Arc::new(move || now)), ..options }).await;
        let client = seller::visitor(&sandbox).await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let access = sandbox.control().credentials().create(STORE).unwrap();
        let mut sides = Self { sandbox, client, http, token: String::new() };
        sides.token = sides.log_in(&access).await;
        sides
    }

    async fn log_in(&self, access: &StoreAccess) -> String {
        let body = json!({"username": access.username, "password": access.password});
        let request = self.http.post(format!("{}/api/integration/auth", self.sandbox.base_url())).json(&body);
        let answer: Value = serde_json::from_str(&sent(request).await.1).unwrap();
        answer["data"]["token"].as_str().unwrap().to_owned()
    }

    /// Spoils every answer in this way from now on.
    pub(crate) fn spoil(&self, kind: Fault) {
        self.sandbox.control().faults().add(FaultRule { route: "/api/".to_owned(), times: None, kind });
    }

    /// Returns the `data` of an answer, byte for byte; `None` if it is not found.
    pub(crate) async fn plain(&self, path: &str) -> Option<Json> {
        let request = self.http.get(format!("{}{path}", self.sandbox.base_url())).bearer_auth(&self.token);
        let (status, body) = sent(request).await;
        assert!([200, 404].contains(&status), "{path}: {status} {body}");
        (status == 200).then(|| Json(body).at("data"))
    }

    /// Returns the `data` of an answer, which must exist.
    pub(crate) async fn data(&self, path: &str) -> Json {
        self.plain(path).await.unwrap_or_else(|| panic!("{path} is not there"))
    }
}

async fn sent(request: reqwest::RequestBuilder) -> (u16, String) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the independent client is not held to espelho's one way out"
    )]
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// A part of a body, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Json(pub(crate) String);

impl Json {
    /// Returns the member of an object.
    pub(crate) fn at(&self, name: &str) -> Self {
        self.get(name).unwrap_or_else(|| panic!("no {name} in {}", self.0))
    }

    /// Returns the member of an object, if it exists and is not null.
    pub(crate) fn get(&self, name: &str) -> Option<Self> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(&self.0).unwrap();
        members.get(name).map(|raw| raw.get()).filter(|raw| *raw != "null").map(|raw| Self(raw.to_owned()))
    }

    /// Returns the elements of a list.
    pub(crate) fn rows(&self) -> Vec<Self> {
        let rows: Vec<&RawValue> = serde_json::from_str(&self.0).unwrap();
        rows.into_iter().map(|row| Self(row.get().to_owned())).collect()
    }

    /// Returns the rows of a page in any of its shapes.
    pub(crate) fn page(&self) -> Vec<Self> {
        if self.0.starts_with('[') { self.rows() } else { self.at("data").rows() }
    }

    /// Returns text, or a number's own digits.
    pub(crate) fn text(&self, name: &str) -> String {
        let raw = self.at(name).0;
        serde_json::from_str(&raw).unwrap_or(raw)
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap()
    }
}

/// Returns the value of a read without unreadable fields.
pub(crate) fn whole<T>(read: Read<T>, what: &str) -> T {
    assert!(read.unreadable.is_empty(), "{what}: {:?}", read.unreadable);
    read.value
}

/// Checks that an object is kept as it was sent.
pub(crate) fn kept(raw: &RawJson, sent: &Json) {
    assert_eq!(raw.as_str(), sent.0);
}

/// Checks that every object of a list is kept, in order, and that none is missing.
pub(crate) fn all_kept<'a>(raws: impl IntoIterator<Item = &'a RawJson>, sent: &[Json]) {
    let raws: Vec<_> = raws.into_iter().map(RawJson::as_str).collect();
    let sent: Vec<_> = sent.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(raws, sent);
}

/// Checks that scalars of an object are read correctly: text as text, numbers by their value.
pub(crate) fn told(sent: &Json, fields: &[(&str, Option<String>)]) {
    for (name, read) in fields {
        let said = sent.get(name).map(|_| sent.text(name));
        let same = match (read, &said) {
            (Some(read), Some(said)) => read == said || number(read).is_some_and(|n| Some(n) == number(said)),
            (None, None) => true,
            _ => false,
        };
        assert!(same, "{name}: read {read:?} of {said:?}");
    }
}

fn number(text: &str) -> Option<rust_decimal::Decimal> {
    text.parse().ok()
}

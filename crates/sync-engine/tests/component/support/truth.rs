//! The marketplace's contents, read over HTTP with a credential of its own.

use espelho_sandbox::{Control, Sandbox};
use serde_json::{Value, json};

/// A reader that is logged in.
pub(crate) struct Truth {
    http: reqwest::Client,
    base_url: String,
    token: String,
}

impl Truth {
    /// Logs in with a second credential of a store, so that the engine's token lives on.
    pub(crate) async fn of(sandbox: &Sandbox, control: &Control, store: &str) -> Self {
        let access = control.credentials().create(store).unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut truth = Self { http, base_url: sandbox.base_url(), token: String::new() };
        let body = json!({"username": access.username, "password": access.password});
        let login = truth.http.post(format!("{}/api/integration/auth", truth.base_url)).json(&body);
        let answer = answer_to(login).await;
        truth.token = answer["data"]["token"].as_str().unwrap().to_owned();
        truth
    }

    /// Returns the `data` of an answer.
    pub(crate) async fn data(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        answer_to(request).await["data"].take()
    }

    /// Does something as the seller does it in the portal.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.token).json(body);
        answer_to(request).await["data"].take()
    }
}

async fn answer_to(request: reqwest::RequestBuilder) -> Value {
    #[expect(clippy::disallowed_methods, reason = "this reader shares nothing with the client under test")]
    let response = request.send().await.unwrap();
    let (status, body) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success(), "{status}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// An identifier as text, however it is written.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

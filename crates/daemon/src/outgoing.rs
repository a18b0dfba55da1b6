//! The only place of this crate that sends HTTP requests: to the addresses that the operator chose for messages and traces,
//! never to a marketplace.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use espelho_model::symptom::Symptom;
use opentelemetry_http::{Bytes, Request};
use reqwest::{Client, StatusCode, header::CONTENT_TYPE};
use secrecy::{ExposeSecret as _, SecretString};

use crate::notices::{Sent, Unsent};

/// The header by which a receiver tells a message that comes twice.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Connections to the receivers of messages.
#[derive(Clone, Default)]
pub(crate) struct Http {
    /// Made for the first message; else the reason why there are none, such as a machine without certificates.
    client: Arc<OnceLock<Result<Client, String>>>,
}

impl Http {
    /// Returns the client. A token follows no redirect, and the library sends nothing twice.
    fn client(&self) -> Result<&Client, String> {
        self.client.get_or_init(client).as_ref().map_err(Clone::clone)
    }

    /// Posts JSON.
    pub(crate) async fn post(
        &self,
        url: &SecretString,
        token: Option<&SecretString>,
        id: &str,
        json: String,
    ) -> Sent {
        let client = self.client().map_err(unmade)?;
        let mut request = client.post(url.expose_secret()).body(json);
        request = request.header(CONTENT_TYPE, "application/json");
        request = request.header(IDEMPOTENCY_KEY, id);
        if let Some(token) = token {
            request = request.bearer_auth(token.expose_secret());
        }
        answer_of(request).await
    }

    /// Posts spans to a collector; returns the status of its answer.
    pub(crate) async fn post_spans(&self, request: Request<Bytes>) -> Result<StatusCode, String> {
        let (head, body) = request.into_parts();
        let request = self.client()?.post(head.uri.to_string()).headers(head.headers).body(body);
        #[expect(clippy::disallowed_methods, reason = "this is no call of the marketplace's API")]
        let answer = request.send().await.map_err(|error| innermost(&error.without_url()))?;
        Ok(answer.status())
    }

    /// Calls an address.
    pub(crate) async fn get(&self, url: &SecretString) -> Sent {
        let client = self.client().map_err(unmade)?;
        answer_of(client.get(url.expose_secret())).await
    }
}

fn client() -> Result<Client, String> {
    let client = Client::builder()
        .user_agent(concat!("espelho/", env!("CARGO_PKG_VERSION")))
        .tls_version_min(reqwest::tls::Version::TLS_1_2)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(10))
        .timeout(Duration::from_secs(20))
        // Messages are rare: a connection of the last one is stale by the next.
        .pool_max_idle_per_host(0)
        .build();
    client.map_err(|error| innermost(&error))
}

/// Sends a request; any status but a 2xx is a failure. No error shows the address, which may be a secret.
async fn answer_of(request: reqwest::RequestBuilder) -> Sent {
    #[expect(clippy::disallowed_methods, reason = "this is no call of the marketplace's API")]
    let answer = request.send().await.map_err(unanswered)?;
    let status = answer.status();
    match status.is_success() {
        true => Ok(format!("HTTP {}", status.as_u16())),
        false => {
            let status = status.as_u16();
            Err(Unsent::new(Symptom::Status(status), format!("HTTP {status}")))
        }
    }
}

fn unmade(words: String) -> Unsent {
    Unsent::new(Symptom::Other, words)
}

fn unanswered(error: reqwest::Error) -> Unsent {
    let error = error.without_url();
    let symptom = match (error.is_timeout(), error.is_connect()) {
        (true, _) => Symptom::TimedOut,
        (false, true) => Symptom::of_connection(&error).unwrap_or(Symptom::NoConnection),
        (false, false) => Symptom::of_connection(&error).unwrap_or(Symptom::CutOff),
    };
    Unsent::new(symptom, innermost(&error))
}

fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

//! Token issue: `POST /api/integration/auth` (API document, "Authentication" 2 to 8).

use std::sync::{Arc, atomic::Ordering};

use chrono::{FixedOffset, TimeDelta};
use espelho_model::Clock;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ApiRequest,
    contact::{self, LastToken},
    error::{Error, conceal},
    limit::BoxFuture,
    login_reason::LoginReason,
    password_check::PasswordCheck,
    send::{Answer, Transport},
    token::{Issued, Login, TokenRecord},
    wire::{
        envelope::{self, BodyError},
        fields::{Field, FieldReader, object},
    },
};

/// A token's lifetime if the answer does not state it (API document, "Limits").
const TOKEN_LIFETIME: TimeDelta = TimeDelta::days(30);

/// The `webhook` block of a login (API document, "Authentication" 10): the first login with it creates the webhook,
/// later ones confirm it, and another address changes it in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookBlock {
    /// `url`: a public HTTPS address.
    pub url: String,
    /// `events`: names of events; `*` stands for all.
    pub events: Vec<String>,
}

/// The source of a credential's password. Each login asks for it after its attempt is on record, so a file that was
/// written before that time is proved by the login.
pub trait PasswordSource: Send + Sync {
    /// Returns the password as it is now.
    fn password(&self) -> SecretString;
}

/// A password that does not change.
impl PasswordSource for SecretString {
    fn password(&self) -> SecretString {
        self.clone()
    }
}

/// A store's credential, and what a login needs.
pub(crate) struct Credential {
    pub(crate) username: String,
    pub(crate) password: Arc<dyn PasswordSource>,
    pub(crate) transport: Arc<Transport>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) naive_offset: FixedOffset,
    pub(crate) webhook: Option<WebhookBlock>,
}

#[derive(Serialize)]
struct LoginBody<'a> {
    username: &'a str,
    password: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<&'a WebhookBlock>,
}

#[derive(Deserialize)]
struct TokenWire<'a> {
    token: SecretString,
    #[serde(borrow, default)]
    expires_at: Field<'a>,
}

fn login_request(username: &str, password: &SecretString, webhook: Option<&WebhookBlock>) -> ApiRequest {
    let body = LoginBody { username, password: password.expose_secret(), webhook };
    ApiRequest::post("/api/integration/auth", &[]).json(&body).public()
}

impl Login for Credential {
    fn login(&self, reason: LoginReason, last: LastToken) -> BoxFuture<'_, Result<Issued, Error>> {
        Box::pin(self.log_in(reason, last))
    }

    fn closing(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.transport.owner.closing())
    }
}

impl Credential {
    async fn log_in(&self, reason: LoginReason, last: LastToken) -> Result<Issued, Error> {
        let password = self.password.password();
        let check = PasswordCheck::of(&self.username, &password);
        let request = login_request(&self.username, &password, self.webhook.as_ref());
        self.transport.counters.logins.fetch_add(1, Ordering::Relaxed);
        let answer = self.transport.once(&request, None, None, None).await;
        let issued = answer
            .and_then(|answer| self.read(&answer, check).map_err(|cause| request.no_answer(&answer, cause)));
        let issued = issued.map_err(|error| self.named(error));
        let outcome = contact::Outcome::of_login(&request, &issued, reason, last);
        self.transport.metrics.contact(outcome, self.clock.now());
        issued
    }

    fn read(&self, answer: &Answer, check: PasswordCheck) -> Result<Issued, BodyError> {
        let wire: TokenWire<'_> = object(envelope::payload(&answer.body)?.get())?;
        let now = self.clock.now();
        let stated = FieldReader::new(self.naive_offset).time("expires_at", wire.expires_at);
        // The lifetime by the server's own clock; ours may be wrong by years.
        let life = stated.map(|at| at - answer.date.unwrap_or(now)).filter(|life| *life > TimeDelta::zero());
        let life = life.unwrap_or(TOKEN_LIFETIME).min(TOKEN_LIFETIME);
        let record = TokenRecord {
            token: wire.token,
            expires_at: now + life,
            obtained_at: now,
            password_check: Some(check),
        };
        // Without the block the login asked for no webhook, so any secret in the answer is a different one.
        let webhook_secret = self.webhook.as_ref().and_then(|_| webhook_secret(&answer.body));
        conceal(&record.token);
        webhook_secret.iter().for_each(conceal);
        Ok(Issued { record, webhook_secret })
    }

    fn named(&self, error: Error) -> Error {
        let username = self.username.clone();
        match error {
            Error::Refused { status: status @ (401 | 403 | 422), refusal, .. } => {
                Error::LoginRefused { username, status, refusal }
            }
            other => Error::LoginFailed { username, source: Box::new(other) },
        }
    }
}

/// Finds the signing secret in a login's answer. The document does not name its field, only its form, `whsec_…`. The
/// likely fields come first, then every text of the answer.
fn webhook_secret(body: &[u8]) -> Option<SecretString> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let places = [
        "/data/webhook/secret",
        "/data/webhook_secret",
        "/data/webhook/signing_secret",
        "/data/secret",
        "/webhook/secret",
    ];
    let named = places.iter().filter_map(|place| answer.pointer(place)?.as_str()).find(|text| is_whole(text));
    named.map(str::to_owned).or_else(|| any_secret(&answer)).map(SecretString::from)
}

/// Returns whether a secret is complete: later logins may show it with its middle masked.
fn is_whole(secret: &str) -> bool {
    !secret.is_empty() && secret.chars().all(|c| c.is_ascii_graphic() && c != '*') && !secret.contains("...")
}

fn any_secret(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (text.starts_with("whsec_") && is_whole(text)).then(|| text.clone()),
        Value::Array(list) => list.iter().find_map(any_secret),
        Value::Object(fields) => fields.values().find_map(any_secret),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // proves: AUT-001, AUT-008, VER-001
    #[test]
    fn the_request_of_a_login_carries_the_credential_in_its_body_and_needs_no_token() {
        let request = login_request("loja@a1b2c3d4", &SecretString::from("s\"e"), None);
        assert_eq!(request.describe(), "POST /api/integration/auth");
        let body = json!({"username": "loja@a1b2c3d4", "password": "s\"e"});
        assert_eq!(request.json_body(), Some(body));
        assert!(!request.authenticated);
        assert!(!format!("{request:?}").contains("loja@"));
    }

    // proves: AUT-041, AUT-042
    #[test]
    fn the_request_of_a_login_carries_the_webhook_that_is_wanted() {
        let block =
            WebhookBlock { url: "https://erp.example/webhooks/loja".into(), events: vec!["*".into()] };
        let request = login_request("l@1", &SecretString::from("s"), Some(&block));
        let webhook = json!({"url": "https://erp.example/webhooks/loja", "events": ["*"]});
        let body = json!({"username": "l@1", "password": "s", "webhook": webhook});
        assert_eq!(request.json_body(), Some(body));
    }

    // proves: AUT-045, WHK-012
    #[test]
    fn the_signing_secret_is_found_wherever_the_answer_has_it() {
        for answer in [
            json!({"data": {"token": "t", "webhook": {"id": 1, "secret": "whsec_1"}}}),
            json!({"data": {"token": "t", "webhook_secret": "whsec_1"}}),
            json!({"data": {"token": "t", "webhook": {"signing_secret": "whsec_1"}}}),
            json!({"data": {"token": "t", "secret": "whsec_1"}}),
            json!({"data": {"token": "t"}, "webhook": {"secret": "whsec_1"}}),
            json!({"data": {"token": "t", "webhooks": [{"key": {"value": "whsec_1"}}]}}),
            json!({"data": {"webhook": {"secret": "whsec_****", "plain": "whsec_1"}}}),
        ] {
            let secret = webhook_secret(answer.to_string().as_bytes());
            assert_eq!(secret.map(|s| s.expose_secret().to_owned()).as_deref(), Some("whsec_1"), "{answer}");
        }
    }

    #[test]
    fn a_secret_that_is_hidden_or_absent_is_none() {
        for answer in [
            json!({"data": {"token": "sk_live_1"}}),
            json!({"data": {"webhook": {"secret": "whsec_ab****yz"}}}),
            json!({"data": {"webhook": {"secret": "whsec_ab…yz"}}}),
            json!({"data": {"webhook": {"secret": "whsec_ab...yz"}}}),
            json!({"data": {"webhook": {"secret": ""}}}),
            json!({"data": {"webhook": {"secret": null}}}),
        ] {
            assert!(webhook_secret(answer.to_string().as_bytes()).is_none(), "{answer}");
        }
    }
}

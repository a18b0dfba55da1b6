//! Token issue: `POST /api/integration/auth` (API document, "Authentication" 2 to 8).

use std::sync::{Arc, atomic::Ordering};

use chrono::{FixedOffset, TimeDelta};
use espelho_model::Clock;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::{
    ApiRequest,
    error::Error,
    limit::BoxFuture,
    send::{Answer, Exchange},
    token::{Login, TokenRecord},
    wire::{
        envelope::{self, BodyError},
        fields::{Field, FieldReader, object},
    },
};

/// How long a token is good when the answer does not say (API document, "Limits").
const TOKEN_LIFETIME: TimeDelta = TimeDelta::days(30);

/// A store's credential and the means to use it.
pub(crate) struct Credential {
    pub(crate) username: String,
    pub(crate) password: SecretString,
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) naive_offset: FixedOffset,
}

#[derive(Serialize)]
struct LoginBody<'a> {
    username: &'a str,
    password: &'a str,
}

#[derive(Deserialize)]
struct TokenWire<'a> {
    token: SecretString,
    #[serde(borrow, default)]
    expires_at: Field<'a>,
}

fn login_request(username: &str, password: &SecretString) -> ApiRequest {
    let body = LoginBody { username, password: password.expose_secret() };
    ApiRequest::post("/api/integration/auth", &[]).json(&body).public()
}

impl Login for Credential {
    fn login(&self) -> BoxFuture<'_, Result<TokenRecord, Error>> {
        Box::pin(self.log_in())
    }
}

impl Credential {
    async fn log_in(&self) -> Result<TokenRecord, Error> {
        let request = login_request(&self.username, &self.password);
        self.exchange.counters.logins.fetch_add(1, Ordering::Relaxed);
        let answer = match self.exchange.once(&request, None, None).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.named(error)),
        };
        self.read(&answer).map_err(|cause| self.named(request.no_answer(&answer, cause)))
    }

    fn read(&self, answer: &Answer) -> Result<TokenRecord, BodyError> {
        let wire: TokenWire<'_> = object(envelope::payload(&answer.body)?.get())?;
        let now = self.clock.now();
        let stated = FieldReader::new(self.naive_offset).time("expires_at", wire.expires_at);
        // How long it lives by the server's own clock; ours may be wrong by years.
        let life = stated.map(|at| at - answer.date.unwrap_or(now)).filter(|life| *life > TimeDelta::zero());
        let life = life.unwrap_or(TOKEN_LIFETIME).min(TOKEN_LIFETIME);
        Ok(TokenRecord { token: wire.token, expires_at: now + life, obtained_at: now })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_carries_the_credential_in_its_body_and_needs_no_token() {
        let request = login_request("loja@a1b2c3d4", &SecretString::from("s\"e"));
        assert_eq!(request.describe(), "POST /api/integration/auth");
        let body = serde_json::json!({"username": "loja@a1b2c3d4", "password": "s\"e"});
        assert_eq!(request.json_body(), Some(body));
        assert!(!request.authenticated);
    }
}

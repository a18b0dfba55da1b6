//! Token issue: `POST /api/integration/auth` (API document, "Authentication" 2 to 8).

use std::sync::{Arc, atomic::Ordering};

use chrono::{FixedOffset, TimeDelta};
use espelho_model::Clock;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::{
    ApiRequest,
    error::{Class, Error},
    limit::BoxFuture,
    retry::Attempts,
    send::Exchange,
    token::{Login, TokenRecord},
    wire::{
        envelope::{self, BodyError},
        fields::{Field, FieldReader},
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
    pub(crate) attempts: u32,
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

fn login_request(username: &str, password: &SecretString) -> Result<ApiRequest, Error> {
    let body = LoginBody { username, password: password.expose_secret() };
    let body = serde_json::to_vec(&body).map_err(|e| Error::Setup(e.to_string()))?;
    Ok(ApiRequest::post("/api/integration/auth", &[], body).public())
}

impl Login for Credential {
    fn login(&self) -> BoxFuture<'_, Result<TokenRecord, Error>> {
        Box::pin(self.log_in())
    }
}

impl Credential {
    async fn log_in(&self) -> Result<TokenRecord, Error> {
        let request = login_request(&self.username, &self.password)?;
        let mut attempts = Attempts::new(self.attempts);
        loop {
            self.exchange.counters.logins.fetch_add(1, Ordering::Relaxed);
            let error = match self.exchange.once(&request, None, None).await {
                Ok(answer) => {
                    return self.read(&answer.body).map_err(|cause| request.no_answer(&answer, cause));
                }
                Err(error) => error,
            };
            // A login may be repeated: it only replaces the token whose answer was lost.
            let after = match error.class() {
                Class::Transient { after } => after,
                Class::Ambiguous => None,
                _ => return Err(self.name_refusal(error)),
            };
            let Some(delay) = attempts.next_delay(after) else { return Err(error) };
            self.clock.sleep(delay).await;
        }
    }

    fn read(&self, body: &[u8]) -> Result<TokenRecord, BodyError> {
        let wire: TokenWire<'_> = serde_json::from_str(envelope::payload(body)?.get())?;
        let now = self.clock.now();
        let stated = FieldReader::new(self.naive_offset).time("expires_at", wire.expires_at);
        Ok(TokenRecord {
            token: wire.token,
            expires_at: stated.unwrap_or(now + TOKEN_LIFETIME),
            obtained_at: now,
        })
    }

    fn name_refusal(&self, error: Error) -> Error {
        match error {
            Error::Refused { status: status @ (401 | 403 | 422), refusal, .. } => {
                Error::LoginRefused { username: self.username.clone(), status, refusal }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_carries_the_credential_in_its_body_and_needs_no_token() {
        let request = login_request("loja@a1b2c3d4", &SecretString::from("s\"e")).unwrap();
        assert_eq!(request.describe(), "POST /api/integration/auth");
        assert_eq!(request.body.as_deref(), Some(&br#"{"username":"loja@a1b2c3d4","password":"s\"e"}"#[..]));
        assert!(!request.authenticated);
    }
}

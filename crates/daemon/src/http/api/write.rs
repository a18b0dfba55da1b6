//! Writes the ERP's tables, in batches that are written as a whole or not at all.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State as Extract},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use espelho_model::{StoreKey, text};
use espelho_store::{RequestKey, Written, WrittenRow};
use http_body_util::LengthLimitError;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    super::State,
    Api,
    access::{Caller, Parameters},
    body::{self, Rows, Stores, Target},
    problem::Problem,
    query,
    tokens::Scope,
};

/// The largest body.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// The time for a body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest idempotency key.
const LONGEST_KEY: usize = 255;
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that the answer is that of an earlier request.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Writes rows of `erp_stock`: the stock that the ERP wants. The last row of each key counts.
#[utoipa::path(post, path = "/erp_stock", tag = "write", request_body = Vec<super::schema::NewStock>,
    params(super::schema::IdempotencyKey), responses(super::schema::WriteAnswers))]
pub(super) async fn stock(
    state: Extract<State>,
    caller: Caller,
    query: Parameters,
    request: Request,
) -> Result<Response, Problem> {
    refuse_parameters(&query)?;
    write(Target::Stock, state, caller, request).await
}

/// Writes rows of `erp_prices`: the price tiers that the ERP wants. The last row of each key counts.
#[utoipa::path(post, path = "/erp_prices", tag = "write", request_body = Vec<super::schema::NewPrice>,
    params(super::schema::IdempotencyKey), responses(super::schema::WriteAnswers))]
pub(super) async fn prices(
    state: Extract<State>,
    caller: Caller,
    query: Parameters,
    request: Request,
) -> Result<Response, Problem> {
    refuse_parameters(&query)?;
    write(Target::Prices, state, caller, request).await
}

/// Writes commands. Each request writes new ones: send an `Idempotency-Key`.
#[utoipa::path(post, path = "/commands", tag = "write", request_body = Vec<super::schema::NewCommand>,
    params(super::schema::IdempotencyKey), responses(super::schema::WriteAnswers))]
pub(super) async fn commands(
    state: Extract<State>,
    caller: Caller,
    query: Parameters,
    request: Request,
) -> Result<Response, Problem> {
    refuse_parameters(&query)?;
    write(Target::Commands, state, caller, request).await
}

/// Notes orders that the ERP has taken, in `erp_orders`.
///
/// With `claim=true`, an order that somebody has taken stays theirs: its state is `already_taken`.
#[utoipa::path(post, path = "/erp_orders", tag = "write", request_body = Vec<super::schema::NewTakenOrder>,
    params(super::schema::IdempotencyKey, ("claim" = Option<bool>, Query, description = "Leave orders alone that were taken before")),
    responses(super::schema::WriteAnswers))]
pub(super) async fn orders(
    state: Extract<State>,
    caller: Caller,
    Parameters(pairs): Parameters,
    request: Request,
) -> Result<Response, Problem> {
    let mut claims = false;
    for (at, (name, value)) in pairs.iter().enumerate() {
        query::refuse_repeated(&pairs[..at], name)?;
        match (name.as_str(), value.parse()) {
            ("claim", Ok(said)) => claims = said,
            ("claim", Err(_)) => return Err(query::bad_value(name, value, text!("http-rule-flag"))),
            _ => return Err(query::unknown(name, &["claim"])),
        }
    }
    write(Target::Orders { claims }, state, caller, request).await
}

fn refuse_parameters(Parameters(pairs): &Parameters) -> Result<(), Problem> {
    let none: [&str; 0] = [];
    pairs.first().map_or(Ok(()), |(name, _)| Err(query::unknown(name, &none)))
}

async fn write(
    target: Target,
    Extract(state): Extract<State>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    caller.demand(Scope::Write)?;
    let (parts, body) = request.into_parts();
    demand_json(&parts.headers)?;
    let key = idempotency_key(&parts.headers)?;
    let body = read(&state, body).await?;
    let known = known_stores(&state).await?;
    let Rows { batch, names } = body::rows(target, &body, &Stores { known: &known, caller: &caller })?;
    let key = key.map(|key| RequestKey {
        token: caller.0.name.clone(),
        key,
        fingerprint: fingerprint(&parts.uri.to_string(), &body),
    });
    let guard = key.as_ref().map(|key| state.api.begin(key).ok_or_else(under_way)).transpose()?;
    let store = state.store.clone();
    let written = state.api.in_database(async move {
        // The key counts as under way until the transaction has ended, whether or not somebody waits.
        let _guard = guard;
        let answer = |rows: &[WrittenRow]| answer(&names, rows);
        let written = store.api().write(batch, key.as_ref(), answer).await?;
        if key.is_some()
            && let Err(error) = store.api().forget_old_requests().await
        {
            tracing::debug!(%error, "old requests are not forgotten; the next one will try");
        }
        Ok(written)
    });
    answered(written.await?)
}

fn answered(written: Written) -> Result<Response, Problem> {
    match written {
        Written::Now(answer) => Ok(super::json_text(answer)),
        Written::Before(answer) => {
            let replayed = [(REPLAYED, HeaderValue::from_static("true"))];
            Ok((replayed, super::json_text(answer)).into_response())
        }
        Written::OtherRequest => {
            Err(Problem::unprocessable("idempotency_key_reused", text!("http-other-request")))
        }
        Written::UnderWay => Err(under_way()),
    }
}

fn under_way() -> Problem {
    Problem::new(StatusCode::CONFLICT, "request_under_way", text!("http-under-way"))
        .with(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

/// Returns the answer to a batch: what each row is called, and what became of it.
fn answer(names: &[Value], rows: &[WrittenRow]) -> String {
    let row = |(at, (name, row)): (usize, (&Value, &WrittenRow))| {
        let mut told = name.clone();
        told["row"] = json!(at);
        told["state"] = json!(row.state);
        if let Some(revision) = row.revision {
            told["revision"] = json!(revision);
        }
        if let Some(id) = row.id {
            told["id"] = json!(id);
        }
        told
    };
    let rows: Vec<Value> = names.iter().zip(rows).enumerate().map(row).collect();
    json!({ "rows": rows }).to_string()
}

pub(super) fn demand_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", text!("http-not-json"))),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut sent = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let key = match (sent.next(), sent.next()) {
        (None, _) => return Ok(None),
        (Some(key), None) => key.to_str().unwrap_or_default(),
        (Some(_), Some(_)) => "",
    };
    match (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(Some(key.to_owned())),
        false => {
            let text = text!("http-bad-key", most = LONGEST_KEY);
            Err(Problem::bad_request("invalid_idempotency_key", text))
        }
    }
}

/// Reads a body within its bounds of size and time.
pub(super) async fn read(state: &State, body: Body) -> Result<Vec<u8>, Problem> {
    let read = tokio::select! {
        read = to_bytes(body, MOST_BYTES) => read,
        () = state.clock.sleep(BODY_TIMEOUT) => {
            let text = text!("http-slow", seconds = BODY_TIMEOUT.as_secs());
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "slow_body", text));
        }
    };
    let is_too_large = |error: &axum::Error| {
        let source = std::error::Error::source(error);
        source.and_then(|source| source.downcast_ref::<LengthLimitError>()).is_some()
    };
    match read {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(error) if is_too_large(&error) => {
            let text = text!("http-too-large", most = MOST_BYTES);
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text))
        }
        Err(error) => {
            let text = text!("http-bad-body", problem = error.to_string());
            Err(Problem::bad_request("unreadable_body", text))
        }
    }
}

/// Returns the stores that rows may name: the configured ones, and those that other processes work on.
async fn known_stores(state: &State) -> Result<BTreeSet<StoreKey>, Problem> {
    let mut known: BTreeSet<StoreKey> =
        state.snapshots.shown.get().iter().map(|shown| shown.key.clone()).collect();
    let store = state.store.clone();
    let elsewhere = state.api.in_database(async move { store.intents().stores_elsewhere().await }).await?;
    known.extend(elsewhere.iter().filter_map(|name| StoreKey::new(name).ok()));
    Ok(known)
}

fn fingerprint(route: &str, body: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(route.as_bytes());
    hash.update([0]);
    hash.update(body);
    hex::encode(hash.finalize())
}

/// The keys of requests that are under way in this process.
#[derive(Debug, Default)]
pub(super) struct UnderWay(parking_lot::Mutex<BTreeSet<(String, String)>>);

/// A key that is under way until this is dropped.
pub(super) struct UnderWayGuard {
    all: Arc<UnderWay>,
    key: (String, String),
}

impl Api {
    /// Notes a request as under way; `None` if it is already.
    fn begin(&self, request: &RequestKey) -> Option<UnderWayGuard> {
        let key = (request.token.clone(), request.key.clone());
        let all = Arc::clone(&self.under_way);
        let is_new = all.0.lock().insert(key.clone());
        is_new.then(|| UnderWayGuard { all, key })
    }
}

impl Drop for UnderWayGuard {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_is_one_header_of_bounded_length() {
        let of = |keys: &[&str]| {
            let mut headers = HeaderMap::new();
            for key in keys {
                headers.append(IDEMPOTENCY_KEY, key.parse().unwrap());
            }
            idempotency_key(&headers).map_err(|problem| problem.code)
        };
        let bad = Err("invalid_idempotency_key");
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&["8e03978e"]), Ok(Some("8e03978e".to_owned())));
        assert_eq!(of(&[""]), bad);
        assert_eq!(of(&["a b"]), bad);
        assert_eq!(of(&["a", "b"]), bad);
        assert_eq!(of(&[&"a".repeat(256)]), bad);
    }

    #[test]
    fn only_json_is_taken() {
        let of = |kind: &str| {
            demand_json(&HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())])).is_ok()
        };
        assert!(of("application/json") && of("Application/JSON; charset=utf-8"));
        assert!(!of("text/plain") && !of("application/jsonl") && demand_json(&HeaderMap::new()).is_err());
    }

    #[test]
    fn a_request_is_the_same_by_its_route_and_its_body() {
        assert_eq!(fingerprint("/a", b"[]"), fingerprint("/a", b"[]"));
        assert_ne!(fingerprint("/a", b"[]"), fingerprint("/b", b"[]"));
        assert_ne!(fingerprint("/a", b"[]"), fingerprint("/a", b"[ ]"));
    }
}

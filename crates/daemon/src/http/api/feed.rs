//! The change feed, as `espelho feed` tells it, and the acknowledgements of its consumers.

use std::time::Duration;

use axum::{
    extract::{Path, Request, State as Extract, rejection::PathRejection},
    response::Response,
};
use espelho_model::{text, time::fixed_width};
use espelho_store::{Change, Error as StoreError};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    super::State,
    access::{Caller, Parameters},
    json,
    problem::Problem,
    query, schema,
    tokens::Scope,
    write,
};

/// The longest wait for a change.
const LONGEST_WAIT: u32 = 30;
/// How often a waiting request looks: one look is one step into an index.
const LOOK: Duration = Duration::from_millis(500);
/// The longest name of a consumer, in letters.
const LONGEST_NAME: usize = 200;

/// The parameters of the feed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    consumer: Option<String>,
    after: Option<i64>,
    limit: u32,
    wait: u32,
}

/// A part of the feed.
#[derive(Serialize)]
struct Told {
    changes: Vec<Change>,
    /// The number up to which the feed was read: `after` of the next request.
    next: i64,
}

/// Reads the change feed: what is new, different or gone in the mirror, in the order of commits.
///
/// It begins after `after`, else after what `consumer` has acknowledged, else at its first entry.
#[utoipa::path(
    get,
    path = "/changes",
    tag = "feed",
    params(schema::FeedParameters),
    responses(schema::FeedAnswers)
)]
pub(super) async fn changes(
    Extract(state): Extract<State>,
    caller: Caller,
    Parameters(pairs): Parameters,
) -> Result<Response, Problem> {
    caller.demand(Scope::Feed)?;
    let asked = asked(&pairs)?;
    let mut after = begin(&state, &asked).await?;
    let until = state.clock.monotonic() + Duration::from_secs(asked.wait.into());
    loop {
        let store = state.store.clone();
        let read = async move { store.changes().changes_after(after, asked.limit).await };
        let mut changes = state.api.in_database(read).await?;
        after = changes.last().map_or(after, |change| change.seq);
        let is_whole = changes.len() < asked.limit as usize;
        changes.retain(|change| caller.0.sees(change.store.as_str()));
        let is_over = state.clock.monotonic() >= until || state.api.stop.is_cancelled();
        if !changes.is_empty() || is_over {
            return Ok(json(&Told { changes, next: after }));
        }
        // A page of other stores' changes is passed over at once.
        if is_whole {
            tokio::select! { () = state.clock.sleep(LOOK) => {}, () = state.api.stop.cancelled() => {} }
        }
    }
}

async fn begin(state: &State, asked: &Asked) -> Result<i64, Problem> {
    match (&asked.consumer, asked.after) {
        (_, Some(after)) => Ok(after),
        (None, None) => Ok(0),
        (Some(name), None) => {
            let (store, name) = (state.store.clone(), name.clone());
            let read = async move { store.changes().consumer(&name).await };
            Ok(state.api.in_database(read).await?.unwrap_or(0))
        }
    }
}

fn asked(pairs: &[(String, String)]) -> Result<Asked, Problem> {
    let mut asked = Asked { limit: query::USUAL, ..Asked::default() };
    for (at, (name, value)) in pairs.iter().enumerate() {
        query::refuse_repeated(&pairs[..at], name)?;
        match name.as_str() {
            "consumer" => asked.consumer = Some(consumer_name(value)?),
            "after" => asked.after = Some(query::number_in(name, value, 0, i64::MAX)?),
            "limit" => asked.limit = query::number_in(name, value, 1, query::MOST)?,
            "wait" => asked.wait = query::number_in(name, value, 0, LONGEST_WAIT)?,
            _ => return Err(query::unknown(name, &["consumer", "after", "limit", "wait"])),
        }
    }
    Ok(asked)
}

/// Lists the consumers of the feed, with the number that each has acknowledged.
#[utoipa::path(get, path = "/consumers", tag = "feed", responses(schema::ConsumersAnswers))]
pub(super) async fn consumers(
    Extract(state): Extract<State>,
    caller: Caller,
    Parameters(pairs): Parameters,
) -> Result<Response, Problem> {
    caller.demand(Scope::Feed)?;
    refuse(&pairs)?;
    let store = state.store.clone();
    let all = state.api.in_database(async move { store.changes().consumers().await }).await?;
    let told = all
        .iter()
        .map(|of| json!({"name": of.name, "seq": of.seq, "updated_at": fixed_width(of.updated_at)}));
    Ok(json(&json!({ "consumers": told.collect::<Vec<Value>>() })))
}

/// Acknowledges entries of the feed up to a number, for a consumer.
///
/// The number never goes back; a lower one changes nothing. One that the feed has not reached is refused.
#[utoipa::path(post, path = "/consumers/{name}/ack", tag = "feed", request_body = schema::Acknowledgement,
    params(("name" = String, Path, description = "The consumer", min_length = 1, max_length = 200)),
    responses(schema::AckAnswers))]
pub(super) async fn acknowledge(
    Extract(state): Extract<State>,
    caller: Caller,
    name: Result<Path<String>, PathRejection>,
    Parameters(pairs): Parameters,
    request: Request,
) -> Result<Response, Problem> {
    caller.demand(Scope::Feed)?;
    refuse(&pairs)?;
    let Ok(Path(name)) = name else { return Err(bad_name("")) };
    let name = consumer_name(&name)?;
    let (parts, body) = request.into_parts();
    write::demand_json(&parts.headers)?;
    let seq = seq(&write::read(&state, body).await?)?;
    let (store, of) = (state.store.clone(), name.clone());
    let acknowledged = state.api.in_database(async move {
        let newest = store.changes().feed_bounds().await?.map_or(0, |(_, newest)| newest);
        match seq > newest {
            true => Ok(Err(newest)),
            false => Ok::<_, StoreError>(Ok(store.changes().acknowledge(&of, seq).await?)),
        }
    });
    match acknowledged.await? {
        Ok(seq) => Ok(json(&json!({"name": name, "seq": seq}))),
        Err(newest) => {
            let text = text!("http-unknown-seq", seq = seq.to_string(), newest = newest.to_string());
            Err(Problem::unprocessable("unknown_seq", text))
        }
    }
}

fn refuse(pairs: &[(String, String)]) -> Result<(), Problem> {
    let none: [&str; 0] = [];
    pairs.first().map_or(Ok(()), |(name, _)| Err(query::unknown(name, &none)))
}

/// Reads `{"seq": N}`.
fn seq(body: &[u8]) -> Result<i64, Problem> {
    let read = |error: serde_json::Error| {
        Problem::bad_request("invalid_json", text!("http-bad-body", problem = error.to_string()))
    };
    let schema::Acknowledgement { seq } = serde_json::from_slice(body).map_err(read)?;
    match seq < 0 {
        true => Err(query::bad_value("seq", &seq.to_string(), text!("value-rule-zero-or-more"))),
        false => Ok(seq),
    }
}

fn consumer_name(name: &str) -> Result<String, Problem> {
    let is_name = !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME && !name.contains('\0');
    is_name.then(|| name.to_owned()).ok_or_else(|| bad_name(name))
}

fn bad_name(name: &str) -> Problem {
    query::bad_value("consumer", name, text!("http-rule-name", most = LONGEST_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(query: &[(&str, &str)]) -> Vec<(String, String)> {
        query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_feed_is_asked_for_within_bounds() {
        let read = |query: &[(&str, &str)]| asked(&pairs(query)).map_err(|problem| problem.code);
        let all = [("consumer", "erp"), ("after", "7"), ("limit", "10"), ("wait", "30")];
        let expected = Asked { consumer: Some("erp".into()), after: Some(7), limit: 10, wait: 30 };
        assert_eq!(read(&all), Ok(expected));
        assert_eq!(read(&[]), Ok(Asked { limit: 100, ..Asked::default() }));
        for (name, value, code) in [
            ("wait", "31", "invalid_parameter"),
            ("after", "-1", "invalid_parameter"),
            ("limit", "1001", "invalid_parameter"),
            ("consumer", " ", "invalid_parameter"),
            ("consumer", "a\0", "invalid_parameter"),
            ("seq", "1", "unknown_parameter"),
        ] {
            assert_eq!(read(&[(name, value)]), Err(code), "{name}={value}");
        }
    }

    #[test]
    fn an_acknowledgement_is_a_whole_number() {
        let read = |body: &str| seq(body.as_bytes()).map_err(|problem| problem.code);
        assert_eq!(read(r#"{"seq": 9}"#), Ok(9));
        for body in ["", "9", "{}", r#"{"seq": "9"}"#, r#"{"seq": 1.5}"#, r#"{"seq": 1, "x": 1}"#] {
            assert_eq!(read(body), Err("invalid_json"), "{body}");
        }
        assert_eq!(read(r#"{"seq": -1}"#), Err("invalid_parameter"));
    }
}

//! Login, logout, and the acts of operators.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use axum::{
    extract::{ConnectInfo, Query, State as Extract},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Redirect, Response},
};
use espelho_model::{text, text::Text};
use espelho_store::Store;

use super::{super::State, answer, query_value, read, session_id};
use crate::{
    acts::{Act, Asked},
    operators,
    page::{self, Reader, RowName},
    sessions,
};

/// The acts that are listed.
const LISTED: u32 = 100;
/// The cookie of a session.
pub(super) const COOKIE: &str = "espelho_session";

/// `GET /acao`: what an act would do.
pub(in super::super) async fn ask(
    Extract(state): Extract<State>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    reader: Reader,
) -> Result<Response, Response> {
    let Some(act) = Act::read(&asked, &state.shown_stores()) else {
        return Ok(answer(StatusCode::NOT_FOUND, page::no_such_page(&reader), &headers));
    };
    let (store, clock, asking) = (state.store.clone(), state.clock.clone(), act.clone());
    let preview = read(&state, &headers, &reader, async move { asking.preview(&store, &*clock).await });
    Ok(answer(StatusCode::OK, page::confirm(&asked, &act, &preview.await?, &reader), &headers))
}

/// `POST /acao`: does it.
pub(in super::super) async fn act(
    Extract(state): Extract<State>,
    headers: HeaderMap,
    reader: Reader,
    body: String,
) -> Result<Response, Response> {
    if body.contains(super::NUL) {
        return Err(super::nul(&reader, &headers));
    }
    let asked = asked_by(&body);
    // A login leads back to the question, and only its answer does something.
    let question = page::question_address(&asked);
    let refused = |status, said: &Text| answer(status, page::login(&question, Some(said), &reader), &headers);
    let Some(session) = &reader.session else {
        return Err(refused(StatusCode::UNAUTHORIZED, &text!("page-act-again")));
    };
    let csrf = query_value(&body, "csrf").unwrap_or_default();
    if !session.made(&csrf) {
        return Err(refused(StatusCode::FORBIDDEN, &text!("page-act-form")));
    }
    // The file may have changed since the login.
    let known = state.operators.read();
    let operator = known.iter().find(|operator| operator.name == session.name);
    if !session.role.may_act() || operator.is_none_or(|operator| !operator.role.may_act()) {
        return Err(refused(StatusCode::FORBIDDEN, &text!("page-act-not-allowed")));
    }
    let Some(act) = Act::read(&asked, &state.shown_stores()) else {
        return Ok(answer(StatusCode::NOT_FOUND, page::no_such_page(&reader), &headers));
    };
    let (store, clock, actor) = (state.store.clone(), state.clock.clone(), session.name.clone());
    let asking = act.clone();
    let done = read(&state, &headers, &reader, async move {
        match asking.perform(&store, &*clock, &actor).await? {
            Some(id) => Ok(Ok(id)),
            None => Ok(Err(asking.preview(&store, &*clock).await?)),
        }
    });
    Ok(match done.await? {
        Ok(id) => Redirect::to(&format!("/acoes?done={id}")).into_response(),
        // The rows have changed since the question: it is asked anew.
        Err(preview) => {
            answer(StatusCode::CONFLICT, page::confirm(&asked, &act, &preview, &reader), &headers)
        }
    })
}

/// Returns what a form asks for.
fn asked_by(body: &str) -> Asked {
    let value = |name| query_value(body, name).unwrap_or_default();
    Asked {
        act: value("act"),
        causa: value("causa"),
        store: value("store"),
        entity: value("entity"),
        key: value("key"),
        event: value("event"),
        delivery: value("delivery"),
        only: value("only"),
        minutes: value("minutes"),
        state: value("state"),
        seen: value("seen"),
    }
}

/// `GET /acoes`: what was done.
pub(in super::super) async fn acts(
    Extract(state): Extract<State>,
    headers: HeaderMap,
    reader: Reader,
) -> Result<Response, Response> {
    let store = state.store.clone();
    let recent = read(&state, &headers, &reader, async move {
        let recent = store.actions().recent(LISTED).await?;
        let states = states_of(&store, page::shown_rows(&recent)).await;
        Ok((recent, states))
    });
    let query = reader.path.split_once('?').map_or("", |(_, query)| query);
    // The address names a record; what it says comes from the record.
    let done = query_value(query, "done").and_then(|id| id.parse().ok());
    let (recent, states) = recent.await?;
    Ok(answer(StatusCode::OK, page::acts(&recent, states.as_ref(), done, &reader), &headers))
}

/// Returns the states that rows have now; `None` if they cannot be read: the ERP may keep a table of them locked, and
/// what was done is shown all the same.
async fn states_of(store: &Store, rows: BTreeSet<RowName>) -> Option<BTreeMap<RowName, String>> {
    let mut keys = BTreeMap::<[String; 2], Vec<String>>::new();
    for [of, entity, key] in rows {
        keys.entry([of, entity]).or_default().push(key);
    }
    let mut states = BTreeMap::new();
    for ([of, entity], keys) in keys {
        let Ok(intent) = entity.parse() else { continue };
        let found = match store.releases().states_of(&of, intent, keys).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "cannot read the states of the rows of acts");
                return None;
            }
        };
        states.extend(found.into_iter().map(|(key, state)| ([of.clone(), entity.clone(), key], state)));
    }
    Some(states)
}

/// `GET /entrar`.
pub(in super::super) async fn login_form(headers: HeaderMap, reader: Reader) -> Response {
    let query = reader.path.split_once('?').map_or("", |(_, query)| query);
    let next = query_value(query, "next").unwrap_or_default();
    answer(StatusCode::OK, page::login(own_path(&next), None, &reader), &headers)
}

/// `POST /entrar`.
pub(in super::super) async fn login(
    Extract(state): Extract<State>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    reader: Reader,
    body: String,
) -> Response {
    let now = state.clock.monotonic();
    let next = query_value(&body, "next").unwrap_or_default();
    let wrong =
        |status, said: &Text| answer(status, page::login(own_path(&next), Some(said), &reader), &headers);
    let peer = peer.ip().to_canonical();
    if !state.sessions.may_try(peer, now) {
        return wrong(StatusCode::TOO_MANY_REQUESTS, &text!("page-login-wait"));
    }
    let known = state.operators.read();
    let token = query_value(&body, "token").unwrap_or_default();
    let Some(operator) = operators::with_token(&known, &token) else {
        state.sessions.note_failure(peer, now);
        tracing::warn!(%peer, "a login on the page with an unknown token");
        return wrong(StatusCode::UNAUTHORIZED, &text!("page-login-wrong"));
    };
    let Some(id) = state.sessions.open(operator, now) else {
        return wrong(StatusCode::SERVICE_UNAVAILABLE, &text!("page-unavailable-next"));
    };
    tracing::info!(operator = operator.name, %peer, "an operator logged in on the page");
    let secure = if state.listen.ip().is_loopback() { "" } else { "; Secure" };
    let cookie = format!(
        "{COOKIE}={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{secure}",
        sessions::LASTS.as_secs()
    );
    with_cookie(Redirect::to(own_path(&next)).into_response(), &cookie)
}

/// `POST /sair`.
pub(in super::super) async fn logout(
    Extract(state): Extract<State>,
    headers: HeaderMap,
    reader: Reader,
    body: String,
) -> Response {
    let csrf = query_value(&body, "csrf").unwrap_or_default();
    if let (Some(session), Some(id)) = (&reader.session, session_id(&headers))
        && session.made(&csrf)
    {
        state.sessions.close(&id);
    }
    let cookie = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    with_cookie(Redirect::to("/").into_response(), &cookie)
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Returns a path of this service, and never another address.
fn own_path(path: &str) -> &str {
    let is_own = path.starts_with('/') && !path.starts_with("//") && !path.contains(['\\', '\r', '\n', '\t']);
    if is_own { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_back_to_the_question_whose_answer_came_without_a_session() {
        for (form, expected) in [
            (
                "act=release&causa=price_jump&store=loja-1&state=held&seen=2026-11-27&csrf=old",
                "/acao?act=release&causa=price_jump&store=loja-1&state=held",
            ),
            (
                "act=retry&entity=stock&key=A%2F1%26x%23&store=loja-1",
                "/acao?act=retry&store=loja-1&entity=stock&key=A%2F1%26x%23",
            ),
            ("act=%2F%2Fevil.example%0d%0a", "/acao?act=%2F%2Fevil.example%0D%0A"),
            ("", "/"),
        ] {
            let question = page::question_address(&asked_by(form));
            assert_eq!((question.as_str(), own_path(&question)), (expected, expected));
        }
    }

    #[test]
    fn a_login_leads_to_a_page_of_this_service_alone() {
        for (path, expected) in [
            ("/erros?causa=x", "/erros?causa=x"),
            ("", "/"),
            ("//evil.example", "/"),
            ("https://evil.example", "/"),
            ("/\\evil.example", "/"),
            ("/a\r\nSet-Cookie: x", "/"),
        ] {
            assert_eq!(own_path(path), expected);
        }
    }
}

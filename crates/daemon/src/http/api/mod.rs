//! The HTTP API (PRODUCT contract 5): `/api/v1`, for programs with a token.
//!
//! `access` knows who asks, `query`, `cursor` and `body` read what is asked (pure), `rows`, `write`, `feed` and `alarms`
//! answer, `problem` says why not, `openapi` describes all of it from the catalogue of tables and the routes.

mod access;
mod alarms;
mod body;
mod cursor;
mod feed;
mod openapi;
mod problem;
mod query;
mod rows;
mod schema;
mod tokens;
mod write;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State as Extract,
    http::{Method, StatusCode, header},
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::get,
};
use espelho_model::{Clock, text};
use espelho_store::{Error as StoreError, api_tables};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use utoipa::OpenApi as _;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::State;
use crate::panics;

use problem::Problem;
pub(crate) use tokens::{Fingerprint, Scope, Token, TokenList, Tokens};

/// The path of the API.
pub(super) const PREFIX: &str = "/api/v1";
/// The questions to the database at once: programs do not take the connections that the mirror needs.
const AT_ONCE: usize = 3;
/// How long a request waits for the database.
const DEADLINE: Duration = Duration::from_secs(20);

/// The state that the routes share.
pub(super) struct Api {
    tokens: Arc<TokenList>,
    clock: Arc<dyn Clock>,
    /// Waiting requests end with the service.
    stop: CancellationToken,
    turns: Arc<Semaphore>,
    under_way: Arc<write::UnderWay>,
}

impl Api {
    pub(super) fn new(tokens: Arc<TokenList>, clock: Arc<dyn Clock>, stop: CancellationToken) -> Self {
        let (turns, under_way) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::default());
        Self { tokens, clock, stop, turns, under_way }
    }

    /// Asks the database, in a task of its own: a statement that is dropped half-way would lose its connection.
    async fn in_database<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, Problem> {
        let turns = Arc::clone(&self.turns);
        let task = tokio::spawn(panics::contained(async move {
            // Nobody closes it.
            let _turn = turns.acquire_owned().await.ok();
            work.await
        }));
        let done = tokio::select! {
            done = task => done.ok(),
            () = self.clock.sleep(DEADLINE) => None,
        };
        match done {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => Err(Problem::of_store(&error)),
            None => Err(Problem::unavailable(text!("http-no-answer", seconds = DEADLINE.as_secs()))),
        }
    }
}

/// Returns the routes of the API.
pub(super) fn routes(state: &State) -> Router<State> {
    let (described, description) = OpenApiRouter::with_openapi(openapi::Description::openapi())
        .routes(routes!(write::stock))
        .routes(routes!(write::prices))
        .routes(routes!(write::commands))
        .routes(routes!(write::orders))
        .routes(routes!(feed::changes))
        .routes(routes!(feed::consumers))
        .routes(routes!(feed::acknowledge))
        .routes(routes!(alarms::alarms))
        .routes(routes!(openapi::openapi))
        .split_for_parts();
    let text: Arc<str> = openapi::text(&openapi::complete(description)).into();
    let mut all = described.layer(axum::Extension(openapi::Text(text)));
    for table in api_tables() {
        let list = move |state, caller, query| rows::list(table, state, caller, query);
        all = all.route(&format!("/{}", table.name), get(list));
        if !table.is_view() {
            let one = move |state, caller, path, query| rows::one(table, state, caller, path, query);
            all = all.route(&openapi::row_path(table), get(one));
        }
    }
    let all = all
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(state.clone(), access::authorized))
        .layer(from_fn_with_state(state.clone(), problem::in_words));
    Router::new().nest(PREFIX, all)
}

async fn no_route(Extract(_): Extract<State>) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no_such_route", text!("http-no-route"))
}

async fn no_method(method: Method) -> Problem {
    let text = text!("http-no-method", method = method.as_str().chars().take(20).collect::<String>());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text)
}

fn json(answer: &impl Serialize) -> Response {
    match serde_json::to_string(answer) {
        Ok(text) => json_text(text),
        Err(error) => {
            Problem::unavailable(text!("http-bad-body", problem = error.to_string())).into_response()
        }
    }
}

fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

//! Access: the token of a request, its scopes and its stores.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::{FromRequestParts, Query, Request, State as Extract},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use espelho_model::text;

use super::{
    super::State,
    problem::Problem,
    tokens::{Scope, Token},
};

/// The description needs no token: it holds nothing of the installation.
pub(super) const OPEN: &str = "/openapi.json";

/// The token of the request.
#[derive(Clone, Debug)]
pub(super) struct Caller(pub(super) Arc<Token>);

impl Caller {
    /// Refuses what the token may not do.
    pub(super) fn demand(&self, scope: Scope) -> Result<(), Problem> {
        let word: &str = scope.into();
        match self.0.may(scope) {
            true => Ok(()),
            false => {
                let text = text!("http-scope", name = self.0.name.as_str(), scope = word);
                Err(Problem::new(StatusCode::FORBIDDEN, "scope_missing", text))
            }
        }
    }

    /// Refuses a store that the token is not for.
    pub(super) fn demand_store(&self, store: &str) -> Result<(), Problem> {
        match self.0.sees(store) {
            true => Ok(()),
            false => {
                let text = text!("http-store", name = self.0.name.as_str(), store = store);
                Err(Problem::new(StatusCode::FORBIDDEN, "store_forbidden", text))
            }
        }
    }

    /// Returns the stores that it is limited to.
    pub(super) fn stores(&self) -> Option<Vec<String>> {
        self.0.stores.as_ref().map(|stores| stores.iter().map(ToString::to_string).collect())
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(unauthorized)
    }
}

/// The query's parameters, in their order.
pub(super) struct Parameters(pub(super) Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Parameters {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // A byte that is no UTF-8 becomes U+FFFD.
        let read = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        Ok(Self(read.map(|Query(pairs)| pairs).unwrap_or_default()))
    }
}

/// Lets requests with a valid token through, while there are tokens.
pub(super) async fn authorized(Extract(state): Extract<State>, mut request: Request, next: Next) -> Response {
    let tokens = state.api.tokens.get();
    if tokens.0.is_empty() {
        return Problem::new(StatusCode::NOT_FOUND, "api_off", text!("http-api-off")).into_response();
    }
    match tokens.authorized(header_of(request.headers())) {
        Some(token) => {
            request.extensions_mut().insert(Caller(token));
            next.run(request).await
        }
        None if request.uri().path() == OPEN => next.run(request).await,
        None => unauthorized().into_response(),
    }
}

/// Returns the only `Authorization` header.
fn header_of(headers: &HeaderMap) -> &str {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    match (sent.next(), sent.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    }
}

fn unauthorized() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", text!("http-unauthorized"))
        .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

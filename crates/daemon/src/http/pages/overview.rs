//! The first page, and the page of a store.

use axum::{
    extract::{Path, Query, State as Extract},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};
use espelho_model::StoreKey;
use serde::Deserialize;

use super::{super::State, answer};
use crate::page::{self, Overview, Reader};

/// The query parameters of the first page.
#[derive(Deserialize)]
pub(in super::super) struct Asked {
    /// Only this store.
    store: Option<String>,
}

/// `GET /`; `?store=KEY` leads to the store's page.
pub(in super::super) async fn overview(
    Extract(state): Extract<State>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    reader: Reader,
) -> Response {
    match asked.store {
        Some(name) => match state.snapshots.store_named(&name) {
            Some(key) => Redirect::to(&format!("/lojas/{key}")).into_response(),
            None => answer(StatusCode::NOT_FOUND, page::unknown_store(&name, &reader), &headers),
        },
        None => shown(&state, None, &headers, &reader).await,
    }
}

/// `GET /lojas/KEY`.
pub(in super::super) async fn store(
    Extract(state): Extract<State>,
    Path(name): Path<String>,
    headers: HeaderMap,
    reader: Reader,
) -> Response {
    match state.snapshots.store_named(&name) {
        Some(key) => shown(&state, Some(&key), &headers, &reader).await,
        None => answer(StatusCode::NOT_FOUND, page::unknown_store(&name, &reader), &headers),
    }
}

async fn shown(state: &State, of: Option<&StoreKey>, headers: &HeaderMap, reader: &Reader) -> Response {
    let (mut snapshot, figures) =
        tokio::join!(state.snapshots.snapshot(of, reader.locale), state.figures.current(of));
    if let Some(of) = of {
        // The alarms of other stores are on their pages.
        snapshot.alarms.retain(|alarm| alarm.concerns(of.as_str()));
    }
    let hours = state.snapshots.board.heartbeats.hours(state.clock.now());
    let seen = Overview {
        snapshot: &snapshot,
        figures: figures.as_deref(),
        hours: &hours,
        is_one_store: of.is_some(),
    };
    answer(StatusCode::OK, page::overview(&seen, reader), headers)
}

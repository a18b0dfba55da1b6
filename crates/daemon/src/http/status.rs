//! `/status`.

use axum::{
    Json,
    extract::{Query, State as Extract},
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use espelho_model::{StoreKey, text};
use serde::Deserialize;

use super::{State, locale::locale};

/// The query parameters.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// Only this store.
    store: Option<String>,
    /// A language, which takes precedence over the browser's preference.
    lang: Option<String>,
}

/// Returns the named store, `None` for every store, or the name if no store has it.
fn named(state: &State, asked: &Asked) -> Result<Option<StoreKey>, String> {
    match &asked.store {
        None => Ok(None),
        Some(name) => state.snapshots.store_named(name).map(Some).ok_or_else(|| name.clone()),
    }
}

/// `GET /status`, and `GET /status?store=KEY`.
pub(super) async fn json(
    Extract(state): Extract<State>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let locale = locale(asked.lang.as_deref(), &headers, state.snapshots.locale);
    match named(&state, &asked) {
        Ok(of) => {
            let snapshot = state.snapshots.snapshot(of.as_ref(), locale).await;
            (guarded(), Json(snapshot)).into_response()
        }
        Err(name) => {
            let error = text!("status-unknown-store", store = name).message(locale);
            let answer = Json(serde_json::json!({ "error": error, "hint": "GET /status" }));
            (StatusCode::NOT_FOUND, guarded(), answer).into_response()
        }
    }
}

/// An answer for programs: nothing of it is ever run or framed.
fn guarded() -> [(HeaderName, &'static str); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ]
}

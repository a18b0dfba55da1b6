//! `/status` and the status page.

use axum::{
    Json,
    extract::{Query, State as Extract},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use espelho_model::{
    StoreKey, text,
    text::{Language, Locale},
};
use serde::Deserialize;

use super::State;
use crate::status;

/// Allows nothing from elsewhere, and no scripts; the style is in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The query parameters.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// Only this store.
    store: Option<String>,
    /// A language, which takes precedence over the browser's preference.
    lang: Option<String>,
    /// Whether the page stays as it is, instead of refreshing.
    pause: Option<String>,
}

/// Returns the requested language: `?lang=`, else `Accept-Language`, else the installation's.
pub(super) fn locale(asked: Option<&str>, headers: &HeaderMap, installation: Locale) -> Locale {
    let preferred = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let language = asked.and_then(Language::parse).or_else(|| preferred.and_then(preferred_language));
    Locale { language: language.unwrap_or(installation.language), ..installation }
}

/// Returns the first language of the catalogue that a browser accepts, by its weights.
fn preferred_language(accepted: &str) -> Option<Language> {
    let mut ranges: Vec<(u16, Language)> = Vec::new();
    for range in accepted.split(',') {
        let (tag, weight) = range.split_once(';').unwrap_or((range, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>).unwrap_or(0.0);
        if let Some(language) = Language::parse(tag.trim()).filter(|_| weight > 0.0) {
            ranges.push(((weight * 1_000.0) as u16, language));
        }
    }
    // Among equal weights the first one counts.
    ranges.into_iter().rev().max_by_key(|(weight, _)| *weight).map(|(_, language)| language)
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

/// `GET /`, and `GET /?store=KEY`.
pub(super) async fn page(
    Extract(state): Extract<State>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let locale = locale(asked.lang.as_deref(), &headers, state.snapshots.locale);
    let is_paused = asked.pause.is_some();
    let mut answer = match named(&state, &asked) {
        Ok(of) => {
            let snapshot = state.snapshots.snapshot(of.as_ref(), locale).await;
            (guarded(), Html(status::page(&snapshot, is_paused, locale))).into_response()
        }
        Err(name) => (StatusCode::NOT_FOUND, guarded(), Html(status::unknown(&name, locale))).into_response(),
    };
    answer.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Language"));
    // A header, not an element: an outdated green page does not stay there, and its reader can pause the refresh.
    if !is_paused {
        answer.headers_mut().insert(header::REFRESH, HeaderValue::from(status::RENEWS));
    }
    answer
}

fn guarded() -> [(HeaderName, &'static str); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_chooses_the_language_by_its_weights() {
        for (accepted, language) in [
            ("pt-BR,pt;q=0.9,en;q=0.8", Some(Language::Portuguese)),
            ("en-US,en;q=0.9,pt;q=0.5", Some(Language::English)),
            ("de, en;q=0.4, pt;q=0.7", Some(Language::Portuguese)),
            ("en, pt", Some(Language::English)),
            ("de-DE", None),
            ("pt;q=0", None),
            ("*", None),
        ] {
            assert_eq!(preferred_language(accepted), language, "{accepted}");
        }
    }

    #[test]
    fn the_address_beats_the_browser_which_beats_the_installation() {
        let mut headers = HeaderMap::new();
        let language = |asked, headers: &HeaderMap| locale(asked, headers, Locale::default()).language;
        assert_eq!(language(None, &headers), Language::Portuguese);
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("en"));
        assert_eq!(language(None, &headers), Language::English);
        assert_eq!(language(Some("pt-BR"), &headers), Language::Portuguese);
    }
}

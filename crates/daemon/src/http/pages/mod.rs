//! The handlers of the pages: each reads what its page shows, and [`crate::page`] renders it.

mod acting;
mod lists;
mod overview;
mod story;

use axum::{
    extract::{FromRequestParts, Path, Request},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use espelho_model::text::Locale;
use espelho_store::Error;

use super::{State, in_time, locale::locale};
use crate::page::{self, Page, Reader};

pub(super) use acting::{act, acts, ask, login, login_form, logout};
pub(super) use lists::{deliveries, errors, orders, queue, search};
pub(super) use overview::{overview, store};
pub(super) use story::{label, order, story};

/// Allows the page's own style and script, icons within the page, and nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// The character NUL in an address or a form.
const NUL: &str = "%00";
/// A file whose name changes with its contents.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

impl FromRequestParts<State> for Reader {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let value = |name: &str| query_value(query, name);
        let locale: Locale = locale(value("lang").as_deref(), &parts.headers, state.snapshots.locale);
        Ok(Self {
            locale,
            path,
            is_paused: value("pause").is_some(),
            session: state.session(&parts.headers),
            can_log_in: state.operators.is_configured(),
        })
    }
}

/// Returns the secret name of a browser's session.
pub(super) fn session_id(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == acting::COOKIE).map(|(_, id)| id.to_owned())
}

/// Returns the value of a name in a query or a form.
fn query_value(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.into_iter().find(|(known, _)| *known == name)?;
    let value = value.replace('+', " ");
    Some(percent_encoding::percent_decode_str(&value).decode_utf8_lossy().into_owned())
}

/// Refuses an address with the character NUL: PostgreSQL keeps none in a text, so nothing has such a name.
pub(super) async fn refuse_nul(headers: HeaderMap, reader: Reader, request: Request, next: Next) -> Response {
    match has_nul(request.uri()) {
        true => nul(&reader, &headers),
        false => next.run(request).await,
    }
}

/// Answers a request with the character NUL.
fn nul(reader: &Reader, headers: &HeaderMap) -> Response {
    answer(StatusCode::BAD_REQUEST, page::with_nul(reader), headers)
}

fn has_nul(address: &Uri) -> bool {
    address.path_and_query().is_some_and(|address| address.as_str().contains(NUL))
}

/// `GET /assets/NAME`.
pub(super) async fn asset(Path(name): Path<String>) -> Response {
    let Some(asset) = page::asset(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, FOR_EVER),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.text).into_response()
}

/// `GET` of an address that leads nowhere.
pub(super) async fn nowhere(headers: HeaderMap, reader: Reader) -> Response {
    answer(StatusCode::NOT_FOUND, page::no_such_page(&reader), &headers)
}

/// Returns what the database says, or the page that it does not answer.
async fn read<T: Send + 'static>(
    state: &State,
    headers: &HeaderMap,
    reader: &Reader,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Response> {
    match in_time(&state.clock, work).await {
        Some(Ok(read)) => Ok(read),
        Some(Err(error)) => {
            tracing::warn!(%error, "a page cannot be read from the database");
            Err(answer(StatusCode::SERVICE_UNAVAILABLE, page::unavailable(reader), headers))
        }
        None => {
            tracing::warn!("a page cannot be read from the database in time");
            Err(answer(StatusCode::SERVICE_UNAVAILABLE, page::unavailable(reader), headers))
        }
    }
}

/// Answers with a page, or with nothing if the browser has it already.
fn answer(status: StatusCode, page: Page, asked: &HeaderMap) -> Response {
    let known =
        asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == page.etag.as_bytes());
    let mut response = match known && status == StatusCode::OK {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => (status, Html(page.html)).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::VARY, "Accept-Language, Cookie"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(etag) = HeaderValue::from_str(&page.etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_by_name() {
        for (query, name, expected) in [
            ("q=a+b%2Fc&store=x", "q", Some("a b/c")),
            ("store=x&pause", "pause", Some("")),
            ("q=%FF", "q", Some("\u{fffd}")),
            ("aq=1", "q", None),
            ("", "q", None),
        ] {
            assert_eq!(query_value(query, name).as_deref(), expected, "{query}");
        }
    }

    #[test]
    fn an_address_with_a_nul_is_found_in_its_path_and_in_its_query() {
        for (address, expected) in [
            ("/busca?q=%00", true),
            ("/erros?store=a&causa=x%00y", true),
            ("/pedidos/%00", true),
            ("/busca?q=%2500", false),
            ("/busca?q=00", false),
            ("/", false),
        ] {
            assert_eq!(has_nul(&address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn a_browser_that_has_the_page_gets_it_no_second_time_and_the_headers_hold_for_both() {
        let page = || Page { html: "x".into(), etag: "\"1\"".into() };
        let mut asked = HeaderMap::new();
        let fresh = answer(StatusCode::OK, page(), &asked);
        asked.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"1\""));
        let known = answer(StatusCode::OK, page(), &asked);
        assert_eq!((fresh.status(), known.status()), (StatusCode::OK, StatusCode::NOT_MODIFIED));
        for response in [fresh, known] {
            let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
            assert_eq!(response.headers()[header::X_FRAME_OPTIONS], "DENY");
            assert_eq!(response.headers()[header::ETAG], "\"1\"");
        }
        assert_eq!(answer(StatusCode::NOT_FOUND, page(), &asked).status(), StatusCode::NOT_FOUND);
    }
}

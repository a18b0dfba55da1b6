//! Problem details (RFC 9457): what is wrong with a request, in the reader's language.

use axum::{
    body::Body,
    extract::{Request, State as Extract},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use espelho_model::{
    text,
    text::{Locale, Text},
};
use espelho_store::{DatabaseTrouble, Error as StoreError};
use serde::Serialize;

use super::super::State;

/// The rows that one answer names.
const MOST_NAMED: usize = 100;
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// The mistake in one row of a batch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowFault {
    pub(super) row: usize,
    pub(super) column: Option<String>,
    pub(super) code: &'static str,
    pub(super) text: Text,
}

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem(Box<Details>);

/// The members of a problem (RFC 9457).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Details {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) text: Text,
    pub(super) faults: Vec<RowFault>,
    pub(super) header: Option<(HeaderName, HeaderValue)>,
}

/// The document of a problem.
#[derive(Serialize)]
struct Document<'a> {
    r#type: &'a str,
    title: &'a str,
    status: u16,
    code: &'a str,
    detail: String,
    next: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Fault<'a>>,
}

#[derive(Serialize)]
struct Fault<'a> {
    row: usize,
    column: Option<&'a str>,
    code: &'a str,
    detail: String,
}

impl std::ops::Deref for Problem {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, text: Text) -> Self {
        Self(Box::new(Details { status, code, text, faults: Vec::new(), header: None }))
    }

    pub(super) fn bad_request(code: &'static str, text: Text) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, text)
    }

    pub(super) fn unprocessable(code: &'static str, text: Text) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, text)
    }

    pub(super) fn no_row() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no_such_row", text!("http-no-row"))
    }

    /// Returns the problem of a batch with rows that cannot be written.
    pub(super) fn of_rows(faults: Vec<RowFault>) -> Self {
        let text = text!("http-rows", count = faults.len());
        let mut problem = Self::unprocessable("invalid_rows", text);
        problem.0.faults = faults;
        problem
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.header = Some((name, value));
        self
    }

    /// Returns the problem of a database that does not answer in time.
    pub(super) fn unavailable(why: Text) -> Self {
        let text = text!("http-database", problem = why);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "database_unavailable", text)
            .with(header::RETRY_AFTER, HeaderValue::from_static("2"))
    }

    /// Returns the problem behind an error of the database: a value that it refuses is the request's fault.
    pub(super) fn of_store(error: &StoreError) -> Self {
        if error.concerns_a_row() {
            return Self::unprocessable("refused_value", text!("http-refused"));
        }
        if error.trouble() != DatabaseTrouble::Busy {
            tracing::warn!(%error, hint = error.hint(), "the database did not answer the API");
        }
        Self::unavailable(error.text())
    }

    fn document(&self, locale: Locale) -> Document<'_> {
        let fault = |fault: &'_ RowFault| -> (usize, String) { (fault.row, fault.text.message(locale)) };
        let errors = self.faults.iter().take(MOST_NAMED).map(|of| {
            let (row, detail) = fault(of);
            Fault { row, column: of.column.as_deref(), code: of.code, detail }
        });
        Document {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or_default(),
            status: self.status.as_u16(),
            code: self.code,
            detail: self.text.message(locale),
            next: self.text.next(locale).unwrap_or_default(),
            errors: errors.collect(),
        }
    }
}

/// The words follow in [`in_words`], which knows the reader's language.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.headers_mut().extend(self.header.clone());
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the words of a problem, and the headers of every answer.
pub(super) async fn in_words(Extract(state): Extract<State>, request: Request, next: Next) -> Response {
    let locale = super::super::locale::locale(None, request.headers(), state.snapshots.locale);
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let document = serde_json::to_vec(&problem.document(locale)).unwrap_or_default();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(locale.language.tag()));
        *response.body_mut() = Body::from(document);
    }
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Language, Authorization"));
    response
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    #[test]
    fn a_problem_says_what_is_wrong_with_each_row_and_what_to_do() {
        let fault = RowFault {
            row: 3,
            column: Some("quantity".into()),
            code: "missing",
            text: text!("value-missing-field", field = "quantity"),
        };
        let problem = Problem::of_rows(vec![fault]);
        let document = serde_json::to_value(problem.document(Locale::of(Language::English))).unwrap();
        assert_eq!(document["status"], 422);
        assert_eq!(document["code"], "invalid_rows");
        let error = serde_json::json!({
            "row": 3, "column": "quantity", "code": "missing", "detail": "quantity is missing"
        });
        assert_eq!(document["errors"], serde_json::json!([error]));
        assert!(!document["next"].as_str().unwrap().is_empty());
    }
}

//! Reads tables and views, page by page and row by row.

use axum::{
    extract::{Path, State as Extract, rejection::PathRejection},
    response::Response,
};
use espelho_store::{ApiTable, ColumnKind, Comparison, Filter, FilterValue, KeyPart, MirroredRow, RowQuery};
use serde::Serialize;

use super::{
    super::State,
    access::{Caller, Parameters},
    cursor, json,
    problem::Problem,
    query,
    tokens::Scope,
};

/// A page of rows.
#[derive(Serialize)]
struct Page<'a> {
    rows: &'a [MirroredRow],
    /// The cursor of the next page.
    next: Option<String>,
}

/// `GET /api/v1/TABLE`.
pub(super) async fn list(
    table: &'static ApiTable,
    Extract(state): Extract<State>,
    caller: Caller,
    Parameters(pairs): Parameters,
) -> Result<Response, Problem> {
    caller.demand(Scope::Read)?;
    let query = RowQuery { stores: caller.stores(), ..query::list(table, &pairs)? };
    for filter in &query.filters {
        if let ("store", FilterValue::Text(store)) = (filter.column, &filter.value) {
            caller.demand_store(store)?;
        }
    }
    let store = state.store.clone();
    let page = state.api.in_database(async move { store.api().rows(table, &query).await }).await?;
    let next = page.next.as_ref().map(|at| cursor::encode(table, at));
    Ok(json(&Page { rows: &page.rows, next }))
}

/// `GET /api/v1/TABLE/KEY…`.
pub(super) async fn one(
    table: &'static ApiTable,
    Extract(state): Extract<State>,
    caller: Caller,
    path: Result<Path<Vec<String>>, PathRejection>,
    Parameters(pairs): Parameters,
) -> Result<Response, Problem> {
    caller.demand(Scope::Read)?;
    let with_raw = query::one(table, &pairs)?;
    let Ok(Path(words)) = path else { return Err(Problem::no_row()) };
    let filters = key(table, words).ok_or_else(Problem::no_row)?;
    if let Some(Filter { value: FilterValue::Text(store), .. }) =
        filters.iter().find(|filter| filter.column == "store")
    {
        caller.demand_store(store)?;
    }
    let query = RowQuery { stores: caller.stores(), filters, limit: 1, with_raw, ..RowQuery::default() };
    let store = state.store.clone();
    let row = state.api.in_database(async move { store.api().whole_row(table, &query).await }).await?;
    row.map(|row| json(&row)).ok_or_else(Problem::no_row)
}

/// Returns the conditions of a key; `None` for one that no row can have.
fn key(table: &ApiTable, words: Vec<String>) -> Option<Vec<Filter>> {
    let value = |part: &KeyPart, word: String| match part.kind {
        ColumnKind::Integer => word.parse().ok().map(FilterValue::Integer),
        _ => (!word.contains('\0')).then_some(FilterValue::Text(word)),
    };
    let condition = |(part, word): (&KeyPart, String)| {
        Some(Filter { column: part.column, comparison: Comparison::Eq, value: value(part, word)? })
    };
    let parts = table.key.iter().zip(words);
    let conditions = parts.map(condition).collect::<Option<Vec<_>>>()?;
    (conditions.len() == table.key.len()).then_some(conditions)
}

//! The lists: orders, errors, the queue, deliveries, and the search. Each is read in at most three statements, however
//! many stores there are.

use axum::{
    extract::{FromRequestParts, Query, State as Extract},
    http::{HeaderMap, StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use espelho_model::{StoreKey, text::Text};
use espelho_store::{Error, Found, OrderList, Store};

use super::{super::State, answer, read};
use crate::{
    knowledge::{reference, similar, spellings},
    page::{self, Filter, ROWS, Reader, end_of_day},
};

/// The rows of `v_errors` that are read for the causes.
const CAUSES: u32 = 10_000;
/// The letters of a search.
const LONGEST: usize = 200;
/// A search reads the names of products of so many stores: a hub's catalogues are too many.
const CATALOGUES: usize = 5;
/// The things that a search shows.
const FOUND: usize = 200;

/// A request for a list of all stores, or of the one that the filter names.
pub(in super::super) struct ListRequest {
    state: State,
    filter: Filter,
    /// The named store.
    of: Option<StoreKey>,
    headers: HeaderMap,
    reader: Reader,
}

impl FromRequestParts<State> for ListRequest {
    type Rejection = Response;

    /// A store that there is not is answered with the page that says so.
    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Self::Rejection> {
        let query = Query::<Filter>::from_request_parts(parts, state).await;
        let Query(filter) = query.map_err(IntoResponse::into_response)?;
        let Ok(reader) = Reader::from_request_parts(parts, state).await;
        let headers = parts.headers.clone();
        let of = match filter.store.as_deref() {
            None | Some("") => None,
            Some(name) => {
                let unknown = || answer(StatusCode::NOT_FOUND, page::unknown_store(name, &reader), &headers);
                Some(state.snapshots.store_named(name).ok_or_else(unknown)?)
            }
        };
        Ok(Self { state: state.clone(), filter, of, headers, reader })
    }
}

/// `GET /pedidos`.
pub(in super::super) async fn orders(
    ListRequest { state, filter, of, headers, reader }: ListRequest,
) -> Result<Response, Response> {
    let now = state.clock.now();
    let list = match filter.list() {
        "dispatch" => OrderList::Dispatch(end_of_day(now, state.snapshots.locale)),
        "invoice" => OrderList::AwaitingInvoice,
        "not_taken" => OrderList::NotTaken,
        _ => OrderList::Open,
    };
    let (store, status, shown) = (state.store.clone(), filter.status().to_owned(), of.clone());
    let rows = read(&state, &headers, &reader, async move {
        store.overview().orders(list, of.as_ref(), &status, ROWS + 1).await
    });
    let rows = rows.await?;
    let unread = unread(&state, rows.is_empty(), shown.as_ref(), &reader).await;
    let page = page::orders(&rows, unread.as_ref(), &filter, now, &reader);
    Ok(answer(StatusCode::OK, page, &headers))
}

/// `GET /erros`, and `GET /erros?causa=CODE`.
pub(in super::super) async fn errors(
    ListRequest { state, filter, of, headers, reader }: ListRequest,
) -> Result<Response, Response> {
    let (store, has_cause) = (state.store.clone().read_in(reader.locale), !filter.code().is_empty());
    let found = read(&state, &headers, &reader, async move {
        let errors = store.history().errors(of.as_ref(), CAUSES).await?;
        let groups = if has_cause { store.overview().rows_in_trouble().await? } else { Vec::new() };
        Ok((errors, store.intents().waiting_rows(of.as_ref()).await?, groups))
    });
    let (mut errors, mut waiting, groups) = found.await?;
    if !filter.code().is_empty() {
        errors.retain(|row| row.code == filter.code());
        waiting.retain(|row| row.code == filter.code());
    }
    let page = page::errors(&errors, &waiting, &groups, &filter, &reader);
    Ok(answer(StatusCode::OK, page, &headers))
}

/// `GET /fila`.
pub(in super::super) async fn queue(
    ListRequest { state, filter, of, headers, reader }: ListRequest,
) -> Result<Response, Response> {
    let (store, only) = (state.store.clone().read_in(reader.locale), filter.state().to_owned());
    let rows =
        read(
            &state,
            &headers,
            &reader,
            async move { store.overview().queue(of.as_ref(), &only, ROWS + 1).await },
        );
    Ok(answer(StatusCode::OK, page::queue(&rows.await?, &filter, &reader), &headers))
}

/// `GET /webhooks`.
pub(in super::super) async fn deliveries(
    ListRequest { state, filter, of, headers, reader }: ListRequest,
) -> Result<Response, Response> {
    let (store, only, event) = (state.store.clone(), filter.state().to_owned(), filter.event().to_owned());
    let rows = read(&state, &headers, &reader, async move {
        let rows = store.overview().recent_deliveries(of.as_ref(), &event, &only, ROWS + 1).await?;
        Ok((rows, store.overview().handled_deliveries(of.as_ref(), &event).await?))
    });
    let (rows, handled) = rows.await?;
    Ok(answer(StatusCode::OK, page::deliveries(&rows, handled, &filter, &reader), &headers))
}

/// `GET /busca?q=`: leads to the only thing of that name, or lists what there is.
pub(in super::super) async fn search(
    Extract(state): Extract<State>,
    Query(filter): Query<Filter>,
    headers: HeaderMap,
    reader: Reader,
) -> Result<Response, Response> {
    let asked: String = filter.q.as_deref().unwrap_or_default().trim().chars().take(LONGEST).collect();
    let (store, name) = (state.store.clone(), asked.clone());
    let first = state.shown_stores();
    let found = read(&state, &headers, &reader, async move {
        let rows = find(&store, &first, &name).await?;
        // A hub's catalogues are too many to be compared.
        let alike = match (rows.is_empty() && !name.is_empty(), &first[..]) {
            (true, [only]) => {
                let skus = store.lookups().skus(only).await?;
                similar(&name, skus.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        Ok((rows, alike))
    });
    let (rows, alike) = found.await?;
    if let Some(address) = page::only_answer(&rows) {
        return Ok(Redirect::to(&address).into_response());
    }
    let status = if rows.is_empty() && !asked.is_empty() { StatusCode::NOT_FOUND } else { StatusCode::OK };
    let unread = unread(&state, rows.is_empty(), None, &reader).await;
    Ok(answer(status, page::found(&asked, &rows, &alike, unread.as_ref(), &reader), &headers))
}

/// Says that the first complete reading has not ended, where nothing was found.
async fn unread(state: &State, is_empty: bool, of: Option<&StoreKey>, reader: &Reader) -> Option<Text> {
    if !is_empty {
        return None;
    }
    page::unread(&state.snapshots.snapshot(of, reader.locale).await.stores)
}

/// Returns what bears a name; else what a reference names, then other spellings of it, then products by their names. A
/// number has other spellings beside the thing that bears it: a command and an order may have the same.
async fn find(store: &Store, shown: &[StoreKey], name: &str) -> Result<Vec<Found>, Error> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = store.history().find_anywhere(name).await?;
    if let Some((entity, key)) = reference(name).filter(|_| rows.is_empty()) {
        let (kind, named) = kept_under(entity, &key);
        rows = store.history().find_anywhere(named).await?;
        rows.retain(|(_, found, whole)| {
            found == kind && (named == key || kind == "product" || *whole == key)
        });
    }
    let spellings = spellings(name);
    if rows.is_empty() || name.bytes().all(|letter| letter.is_ascii_digit()) {
        for row in store.history().find_spelt(&spellings).await? {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    if rows.is_empty() && !spellings.name.is_empty() && shown.len() <= CATALOGUES {
        for of in shown {
            rows.extend(store.history().find_products(of, &spellings).await?);
        }
    }
    rows.truncate(FOUND);
    Ok(rows)
}

/// Returns the kind and the name under which a search finds what a reference names: a level or a price by its product,
/// a shipment by its own part of its key.
fn kept_under<'k>(entity: &'k str, key: &'k str) -> (&'k str, &'k str) {
    match (entity, key.rsplit_once('/')) {
        ("stock" | "price", Some((sku, _))) => ("product", sku),
        ("stock" | "price", None) => ("product", key),
        ("shipment", Some((_, id))) => (entity, id),
        _ => (entity, key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_found_by_the_name_of_what_it_is_kept_under() {
        for (asked, expected) in [
            ("stock CAN-01/1", ("product", "CAN-01")),
            ("estoque A/B/1", ("product", "A/B")),
            ("erp_prices:CAN-01/5", ("product", "CAN-01")),
            ("erp_stock:CAN-01", ("product", "CAN-01")),
            ("shipment 000123/77", ("shipment", "77")),
            ("shipment 77", ("shipment", "77")),
            ("command 1323", ("command", "1323")),
        ] {
            let (entity, key) = reference(asked).unwrap();
            assert_eq!(kept_under(entity, &key), expected, "{asked}");
        }
    }
}

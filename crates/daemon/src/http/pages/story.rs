//! The page of an order or of another thing, and the files of labels.

use std::path::{Component, Path as FilePath, PathBuf};

use axum::{
    extract::{Path, Query, State as Extract},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use espelho_model::StoreKey;
use espelho_store::{MirroredOrder, MirroredProduct, QueuedRow};

use super::{super::State, answer, read};
use crate::{
    knowledge::{self, Knowledge},
    page::{self, Filter, Reader, Story},
};

/// The largest label that is served.
const LARGEST: u64 = 32 << 20;

/// A thing in one store, with all that is known of it.
struct Found {
    knowledge: Knowledge,
    order: Option<MirroredOrder>,
    labels: Vec<(String, bool)>,
    product: Option<MirroredProduct>,
    rows: Vec<QueuedRow>,
}

/// `GET /pedidos/NUMBER`.
pub(in super::super) async fn order(
    Extract(state): Extract<State>,
    Path(number): Path<String>,
    Query(filter): Query<Filter>,
    headers: HeaderMap,
    reader: Reader,
) -> Result<Response, Response> {
    thing(&state, "order", &number, &filter, (&headers, &reader)).await
}

/// `GET /historia/ENTITY/KEY`.
pub(in super::super) async fn story(
    Extract(state): Extract<State>,
    Path((entity, key)): Path<(String, String)>,
    Query(filter): Query<Filter>,
    headers: HeaderMap,
    reader: Reader,
) -> Result<Response, Response> {
    thing(&state, &entity, &key, &filter, (&headers, &reader)).await
}

async fn thing(
    state: &State,
    entity: &str,
    key: &str,
    filter: &Filter,
    (headers, reader): (&HeaderMap, &Reader),
) -> Result<Response, Response> {
    let asked: Vec<StoreKey> = match filter.store.as_deref() {
        None | Some("") => candidates(state, entity, key, (headers, reader)).await?,
        Some(name) => match state.snapshots.store_named(name) {
            Some(store) => vec![store],
            None => {
                return Ok(answer(StatusCode::NOT_FOUND, page::unknown_store(name, reader), headers));
            }
        },
    };
    let of = match &asked[..] {
        [only] => only.clone(),
        [] => return Ok(answer(StatusCode::NOT_FOUND, page::unknown_thing(key, reader), headers)),
        several => {
            let link = |store: &StoreKey| {
                let path = reader.path.split('?').next().unwrap_or_default();
                (store.to_string(), format!("{path}?store={store}"))
            };
            let stores: Vec<(String, String)> = several.iter().map(link).collect();
            let page = page::which_store(key, &stores, reader);
            return Ok(answer(StatusCode::MULTIPLE_CHOICES, page, headers));
        }
    };
    let (store, wanted) = (state.store.clone().read_in(reader.locale), (entity.to_owned(), key.to_owned()));
    let found = read(state, headers, reader, async move { collect(&store, &of, wanted).await }).await?;
    if !found.knowledge.is_something() {
        return Ok(answer(StatusCode::NOT_FOUND, page::unknown_thing(key, reader), headers));
    }
    let seen = Story {
        knowledge: &found.knowledge,
        order: found.order.as_ref(),
        product: found.product.as_ref(),
        rows: &found.rows,
        labels: &found.labels,
        now: state.clock.now(),
    };
    Ok(answer(StatusCode::OK, page::story(&seen, reader), headers))
}

/// Returns the stores that have a thing of this name; the only store of an installation has everything.
async fn candidates(
    state: &State,
    entity: &str,
    key: &str,
    (headers, reader): (&HeaderMap, &Reader),
) -> Result<Vec<StoreKey>, Response> {
    let shown = state.shown_stores();
    if shown.len() == 1 {
        return Ok(shown);
    }
    let (store, name) = (state.store.clone(), key.to_owned());
    let rows =
        read(state, headers, reader, async move { store.history().find_anywhere(&name).await }).await?;
    let has = |of: &&StoreKey| rows.iter().any(|(store, kind, _)| store == of.as_str() && kind == entity);
    Ok(shown.iter().filter(has).cloned().collect())
}

async fn collect(
    store: &espelho_store::Store,
    of: &StoreKey,
    (entity, key): (String, String),
) -> Result<Found, espelho_store::Error> {
    let knowledge = knowledge::look(store, of, entity.clone(), key.clone()).await?;
    let (kind, name) = match entity.as_str() {
        // A level and a price are decided about with the others of their product.
        "stock" | "price" => ("product", key.rsplit_once('/').map_or(key.as_str(), |(sku, _)| sku)),
        entity => (entity, key.as_str()),
    };
    let named = if kind == "product" { store.history().product_named(of, name).await? } else { None };
    // A product may be asked for by its id; the ERP's rows are about its SKU.
    let subject = named.as_ref().map_or(name, |(_, sku)| sku.as_str());
    let rows = store.overview().decidable(of, kind, subject).await?;
    if entity != "order" {
        let product = match named {
            Some((id, _)) => store.history().mirrored_product(of, &id).await?,
            None => None,
        };
        return Ok(Found { knowledge, order: None, labels: Vec::new(), product, rows });
    }
    let order = store.history().mirrored_order(of, &key).await?;
    let files = store.history().label_files_of(of, &key).await?;
    let mut labels: Vec<(String, bool)> = Vec::new();
    for (label, _, is_void) in files {
        // The newest file of a label comes first.
        if !labels.iter().any(|(known, _)| *known == label) {
            labels.push((label, is_void));
        }
    }
    Ok(Found { knowledge, order, labels, product: None, rows })
}

/// `GET /pedidos/NUMBER/etiquetas/LABEL?store=KEY`: the file of a label, to be opened or printed.
pub(in super::super) async fn label(
    Extract(state): Extract<State>,
    Path((number, label)): Path<(String, String)>,
    Query(filter): Query<Filter>,
    headers: HeaderMap,
    reader: Reader,
) -> Result<Response, Response> {
    let missing = || answer(StatusCode::NOT_FOUND, page::unknown_thing(&label, &reader), &headers);
    let of =
        filter.store.as_deref().and_then(|name| state.snapshots.store_named(name)).ok_or_else(missing)?;
    let store = state.store.clone();
    let files =
        read(&state, &headers, &reader, async move { store.history().label_files_of(&of, &number).await });
    let files = files.await?;
    let file = files.iter().find(|(known, ..)| *known == label).map(|(_, file, _)| file.as_str());
    let (path, kind) = file.and_then(|file| servable(&state.labels, file)).ok_or_else(missing)?;
    let size = tokio::fs::symlink_metadata(&path).await.ok().filter(std::fs::Metadata::is_file);
    if size.is_none_or(|about| about.len() > LARGEST) {
        return Err(missing());
    }
    let bytes = tokio::fs::read(&path).await.map_err(|_| missing())?;
    let (opens, policy) = disposition(kind);
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, opens),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, bytes).into_response())
}

/// Returns how a browser opens a file of this kind, and its policy. A download is in a sandbox too; a PDF is not, because
/// browsers then refuse to show it.
fn disposition(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "application/pdf" | "image/png" => ("inline", "default-src 'none'; frame-ancestors 'none'"),
        _ => ("attachment", "sandbox; default-src 'none'; frame-ancestors 'none'"),
    }
}

/// Returns the path and the kind of a label's file. The table may be written by others: nothing but a label's file in
/// the state directory is served.
fn servable(state: &FilePath, file: &str) -> Option<(PathBuf, &'static str)> {
    let relative = FilePath::new(file);
    let is_below = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let kind = match relative.extension()?.to_str()? {
        "pdf" => "application/pdf",
        "png" => "image/png",
        "zpl" => "text/plain; charset=utf-8",
        // Somebody else's page is never shown under our name.
        "html" => "application/octet-stream",
        _ => return None,
    };
    is_below.then(|| (state.join(relative), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_labels_below_the_state_directory_are_served() {
        let state = FilePath::new("/var/lib/espelho");
        let kind = |file: &str| servable(state, file).map(|(_, kind)| kind);
        assert_eq!(kind("labels/loja/a.pdf"), Some("application/pdf"));
        assert_eq!(kind("labels/loja/a.zpl"), Some("text/plain; charset=utf-8"));
        for file in ["../etc/x.pdf", "/etc/x.pdf", "espelho.db", "labels/x", "labels/../../x.pdf", ""] {
            assert_eq!(kind(file), None, "{file}");
        }
    }

    // withstands: F125
    #[test]
    fn a_label_that_is_a_page_is_a_download_and_runs_nothing() {
        let of = |file: &str| {
            let (_, kind) = servable(FilePath::new("/var/lib/espelho"), file).unwrap();
            let (opens, policy) = disposition(kind);
            (kind, opens, policy.starts_with("sandbox;"))
        };
        assert_eq!(of("labels/loja/a.html"), ("application/octet-stream", "attachment", true));
        assert_eq!(of("labels/loja/a.zpl"), ("text/plain; charset=utf-8", "attachment", true));
        assert_eq!(of("labels/loja/a.pdf"), ("application/pdf", "inline", false));
    }
}

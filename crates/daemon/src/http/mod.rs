//! Health, metrics, the status page and the local API, on `http.listen` (PRODUCT contract 4); `webhook` has its own
//! listener.

pub(crate) mod api;
mod bounded;
mod collectors;
mod connections;
mod figures;
mod guard;
mod locale;
mod pages;
mod ready;
mod resync;
mod row_counts;
mod snapshots;
mod status;
mod timed;
mod traffic;
pub(crate) mod webhook;

pub(crate) use collectors::{file_of, free};
pub(crate) use ready::NOT_RECONCILED;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State as Extract,
    http::{HeaderMap, StatusCode},
    middleware::{Next, from_fn, from_fn_with_state},
    response::IntoResponse,
    routing::{get, post},
};
use espelho_api_client::client_metrics::Timings;
use espelho_model::{Clock, StoreKey, text::Locale, watch::Watch};
use espelho_store::Store;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    alarms::Board,
    context::Shared,
    handover::AdminQueue,
    health::Health,
    operators::OperatorsFile,
    panics,
    sessions::{Session, Sessions},
    status::{Live, ShownStores},
    store_metrics::StoreMetrics,
    watchdog,
};

/// The state behind the pages.
#[derive(Clone)]
pub(crate) struct State {
    health: Arc<Health>,
    store: Store,
    clock: Arc<dyn Clock>,
    metrics: PrometheusHandle,
    admin_queue: Arc<AdminQueue>,
    snapshots: Arc<snapshots::SnapshotCache>,
    figures: Arc<figures::FigureCache>,
    /// The base of the paths of labels.
    labels: Arc<std::path::Path>,
    operators: OperatorsFile,
    sessions: Arc<Sessions>,
    watch: Arc<Watch>,
    listen: SocketAddr,
    store_metrics: Arc<StoreMetrics>,
    timings: [Timings; 2],
    api: Arc<api::Api>,
}

impl State {
    /// Returns the state of a service that starts now.
    pub(crate) fn new(
        shared: &Shared,
        listen: SocketAddr,
        (health, board): (&Arc<Health>, &Arc<Board>),
        (shown, live): (&Arc<ShownStores>, Live),
        (metrics, locale): (PrometheusHandle, Locale),
        (tokens, operators): (Arc<api::TokenList>, OperatorsFile),
    ) -> Self {
        let (store, clock) = (shared.store.clone(), Arc::clone(&shared.clock));
        let database = (store.clone(), Arc::clone(&clock));
        let figures = figures::FigureCache::new(store.clone(), Arc::clone(&clock), locale);
        let snapshots =
            snapshots::SnapshotCache::new(database, Arc::clone(shown), live, Arc::clone(board), locale);
        Self {
            health: Arc::clone(health),
            store,
            clock,
            metrics,
            admin_queue: Arc::clone(&shared.admin_queue),
            snapshots: Arc::new(snapshots),
            figures: Arc::new(figures),
            labels: shared.state.as_path().into(),
            operators,
            sessions: Arc::default(),
            watch: Arc::clone(&shared.watch),
            listen,
            store_metrics: Arc::clone(&shared.store_metrics),
            timings: shared.timings(),
            api: Arc::new(api::Api::new(tokens, Arc::clone(&shared.clock), shared.stop.clone())),
        }
    }
}

impl State {
    /// Returns the session that a request names, of an operator whom the file has with the same token.
    fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let id = pages::session_id(headers)?;
        self.sessions.find(&id, self.clock.monotonic(), || self.operators.read())
    }

    /// Returns the stores that are shown.
    fn shown_stores(&self) -> Vec<StoreKey> {
        self.snapshots.shown.get().iter().map(|shown| shown.key.clone()).collect()
    }
}

/// Serves until `stop` is cancelled.
pub(crate) async fn serve(listener: TcpListener, state: State, stop: CancellationToken) {
    let snapshots = Arc::clone(&state.snapshots);
    tokio::spawn(async move { snapshots.count_first().await });
    let ours = Router::new()
        .route("/", get(pages::overview))
        .route("/lojas/{key}", get(pages::store))
        .route("/pedidos", get(pages::orders))
        .route("/pedidos/{number}", get(pages::order))
        .route("/pedidos/{number}/etiquetas/{label}", get(pages::label))
        .route("/historia/{entity}/{key}", get(pages::story))
        .route("/erros", get(pages::errors))
        .route("/fila", get(pages::queue))
        .route("/webhooks", get(pages::deliveries))
        .route("/busca", get(pages::search))
        .route("/acoes", get(pages::acts))
        .route("/acao", get(pages::ask).merge(post(pages::act).layer(from_fn(guard::from_our_page))))
        .layer(from_fn_with_state(state.clone(), pages::refuse_nul))
        .route("/resync", post(resync::resync).layer(from_fn(guard::from_this_machine)))
        .route("/audit", post(resync::audit).layer(from_fn(guard::from_this_machine)))
        .route("/examine", post(resync::examine).layer(from_fn(guard::from_this_machine)))
        .route("/status", get(status::json))
        .layer(from_fn_with_state(state.clone(), guard::may_read))
        .route(
            "/entrar",
            get(pages::login_form).merge(post(pages::login).layer(from_fn(guard::from_our_page))),
        )
        .route("/sair", post(pages::logout).layer(from_fn(guard::from_our_page)))
        .route("/assets/{name}", get(pages::asset))
        .merge(api::routes(&state))
        .fallback(pages::nowhere)
        .layer(from_fn_with_state(state.clone(), guard::by_our_name));
    let (admin_queue, clock) = (Arc::clone(&state.admin_queue), Arc::clone(&state.clock));
    let routes = Router::new()
        .route("/livez", get(alive))
        .route("/readyz", get(ready::ready))
        .route(
            "/metrics",
            get(|Extract(state): Extract<State>| async move { collectors::metrics(&state).await }),
        )
        .merge(ours)
        .layer(from_fn(|request, next: Next| panics::contained(next.run(request))))
        .layer(from_fn(bounded::timed))
        .with_state(state)
        .into_make_service_with_connect_info::<bounded::Peer>();
    let done = CancellationToken::new();
    // Kept until the last connection has ended: a half request must not hold up the end.
    let listener = bounded::BoundedListener::new(listener, clock, done.clone());
    let _done = done.drop_guard();
    let stopped = async move {
        stop.cancelled_owned().await;
        // A client that waits for a run that will not start would keep the connection, and the service with it.
        admin_queue.close();
    };
    let serving = axum::serve(listener, routes).with_graceful_shutdown(stopped);
    if let Err(error) = serving.await {
        tracing::error!(%error, "health and metrics are no longer served");
    }
}

/// How long a status request waits for the database.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the result of a separate task, if it ends in time: a query that is dropped half-way would lose its
/// connection, and one that hangs must not delay the answer.
async fn in_time<T: Send + 'static>(
    clock: &Arc<dyn Clock>,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    tokio::select! {
        done = tokio::spawn(work) => done.ok(),
        () = clock.sleep(ANSWER_TIMEOUT) => None,
    }
}

/// Returns OK while everything in the process makes progress. It does not ask the database or the marketplace: if they
/// fail, a restart helps nobody.
async fn alive(Extract(state): Extract<State>) -> impl IntoResponse {
    let stalled = watchdog::stalled(&state.watch);
    match stalled.is_empty() {
        true => (StatusCode::OK, "ok\n".to_owned()),
        false => {
            (StatusCode::SERVICE_UNAVAILABLE, stalled.iter().map(|lane| format!("[-] {lane}\n")).collect())
        }
    }
}

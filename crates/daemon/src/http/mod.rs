//! Health, metrics, the status page and the local API, on `http.listen` (PRODUCT contract 4); `webhook` has a listener
//! of its own.

mod figures;
mod guard;
mod resync;
mod status;
pub(crate) mod webhook;

use std::{fmt::Write as _, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Query, State as Extract},
    http::StatusCode,
    middleware::{from_fn, from_fn_with_state},
    response::IntoResponse,
    routing::{get, post},
};
use espelho_model::Clock;
use espelho_store::Store;
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{config::Configuration, context::Shared, handover::Desk, health::Health, status::Live};

/// What the pages are made from.
#[derive(Clone)]
pub(crate) struct State {
    health: Arc<Health>,
    store: Store,
    clock: Arc<dyn Clock>,
    metrics: PrometheusHandle,
    desk: Arc<Desk>,
    camera: Arc<status::Camera>,
    listen: SocketAddr,
}

impl State {
    /// The pages of a service that begins now.
    pub(crate) fn new(
        shared: &Shared,
        configuration: &Configuration,
        health: &Arc<Health>,
        metrics: PrometheusHandle,
    ) -> Self {
        let (store, clock) = (shared.store.clone(), Arc::clone(&shared.clock));
        let live =
            Live { health: Arc::clone(health), gates: Arc::clone(&shared.gates), started_at: clock.now() };
        let camera = status::Camera::new(store.clone(), Arc::clone(&clock), configuration.shown(), live);
        Self {
            health: Arc::clone(health),
            store,
            clock,
            metrics,
            desk: Arc::clone(&shared.desk),
            camera: Arc::new(camera),
            listen: configuration.installation.http.listen,
        }
    }
}

/// Serves until `stop` is cancelled.
pub(crate) async fn serve(listener: TcpListener, state: State, stop: CancellationToken) {
    let ours = Router::new()
        .route("/resync", post(resync::resync).layer(from_fn(guard::from_this_machine)))
        .route("/status", get(status::json))
        .route("/", get(status::page))
        .layer(from_fn_with_state(state.clone(), guard::by_our_name));
    let desk = Arc::clone(&state.desk);
    let routes = Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route(
            "/metrics",
            get(|Extract(state): Extract<State>| async move { figures::metrics(&state).await }),
        )
        .merge(ours)
        .with_state(state)
        .into_make_service_with_connect_info::<SocketAddr>();
    let stopped = async move {
        stop.cancelled_owned().await;
        // Who waits for a run that will not begin would keep the connection, and the service with it.
        desk.close();
    };
    let serving = axum::serve(listener, routes).with_graceful_shutdown(stopped);
    if let Err(error) = serving.await {
        tracing::error!(%error, "health and metrics are not served any more");
    }
}

#[derive(Deserialize)]
struct Verbosity {
    verbose: Option<String>,
}

/// Ready when the database takes a write and every store is ours and was reconciled. A read would stay
/// green on a full disk.
async fn ready(
    Extract(state): Extract<State>,
    Query(Verbosity { verbose }): Query<Verbosity>,
) -> impl IntoResponse {
    let mut checks: Vec<(String, Result<(), String>)> = Vec::new();
    let writable = state.store.check_writable().await.map_err(|error| error.to_string());
    checks.push(("database".into(), writable));
    for (key, health) in state.health.snapshot() {
        let fine = match (&health.held, &health.last, &health.problem) {
            (_, _, Some(problem)) => Err(problem.clone()),
            (false, ..) => Err("not ours yet".to_owned()),
            (_, None, _) => Err("not reconciled yet".to_owned()),
            _ => Ok(()),
        };
        checks.push((format!("store {key}"), fine));
    }
    let ready = checks.iter().all(|(_, check)| check.is_ok());
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut text = String::new();
    for (name, check) in checks.iter().filter(|(_, check)| verbose.is_some() || check.is_err()) {
        // Writing to a String cannot fail.
        let _ = match check {
            Ok(()) => writeln!(text, "[+] {name}: ok"),
            Err(why) => writeln!(text, "[-] {name}: {why}"),
        };
    }
    text.push_str(if ready { "ready\n" } else { "not ready\n" });
    (status, text)
}

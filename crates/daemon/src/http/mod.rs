//! Health and metrics, on `http.listen` (PRODUCT contract 4); `webhook` has a listener of its own.

pub(crate) mod webhook;

use std::{fmt::Write as _, sync::Arc};

use axum::{
    Router,
    extract::{Query, State as Extract},
    http::StatusCode,
    response::IntoResponse,
    routing::get,
};
use espelho_store::Store;
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::lifecycle::Health;

/// What the pages are made from.
#[derive(Clone)]
pub(crate) struct State {
    pub health: Arc<Health>,
    pub store: Store,
    pub metrics: PrometheusHandle,
}

/// Serves until `stop` is cancelled.
pub(crate) async fn serve(listener: TcpListener, state: State, stop: CancellationToken) {
    let routes = Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(|Extract(state): Extract<State>| async move { state.metrics.render() }))
        .with_state(state);
    let serving = axum::serve(listener, routes).with_graceful_shutdown(stop.cancelled_owned());
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

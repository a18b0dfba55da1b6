//! `POST /resync`, `POST /audit` and `POST /examine`: work of the store's own task, reported line by line.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State as Extract,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use espelho_model::{Clock, StoreKey, text};
use espelho_sync_engine::{Audit, Problem, StoreReport, Trouble};
use futures_util::stream;
use tokio::sync::mpsc;

use super::State;
use crate::{
    handover::{AdminQueue, Asked, AskedAudit, AskedExamination, Event, Task},
    health::{Health, StoreHealth},
};

/// The interval between two checks whether a task will still take the run.
const LOOK: Duration = Duration::from_secs(2);

/// Requests a run from the store's task, and streams its events. The requester may go away; the run goes on.
pub(super) async fn resync(Extract(state): Extract<State>, body: Bytes) -> Response {
    let asked: Asked = match serde_json::from_slice(&body) {
        Ok(asked) => asked,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let lost = |store| Event::of_report(&StoreReport::not_begun(store, lost()));
    match asked.options() {
        Ok(options) => {
            hand_on(state, &asked.store, |admin_queue, key| admin_queue.ask(key, Task::Resync(options)), lost)
        }
        Err(unknown) => refuse(StatusCode::BAD_REQUEST, &unknown),
    }
}

/// Requests an audit in the same way.
pub(super) async fn audit(Extract(state): Extract<State>, body: Bytes) -> Response {
    let asked: AskedAudit = match serde_json::from_slice(&body) {
        Ok(asked) => asked,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let lost = |store| Event::of_audit(&Audit::not_begun(store, lost()));
    match asked.options() {
        Ok(options) => {
            hand_on(state, &asked.store, |admin_queue, key| admin_queue.ask(key, Task::Audit(options)), lost)
        }
        Err(unknown) => refuse(StatusCode::BAD_REQUEST, &unknown),
    }
}

/// Asks a question in the same way; it waits for no run.
pub(super) async fn examine(Extract(state): Extract<State>, body: Bytes) -> Response {
    let lost = |store| Event::of_report(&StoreReport::not_begun(store, lost()));
    match serde_json::from_slice::<AskedExamination>(&body) {
        Ok(asked) => {
            hand_on(state, &asked.store, |admin_queue, key| admin_queue.inquire(key, asked.question), lost)
        }
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

fn hand_on(
    state: State,
    store: &str,
    ask: impl FnOnce(&AdminQueue, &StoreKey) -> Option<mpsc::UnboundedReceiver<Event>>,
    lost: fn(StoreKey) -> Event,
) -> Response {
    let Some(store) = StoreKey::new(store).ok().filter(|key| is_held(&state.health, key)) else {
        return refuse(StatusCode::CONFLICT, "this service does not hold the store");
    };
    let Some(hears) = ask(&state.admin_queue, &store) else {
        return refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "runs wait for this store already, or the service is stopping",
        );
    };
    tracing::info!(%store, "request received over the local API");
    let (health, clock) = (state.health, state.clock);
    let told = Telling { hears, store, health, clock, lost, begun: false, ended: false };
    let lines = stream::unfold(told, |mut told| async move {
        let event = told.next().await?;
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Some((Ok::<_, Infallible>(line), told))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response()
}

fn refuse(status: StatusCode, why: &str) -> Response {
    (status, axum::Json(serde_json::json!({ "error": why }))).into_response()
}

fn is_held(health: &Health, store: &StoreKey) -> bool {
    health.snapshot().get(store).is_some_and(StoreHealth::is_held)
}

/// The event stream of one requester.
struct Telling {
    hears: mpsc::UnboundedReceiver<Event>,
    store: StoreKey,
    health: Arc<Health>,
    clock: Arc<dyn Clock>,
    /// Makes the last event if the store was lost.
    lost: fn(StoreKey) -> Event,
    begun: bool,
    ended: bool,
}

impl Telling {
    async fn next(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        let event = tokio::select! {
            event = self.hears.recv() => event?,
            () = self.clock.sleep(LOOK) => match self.begun || is_held(&self.health, &self.store) {
                true => Event::Wait,
                false => (self.lost)(self.store.clone()),
            },
        };
        self.begun |= !matches!(event, Event::Wait);
        self.ended = event.is_last();
        Some(event)
    }
}

fn lost() -> Problem {
    Problem::of(Trouble::Held, "held", text!("run-store-lost"))
}
